"""The Lambda entry, called with the events of every front it may stand behind."""

from __future__ import annotations

import base64
import importlib
import json
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from render_core import Model

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


@pytest.mark.parametrize("stage", ["prod", "v1"])
def test_stage_of_an_http_api_is_cut(function: ModuleType, stage: str) -> None:
    event = http_v2("POST", f"/{stage}/base{CHAT}", BODY)
    event["requestContext"]["stage"] = stage
    assert function.handler(event, None)["statusCode"] == 200


def test_base_path_of_a_custom_domain_is_cut(function: ModuleType) -> None:
    event = rest_v1("POST", f"/own/base{CHAT}", BODY)
    event |= {"resource": "/base/{proxy+}", "pathParameters": {"proxy": CHAT[1:]}}
    assert function.handler(event, None)["statusCode"] == 200


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


def test_a_ping_waits_for_what_loads_in_the_background(
    function: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    waits = []
    monkeypatch.setattr(Model, "load_hot_tokenizer", lambda model, wait: waits.append(wait))
    function.handler({}, None)
    assert (waits, capsys.readouterr().out) == ([True], "")


def test_a_ping_is_answered_though_nothing_more_can_be_loaded(
    function: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(model: Model, wait: bool) -> None:
        raise OSError

    monkeypatch.setattr(Model, "load_hot_tokenizer", fail)
    assert function.handler({}, None) == {"statusCode": 200, "body": ""}


@FRONTS
@pytest.mark.parametrize(
    "broken",
    [
        {"headers": {"host": "h:o:s:t"}, "multiValueHeaders": None},
        {"headers": {"x": 3}, "multiValueHeaders": None},
        {"body": "A", "isBase64Encoded": True},
        {"requestContext": {"http": {}, "stage": "prod"}, "path": 3},
    ],
)
def test_malformed_event_is_refused(
    function: ModuleType, event: Any, broken: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    answer = function.handler(event("POST", CHAT, BODY) | broken, None)
    assert (answer["statusCode"], answer["isBase64Encoded"]) == (400, False)
    assert json.loads(answer["body"]) == {
        "error": {
            "message": "The event is no HTTP request that can be read.",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        }
    }
    assert "Traceback" not in caplog.text


def test_failure_in_the_application_is_an_envelope(
    function: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Model, "answering_name", lambda *_: 1 / 0)
    answer = function.handler(rest_v1("POST", CHAT, BODY), None)
    assert (answer["statusCode"], json.loads(answer["body"])["error"]["code"]) == (500, 500)
    assert json.loads(capsys.readouterr().out)["Errors5xx"] == 1


def test_failure_after_the_application_is_an_envelope(
    function: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handlers.lambda_handler.refusal_if_too_large", lambda _: 1 / 0)
    answer = function.handler(rest_v1("POST", CHAT, BODY), None)
    assert (answer["statusCode"], answer["headers"]["x-request-id"]) == (500, "abc")


def test_too_large_an_answer_is_refused_and_logged_so(
    function: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    body = json.dumps({"prompt": "a b c d " * 150_000, "return_token_strs": True})
    answer = function.handler(rest_v1("POST", "/tokenize", body), None)
    assert (answer["statusCode"], json.loads(answer["body"])["error"]["type"]) == (
        413,
        "ResponseTooLargeError",
    )
    line = json.loads(capsys.readouterr().out)
    assert (line["status"], line["Errors4xx"]) == (413, 1)


def test_a_line_is_logged_for_every_request_without_its_text(
    function: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    context = SimpleNamespace(aws_request_id="lambda-id")
    for path in (f"/base{CHAT}", "/Grüß/Gott"):
        function.handler(http_v2("POST", path, BODY), context)
    out = capsys.readouterr().out
    assert "Gott" not in out
    rendered, unknown = map(json.loads, out.splitlines())
    assert (rendered["requestId"], rendered["x_request_id"], rendered["path"], rendered["status"]) == (
        "lambda-id",
        "abc",
        CHAT,
        200,
    )
    assert rendered["PromptTokens"] > 0
    assert (rendered["cold_start"], unknown["cold_start"]) == (True, False)
    assert (unknown["status"], "path" in unknown) == (404, False)


def test_the_first_request_after_a_ping_is_not_cold(
    function: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    function.handler({}, None)
    function.handler(http_v2("GET", "/health"), None)
    assert json.loads(capsys.readouterr().out)["ColdStart"] == 0


def test_a_rehearsal_counts_nowhere_and_a_restored_copy_is_cold(
    function: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    function.handler(http_v2("GET", "/health"), None)
    capsys.readouterr()
    function.handler.rehearse()
    function.handler.restored()
    function.handler(http_v2("GET", "/health"), None)
    assert json.loads(capsys.readouterr().out)["ColdStart"] == 1


def test_a_rehearsal_has_a_key_where_keys_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RENDER_CORE_API_KEY", "first,second")
    module = importlib.reload(importlib.import_module("handlers.lambda_function"))
    asked = []
    monkeypatch.setattr(Model, "answering_name", lambda model, name: asked.append(name) or "demo")
    module.handler.rehearse()
    assert len(asked) == 4


def test_a_rehearsal_that_fails_says_so(function: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Model, "answering_name", lambda *_: 1 / 0)
    with pytest.raises(RuntimeError, match="/v1/chat/completions/render answered 500"):
        function.handler.rehearse()
