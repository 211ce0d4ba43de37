"""Requests of every front get the answers that they get without Lambda, up to what Lambda carries."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from tests.conformance.served import InProcess
from tests.lambda_path.conftest import PREFIX
from tests.lambda_path.events import FRONTS, JSON, Front, function_url, http_api, rest_api
from tests.lambda_path.function import Function, needs_runtime_client

pytestmark = needs_runtime_client
fronts = pytest.mark.parametrize("front", FRONTS)

CHAT = "/v1/chat/completions/render"
COMPLETION = "/v1/completions/render"
HEADERS = JSON | {"X-Request-Id": "abc", "Accept-Encoding": "gzip, br"}
MEBIBYTE = 1024**2


def chat_of(text: str) -> bytes:
    return json.dumps({"messages": [{"role": "user", "content": text}]}).encode()


def text_of(length: int) -> str:
    """Text that tokenizes as code does: about a token and a half for each word and number."""
    chance = random.Random(3)
    words = "return function value Straße 12 index self._table[x] = None; if not found: raise".split()
    pieces = [f"{chance.choice(words)} {chance.randrange(100)}" for _ in range(length // 4)]
    return " ".join(pieces)[:length]


def check_same(answer: dict[str, Any], expected: Any) -> None:
    assert (answer["statusCode"], answer["isBase64Encoded"]) == (expected.status_code, False)
    assert answer["body"] == expected.text
    sent = {name: expected.headers[name] for name in ("content-type", "content-length", "x-request-id")}
    assert sent.items() <= answer["headers"].items()


@fronts
@pytest.mark.parametrize(
    ("path", "body"),
    [
        (CHAT, chat_of('Grüß Gott, "friend" \\ 🦀')),
        (COMPLETION, b'{"prompt": ["one", "two"]}'),
        ("/tokenize", b'{"prompt": "one", "return_token_strs": true}'),
        ("/detokenize", b'{"tokens": [100, 200]}'),
        (CHAT, b'{"model": "other"'),
        (CHAT, b'{"messages": [], "model": "other"}'),
        ("/v1/messages/render", b"{}"),
    ],
)
def test_answers_are_those_without_lambda(
    function: Function, in_process: InProcess, front: Front, path: str, body: bytes
) -> None:
    expected = in_process.post(path, body, HEADERS)
    check_same(function.invoke(front("POST", path, body, HEADERS)), expected)
    check_same(function.invoke(front("POST", path, body, HEADERS, prefix=PREFIX)), expected)
    check_same(function.invoke(front("POST", path, body, HEADERS, in_base64=True)), expected)


@fronts
def test_300_kilobytes_in_and_450_out(function: Function, in_process: InProcess, front: Front) -> None:
    body = chat_of(text_of(300_000))
    expected = in_process.post(CHAT, body, HEADERS)
    assert 400_000 < len(expected.content) < 700_000
    check_same(function.invoke(front("POST", CHAT, body, HEADERS)), expected)


def test_stage_named_as_a_segment_of_our_paths(function: Function) -> None:
    for front in (rest_api, http_api):
        assert function.invoke(front("GET", "/v1/models", stage="v1"))["statusCode"] == 200


def test_probes_have_no_body(function: Function) -> None:
    for front in FRONTS:
        answer = function.invoke(front("GET", "/health"))
        assert (answer["statusCode"], answer["body"]) == (200, "")


@fronts
def test_body_of_5_9_mebibytes(function: Function, in_process: InProcess, front: Front) -> None:
    ids = b"1234," * (59 * MEBIBYTE // 50)
    body = b'{"prompt":[%s0],"truncate_prompt_tokens":100000}' % ids
    assert len(body) == pytest.approx(5.9 * MEBIBYTE, rel=0.001)
    expected = in_process.post(COMPLETION, body, HEADERS)
    assert expected.status_code == 200
    check_same(function.invoke(front("POST", COMPLETION, body, HEADERS)), expected)


@fronts
def test_body_of_6_1_mebibytes_never_reaches_the_function(function: Function, front: Front) -> None:
    too_long = front("POST", COMPLETION, b"x" * (61 * MEBIBYTE // 10), JSON | {"X-Request-Id": "too-long"})
    outcome = function.outcome(too_long)
    assert (outcome.is_error, outcome.document["errorType"]) == (True, "RequestTooLargeException")
    function.invoke(front("GET", "/health", headers={"X-Request-Id": "next"}))
    function.record_of(lambda each: each.get("x_request_id") == "next")
    assert all(each.get("x_request_id") != "too-long" for each in function.log_records())


@fronts
def test_answer_that_lambda_would_not_take_is_refused_and_the_process_lives(
    function: Function, front: Front
) -> None:
    body = json.dumps({"prompt": "a b c d " * 150_000, "return_token_strs": True}).encode()
    answer = function.invoke(front("POST", "/tokenize", body, HEADERS))
    error = json.loads(answer["body"])["error"]
    assert (answer["statusCode"], error["code"], error["type"]) == (413, 413, "ResponseTooLargeError")
    assert answer["headers"]["x-request-id"] == "abc"
    assert function.invoke(function_url("GET", "/health"))["statusCode"] == 200
    assert function.process.poll() is None


@pytest.mark.parametrize(
    "event",
    [
        {},
        None,
        "warm",
        {"version": "0", "source": "aws.events", "detail-type": "Scheduled Event", "detail": {}},
        {"Records": [{"eventSource": "aws:sqs", "body": "x"}]},
    ],
)
def test_events_that_are_no_requests_only_warm(function: Function, event: Any) -> None:
    assert function.invoke(event) == {"statusCode": 200, "body": ""}


def test_malformed_request_is_refused_and_leaves_no_traceback(function: Function) -> None:
    answer = function.invoke({"requestContext": {"http": {}}, "version": "2.0"})
    assert (answer["statusCode"], json.loads(answer["body"])["error"]["code"]) == (400, 400)
    assert "Traceback" not in "".join(function.log)


def test_every_request_leaves_one_line_without_its_text(function: Function) -> None:
    trace = f"00-{'a' * 32}-{'b' * 16}-01"
    function.invoke(http_api("POST", CHAT, chat_of("a secret word"), HEADERS | {"traceparent": trace}))
    record = function.record_of(lambda each: each.get("traceparent") == trace)
    assert record["path"] == CHAT
    assert (record["FunctionName"], record["status"], record["x_request_id"]) == ("render-test", 200, "abc")
    assert record["PromptTokens"] > 0
    assert "secret" not in "".join(function.log)
