"""The FastAPI application: the routes with their description, for mounting and for /openapi.json."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from pydantic.json_schema import models_json_schema

from handlers.envelope import EXCEPTION_HANDLERS
from handlers.exchange import Record, log_access
from handlers.routes import Workers, middleware, routes
from handlers.settings import Settings
from render_core import Model
from render_core.protocol.chat import ChatRequest
from render_core.protocol.completion import CompletionRequest
from render_core.protocol.tokenize import DetokenizeRequest, TokenizeChatRequest, TokenizeTextRequest
from render_core.protocol.wire import WireModel
from render_core.version import __version__

_OPERATIONS: dict[str, tuple[str, str, tuple[type[WireModel], ...]]] = {
    "/v1/chat/completions/render": ("post", "Render a chat: one GenerateRequest", (ChatRequest,)),
    "/v1/completions/render": (
        "post",
        "Render a completion: a list of GenerateRequests, one a prompt, in order",
        (CompletionRequest,),
    ),
    "/tokenize": ("post", "Token ids of a text or a chat", (TokenizeTextRequest, TokenizeChatRequest)),
    "/detokenize": ("post", "Text of token ids", (DetokenizeRequest,)),
    "/health": ("get", "Whether the service answers", ()),
    "/ping": ("get", "Whether the service answers", ()),
    "/v1/models": ("get", "The served names and the context length", ()),
    "/version": ("get", "The package's version", ()),
}


def create_app(model: Model, settings: Settings, record: Record = log_access) -> FastAPI:
    """The application that serves one model, with its API's description at /openapi.json.

    Args:
        record: gets every request once it is answered.
    """
    workers = Workers(settings)
    app = FastAPI(
        title="render-core",
        version=__version__,
        description="The token ids and sampling parameters that vLLM would compute, without an engine.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
        lifespan=workers.lifespan,
        middleware=middleware(settings, record),
        exception_handlers=EXCEPTION_HANDLERS,
    )
    app.router.routes += routes(model, settings, workers)
    described = app.openapi

    def openapi() -> dict[str, Any]:
        return described() | _paths_and_components()

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's own way to extend the description
    return app


def _paths_and_components() -> dict[str, Any]:
    schemas, definitions = models_json_schema(
        [(request, "validation") for _, _, requests in _OPERATIONS.values() for request in requests],
        ref_template="#/components/schemas/{model}",
    )
    paths = {}
    for path, (method, summary, requests) in _OPERATIONS.items():
        operation: dict[str, Any] = {"summary": summary, "responses": {"200": {"description": "Success"}}}
        if requests:
            alternatives = [schemas[request, "validation"] for request in requests]
            content = {"application/json": {"schema": {"anyOf": alternatives}}}
            operation["requestBody"] = {"required": True, "content": content}
        paths[path] = {method: operation}
    return {"paths": paths, "components": {"schemas": definitions["$defs"]}}
