"""The Lambda entry, called with the events of every front it may stand behind."""

from __future__ import annotations

import base64
import importlib
import json
from types import ModuleType
from typing import Any

import pytest

CHAT = "/v1/chat/completions/render"
BODY = json.dumps({"messages": [{"role": "user", "content": "Grüß Gott"}], "model": "lambda-demo"})
HEADERS = {"Content-Type": "application/json", "X-Request-Id": "abc", "Accept-Encoding": "gzip"}


@pytest.fixture
def function(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    for name, value in {
        "RENDER_CORE_SERVED_MODEL_NAME": "lambda-demo",
        "RENDER_CORE_ROOT_PATH": "/base",
        "RENDER_CORE_COMPRESSION": "true",
    }.items():
        monkeypatch.setenv(name, value)
    return importlib.reload(importlib.import_module("handlers.lambda_function"))


def rest_v1(method: str, path: str, body: str | None = None, **extra: Any) -> dict[str, Any]:
    return {
        "resource": "/{proxy+}",
        "path": path,
        "httpMethod": method,
        "headers": HEADERS,
        "multiValueHeaders": {name: [value] for name, value in HEADERS.items()},
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
        "requestContext": {"stage": "prod", "identity": {"sourceIp": "192.0.2.1"}},
        "body": body,
        "isBase64Encoded": False,
        **extra,
    }


def http_v2(method: str, path: str, body: str | None = None, **extra: Any) -> dict[str, Any]:
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {name.lower(): value for name, value in HEADERS.items()},
        "requestContext": {
            "stage": "$default",
            "http": {"method": method, "path": path, "sourceIp": "192.0.2.1"},
        },
        "isBase64Encoded": False,
        **({"body": body} if body is not None else {}),
        **extra,
    }


def function_url(method: str, path: str, body: str | None = None, **extra: Any) -> dict[str, Any]:
    event = http_v2(method, path, body, **extra)
    event["requestContext"]["domainName"] = "abc.lambda-url.us-east-1.on.aws"
    return event


FRONTS = pytest.mark.parametrize("event", [rest_v1, http_v2, function_url])


@FRONTS
@pytest.mark.parametrize("path", [CHAT, f"/base{CHAT}", f"/base/{CHAT}/"])
def test_chat_request(function: ModuleType, event: Any, path: str) -> None:
    answer = function.handler(event("POST", path, BODY), None)
    assert (answer["statusCode"], answer["isBase64Encoded"]) == (200, False)
    assert json.loads(answer["body"])["request_id"] == "chatcmpl-abc"
    assert answer["headers"]["x-request-id"] == "abc"
    assert answer["headers"]["content-length"] == str(len(answer["body"].encode()))


@FRONTS
def test_base64_body_is_the_same_request(function: ModuleType, event: Any) -> None:
    encoded = base64.b64encode(BODY.encode()).decode()
    answer = function.handler(event("POST", CHAT, encoded, isBase64Encoded=True), None)
    assert answer == function.handler(event("POST", CHAT, BODY), None)


@FRONTS
def test_large_answer_is_not_compressed(function: ModuleType, event: Any) -> None:
    body = json.dumps({"messages": [{"role": "user", "content": "word " * 3000}]})
    answer = function.handler(event("POST", CHAT, body), None)
    assert (answer["statusCode"], answer["isBase64Encoded"]) == (200, False)
    assert "content-encoding" not in answer["headers"]


@FRONTS
@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/health", None, 200),
        ("POST", "/ping", None, 200),
        ("GET", "/v1/models", None, 200),
        ("POST", "/v1/messages/render", BODY, 404),
        ("GET", CHAT, None, 405),
        ("POST", CHAT, None, 400),
        ("POST", CHAT, "{", 400),
    ],
)
def test_statuses(
    function: ModuleType, event: Any, method: str, path: str, body: str | None, status: int
) -> None:
    assert function.handler(event(method, path, body), None)["statusCode"] == status


def test_prefix_is_cut_at_a_segment_only(function: ModuleType) -> None:
    assert function.handler(rest_v1("GET", "/based/health"), None)["statusCode"] == 404


@pytest.mark.parametrize(
    "event",
    [
        {},
        None,
        [],
        "warm",
        {"version": "0", "source": "aws.events", "detail-type": "Scheduled Event", "detail": {}},
        {"requestContext": None},
        {"requestContext": {"routeKey": "$connect", "eventType": "CONNECT"}},
        {"Records": []},
    ],
)
def test_other_events_only_warm(function: ModuleType, event: Any) -> None:
    assert function.handler(event, None) == {"statusCode": 200, "body": ""}
