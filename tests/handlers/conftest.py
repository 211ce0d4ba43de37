"""The demo model behind the HTTP application, and a way to call an application without a socket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from handlers.app import create_app
from handlers.settings import Settings
from render_core import Model, load_model

Call = Callable[..., httpx.Response]


@pytest.fixture(scope="session")
def model() -> Model:
    return load_model(None, Settings(served_model_name=("demo", "alias")).model_options())


@pytest.fixture(scope="session")
def calling() -> Callable[[FastAPI], Call]:
    """Gives a function (method, path, **httpx arguments) -> response for an application."""

    def of(app: FastAPI) -> Call:
        async def exchange(method: str, path: str, given: dict[str, Any]) -> httpx.Response:
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
                return await client.request(method, path, **given)

        return lambda method, path, **given: asyncio.run(exchange(method, path, given))

    return of


@pytest.fixture(scope="session")
def call(model: Model, calling: Callable[[FastAPI], Call]) -> Call:
    """Calls the application with default settings."""
    return calling(create_app(model, Settings()))
