"""The OpenAI error envelope: the one place where a failure becomes an answer."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from render_core.errors import RenderError

logger = logging.getLogger(__name__)

_TYPES = {404: "NotFoundError", 405: "MethodNotAllowedError", 401: "AuthenticationError"}


class BodyTimeoutError(RenderError):
    """The client stopped sending before its request body was complete. The connection cannot be used again."""

    status = 408
    type = "RequestTimeoutError"


class BodyTooLargeError(RenderError):
    """The request body is longer than this deployment takes."""

    status = 413
    type = "RequestEntityTooLargeError"


def error_response(
    status: int, type: str, message: str, param: str | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """`{"error": {message, type, param, code}}`. Characters that UTF-8 cannot carry become question marks."""
    envelope = {"error": {"message": message, "type": type, "param": param, "code": status}}
    body = json.dumps(envelope, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")
    return Response(body, status, headers, media_type="application/json")


def unauthorized() -> Response:
    """401, naming the scheme that clients of OpenAI servers use."""
    message = (
        "An API key is required, as Authorization: Bearer KEY, as x-api-key: KEY or in Basic credentials, "
        "as user or password"
    )
    return error_response(401, _TYPES[401], message, headers={"WWW-Authenticate": "Bearer"})


def unexpected(error: Exception) -> Response:
    """500 for a failure nobody foresaw. The log says where; the texts of exceptions may hold a prompt."""
    logger.error("unexpected %s", _places(error))
    return error_response(500, "InternalServerError", "Internal server error")


def stopping() -> Response:
    """503 for a request that was still on its way when the server had to end."""
    return error_response(
        503, "ServiceUnavailableError", "The server is stopping", headers={"Connection": "close"}
    )


async def on_render_error(request: Request, error: Exception) -> Response:
    """The answer to a RenderError."""
    assert isinstance(error, RenderError)
    headers = {"Connection": "close"} if isinstance(error, BodyTimeoutError) else None
    return error_response(error.status, error.type, error.message, error.param, headers)


async def on_http_error(request: Request, error: Exception) -> Response:
    """The answer when no route matches, or none for this method (then with the Allow header)."""
    assert isinstance(error, HTTPException)
    phrase = HTTPStatus(error.status_code).phrase
    type_name = _TYPES.get(error.status_code, phrase.replace(" ", "") + "Error")
    return error_response(error.status_code, type_name, phrase, headers=error.headers)


async def on_client_disconnect(request: Request, error: Exception) -> Response:
    """The client left before its body was complete: nobody reads this answer."""
    return Response(status_code=HTTPStatus.BAD_REQUEST)


EXCEPTION_HANDLERS: dict[Any, Any] = {
    RenderError: on_render_error,
    HTTPException: on_http_error,
    ClientDisconnect: on_client_disconnect,
}


def _places(error: BaseException) -> str:
    """Exception types and their stacks, innermost cause last, without the texts of the exceptions."""
    frames = "".join(traceback.format_list(traceback.extract_tb(error.__traceback__)))
    cause = error.__cause__ or error.__context__
    return f"{type(error).__qualname__}\n{frames}" + (f"caused by {_places(cause)}" if cause else "")
