"""Mistral's turns as texts and special tokens, release by release (mistral-common 1.13)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

from render_core.errors import RenderError
from render_core.families.encoders.mistral_messages import Call, Chunk, MistralMessage, Thought
from render_core.families.encoders.mistral_rules import Release
from render_core.families.encoders.reading import json_text

_MESSAGE_SEPARATOR: Final = "\n\n"


@dataclass(frozen=True, slots=True)
class Special:
    """A special token."""

    token: str


# A text is tokenized on its own.
Piece = str | Special

BOS, EOS = Special("<s>"), Special("</s>")
_INST, _INST_END = Special("[INST]"), Special("[/INST]")
_TOOLS, _TOOLS_END = Special("[AVAILABLE_TOOLS]"), Special("[/AVAILABLE_TOOLS]")
_RESULT, _RESULT_END = Special("[TOOL_RESULTS]"), Special("[/TOOL_RESULTS]")
_CALLS = Special("[TOOL_CALLS]")
_SYSTEM, _SYSTEM_END = Special("[SYSTEM_PROMPT]"), Special("[/SYSTEM_PROMPT]")
_RESULT_CONTENT = Special("[TOOL_CONTENT]")
_ARGUMENTS, _CALL_ID = Special("[ARGS]"), Special("[CALL_ID]")
_THINK, _THINK_END = Special("[THINK]"), Special("[/THINK]")
_SETTINGS, _SETTINGS_END = Special("[MODEL_SETTINGS]"), Special("[/MODEL_SETTINGS]")
THINKING: Final = (_THINK, _THINK_END)

_SINCE: Final = {
    3: (BOS, EOS, _INST, _INST_END, _TOOLS, _TOOLS_END, _RESULT, _RESULT_END, _CALLS),
    7: (_SYSTEM, _SYSTEM_END, _RESULT_CONTENT),
    11: (_ARGUMENTS, _CALL_ID),
    15: (_SETTINGS, _SETTINGS_END),
}


def needed_tokens(release: Release) -> list[Special]:
    """The special tokens that a release writes; those of thinking are optional."""
    return [token for version, tokens in _SINCE.items() if version <= release.version for token in tokens]


def write_conversation(
    messages: Sequence[MistralMessage],
    tools: list[dict[str, Any]],
    settings: dict[str, Any],
    release: Release,
) -> Iterator[Piece]:
    """The prompt of a conversation that was checked.

    Args:
        tools: as prompts show them.
        settings: what the model is told about how to answer; empty when it is told nothing.

    Raises:
        RenderError: the release has no form for a message.
    """
    joined = _joined_messages(messages, release)
    prompt = "" if release.system_stays_in_place else _system_prompt(messages, release)
    users = [index for index, message in enumerate(joined) if message.role == "user"]
    led = users[:1] if release.tools_lead else users[-1:]
    yield BOS
    for index, message in enumerate(joined):
        if index in led:
            if tools:
                yield from (_TOOLS, json_text(tools), _TOOLS_END)
            if settings:
                yield from (_SETTINGS, json_text(settings), _SETTINGS_END)
        match message.role:
            case "user":
                leading = f"{prompt}{_MESSAGE_SEPARATOR}" if prompt and index == users[-1] else ""
                yield from (_INST, leading + _text(message), _INST_END)
            case "assistant":
                yield from _assistant(message, release)
            case "tool":
                yield from _result(message, release)
            case _:
                yield from (_SYSTEM, *_content(message.content, release), _SYSTEM_END)


def _joined_messages(messages: Iterable[MistralMessage], release: Release) -> list[MistralMessage]:
    """The conversation with the messages of each turn of a user or assistant made one, and contents joined."""
    joined: list[MistralMessage] = []
    call_ids: list[str] = []
    for role, group in groupby(messages, lambda message: message.role):
        turn = list(group)
        if role in ("user", "assistant"):
            calls = tuple(call for message in turn for call in message.calls)
            content = _joined(turn, release)
            joined.append(MistralMessage(role, content, calls, is_open=any(m.is_open for m in turn)))
            call_ids += [call.id for call in calls]
            continue
        singles = [replace(message, content=_joined([message], release)) for message in turn]
        if role == "tool":
            joined += _in_order_of_calls(singles, call_ids) if release.pairs_results_by_id else singles
            call_ids = []
        elif release.system_stays_in_place:
            joined += singles
    if not joined or (not release.system_stays_in_place and joined[0].role != "user"):
        joined.insert(0, MistralMessage("user", ()))
    return joined


def _in_order_of_calls(results: list[MistralMessage], call_ids: list[str]) -> list[MistralMessage]:
    places = {call_id: place for place, call_id in enumerate(call_ids)}
    return sorted(results, key=lambda result: places.get(result.call_id or "", len(call_ids)))


def _joined(messages: Iterable[MistralMessage], release: Release) -> tuple[Chunk, ...]:
    """The contents of messages in a row: texts that follow each other made one, empty ones left out."""
    chunks: list[Chunk] = []
    text = ""
    for message in messages:
        separator = _MESSAGE_SEPARATOR
        for chunk in message.content:
            if isinstance(chunk, Thought):
                chunks += [text, chunk] if text else [chunk]
                text = ""
            elif chunk:
                text = f"{text}{separator}{chunk}" if text else chunk
                separator = release.part_separator
    return (*chunks, text) if text else tuple(chunks)


def _system_prompt(messages: Iterable[MistralMessage], release: Release) -> str:
    texts = [
        _text(replace(message, content=_joined([message], release)))
        for message in messages
        if message.role == "system" and message.content
    ]
    return _MESSAGE_SEPARATOR.join(texts)


def _text(message: MistralMessage) -> str:
    return "".join(chunk for chunk in message.content if isinstance(chunk, str))


def _content(chunks: Iterable[Chunk], release: Release) -> Iterator[Piece]:
    for chunk in chunks:
        if isinstance(chunk, str):
            yield chunk
            continue
        if release.version < 13:
            raise RenderError("Thinking is not supported by this model.", "messages")
        yield from (_THINK, chunk.text)
        if chunk.closed:
            yield _THINK_END


def _assistant(message: MistralMessage, release: Release) -> Iterator[Piece]:
    content, calls = message.content, message.calls
    if (not content and not calls) or (content and calls and not release.content_beside_calls):
        raise RenderError("An assistant turn holds either content or tool calls.", "messages")
    if len(content) == 1 and isinstance(content[0], str):
        yield content[0].rstrip(" ")
    else:
        yield from _content(content, release)
    if calls:
        yield from _written_calls(calls, release)
    if not message.is_open:
        yield EOS


def _written_calls(calls: Iterable[Call], release: Release) -> Iterator[Piece]:
    if release.version < 11:
        listed = [{"name": call.name, "arguments": call.arguments, "id": call.id} for call in calls]
        yield from (_CALLS, json_text(listed))
        return
    for call in calls:
        yield from (_CALLS, call.name)
        if release.shows_ids:
            yield from (_CALL_ID, call.id)
        yield from (_ARGUMENTS, json_text(call.arguments))


def _result(message: MistralMessage, release: Release) -> Iterator[Piece]:
    text = _text(message)
    yield _RESULT
    if not release.system_stays_in_place:
        yield json_text({"content": _parsed(text), "call_id": message.call_id})
    else:
        if release.shows_ids:
            yield from (message.call_id or "", _RESULT_CONTENT)
        yield text
    yield _RESULT_END


def _parsed(text: str) -> Any:
    """What a tool returned, as JSON when it is JSON; nothing counts as an empty object."""
    if not text:
        return {}
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
    except (RecursionError, ValueError):
        raise RenderError("What a tool returned cannot be read.", "messages") from None
