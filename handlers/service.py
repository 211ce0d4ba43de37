"""The ASGI application that the server and the Lambda entry run.

It has the routes and nothing else, so that a cold start need not wait for FastAPI, whose import takes longer than
loading a tokenizer and rendering a prompt. FastAPI is imported when the API's description is asked for, which is what
it is here for.
"""

from __future__ import annotations

import asyncio
import json
from functools import cache

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from handlers.envelope import EXCEPTION_HANDLERS
from handlers.exchange import Record, log_access
from handlers.routes import Workers, middleware, routes
from handlers.settings import Settings
from render_core import Model


def create_service(model: Model, settings: Settings, record: Record = log_access) -> Starlette:
    """The application that serves one model; it answers as `handlers.app.create_app` does, and starts sooner.

    Args:
        record: gets every request once it is answered.
    """
    workers = Workers(settings)

    @cache
    def description() -> bytes:
        from handlers.app import create_app

        return json.dumps(create_app(model, settings).openapi(), separators=(",", ":")).encode()

    async def openapi(request: Request) -> Response:
        return Response(await asyncio.to_thread(description), media_type="application/json")

    service = Starlette(
        routes=[*routes(model, settings, workers), Route("/openapi.json", openapi, methods=["GET"])],
        middleware=middleware(settings, record),
        exception_handlers=EXCEPTION_HANDLERS,
        lifespan=workers.lifespan,
    )
    service.router.redirect_slashes = False
    return service
