"""Reading the body of a request: what it claims to be, and no more of it than allowed."""

from __future__ import annotations

import asyncio

from starlette.requests import ClientDisconnect, Request

from handlers.envelope import BodyTimeoutError, BodyTooLargeError
from render_core.errors import InvalidBodyError

IDLE_SECONDS = 60
"""How long a client may send nothing before its body is complete."""


async def read_json_body(request: Request, limit: int) -> bytes:
    """The body of a JSON request of at most `limit` bytes; no more than a network chunk above that is held.

    Raises InvalidBodyError for any content type but application/json (as vLLM does, with status 400),
    BodyTooLargeError as soon as the length is known to exceed the limit, BodyTimeoutError when nothing more comes,
    and ClientDisconnect.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0]
    if media_type.strip().lower() != "application/json":
        raise InvalidBodyError("The Content-Type of the request must be application/json")
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limit:
        raise _too_large(limit)
    body = bytearray()
    try:
        async with asyncio.timeout(IDLE_SECONDS) as patience:
            while True:
                message = await request.receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                body += message.get("body", b"")
                if len(body) > limit:
                    raise _too_large(limit)
                if not message.get("more_body", False):
                    return bytes(body)
                patience.reschedule(asyncio.get_running_loop().time() + IDLE_SECONDS)
    except TimeoutError:
        raise BodyTimeoutError(f"No more of the request body came for {IDLE_SECONDS} seconds") from None


def _too_large(limit: int) -> BodyTooLargeError:
    return BodyTooLargeError(f"The request body is larger than {limit} bytes")
