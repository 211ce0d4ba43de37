"""One spelling of every request path, before anything looks at it. Clients are served, never redirected."""

from __future__ import annotations

import re

from starlette.types import ASGIApp, Receive, Scope, Send

_SLASHES = re.compile("/{2,}")


class PathNormaliser:
    """ASGI middleware: routes see the path that `normalised` gives."""

    def __init__(self, app: ASGIApp, prefix: str = "") -> None:
        self._app = app
        self._prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {**scope, "path": normalised(scope["path"], self._prefix)}
        await self._app(scope, receive, send)


def normalised(path: str, prefix: str = "") -> str:
    """The path with single slashes, without `prefix` (only whole segments) and without a slash at its end.

    llm-d's coordinator makes `/prod//v1/...` of an address that ends in a slash (router-clients.md, 8.7).
    """
    if path and not path.startswith("/"):
        return path
    path = _SLASHES.sub("/", path + "/")
    if prefix and path.startswith(prefix + "/"):
        path = path[len(prefix) :]
    return path.removesuffix("/") or "/"
