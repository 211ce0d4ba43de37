"""Events and answers are the same whoever reads and writes them."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers.lambda_answers import serialised_size
from handlers.lambda_marshaller import FastMarshaller, install

CLIENT = "awslambdaric.lambda_runtime_client"

text = st.text(st.characters(codec="utf-8"))
documents = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | text,
    lambda inner: st.lists(inner) | st.dictionaries(text, inner),
)


@pytest.fixture(scope="module")
def runtime_client() -> Any:
    return pytest.importorskip(CLIENT, reason="awslambdaric is not installed here")


@pytest.fixture(scope="module")
def original(runtime_client: Any) -> Any:
    return runtime_client.LambdaMarshaller()


@given(document=documents, escaped=st.booleans())
def test_events_are_read_alike(original: Any, document: Any, escaped: bool) -> None:
    sent = json.dumps(document, ensure_ascii=escaped).encode()
    assert FastMarshaller(original).unmarshal_request(sent) == original.unmarshal_request(sent)


@given(document=documents)
def test_answers_are_written_alike(original: Any, document: Any) -> None:
    written, content_type = FastMarshaller(original).marshal_response(document)
    expected, expected_type = original.marshal_response(document)
    assert (json.loads(written), content_type) == (json.loads(expected), expected_type)


@given(body=documents)
def test_an_answer_is_never_longer_than_its_size_was_said_to_be(original: Any, body: Any) -> None:
    answer = {"statusCode": 200, "headers": {"x": "ü"}, "body": json.dumps(body, ensure_ascii=False)}
    assert len(FastMarshaller(original).marshal_response(answer)[0]) <= serialised_size(answer)


@pytest.mark.parametrize("event", [b'{"body": "\\ud800"}', b'{"a": NaN}', b"", b'{"a"'])
def test_what_orjson_does_not_read_is_left_to_the_original(original: Any, event: bytes) -> None:
    assert outcome(FastMarshaller(original), event) == outcome(original, event)


def outcome(marshaller: Any, event: bytes) -> str:
    try:
        return repr(marshaller.unmarshal_request(event))
    except Exception as error:  # noqa: BLE001 (the runtime client's own)
        return f"{type(error).__name__}: {getattr(error, 'msg', '')}"


def test_what_orjson_does_not_write_is_left_to_the_original(original: Any) -> None:
    assert FastMarshaller(original).marshal_response([2**70])[0] == f"[{2**70}]"


def test_the_client_that_runs_the_process_is_told_once(runtime_client: Any) -> None:
    client = runtime_client.LambdaRuntimeClient
    before = client.marshaller
    try:
        assert (install(), install()) == (True, True)
        assert isinstance(client("127.0.0.1:1").marshaller, FastMarshaller)
        assert client.marshaller._other is before
    finally:
        client.marshaller = before


@pytest.mark.parametrize(
    "module",
    [None, SimpleNamespace(), SimpleNamespace(LambdaRuntimeClient=SimpleNamespace(marshaller=object()))],
)
def test_without_a_client_that_can_be_told_nothing_is_done(
    monkeypatch: pytest.MonkeyPatch, module: Any
) -> None:
    monkeypatch.setitem(sys.modules, CLIENT, module)
    assert install() is False
