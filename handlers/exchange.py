"""What every request gets, whatever answers it: an id, an access log line, a last resort, no body to HEAD."""

from __future__ import annotations

import logging
import re
import secrets
import time
from dataclasses import dataclass
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from handlers.envelope import unexpected

access_logger = logging.getLogger("render_core.access")

_REQUEST_ID = re.compile(r"[\x20-\x7e]{1,256}")
_TRACE_PARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")


@dataclass(frozen=True, slots=True)
class RequestIds:
    """The id that the client sent, if it is printable ASCII of at most 256 characters, and one of our own."""

    sent: str | None
    random: str

    @property
    def echoed(self) -> str:
        """The id that the answer carries."""
        return self.sent or self.random


class Exchange:
    """ASGI middleware, outermost. It leaves `RequestIds` in the scope's state under `request_ids`."""

    def __init__(self, app: ASGIApp, echo_request_id: bool) -> None:
        self._app = app
        self._echo_request_id = echo_request_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        headers = Headers(scope=scope)
        ids = RequestIds(_sent_id(headers), secrets.token_hex(8))
        scope = {**scope, "state": {**scope.get("state", {}), "request_ids": ids}}
        status = 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if self._echo_request_id:
                    MutableHeaders(raw=message.setdefault("headers", []))["x-request-id"] = ids.echoed
            elif scope["method"] == "HEAD":
                message = {**message, "body": b""}
            await send(message)

        try:
            await self._app(scope, receive, answer)
        except Exception as error:  # noqa: BLE001 (the last resort)
            response = unexpected(error)
            if not status:
                await response(scope, receive, answer)
        _log_access(scope, headers, status, time.perf_counter() - began, ids)


def _sent_id(headers: Headers) -> str | None:
    sent = headers.get("x-request-id", "")
    return sent if _REQUEST_ID.fullmatch(sent) else None


def _log_access(scope: Scope, headers: Headers, status: int, seconds: float, ids: RequestIds) -> None:
    if not access_logger.isEnabledFor(logging.INFO):
        return
    trace = headers.get("traceparent", "")
    access_logger.info(
        "%s %s %d %.1f ms id=%r%s",
        scope["method"],
        quote(scope["path"]),
        status,
        seconds * 1000,
        ids.echoed,
        f" traceparent={trace}" if _TRACE_PARENT.fullmatch(trace) else "",
    )
