"""A REST API of API Gateway, as its documentation describes it, driven by the translated template.

Routes, authorizer and its cache, API keys, usage plan, gateway responses, sizes and timeouts come from the template;
functions are Python callables. Time is a clock that the test, or a function that is meant to be slow, moves.
"""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.infra.intrinsics import Values

Function = Callable[[dict[str, Any], Any], Any]

GATEWAY_BYTES = 10 * 1024 * 1024
LAMBDA_BYTES = 6 * 1024 * 1024
ANY = "x-amazon-apigateway-any-method"
API_ARN = "arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5"


@dataclass
class Clock:
    """Seconds, which pass only when somebody says so."""

    now: float = 0.0


@dataclass(frozen=True)
class Route:
    """A path and method of the API with what it asks for."""

    path: str
    operation: Mapping[str, Any]

    @property
    def asks(self) -> set[str]:
        return {name for requirement in self.operation.get("security", []) for name in requirement}

    @property
    def seconds(self) -> float:
        return float(self.operation["x-amazon-apigateway-integration"].get("timeoutInMillis", 29000)) / 1000


@dataclass
class UsagePlan:
    """A token bucket and a quota for each key."""

    rate: float
    burst: float
    quota: int | None
    tokens: dict[str, tuple[float, float]] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)

    def refusal(self, key: str, now: float) -> str | None:
        """The gateway response that a request of this key gets, if it gets no further."""
        tokens, since = self.tokens.get(key, (self.burst, now))
        tokens = min(self.burst, tokens + (now - since) * self.rate)
        self.tokens[key] = (tokens - 1 if tokens >= 1 else tokens, now)
        if tokens < 1:
            return "THROTTLED"
        self.used[key] = self.used.get(key, 0) + 1
        return "QUOTA_EXCEEDED" if self.quota is not None and self.used[key] > self.quota else None


class RefusedError(Exception):
    """The gateway answers by itself, with the named gateway response."""


class Gateway(httpx.BaseTransport):
    """The API behind `https://{id}.execute-api.{region}.amazonaws.com/{stage}`, as a transport of httpx.

    Args:
        template: without SAM's types.
        functions: by the logical ids of the template's functions.
        keys: values of the API keys that belong to the usage plan.
        parameters: values that differ from the template's defaults.
    """

    def __init__(
        self,
        template: Mapping[str, Any],
        functions: Mapping[str, Function],
        keys: set[str],
        parameters: Mapping[str, str] | None = None,
    ) -> None:
        values = Values(template, parameters)
        resources = template["Resources"]
        self._functions = functions
        self._keys = keys
        self.clock = Clock()
        self.authorizer_calls = 0
        self._answers: dict[tuple[str, ...], tuple[float, Any]] = {}
        api = values.of(resources["Api"]["Properties"])
        plan = values.of(resources["UsagePlan"]["Properties"])
        self._stage = values.of(resources["ApiStage"]["Properties"])["StageName"]
        self._key_source = api["ApiKeySourceType"]
        self._media_types = api.get("BinaryMediaTypes", [])
        self._compresses = "MinimumCompressionSize" in api
        self._responses = api["Body"]["x-amazon-apigateway-gateway-responses"]
        self._authorizer = api["Body"]["components"]["securitySchemes"]["Keys"][
            "x-amazon-apigateway-authorizer"
        ]
        self._paths = api["Body"]["paths"]
        throttle = plan["Throttle"]
        self._plan = UsagePlan(
            rate=float(throttle["RateLimit"]),
            burst=float(throttle["BurstLimit"]),
            quota=int(plan["Quota"]["Limit"]) if "Quota" in plan else None,
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """One exchange."""
        try:
            return self._answer(request, request.read())
        except RefusedError as refused:
            return self._refusal(str(refused))

    def _answer(self, request: httpx.Request, body: bytes) -> httpx.Response:
        if len(body) > GATEWAY_BYTES:
            raise RefusedError("REQUEST_TOO_LARGE")
        assert not self._media_types, "bodies as base64 are not simulated"
        assert not self._compresses, "compression is not simulated"
        path = self._below_stage(request.url.raw_path.decode().partition("?")[0])
        route = self._route(request.method, path)
        event = self._event(request, route, path, body)
        key = self._authorized(event, route) if "Keys" in route.asks else None
        if "api_key" in route.asks:
            self._admit(key if self._key_source == "AUTHORIZER" else request.headers.get("x-api-key"))
        if len(json.dumps(event, ensure_ascii=False).encode()) > LAMBDA_BYTES:
            raise RefusedError("REQUEST_TOO_LARGE")
        return self._integrated(route, event)

    def _below_stage(self, path: str) -> str:
        stage, _, rest = path.removeprefix("/").partition("/")
        assert stage == self._stage, "another stage is another API"
        return "/" + rest

    def _route(self, method: str, path: str) -> Route:
        """The most specific path that matches; greedy variables come last."""
        matching = [known for known in self._paths if re.fullmatch(_pattern(known), path)]
        for known in sorted(matching, key=lambda known: ("+}" in known, "{" in known, -len(known))):
            operations = self._paths[known]
            if operation := operations.get(method.lower(), operations.get(ANY)):
                return Route(known, operation)
        raise RefusedError("MISSING_AUTHENTICATION_TOKEN")

    def _event(self, request: httpx.Request, route: Route, path: str, body: bytes) -> dict[str, Any]:
        """The event of a Lambda proxy integration, format 1.0."""
        pairs = [(name.decode(), value.decode("latin-1")) for name, value in request.headers.raw]
        several: dict[str, list[str]] = {}
        for name, value in pairs:
            several.setdefault(name, []).append(value)
        query = dict(request.url.params)
        return {
            "resource": route.path,
            "path": path,
            "httpMethod": request.method,
            "headers": dict(pairs),
            "multiValueHeaders": several,
            "queryStringParameters": query or None,
            "multiValueQueryStringParameters": {name: [value] for name, value in query.items()} or None,
            "pathParameters": None,
            "requestContext": {
                "resourcePath": route.path,
                "httpMethod": request.method,
                "path": f"/{self._stage}{path}",
                "stage": self._stage,
                "requestId": "5f1c6f1e-0000-4000-8000-000000000000",
                "identity": {"sourceIp": "192.0.2.1"},
            },
            "body": body.decode(errors="replace") if body else None,
            "isBase64Encoded": False,
        }

    def _authorized(self, event: dict[str, Any], route: Route) -> str | None:
        """The key that the authorizer found."""
        sources = [
            each.strip() for each in self._authorizer.get("identitySource", "").split(",") if each.strip()
        ]
        present = {name.lower(): value for name, value in event["headers"].items()}
        identity = tuple(present.get(source.rpartition(".")[2].lower(), "") for source in sources)
        if not all(identity):
            raise RefusedError("UNAUTHORIZED")
        seconds = self._authorizer.get("authorizerResultTtlInSeconds", 300)
        kept_until, answer = self._answers.get(identity, (0.0, None))
        arn = f"{API_ARN}/{self._stage}/{event['httpMethod']}{event['path']}"
        if answer is None or kept_until <= self.clock.now:
            answer = self._ask_authorizer({**event, "type": "REQUEST", "methodArn": arn, "body": None})
            if seconds:
                self._answers[identity] = (self.clock.now + seconds, answer)
        try:
            allowed = [
                fnmatch.fnmatchcase(arn, statement["Resource"])
                for statement in answer["policyDocument"]["Statement"]
                if statement["Effect"] == "Allow" and statement["Action"] == "execute-api:Invoke"
            ]
            answer["principalId"]
        except (KeyError, TypeError):
            raise RefusedError("AUTHORIZER_CONFIGURATION_ERROR") from None
        if not any(allowed):
            raise RefusedError("ACCESS_DENIED")
        return answer.get("usageIdentifierKey")

    def _ask_authorizer(self, event: dict[str, Any]) -> Any:
        self.authorizer_calls += 1
        try:
            return self._functions[_function_in(self._authorizer["authorizerUri"])](event, None)
        except Exception as error:  # noqa: BLE001 (a function may end in any way)
            raise RefusedError(
                "UNAUTHORIZED" if str(error) == "Unauthorized" else "AUTHORIZER_FAILURE"
            ) from None

    def _admit(self, key: str | None) -> None:
        if key not in self._keys:
            raise RefusedError("INVALID_API_KEY")
        if refusal := self._plan.refusal(key, self.clock.now):
            raise RefusedError(refusal)

    def _integrated(self, route: Route, event: dict[str, Any]) -> httpx.Response:
        """What the function answers, once the gateway has found it to be an answer."""
        began = self.clock.now
        integration = route.operation["x-amazon-apigateway-integration"]
        try:
            answer = self._functions[_function_in(integration["uri"])](event, None)
        except Exception:  # noqa: BLE001 (a function may end in any way)
            raise RefusedError("DEFAULT_5XX") from None
        if self.clock.now - began > route.seconds:
            raise RefusedError("INTEGRATION_TIMEOUT")
        if len(json.dumps(answer).encode()) > LAMBDA_BYTES or "statusCode" not in answer:
            raise RefusedError("DEFAULT_5XX")
        assert not answer.get("isBase64Encoded"), "without binary media types the client would see base64"
        return httpx.Response(
            answer["statusCode"], headers=list(_answer_headers(answer)), content=answer["body"].encode()
        )

    def _refusal(self, name: str) -> httpx.Response:
        response = self._responses[name]
        headers = {
            parameter.removeprefix("gatewayresponse.header."): value.strip("'")
            for parameter, value in response["responseParameters"].items()
        }
        [(media_type, text)] = response["responseTemplates"].items()
        return httpx.Response(
            int(response["statusCode"]),
            headers={**headers, "content-type": media_type},
            content=text.encode(),
        )


def _pattern(path: str) -> str:
    """The regular expression of a path with variables."""
    parts = re.split(r"(\{\w+\+?\})", path)
    return "".join(
        (".+" if part.endswith("+}") else "[^/]+") if part.startswith("{") else re.escape(part)
        for part in parts
    )


def _function_in(uri: Any) -> str:
    """The logical id of the function in an invocation's address: of itself, or of its alias."""
    text = json.dumps(uri)
    aliased = re.search(r"\$\{(\w+)Alias\w+\}", text)
    named = re.search(r'"Fn::GetAtt": \["(\w+)", "Arn"\]', text)
    found = aliased or named
    assert found
    return found[1]


def _answer_headers(answer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from (answer.get("headers") or {}).items()
    for name, values in (answer.get("multiValueHeaders") or {}).items():
        yield from ((name, value) for value in values)
