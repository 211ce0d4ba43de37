"""Which path does what, and what stands in front of all of them. Each route parses nothing, calls the core, answers.

Built on Starlette alone: a cold start answers from here before it could have imported FastAPI.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from handlers.auth import KeyCheck
from handlers.exchange import Exchange, Record, RequestIds
from handlers.paths import PathNormaliser
from handlers.request_body import read_json_body
from handlers.settings import Settings
from render_core import Model, RequestContext
from render_core.errors import RenderError
from render_core.render import detokenize, render_chat, render_completion, tokenize
from render_core.tokenizer.quick import NotQuickError
from render_core.version import __version__

Endpoint = Callable[[Request], Awaitable[Response]]
Rendering = Callable[[Model, bytes, RequestContext], bytes]

AT_ONCE_BYTES = 16 * 1024
"""Bodies of up to some 4,000 tokens."""

RENDERINGS: dict[str, Rendering] = {
    "/v1/chat/completions/render": render_chat,
    "/v1/completions/render": render_completion,
    "/tokenize": tokenize,
    "/detokenize": detokenize,
}


class Workers:
    """The threads that render. Closed with the server; a later use starts new ones."""

    def __init__(self, settings: Settings) -> None:
        self._number = settings.renderer_num_workers or os.cpu_count() or 1
        self._executor: ThreadPoolExecutor | None = None

    def start(
        self, render: Rendering, model: Model, body: bytes, context: RequestContext
    ) -> asyncio.Future[bytes]:
        """What `render` returns or raises, from a thread, once one is free. Can be cancelled until then."""
        if self._executor is None:
            self._executor = ThreadPoolExecutor(self._number, thread_name_prefix="render")
        return asyncio.get_running_loop().run_in_executor(self._executor, render, model, body, context)

    def close(self) -> None:
        """Lets running work end by itself and drops what has not begun."""
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)
            self._executor = None

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """For the application: closes the workers when it ends."""
        yield
        self.close()


def routes(model: Model, settings: Settings, workers: Workers) -> list[Route]:
    """Every route that renders or tells about the model."""
    return [
        *(
            Route(path, _rendering(render, model, settings, workers), methods=["POST"])
            for path, render in RENDERINGS.items()
        ),
        Route("/health", _empty, methods=["GET"]),
        Route("/ping", _empty, methods=["GET", "POST"]),
        Route("/v1/models", _models(model), methods=["GET"]),
        Route("/version", _version, methods=["GET"]),
    ]


def middleware(settings: Settings, record: Record) -> list[Middleware]:
    """Outermost first."""
    chain = [
        Middleware(Exchange, echo_request_id=settings.enable_request_id_headers, record=record),
        Middleware(PathNormaliser, prefix=settings.root_path),
    ]
    if settings.api_key:
        chain.append(Middleware(KeyCheck, keys=settings.api_key))
    if settings.compression:
        chain.append(Middleware(GZipMiddleware, minimum_size=1024, compresslevel=1))
    return chain


def _rendering(render: Rendering, model: Model, settings: Settings, workers: Workers) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        body = await read_json_body(request, settings.max_body_size)
        ids: RequestIds = request.state.request_ids
        context = RequestContext(
            header_request_id=ids.sent,
            random_id=ids.random,
            now=settings.clock(),
            observation=request.state.observation,
        )
        answer = _at_once(render, model, body, context)
        if answer is None:
            answer = await _unless_client_leaves(request, workers.start(render, model, body, context))
        return Response(answer, media_type="application/json")

    return endpoint


async def _unless_client_leaves(request: Request, rendering: asyncio.Future[bytes]) -> bytes:
    """The rendered answer. Nobody's requests must not keep others waiting: one that has not begun is dropped.

    Raises ClientDisconnect, and what the rendering raises.
    """
    leaving = asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait((rendering, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not rendering.done():
            raise ClientDisconnect
        return rendering.result()
    finally:
        rendering.cancel()
        leaving.cancel()


def _at_once(render: Rendering, model: Model, body: bytes, context: RequestContext) -> bytes | None:
    """The answer to a small request, here on the event loop: handing it to a thread takes longer than rendering it.

    None when it is not small, needs something that takes long, or is wrong: a thread then does it from the beginning.
    """
    if model.quick is None or len(body) > AT_ONCE_BYTES:
        return None
    try:
        return render(model.quick, body, context)
    except (NotQuickError, RenderError):
        return None


async def _empty(request: Request) -> Response:
    return Response()


async def _version(request: Request) -> Response:
    return _json({"version": __version__})


def _models(model: Model) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        return _json({"object": "list", "data": [_card(name, model) for name in model.served_names]})

    return endpoint


def _card(name: str, model: Model) -> dict[str, Any]:
    """A model card as the Python renderer of vLLM 0.33 gives it (render-behaviour.md, 1.3)."""
    created = int(time.time())
    permission = {
        "id": f"modelperm-{secrets.token_hex(8)}",
        "object": "model_permission",
        "created": created,
        "allow_create_engine": False,
        "allow_sampling": True,
        "allow_logprobs": True,
        "allow_search_indices": False,
        "allow_view": True,
        "allow_fine_tuning": False,
        "organization": "*",
        "group": None,
        "is_blocking": False,
    }
    return {
        "id": name,
        "object": "model",
        "created": created,
        "owned_by": "vllm",
        "root": model.root,
        "parent": None,
        "max_model_len": model.max_model_len,
        "permission": [permission],
    }


def _json(answer: dict[str, Any]) -> Response:
    body = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    return Response(body, media_type="application/json")
