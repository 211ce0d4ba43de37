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
        # A sum, not any(): every key is compared, so the time does not tell which one matched.
        return sum([self._knows(key) for key in presented_keys(headers)]) > 0

    def _knows(self, key: bytes) -> bool:
        digest = sha256(key).digest()
        return sum(hmac.compare_digest(digest, known) for known in self._digests) > 0


def presented_keys(headers: Iterable[tuple[bytes, bytes]]) -> frozenset[bytes]:
    """The keys that a request may mean: those that fit every header in which it presents one.

    Two headers with different keys contradict each other and leave none. Basic userinfo holds the key as user
    (`https://KEY:x@host`, router-clients.md 8.1) or as password; if it cannot be read, no key fits it. Unknown schemes
    are passed over.
    """
    presented: list[frozenset[bytes]] = []
    for name, value in headers:
        if name.lower() == b"x-api-key":
            presented.append(frozenset({value.strip()}))
        elif name.lower() == b"authorization":
            scheme, _, credentials = value.strip().partition(b" ")
            if scheme.lower() == b"bearer":
                presented.append(frozenset({credentials.strip()}))
            elif scheme.lower() == b"basic":
                presented.append(_basic_keys(credentials.strip()))
    meant = [keys for keys in presented if keys != {b""}]
    return meant[0].intersection(*meant[1:]) - {b""} if meant else frozenset()


def _basic_keys(credentials: bytes) -> frozenset[bytes]:
    try:
        user, _, password = base64.b64decode(credentials, validate=True).partition(b":")
    except binascii.Error:
        return frozenset()
    return frozenset({user, password})
