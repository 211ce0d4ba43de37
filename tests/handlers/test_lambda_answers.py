"""The size of an answer is what Lambda's own runtime client makes of it, and too large ones are refused."""

from __future__ import annotations

import importlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers.lambda_answers import MAX_ANSWER_BYTES, refusal_if_too_large, serialised_size

NEWER, OLDER = "AWS_Lambda_python3.13", "AWS_Lambda_python3.11"


def answer(body: str, **headers: str) -> dict[str, Any]:
    return {"statusCode": 200, "headers": headers, "body": body, "isBase64Encoded": False}


def body_of_size(size: int) -> str:
    """An answer's body with which the whole answer has this size."""
    frame = serialised_size(answer('"0"'))
    return json.dumps("0" * (size - frame + 1))  # `"0"` has one such digit


@pytest.mark.parametrize("environment", [NEWER, OLDER, None])
@given(text=st.text(st.characters(codec="utf-8")), raw=st.booleans())
def test_size_is_that_of_the_runtime_client(environment: str | None, text: str, raw: bool) -> None:
    marshaller = pytest.importorskip(
        "awslambdaric.lambda_runtime_marshaller", reason="awslambdaric is not installed here"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("AWS_EXECUTION_ENV", raising=False)
        if environment:
            patch.setenv("AWS_EXECUTION_ENV", environment)
        given_answer = answer(json.dumps({"é": text}, ensure_ascii=not raw), name=json.dumps(text))
        sent = importlib.import_module(marshaller.__name__).LambdaMarshaller().marshal_response(given_answer)
        assert serialised_size(given_answer) == len(sent[0].encode())


@pytest.mark.parametrize(
    ("environment", "size"), [("AWS_Lambda_python3.9", 6), ("AWS_Lambda_python3.14", 2), ("", 6), ("x", 6)]
)
def test_escapes_are_those_of_the_runtime(
    monkeypatch: pytest.MonkeyPatch, environment: str, size: int
) -> None:
    monkeypatch.setenv("AWS_EXECUTION_ENV", environment)
    assert serialised_size(answer("é")) - serialised_size(answer("")) == size


def test_the_largest_answer_passes() -> None:
    assert refusal_if_too_large(answer(body_of_size(MAX_ANSWER_BYTES))) is None


def test_a_larger_answer_is_refused_saying_by_how_much() -> None:
    large = answer(body_of_size(MAX_ANSWER_BYTES), **{"x-request-id": "abc"})
    excess = len('"x-request-id": "abc"')
    refusal = refusal_if_too_large(large)
    assert refusal is not None
    body = refusal["body"]
    message = (
        f"The answer takes {MAX_ANSWER_BYTES + excess} bytes, {excess} more than the {MAX_ANSWER_BYTES} that AWS "
        "Lambda returns. Send fewer prompts or a shorter one, or ask for less beside the token ids."
    )
    assert json.loads(body) == {
        "error": {"message": message, "type": "ResponseTooLargeError", "param": None, "code": 413}
    }
    assert refusal == {
        "statusCode": 413,
        "headers": {
            "content-length": str(len(body)),
            "content-type": "application/json",
            "x-request-id": "abc",
        },
        "body": body,
        "isBase64Encoded": False,
    }


def test_escapes_count() -> None:
    quotes = "[" + ",".join(['""'] * 1_000_000) + "]"
    assert len(quotes) < MAX_ANSWER_BYTES
    assert refusal_if_too_large(answer(json.dumps(quotes))) is not None
