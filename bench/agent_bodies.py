"""Agent-style chat requests of a wanted prompt size, made from the interpreter's own source files.

Every body differs from every other, since repeated bodies measure caches. `growing` gives the turns of one
conversation instead: each request repeats the last one's messages and adds to them.
"""

from __future__ import annotations

import json
import random
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CHARACTERS_PER_TOKEN = 4.05
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "run",
            "description": "Runs a command and returns what it prints.",
            "parameters": {
                "type": "object",
                "properties": {
                    "command": {"type": "array", "items": {"type": "string"}},
                    "timeout_ms": {"type": "integer"},
                },
                "required": ["command"],
            },
        },
    }
]


def distinct(count: int, tokens: int, seed: int = 0) -> list[bytes]:
    """`count` unrelated conversations of about `tokens` prompt tokens each."""
    bodies = []
    for index in range(count):
        for messages in _turns(random.Random(seed * 100_003 + index), int(tokens * CHARACTERS_PER_TOKEN)):
            final = messages
        bodies.append(_body(final))
    return bodies


def growing(count: int, tokens: int, seed: int = 0) -> list[bytes]:
    """The last `count` turns of one conversation that ends at about `tokens` prompt tokens."""
    turns = [_body(m) for m in _turns(random.Random(seed), int(tokens * CHARACTERS_PER_TOKEN))]
    return turns[-count:]


def _body(messages: list[dict[str, Any]]) -> bytes:
    asked = [*messages, {"role": "user", "content": "Go on."}]
    request = {
        "messages": asked,
        "tools": TOOLS,
        "tool_choice": "none",
        "max_tokens": 512,
        "temperature": 0.2,
    }
    return json.dumps(request, ensure_ascii=False).encode()


def _turns(chance: random.Random, characters: int) -> Iterator[list[dict[str, Any]]]:
    """The message list after each tool result, until it holds about `characters`."""
    sources = _sources(chance)
    name, text = next(sources)
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": f"You maintain a program.\n{text[: min(5000, characters // 4)]}"},
        {"role": "user", "content": f"Explain {name}.\n{next(sources)[1][: min(2500, characters // 8)]}"},
    ]
    held = sum(len(message["content"]) for message in messages)
    number = 0
    while held < characters:
        name, text = next(sources)
        for start in range(0, min(len(text), 30_000), chance.choice((900, 2500, 6000))):
            if held >= characters:
                break
            number += 1
            shown = text[start : start + chance.choice((900, 2500, 6000))]
            arguments = json.dumps({"command": ["cut", f"-c{start}", name], "timeout_ms": 5000})
            call = {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": "run", "arguments": arguments},
            }
            messages += [
                {"role": "assistant", "content": f"Reading {name} at {start}.", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": f"call_{number}", "content": shown},
            ]
            held += len(shown) + 150
            yield messages


def _sources(chance: random.Random) -> Iterator[tuple[str, str]]:
    paths = sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py"))
    paths = [path for path in paths if "site-packages" not in path.parts and "test" not in path.parts]
    while True:
        chance.shuffle(paths)
        for path in paths:
            try:
                text = path.read_text()
            except (OSError, UnicodeDecodeError):
                continue
            if len(text) > 2000:
                yield path.name, text
