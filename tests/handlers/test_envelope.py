"""Every failure is an OpenAI error envelope, and none repeats a prompt."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from handlers.envelope import error_response
from handlers.routes import RENDERINGS
from handlers.service import create_service
from handlers.settings import Settings
from render_core import Model
from render_core.errors import RenderError

PROMPT = "the user's secret prompt"
RENDER = "/v1/chat/completions/render"


@pytest.fixture
def call_failing_with(model: Model, calling: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    def call(error: Exception) -> Any:
        def fail(*_: Any) -> bytes:
            try:
                raise LookupError(PROMPT)
            except LookupError:
                raise error from None

        monkeypatch.setitem(RENDERINGS, RENDER, fail)
        return calling(create_service(model, Settings()))("POST", RENDER, json={"messages": PROMPT})

    return call


class TeapotError(RenderError):
    status = 418
    type = "TeapotError"


def test_render_error_becomes_its_envelope(call_failing_with: Any) -> None:
    response = call_failing_with(TeapotError("short and stout", "messages"))
    assert response.status_code == 418
    assert response.json() == {
        "error": {"message": "short and stout", "type": "TeapotError", "param": "messages", "code": 418}
    }


def test_unexpected_error_is_500_and_logged_without_its_text(
    call_failing_with: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        response = call_failing_with(KeyError(PROMPT))
    assert response.status_code == 500
    assert response.json() == {
        "error": {
            "message": "Internal server error",
            "type": "InternalServerError",
            "param": None,
            "code": 500,
        }
    }
    assert response.headers["x-request-id"]
    assert "unexpected KeyError" in caplog.text
    assert "test_envelope.py" in caplog.text
    assert PROMPT not in caplog.text


def test_unexpected_error_does_not_break_the_next_request(call_failing_with: Any, call: Any) -> None:
    assert call_failing_with(MemoryError()).status_code == 500
    assert call("GET", "/version").status_code == 200


@pytest.mark.parametrize("path", ["/", "/nope", "/v1/messages/render", "/v1/responses/render", "/docs"])
def test_unknown_path(call: Any, path: str) -> None:
    response = call("POST", path, json={"messages": []})
    assert response.status_code == 404
    assert response.json() == {
        "error": {"message": "Not Found", "type": "NotFoundError", "param": None, "code": 404}
    }


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", RENDER, "POST"),
        ("GET", "/v1/completions/render", "POST"),
        ("DELETE", "/tokenize", "POST"),
        ("POST", "/health", "GET, HEAD"),
        ("DELETE", "/ping", "GET, HEAD, POST"),
        ("POST", "/v1/models", "GET, HEAD"),
        ("OPTIONS", RENDER, "POST"),
    ],
)
def test_wrong_method_names_the_right_ones(call: Any, method: str, path: str, allowed: str) -> None:
    response = call(method, path)
    assert response.status_code == 405
    assert sorted(response.headers["allow"].split(", ")) == allowed.split(", ")
    assert response.json() == {
        "error": {
            "message": "Method Not Allowed",
            "type": "MethodNotAllowedError",
            "param": None,
            "code": 405,
        }
    }


@pytest.mark.parametrize(
    ("path", "status"), [("/nope", 404), (RENDER, 405), ("/v1/models", 200), ("/health", 200)]
)
def test_head_has_the_headers_and_no_body(call: Any, path: str, status: int) -> None:
    response = call("HEAD", path)
    assert (response.status_code, response.content) == (status, b"")
    assert response.headers["content-length"].isdecimal()


def test_characters_that_utf8_cannot_carry_are_replaced() -> None:
    body = bytes(error_response(400, "BadRequestError", "lone \ud800 surrogate, é").body)
    assert json.loads(body)["error"]["message"] == "lone ? surrogate, é"
