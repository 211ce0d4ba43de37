#!/usr/bin/env python3
"""Where a render's time goes, by stage and prompt size.

    bench/stages.py BUNDLE --tokens 2000 72000 182000 [--plot FILE.svg]

Renders distinct agent conversations in this process and clocks the stations of render_core.render on the way; then
sends them through the ASGI application with their answers at hand, which is the stage "application". Prints
milliseconds of CPU time a request as a Markdown table, and draws the shares as a stacked bar chart.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import agent_bodies

import render_core.conversation.conversation as conversation_module
import render_core.render as render_module
from handlers.routes import RENDERINGS
from handlers.service import create_service
from handlers.settings import Settings
from render_core import RequestContext, load_model
from render_core.conversation.conversation import Conversation
from render_core.protocol.chat import ChatRequest
from render_core.tokenizer.cascade import CascadeEngine

PATH = "/v1/chat/completions/render"
STAGES = (
    "read JSON",
    "validate",
    "messages",
    "template",
    "tokenize",
    "write JSON",
    "the rest of rendering",
    "application",
)
COLOURS = ("#4c78a8", "#72b7b2", "#54a24b", "#eeca3b", "#e45756", "#b279a2", "#9d755d", "#bab0ac")


class Clock:
    """CPU seconds by stage. What a stage calls of another is counted for the other alone."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(STAGES, 0.0)
        self._inner = 0.0

    def timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            outer, self._inner = self._inner, 0.0
            began = time.thread_time()
            try:
                return function(*arguments, **named)
            finally:
                whole = time.thread_time() - began
                self.seconds[stage] += whole - self._inner
                self._inner = outer + whole

        return call


def instrument(clock: Clock) -> None:
    render_module.decode_body = clock.timed("read JSON", render_module.decode_body)
    ChatRequest.parse = clock.timed("validate", ChatRequest.parse)  # type: ignore[method-assign]
    conversation_module.template_messages = clock.timed("messages", conversation_module.template_messages)
    Conversation.render = clock.timed("template", Conversation.render)  # type: ignore[method-assign]
    render_module.encode_text = clock.timed("tokenize", render_module.encode_text)
    render_module.encode_answer = clock.timed("write JSON", render_module.encode_answer)


async def post(application: Any, body: bytes) -> int:
    """One request through the ASGI application, its body in one piece. Returns the status."""
    status = 0
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        if not messages:
            await asyncio.Event().wait()  # the client stays
        return messages.pop()

    async def send(message: dict[str, Any]) -> None:
        nonlocal status
        status = message.get("status", status)

    scope = {
        "type": "http",
        "method": "POST",
        "path": PATH,
        "query_string": b"",
        "headers": [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())],
    }
    await application(scope, receive, send)
    return status


def measured(source: str, tokens: int, count: int) -> dict[str, float]:
    """Milliseconds a request by stage."""
    settings = Settings(model=source)
    model = load_model(source, settings.model_options())
    if isinstance(model.tokenizer.engine, CascadeEngine):
        model.load_hot_tokenizer(wait=True)
    bodies = agent_bodies.distinct(count + 2, tokens)
    context = RequestContext(header_request_id=None, random_id="0" * 16, now=datetime.datetime.now())
    render = render_module.render_chat
    for body in bodies[:2]:
        render(model, body, context)
    clock = Clock()
    instrument(clock)
    timed = clock.timed("the rest of rendering", render)
    answers = {body: timed(model, body, context) for body in bodies[2:]}
    rendering = dict(clock.seconds)
    RENDERINGS[PATH] = lambda _, body, __: answers[body]
    application = create_service(model, settings)

    async def through_the_application() -> float:
        began = time.process_time()
        for body in answers:
            assert await post(application, body) == 200
        return time.process_time() - began

    rendering["application"] = asyncio.run(through_the_application())
    return {stage: seconds / count * 1000 for stage, seconds in rendering.items()}


def plot(columns: dict[int, dict[str, float]]) -> str:
    """Stacked bars, each as high as the others: shares of the time, as SVG."""
    width, height, left, gap = 120, 300, 40, 60
    parts = []
    for index, (tokens, stages) in enumerate(columns.items()):
        x, top, whole = left + index * (width + gap), 30.0, sum(stages.values())
        parts.append(
            f'<text x="{x + width / 2}" y="20" text-anchor="middle">{tokens:,} tokens, {whole:.1f} ms</text>'
        )
        for stage, colour in zip(STAGES, COLOURS, strict=True):
            share = stages[stage] / whole
            parts.append(
                f'<rect x="{x}" y="{top:.1f}" width="{width}" height="{share * height:.1f}" fill="{colour}"/>'
            )
            if share > 0.05:
                parts.append(
                    f'<text x="{x + width / 2}" y="{top + share * height / 2 + 4:.1f}" text-anchor="middle">'
                    f"{share:.0%}</text>"
                )
            top += share * height
    x = left + len(columns) * (width + gap)
    for index, (stage, colour) in enumerate(zip(STAGES, COLOURS, strict=True)):
        y = 60 + index * 24
        parts.append(f'<rect x="{x}" y="{y - 12}" width="14" height="14" fill="{colour}"/>')
        parts.append(f'<text x="{x + 22}" y="{y}">{stage}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{x + 200}" height="{height + 50}" '
        f'font-family="sans-serif" font-size="13">' + "".join(parts) + "</svg>\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source")
    parser.add_argument("--tokens", type=int, nargs="+", default=[2000, 72_000, 182_000])
    parser.add_argument("--requests", type=int, default=6)
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    columns = {}
    for tokens in given.tokens:  # a process each: the clocks stay in the modules
        count = given.requests if tokens > 10_000 else given.requests * 10
        columns[tokens] = _in_a_process(given.source, tokens, count)
    print("| stage, ms | " + " | ".join(f"{tokens:,} tokens" for tokens in columns) + " |")
    print("|---|" + "---|" * len(columns))
    for stage in STAGES:
        print(f"| {stage} | " + " | ".join(f"{stages[stage]:.2f}" for stages in columns.values()) + " |")
    print("| all | " + " | ".join(f"{sum(stages.values()):.2f}" for stages in columns.values()) + " |")
    if given.plot:
        given.plot.write_text(plot(columns), encoding="utf-8")


def _in_a_process(source: str, tokens: int, count: int) -> dict[str, float]:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measured, source, tokens, count).result()


if __name__ == "__main__":
    main()
