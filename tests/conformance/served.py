"""A model under given flags, served in process: requests go through the whole HTTP app without a socket."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpx

from handlers.service import create_service
from handlers.settings import Settings
from render_core import load_model

BASE_URL = "http://in-process"


class InProcess:
    """A client of one app. Use as the httpx client it wraps; one event loop serves all its requests."""

    def __init__(self, app: Any) -> None:
        self._runner = asyncio.Runner()
        self._client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=BASE_URL)

    def request(self, method: str, path: str, **parts: Any) -> httpx.Response:
        return self._runner.run(self._client.request(method, path, **parts))

    def post(self, path: str, body: bytes, headers: dict[str, str] | None = None) -> httpx.Response:
        """POST a body as it is. An empty Content-Type header means: none is sent."""
        sent = {"content-type": "application/json"} | {k.lower(): v for k, v in (headers or {}).items()}
        if not sent["content-type"]:
            del sent["content-type"]
        return self.request("POST", path, content=body, headers=sent)

    def close(self) -> None:
        self._runner.run(self._client.aclose())
        self._runner.close()


@contextmanager
def served(model: str | None, flags: Sequence[str] = (), clock: str | None = None) -> Iterator[InProcess]:
    """Serve a model directory under command line flags."""
    arguments = ([] if model is None else [model]) + list(flags) + (["--clock", clock] if clock else [])
    settings = Settings.from_args(arguments)
    client = InProcess(create_service(load_model(settings.model, settings.model_options()), settings))
    try:
        yield client
    finally:
        client.close()
