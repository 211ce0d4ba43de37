"""What every request gets, whatever answers it: an id, an access log line, a last resort, no body to HEAD."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from handlers.envelope import stopping, unexpected
from render_core.observation import Observation

access_logger = logging.getLogger("render_core.access")

_REQUEST_ID = re.compile(r"[\x20-\x7e]{1,256}")
_TRACE_PARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
_TRACE_STATE = re.compile(r"[\x20-\x7e]{1,512}")


@dataclass(frozen=True, slots=True)
class RequestIds:
    """The id that the client sent, if it is printable ASCII of at most 256 characters, and one of our own."""

    sent: str | None
    random: str

    @property
    def echoed(self) -> str:
        """The id that the answer carries."""
        return self.sent or self.random


@dataclass(frozen=True, slots=True)
class Exchanged:
    """One answered request, without a word of its text.

    Attributes:
        path: as the client sent it; nothing is known of it yet.
        seconds: from the first look at the request until its answer was sent.
        trace_parent, trace_state: W3C trace context headers, if they are well formed.
        observation: what the rendering took, if there was one.
    """

    method: str
    path: str
    status: int
    seconds: float
    ids: RequestIds
    trace_parent: str | None
    trace_state: str | None
    observation: Observation


Record = Callable[[Exchanged], None]


def log_access(exchanged: Exchanged) -> None:
    """The access log line of a server."""
    if not access_logger.isEnabledFor(logging.INFO):
        return
    access_logger.info(
        "%s %s %d %.1f ms id=%r%s",
        exchanged.method,
        quote(exchanged.path),
        exchanged.status,
        exchanged.seconds * 1000,
        exchanged.ids.echoed,
        f" traceparent={exchanged.trace_parent}" if exchanged.trace_parent else "",
    )


class Exchange:
    """ASGI middleware, outermost. It leaves `request_ids` and `observation` in the scope's state.

    `record` gets every request once it is answered.
    """

    def __init__(self, app: ASGIApp, echo_request_id: bool, record: Record = log_access) -> None:
        self._app = app
        self._echo_request_id = echo_request_id
        self._record = record

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        headers = Headers(scope=scope)
        ids = RequestIds(_well_formed(headers, "x-request-id", _REQUEST_ID), secrets.token_hex(8))
        observation = Observation(time.perf_counter)
        state = {**scope.get("state", {}), "request_ids": ids, "observation": observation}
        scope = {**scope, "state": state}
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
        except asyncio.CancelledError:  # the server stops, and no longer waits for this one
            if not status:
                await stopping()(scope, receive, answer)
        except Exception as error:  # noqa: BLE001 (the last resort)
            response = unexpected(error)
            if not status:
                await response(scope, receive, answer)
        self._record(
            Exchanged(
                method=scope["method"],
                path=scope["path"],
                status=status,
                seconds=time.perf_counter() - began,
                ids=ids,
                trace_parent=_well_formed(headers, "traceparent", _TRACE_PARENT),
                trace_state=_well_formed(headers, "tracestate", _TRACE_STATE),
                observation=observation,
            )
        )


def _well_formed(headers: Headers, name: str, form: re.Pattern[str]) -> str | None:
    value = headers.get(name, "")
    return value if form.fullmatch(value) else None
