"""What must hold of the translated template and no linter looks at. Each check gives sentences about what is wrong."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from infra.models import GATEWAY_SECONDS
from infra.translation import translated

OPEN_PATHS: Final = ("/health", "/ping")
"""The ends of the paths that ask for no key."""

GATEWAY_RESPONSES: Final = frozenset(
    """
    ACCESS_DENIED API_CONFIGURATION_ERROR AUTHORIZER_CONFIGURATION_ERROR AUTHORIZER_FAILURE
    BAD_REQUEST_BODY BAD_REQUEST_PARAMETERS DEFAULT_4XX DEFAULT_5XX EXPIRED_TOKEN INTEGRATION_FAILURE
    INTEGRATION_TIMEOUT INVALID_API_KEY INVALID_SIGNATURE MISSING_AUTHENTICATION_TOKEN QUOTA_EXCEEDED
    REQUEST_TOO_LARGE RESOURCE_NOT_FOUND THROTTLED UNAUTHORIZED UNSUPPORTED_MEDIA_TYPE WAF_FILTERED
    """.split()
)
_LARGEST_COMPRESSION_SIZE: Final = 10 * 1024 * 1024
_SNAPSHOT_STORAGE: Final = 512  # MB

Resources = Mapping[str, Mapping[str, Any]]


def faults(template: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with a template without SAM's types, as `infra.translation` gives it."""
    resources: Resources = template["Resources"]
    found = [*_function_faults(resources)]
    for name, api in _of_type(resources, "AWS::ApiGateway::RestApi"):
        found += (f"{name}: {fault}" for fault in _api_faults(api, template.get("Parameters", {})))
    return found


def _function_faults(resources: Resources) -> Iterator[str]:
    provisioned = {
        alias["FunctionName"]["Ref"]
        for _, alias in _of_type(resources, "AWS::Lambda::Alias")
        if "ProvisionedConcurrencyConfig" in alias
    }
    groups = {name for name, _ in _of_type(resources, "AWS::Logs::LogGroup")}
    for name, function in _of_type(resources, "AWS::Lambda::Function"):
        has_snapshots = function.get("SnapStart", {}).get("ApplyOn") == "PublishedVersions"
        if has_snapshots and name in provisioned:
            yield f"{name}: Lambda has no SnapStart with provisioned concurrency"
        if has_snapshots and function.get("EphemeralStorage", {}).get("Size", 0) > _SNAPSHOT_STORAGE:
            yield f"{name}: Lambda has no SnapStart with more than {_SNAPSHOT_STORAGE} MB of storage"
        if function.get("Timeout", 3) > GATEWAY_SECONDS:
            yield f"{name}: the gateway waits {GATEWAY_SECONDS} seconds at most"
        if function.get("LoggingConfig", {}).get("LogGroup", {}).get("Ref") not in groups:
            yield f"{name}: its log group is none of the template, and would be kept for ever"


def _api_faults(api: Mapping[str, Any], parameters: Mapping[str, Any]) -> Iterator[str]:
    if api.get("ApiKeySourceType") != "AUTHORIZER":
        yield "the key must come from the authorizer: routers cannot send x-api-key"
    if api.get("BinaryMediaTypes"):
        yield "with binary media types, bodies travel as base64"
    for size in _sizes(api.get("MinimumCompressionSize"), parameters):
        if not -1 <= size <= _LARGEST_COMPRESSION_SIZE:
            yield f"a compression size of {size} is above {_LARGEST_COMPRESSION_SIZE}"
    body = api["Body"]
    yield from _authorizer_faults(body["components"]["securitySchemes"])
    yield from _response_faults(body.get("x-amazon-apigateway-gateway-responses", {}))
    for path, item in body["paths"].items():
        for method, operation in item.items():
            yield from (f"{method} {path}: {fault}" for fault in _route_faults(path, operation))


def _authorizer_faults(schemes: Mapping[str, Any]) -> Iterator[str]:
    for name, scheme in schemes.items():
        authorizer = scheme.get("x-amazon-apigateway-authorizer")
        # Without a time API Gateway keeps answers for 300 seconds, and without a header under one name for all.
        if authorizer and not authorizer.get("identitySource"):
            if authorizer.get("authorizerResultTtlInSeconds") != 0:
                yield f"the answers of {name} would be kept under one name for all callers"
        elif authorizer and "," in authorizer["identitySource"]:
            yield f"{name} asks for several headers at once"


def _response_faults(responses: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(GATEWAY_RESPONSES - set(responses)):
        yield f"the gateway's answer {name} has no envelope"
    for name, response in responses.items():
        error = json.loads(response["responseTemplates"]["application/json"])["error"]
        if list(error) != ["message", "type", "param", "code"] or str(error["code"]) != str(
            response["statusCode"]
        ):
            yield f"the envelope of {name} is not that of its status"


def _route_faults(path: str, operation: Mapping[str, Any]) -> Iterator[str]:
    asked = {name for requirement in operation.get("security", []) for name in requirement}
    if not path.endswith(OPEN_PATHS) and asked != {"Keys", "api_key"}:
        yield "open without a key"
    if path.endswith(OPEN_PATHS) and asked:
        yield "a probe that asks for a key"


def _sizes(value: Any, parameters: Mapping[str, Any]) -> Iterator[int]:
    """The sizes that a property can have: a number, or what the parameter it names allows."""
    if isinstance(value, int):
        yield value
    elif isinstance(value, dict):
        choices = [value, *(each for each in value.get("Fn::If", []) if isinstance(each, dict))]
        for parameter in (parameters[each["Ref"]] for each in choices if each.get("Ref") in parameters):
            yield from (int(parameter[key]) for key in ("Default", "MinValue") if key in parameter)
            yield int(parameter.get("MaxValue", 2**31))


def _of_type(resources: Resources, type_name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, resource in resources.items():
        if resource["Type"] == type_name:
            yield name, resource["Properties"]


def main() -> int:
    """Checks a template of SAM, and writes what it becomes. 0: nothing is wrong; 1: something is."""
    parser = argparse.ArgumentParser(prog="infra.checks", description=main.__doc__)
    parser.add_argument("template", type=Path)
    parser.add_argument("--output", type=Path, required=True, help="file for the translated template")
    given = parser.parse_args()
    template = translated(given.template)
    given.output.write_text(json.dumps(template, indent=1), encoding="utf-8")
    found = faults(template)
    for fault in found:
        print(fault, file=sys.stderr)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
