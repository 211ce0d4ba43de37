"""Requests that are wrong by their size alone: too deep, too long, too many of something.

Bodies are made when they are asked for; some have 50 MB.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from tests.hostile.good_requests import (
    CHAT,
    COMPLETION,
    DETOKENIZE,
    SECRET,
    TOKENIZE,
    chat_of,
    text_body,
    user_message,
)

MANY: Final = 1_000_000
DEEP: Final = 10_000
HUGE_TEXT: Final = 50_000_000
KINDS: Final = ("lists", "objects", "both")
LIMIT: Final = 64 * 1024**2
"""The default of --max-body-size."""

Oversized = tuple[str, str, Callable[[], bytes]]
"""What is wrong in words, the route, and what makes the body."""


def nested(depth: int, kind: str) -> str:
    """JSON text of lists in lists, objects in objects, or both in turn, with SECRET in the middle."""
    opening, closing = {"lists": ("[", "]"), "objects": ('{"a":', "}"), "both": ('[{"a":', "}]")}[kind]
    return opening * depth + json.dumps(SECRET) + closing * depth


# Where nesting may stand: a body with one place for a JSON value, and the route that reads it.
NESTING_PLACES: Final[dict[str, tuple[str, str]]] = {
    "body": (CHAT, "%s"),
    "completion body": (COMPLETION, "%s"),
    "tokenize body": (TOKENIZE, "%s"),
    "detokenize body": (DETOKENIZE, "%s"),
    "prompt": (COMPLETION, '{"prompt": %s}'),
    "tokenize prompt": (TOKENIZE, '{"prompt": %s}'),
    "tokens": (DETOKENIZE, '{"tokens": %s}'),
    "messages": (CHAT, '{"messages": [%s]}'),
    "message content": (CHAT, '{"messages": [{"role": "user", "content": [%s]}]}'),
    "part text": (CHAT, '{"messages": [{"role": "user", "content": [{"type": "text", "text": %s}]}]}'),
    "unknown field": (CHAT, '{"messages": [{"role": "user", "content": "hi"}], "unknown": %s}'),
    "kv_transfer_params": (COMPLETION, '{"prompt": "hi", "kv_transfer_params": {"a": %s}}'),
    "tool parameters": (
        CHAT,
        '{"messages": [{"role": "user", "content": "hi"}], "tool_choice": "none", "tools": '
        '[{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "p": %s}}}]}',
    ),
    "tokenize tool parameters": (
        TOKENIZE,
        '{"messages": [{"role": "user", "content": "hi"}], "tools": '
        '[{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "p": %s}}}]}',
    ),
    "chat_template_kwargs": (
        CHAT,
        '{"messages": [{"role": "user", "content": "hi"}], "chat_template_kwargs": {"a": %s}}',
    ),
    "json schema": (COMPLETION, '{"prompt": "hi", "structured_outputs": {"json": {"a": %s}}}'),
    "structural tag": (
        COMPLETION,
        '{"prompt": "hi", "response_format": {"type": "structural_tag", "format": %s}}',
    ),
}


def nested_arguments(depth: int, kind: str) -> bytes:
    """A chat whose assistant called a tool with arguments (JSON in a string) that nest `depth` deep."""
    call = {
        "id": "1",
        "type": "function",
        "function": {"name": "f", "arguments": f'{{"a": {nested(depth, kind)}}}'},
    }
    return chat_of({"role": "user", "content": SECRET}, {"role": "assistant", "tool_calls": [call]})


def too_deep() -> Iterator[Oversized]:
    """Nesting that no reader of JSON has to bear, everywhere it may stand."""
    for place, (path, body) in NESTING_PLACES.items():
        for kind in KINDS:
            yield f"{DEEP} {kind} in {place}", path, partial(_filled, body, nested(DEEP, kind))
        yield f"{DEEP} lists never closed in {place}", path, partial(_filled, body, "[" * DEEP)
    for kind in KINDS:
        yield f"{DEEP} {kind} in tool call arguments", CHAT, partial(nested_arguments, DEEP, kind)


def _filled(body: str, value: str) -> bytes:
    return (body % value).encode()


def too_large() -> Iterator[Oversized]:
    """More of something than a model can read: long texts, many messages, many ids, many errors."""
    text = SECRET.encode()
    long_text = b'"%b %b"'

    def words() -> bytes:
        return b"lorem ipsum " * (HUGE_TEXT // 12)

    def ids(last: bytes) -> bytes:
        return b"[" + b"17," * MANY + last + b"]"

    large: dict[str, tuple[str, Callable[[], bytes]]] = {
        "text of 50 MB": (COMPLETION, lambda: b'{"prompt": %b}' % (long_text % (text, words()))),
        "message of 50 MB": (CHAT, lambda: text_body("content", long_text % (text, words()))),
        "text of 1 MB that is never cut": (
            COMPLETION,
            lambda: b'{"prompt": %b}' % (long_text % (text, b"\\u0041" * 1_000_000)),
        ),
        "100,000 messages": (CHAT, lambda: chat_of(*[{"role": "user", "content": SECRET}] * 100_000)),
        "100,000 messages of which the last has no role": (
            CHAT,
            lambda: chat_of(*[{"role": "user", "content": SECRET}] * 100_000, {"content": SECRET}),
        ),
        "a million ids": (COMPLETION, lambda: b'{"user": "%b", "prompt": %b}' % (text, ids(b"17"))),
        "a million ids, the last of them negative": (
            COMPLETION,
            lambda: b'{"user": "%b", "prompt": %b}' % (text, ids(b"-1")),
        ),
        "a million ids, the last of them text": (
            COMPLETION,
            lambda: b'{"user": "%b", "prompt": %b}' % (text, ids(b'"%b"' % text)),
        ),
        "200,000 prompts": (COMPLETION, lambda: b'{"prompt": [%b"a"]}' % (b'"%b",' % text * 200_000)),
        "a million nulls as prompt": (
            COMPLETION,
            lambda: b'{"user": "%b", "prompt": [%bnull]}' % (text, b"null," * MANY),
        ),
        "a million ids to detokenize, the last of them negative": (
            DETOKENIZE,
            lambda: b'{"note": "%b", "tokens": %b}' % (text, ids(b"-1")),
        ),
        "a million nulls to detokenize": (
            DETOKENIZE,
            lambda: b'{"note": "%b", "tokens": [%bnull]}' % (text, b"null," * MANY),
        ),
        "a million wrong documents": (
            CHAT,
            lambda: b'{"messages": [%b], "documents": [%b1]}' % (user_message().encode(), b"1," * MANY),
        ),
        "a million wrong tools": (
            CHAT,
            lambda: (
                b'{"messages": [%b], "tool_choice": "none", "tools": [%b1]}'
                % (user_message().encode(), b"1," * MANY)
            ),
        ),
        "200,000 wrong members": (
            COMPLETION,
            lambda: (
                b'{"prompt": "%b", "logit_bias": {%b}}'
                % (text, b",".join(b'"%d":"x"' % number for number in range(200_000)))
            ),
        ),
        "a million stops": (
            COMPLETION,
            lambda: b'{"prompt": "%b", "stop": [%b"a"]}' % (text, b'"a",' * MANY),
        ),
    }
    for name, (path, make_body) in large.items():
        yield name, path, make_body
    for path in (CHAT, COMPLETION, TOKENIZE, DETOKENIZE):
        yield f"{path} body of 64 MiB and one byte", path, lambda: (b'{"prompt": "%b' % text).ljust(LIMIT + 1)
