"""Whatever the event, the function answers as AWS expects it, in JSON, and raises nothing."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers.lambda_handler import LambdaHandler
from handlers.settings import Settings
from render_core import Model

CHAT = "/v1/chat/completions/render"
BODY = '{"messages": [{"role": "user", "content": "Hello"}]}'
REST = {
    "resource": "/{proxy+}",
    "path": CHAT,
    "httpMethod": "POST",
    "headers": {"content-type": "application/json", "host": "service"},
    "multiValueHeaders": {"content-type": ["application/json"]},
    "queryStringParameters": {"a": "b"},
    "multiValueQueryStringParameters": {"a": ["b"]},
    "pathParameters": {"proxy": CHAT[1:]},
    "requestContext": {"stage": "prod", "identity": {"sourceIp": "192.0.2.1"}},
    "body": BODY,
    "isBase64Encoded": False,
}
HTTP = {
    "version": "2.0",
    "routeKey": "ANY /{proxy+}",
    "rawPath": f"/prod{CHAT}",
    "rawQueryString": "a=b",
    "cookies": ["a=b"],
    "headers": {"content-type": "application/json", "host": "service"},
    "pathParameters": {"proxy": CHAT[1:]},
    "requestContext": {
        "stage": "prod",
        "http": {"method": "POST", "path": f"/prod{CHAT}", "sourceIp": "192.0.2.1"},
    },
    "body": BODY,
    "isBase64Encoded": False,
}
REMOVED = object()

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["/", "", "%", "{"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=4,
)


@pytest.fixture(scope="module")
def handler(model: Model) -> LambdaHandler:
    return LambdaHandler(model, Settings(), {})


def places(document: Any, way: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The ways to all members of an event."""
    if not isinstance(document, dict):
        return [way]
    return [*([way] if way else []), *(p for name in document for p in places(document[name], (*way, name)))]


def replaced(document: dict[str, Any], way: tuple[str, ...], value: Any) -> dict[str, Any]:
    name, *rest = way
    copy = dict(document)
    if rest:
        copy[name] = replaced(copy[name], tuple(rest), value)
    elif value is REMOVED:
        del copy[name]
    else:
        copy[name] = value
    return copy


broken_events = st.sampled_from([REST, HTTP]).flatmap(
    lambda event: st.builds(
        replaced, st.just(event), st.sampled_from(places(event)), st.just(REMOVED) | values
    )
)


def test_the_events_are_answered_when_nothing_is_broken(handler: LambdaHandler) -> None:
    assert [handler(event, None)["statusCode"] for event in (REST, HTTP)] == [200, 200]


@given(event=broken_events | values)
def test_broken_events_are_answered(handler: LambdaHandler, event: Any) -> None:
    records: list[logging.LogRecord] = []
    watch = logging.Handler()
    watch.emit = records.append  # type: ignore[method-assign]
    logging.getLogger().addHandler(watch)
    try:
        answer = handler(event, None)
    finally:
        logging.getLogger().removeHandler(watch)
    assert records == []
    assert isinstance(answer["statusCode"], int)
    assert answer["statusCode"] != 500
    assert not answer.get("isBase64Encoded")
    if answer["statusCode"] >= 400:
        assert json.loads(answer["body"])["error"]["code"] == answer["statusCode"]
