"""Chat messages as Mistral's own request format has them, read as vLLM 0.33 and mistral-common 1.13 read them.

vLLM first walks the conversation as it does for chat templates, which refuses what templates would not get and reads
the arguments of tool calls; mistral-common then reads the messages as the client wrote them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from render_core.conversation.messages import with_call_list
from render_core.conversation.wire_form import wire_form
from render_core.errors import RenderError
from render_core.families.encoders.reading import EncodedRequest, normalised_messages
from render_core.protocol.chat import ChatRequest

_ROLES: Final = {
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "system": "system",
    "developer": "system",
}
_CALL_ID_LENGTH: Final = 9


@dataclass(frozen=True, slots=True)
class Thought:
    """A part of a message that was thought, not said."""

    text: str
    closed: bool = True


Chunk = str | Thought


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool. `arguments` is a JSON object."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MistralMessage:
    """A message.

    Attributes:
        role: user, assistant, tool or system.
        content: its parts; an empty string is no part, an empty text part is one.
        calls: of an assistant.
        call_id, name: of a tool's result: which call it answers, and the tool's name if it was given.
        is_open: whether the model is to go on writing it.
    """

    role: str
    content: tuple[Chunk, ...]
    calls: tuple[Call, ...] = ()
    call_id: str | None = None
    name: str | None = None
    is_open: bool = False


def read_messages(request: EncodedRequest, continue_final_message: bool) -> list[MistralMessage]:
    """Read the conversation of a request.

    Raises:
        RenderError: a message is malformed, has a role or holds a part that the format does not have, or the last
            message is to be continued and is not the assistant's.
    """
    is_chat = isinstance(request, ChatRequest)
    normalised = normalised_messages(request, "string")
    messages = [
        _message(with_call_list(sent, "") if is_chat else sent, shown, f"body.messages.{index}", is_chat)
        for index, (sent, shown) in enumerate(zip(request.messages, normalised, strict=True))
    ]
    if not continue_final_message:
        return messages
    if not messages or messages[-1].role != "assistant":
        raise RenderError("Only a message of the assistant can be continued.", "continue_final_message")
    return [*messages[:-1], replace(messages[-1], is_open=True)]


def _message(sent: Mapping[str, Any], shown: Mapping[str, Any], path: str, is_chat: bool) -> MistralMessage:
    role = _ROLES.get(sent["role"])
    if role is None:
        raise RenderError(f"{path}.role is none that Mistral's format has.", "messages")
    content = _content(sent, path)
    if role == "assistant":
        content = _thought(content, sent, path)
        return MistralMessage(role, content, _calls(sent, shown, path, is_chat))
    if sent.get("content") is None:
        raise RenderError(f"{path}.content is missing.", "messages")
    if any(isinstance(chunk, Thought) for chunk in content) and role != "system":
        raise RenderError(f"{path}.content holds a part that is not accepted for this role.", "messages")
    if role != "tool":
        return MistralMessage(role, content)
    call_id, name = sent.get("tool_call_id"), sent.get("name")
    if not isinstance(call_id, str) or not isinstance(name, str | None):
        raise RenderError(f"{path} does not say which call it answers.", "messages")
    return MistralMessage(role, content, call_id=_shortened(call_id) if is_chat else call_id, name=name)


def _content(sent: Mapping[str, Any], path: str) -> tuple[Chunk, ...]:
    content = sent.get("content")
    if content is None or isinstance(content, str):
        return (content,) if content else ()
    if wire_form(sent, path) == "role":
        return ()  # vLLM has walked such parts once, and they cannot be walked again
    parts = (part for part in content if not isinstance(part, dict) or part.get("type"))
    return tuple(_chunk(part, path) for part in parts)


def _chunk(part: Any, path: str) -> Chunk:
    kind = part["type"] if isinstance(part, dict) else None
    if kind == "text" and isinstance(part.get("text"), str):
        text: str = part["text"]
        return text
    if kind == "thinking" and isinstance(part.get("thinking"), str):
        closed = part.get("closed", True)
        if isinstance(closed, bool):
            return Thought(part["thinking"], closed)
    raise RenderError(f"{path}.content holds a part that is neither text nor thinking.", "messages")


def _thought(content: tuple[Chunk, ...], sent: Mapping[str, Any], path: str) -> tuple[Chunk, ...]:
    """The content with the message's reasoning in front of it. Messages of /tokenize may have it by two names."""
    reasoning, older = sent.get("reasoning"), sent.get("reasoning_content")
    if reasoning is None:
        reasoning = older
    if reasoning is None:
        return content
    if older not in (None, reasoning):
        raise RenderError(f"{path} holds two different kinds of reasoning.", "messages")
    if not isinstance(reasoning, str) or any(isinstance(chunk, Thought) for chunk in content):
        raise RenderError(f"{path} must hold its reasoning once, as text.", "messages")
    return (Thought(reasoning), *content)


def _calls(sent: Mapping[str, Any], shown: Mapping[str, Any], path: str, is_chat: bool) -> tuple[Call, ...]:
    if not is_chat and sent.get("tool_calls") is not None and not _has_call_list(sent, path):
        raise RenderError(f"{path}.tool_calls cannot be read: content must not be null.", "messages")
    calls = []
    for call in shown.get("tool_calls", ()):
        function = call["function"]
        call_id = _shortened(call["id"]) if is_chat else call["id"]
        calls.append(Call(call_id, function["name"], function["arguments"]))
    return tuple(calls)


def _has_call_list(sent: Mapping[str, Any], path: str) -> bool:
    """Whether /tokenize, unlike chats, is left with a list of calls: only the custom form has one (spec 2.3)."""
    content = sent.get("content", "")
    # an empty list has both forms, and makes the choice between them depend on the calls
    return wire_form({**sent, "content": []} if isinstance(content, str) else sent, path) == "custom"


def _shortened(call_id: str) -> str:
    return call_id[-_CALL_ID_LENGTH:]
