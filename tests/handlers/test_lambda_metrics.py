"""The log line of a request: metrics that CloudWatch takes, details for queries, and no text of the request."""

from __future__ import annotations

import datetime
import json
from typing import Any

import pytest

from handlers.exchange import Exchanged, RequestIds
from handlers.lambda_metrics import Invocation, Journal
from render_core.observation import Observation

NOW = datetime.datetime(2026, 11, 29, 12, 30, 15, 123456, datetime.UTC)
TRACE = "00-" + "a" * 32 + "-" + "b" * 16 + "-01"
JOURNAL = Journal("render-qwen3", frozenset({"/tokenize"}), with_details=True)


def observation() -> Observation:
    ticks = iter([1.0, 1.001, 1.003, 1.011, 1.012])
    watched = Observation(lambda: next(ticks))
    watched.begin()
    for part in ("read", "prompt", "tokenize", "answer"):
        watched.finish(part)  # type: ignore[arg-type]
    watched.count_tokens(42)
    return watched


def invocation(status: int = 200, seen: Observation | None = None, **changes: Any) -> Invocation:
    exchanged = Exchanged(
        method="POST",
        path=changes.pop("path", "/tokenize"),
        status=status,
        seconds=0.0155,
        ids=RequestIds("abc", "0" * 16),
        trace_parent=TRACE,
        trace_state="vendor=1",
        observation=seen or Observation(lambda: 0.0),
    )
    known: dict[str, Any] = {
        "request_id": "lambda-id",
        "xray_trace": "Root=1-2-3",
        "status": status,
        "tier": "hot",
        "is_cold": True,
        "exchanged": exchanged,
    }
    return Invocation(**(known | changes))


def metric_names(document: dict[str, Any]) -> dict[str, str]:
    (directive,) = document["_aws"]["CloudWatchMetrics"]
    assert (directive["Namespace"], directive["Dimensions"]) == ("RenderCore", [["FunctionName"]])
    return {metric["Name"]: metric["Unit"] for metric in directive["Metrics"]}


def test_line_of_a_rendering() -> None:
    line = JOURNAL.line(invocation(seen=observation()), NOW)
    assert "\n" not in line
    document = json.loads(line)
    assert metric_names(document) == {
        "Requests": "Count",
        "ColdStart": "Count",
        "Errors4xx": "Count",
        "Errors5xx": "Count",
        "PromptTokens": "Count",
        "RenderMilliseconds": "Milliseconds",
        "ReadMilliseconds": "Milliseconds",
        "PromptMilliseconds": "Milliseconds",
        "TokenizeMilliseconds": "Milliseconds",
        "AnswerMilliseconds": "Milliseconds",
        "HotEngine": "Count",
    }
    assert document.pop("_aws")["Timestamp"] == 1795955415123
    assert document == {
        "FunctionName": "render-qwen3",
        "Requests": 1,
        "ColdStart": 1,
        "Errors4xx": 0,
        "Errors5xx": 0,
        "PromptTokens": 42,
        "RenderMilliseconds": 12.0,
        "ReadMilliseconds": 1.0,
        "PromptMilliseconds": 2.0,
        "TokenizeMilliseconds": 8.0,
        "AnswerMilliseconds": 1.0,
        "HotEngine": 1,
        "timestamp": "2026-11-29T12:30:15.123Z",
        "level": "INFO",
        "message": "request",
        "requestId": "lambda-id",
        "status": 200,
        "engine": "hot",
        "cold_start": True,
        "xray_trace": "Root=1-2-3",
        "method": "POST",
        "path": "/tokenize",
        "milliseconds": 15.5,
        "x_request_id": "abc",
        "traceparent": TRACE,
        "tracestate": "vendor=1",
    }


@pytest.mark.parametrize(
    ("status", "errors"), [(399, (0, 0)), (400, (1, 0)), (499, (1, 0)), (500, (0, 1)), (503, (0, 1))]
)
def test_errors_are_counted_by_class(status: int, errors: tuple[int, int]) -> None:
    document = json.loads(JOURNAL.line(invocation(status), NOW))
    assert (document["Errors4xx"], document["Errors5xx"]) == errors


def test_what_renders_nothing_has_no_render_metrics() -> None:
    document = json.loads(JOURNAL.line(invocation(), NOW))
    assert set(metric_names(document)) == {"Requests", "ColdStart", "Errors4xx", "Errors5xx"}


def test_every_metric_that_is_named_has_a_value() -> None:
    document = json.loads(JOURNAL.line(invocation(seen=observation()), NOW))
    assert set(metric_names(document)) <= set(document)


def test_unknown_paths_are_not_named() -> None:
    assert "path" not in json.loads(JOURNAL.line(invocation(path="/prompt-in-a-path"), NOW))


def test_event_that_could_not_be_read() -> None:
    document = json.loads(JOURNAL.line(invocation(400, exchanged=None), NOW))
    assert (document["Errors4xx"], document["status"]) == (1, 400)


def test_without_details_only_metrics_are_left() -> None:
    line = Journal("f", frozenset(), with_details=False).line(invocation(seen=observation()), NOW)
    document = json.loads(line)
    assert set(document) == {"_aws", "FunctionName", *metric_names(document)}
