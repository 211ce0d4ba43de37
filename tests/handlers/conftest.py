"""The demo model behind the HTTP application, and a way to call an application without a socket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from handlers.app import create_app
from handlers.service import create_service
from handlers.settings import Settings
from render_core import Model, load_model

Call = Callable[..., httpx.Response]


@pytest.fixture(scope="session")
def model() -> Model:
    return load_model(None, Settings(served_model_name=("demo", "alias")).model_options())


@pytest.fixture(scope="session")
def calling() -> Callable[[Starlette], Call]:
    """Gives a function (method, path, **httpx arguments) -> response for an application."""

    def of(app: Starlette) -> Call:
        async def exchange(method: str, path: str, given: dict[str, Any]) -> httpx.Response:
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
                return await client.request(method, path, **given)

        return lambda method, path, **given: asyncio.run(exchange(method, path, given))

    return of


@pytest.fixture(scope="session", params=[create_service, create_app], ids=["service", "app"])
def call(request: pytest.FixtureRequest, model: Model, calling: Callable[[Starlette], Call]) -> Call:
    """Calls either application with default settings: what is served, and what can be mounted, answer alike."""
    return calling(request.param(model, Settings()))
