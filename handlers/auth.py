"""The API key check, in front of everything but the probes. It answers before the body is read."""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Iterable
from hashlib import sha256

from starlette.types import ASGIApp, Receive, Scope, Send

from handlers.envelope import unauthorized

OPEN_PATHS = frozenset({"/health", "/ping"})


class KeyCheck:
    """ASGI middleware: lets a request through that presents one of the keys, and answers 401 to any other."""

    def __init__(self, app: ASGIApp, keys: Iterable[str]) -> None:
        self._app = app
        self._digests = [sha256(key.encode()).digest() for key in keys]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in OPEN_PATHS and not self._admits(scope["headers"]):
            await unauthorized()(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _admits(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        match list(presented_keys(headers)):
            case [bytes(key)]:
                return self._knows(key)
            case _:
                return False

    def _knows(self, key: bytes) -> bool:
        digest = sha256(key).digest()
        # A sum, not any(): every key is compared, so the time does not tell which one matched.
        return sum(hmac.compare_digest(digest, known) for known in self._digests) > 0


def presented_keys(headers: Iterable[tuple[bytes, bytes]]) -> set[bytes | None]:
    """The different keys that a request presents, in any of the three ways.

    None stands for a Basic header that cannot be read, which fits no key; unknown schemes are passed over.
    """
    keys: set[bytes | None] = set()
    for name, value in headers:
        if name.lower() == b"x-api-key":
            keys.add(value.strip())
        elif name.lower() == b"authorization":
            scheme, _, credentials = value.strip().partition(b" ")
            if scheme.lower() == b"bearer":
                keys.add(credentials.strip())
            elif scheme.lower() == b"basic":
                keys.add(_basic_key(credentials.strip()))
    return keys - {b""}


def _basic_key(credentials: bytes) -> bytes | None:
    try:
        user, _, password = base64.b64decode(credentials, validate=True).partition(b":")
    except binascii.Error:
        return None
    return password or user
