#!/usr/bin/env python3
"""What a chat template costs: plain Jinja, Jinja's sandbox as transformers uses it, and the metered sandbox.

    bench/template_cost.py MODEL_DIRECTORY... --tokens 72000

Renders the models' own templates on long agent conversations, the three in turn, and prints the fastest CPU time of
each as a Markdown table; the ratio is to transformers' sandbox. All three must give the same text.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import Environment
from jinja2.sandbox import ImmutableSandboxedEnvironment

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import agent_bodies

from render_core.conversation.messages import template_messages
from render_core.model.files import read_model_files
from render_core.template.budget import TemplateBudget
from render_core.template.compiled import CompiledTemplate, compile_template
from tests.template.reference import reference_environment

Render = Callable[[dict[str, Any]], str]


def renderers(source: str) -> tuple[Render, Render, Render]:
    """The three, in the order of the table's columns."""
    plain = reference_environment(Environment).from_string(source)
    sandboxed = reference_environment(ImmutableSandboxedEnvironment).from_string(source)
    metered = compile_template(source)
    now, budget = datetime.datetime.now(), TemplateBudget()
    return plain.render, sandboxed.render, lambda variables: metered.render(variables, now=now, budget=budget)


def conversations(template: CompiledTemplate, count: int, tokens: int) -> list[dict[str, Any]]:
    """Variables of agent conversations: tool-call arguments parsed, content as the template wants it."""
    requests = map(json.loads, agent_bodies.distinct(count, tokens))
    return [
        {
            "messages": template_messages(request["messages"], template.content_format, "bench"),
            "tools": request["tools"],
            "documents": None,
            "add_generation_prompt": True,
            "bos_token": "<s>",
            "eos_token": "</s>",
        }
        for request in requests
    ]


def fastest(renders: tuple[Render, ...], variables: list[dict[str, Any]], rounds: int) -> list[float]:
    """The least CPU seconds each took for all conversations, over alternating rounds."""
    best = [float("inf")] * len(renders)
    for _ in range(rounds):
        for index, render in enumerate(renders):
            started = time.thread_time()
            for conversation in variables:
                render(conversation)
            best[index] = min(best[index], time.thread_time() - started)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--tokens", type=int, default=72_000)
    parser.add_argument("--conversations", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()

    print("| model | characters | plain, ms | sandbox, ms | metered, ms | metered to sandbox |")
    print("|---|---|---|---|---|---|")
    for root in options.models:
        source = read_model_files(root).templates["default"]
        renders = renderers(source)
        variables = conversations(compile_template(source), options.conversations, options.tokens)
        texts = [[render(conversation) for conversation in variables] for render in renders]
        if not texts[0] == texts[1] == texts[2]:
            raise SystemExit(f"{root.name}: the texts differ")
        times = fastest(renders, variables, options.rounds)
        characters = sum(map(len, texts[0])) // len(variables)
        columns = " | ".join(f"{1000 * seconds / len(variables):.2f}" for seconds in times)
        print(f"| {root.name} | {characters} | {columns} | {times[2] / times[1]:.2f} |")


if __name__ == "__main__":
    main()
