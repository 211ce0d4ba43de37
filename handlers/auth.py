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
        presented = presented_keys(headers)
        if len(presented) != 1:
            return False
        digest = sha256(presented.pop()).digest()
        # A sum, not any(): every key is compared, so the time does not tell which one matched.
        return sum(hmac.compare_digest(digest, known) for known in self._digests) > 0


def presented_keys(headers: Iterable[tuple[bytes, bytes]]) -> set[bytes]:
    """The different keys that a request presents, in any of the three ways.

    A Basic header that cannot be read counts as a key that fits nothing; unknown schemes count as no key.
    """
    keys = set()
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


def _basic_key(credentials: bytes) -> bytes:
    try:
        user, _, password = base64.b64decode(credentials, validate=True).partition(b":")
    except binascii.Error:
        return credentials
    return password or user
