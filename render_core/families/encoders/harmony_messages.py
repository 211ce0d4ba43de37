"""Chat messages as the messages of a Harmony prompt (spec 10.4), read as vLLM 0.33 reads them.

vLLM takes the messages here as validation left them. Two traits of that are visible in prompts: parts that fit the
role's own form better than the custom one (spec 2.3) can be walked once but are no list, so whatever asks for a list
finds nothing; and fields that a role's form does not know were not checked. /tokenize writes the messages out and
validates them again, which uses such parts up and drops what is null.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from render_core.conversation.messages import with_call_list
from render_core.conversation.wire_form import Form, is_function_tool_call, wire_form
from render_core.errors import InvalidBodyError, RenderError
from render_core.protocol.chat import with_one_reasoning_name

_ROLES: Final = frozenset({"user", "assistant", "system", "developer", "tool"})
_INSTRUCTING: Final = ("system", "developer")
_TEXT_TYPES: Final = ("text", "refusal", "thinking")
_MEDIA: Final = ("image_url", "input_audio", "file", "video_url", "audio_url", "image_embeds")


@dataclass(frozen=True, slots=True)
class HarmonyMessage:
    """One message of the prompt.

    Attributes:
        author: what stands between `<|start|>` and the channel.
        texts: the content; each text is tokenized on its own.
        channel: what stands between `<|channel|>` and `<|message|>`; None for a message without channel.
        is_call: whether it ends in `<|call|>`.
    """

    author: str
    texts: tuple[str, ...]
    channel: str | None = None
    is_call: bool = False


@dataclass(frozen=True, slots=True)
class Instructions:
    """A system or developer message: what it tells, and which of the two it is."""

    role: str
    text: str


Item = HarmonyMessage | Instructions


@dataclass(frozen=True, slots=True)
class _Sent:
    """A message as the client wrote it, its names unified, and the form it takes."""

    message: Mapping[str, Any]
    form: Form
    path: str

    @property
    def role(self) -> str:
        role: str = self.message["role"]
        return role


def read_messages(messages: list[Any], *, validated_twice: bool) -> tuple[str | None, list[Item]]:
    """Read a conversation.

    Args:
        validated_twice: whether the messages came by /tokenize.

    Returns:
        The text of a leading system or developer message, if there is one with text, and what follows it.
        Analysis that an answer in the final channel came after is left out.

    Raises:
        RenderError: a message is malformed, or has a role that Harmony does not know.
    """
    sent = [
        _sent(message, f"body.messages.{index}", validated_twice) for index, message in enumerate(messages)
    ]
    instructions = None
    if sent and sent[0].role in _INSTRUCTING:
        instructions = _flattened(sent[0])
        sent = sent[1:]
    names = _call_names(sent)
    return instructions, _without_past_analysis([item for one in sent for item in _items(one, names)])


def _sent(message: Any, path: str, validated_twice: bool) -> _Sent:
    message = with_call_list(with_one_reasoning_name(message), path)
    form = _form(message, path)
    if validated_twice:
        message = {name: value for name, value in message.items() if value is not None}
        if form == "role" and not isinstance(message.get("content", ""), str):
            del message["content"]
    if message["role"] not in _ROLES:
        raise RenderError(f"{path}.role is none that Harmony knows.", "messages")
    if message["role"] == "assistant":
        message = message | {"tool_calls": message.get("tool_calls") or []}
        if form == "role":
            _check_calls(message["tool_calls"], f"{path}.tool_calls")
    return _Sent(message, form, path)


def _form(message: Any, path: str) -> Form:
    """The form of a message. Media, which other models refuse in both forms, speak for the custom one here."""
    form = wire_form(message, path)
    content = message.get("content")
    if form == "role" and isinstance(content, list) and any(map(_is_media, content)):
        return "custom" if all(_is_media(part) or _is_text(part) for part in content) else form
    return form


def _is_media(part: Any) -> bool:
    if not isinstance(part, dict):
        return False
    if part.get("type") == "prompt_embeds":
        return isinstance(part.get("data"), str)
    return any(name in part and isinstance(part[name], str | dict | None) for name in _MEDIA)


def _is_text(part: Any) -> bool:
    if not isinstance(part, dict):
        return isinstance(part, str)
    kind = part.get("type")
    return kind in _TEXT_TYPES and isinstance(part.get(kind), str)


def _check_calls(calls: list[Any], path: str) -> None:
    for index, call in enumerate(calls):
        custom = call.get("custom") if isinstance(call, dict) and call.get("type") == "custom" else None
        is_custom = isinstance(custom, dict) and all(
            isinstance(value, str) for value in (call.get("id"), custom.get("name"), custom.get("input"))
        )
        if not is_custom and not is_function_tool_call(call):
            raise InvalidBodyError(f"{path}.{index} must be a tool call.", f"{path}.{index}")


def _call_names(sent: Iterable[_Sent]) -> dict[Any, Any]:
    """Names of the called functions by call id. A call that names no function gives None, which is shown so."""
    names: dict[Any, Any] = {}
    for one in sent:
        calls = one.message.get("tool_calls", ())
        if not isinstance(calls, list | tuple) or not all(isinstance(call, dict) for call in calls):
            raise RenderError(f"{one.path}.tool_calls must be a list of tool calls.", "messages")
        for call in calls:
            call_id, function = call.get("id"), call.get("function", {})
            if isinstance(call_id, str) and isinstance(function, dict):
                names[call_id] = function.get("name")
    return names


def _items(one: _Sent, names: Mapping[Any, Any]) -> list[Item]:
    match one.role:
        case "assistant":
            return [*_assistant_items(one)]
        case "tool":
            name = names.get(one.message.get("tool_call_id", ""), "")
            return [HarmonyMessage(f"functions.{name}", (_flattened(one) or "",), "commentary to=assistant")]
        case "user":
            return [HarmonyMessage("user", _texts(one))]
    _texts(one)
    text = _flattened(one)
    return [] if text is None else [Instructions(one.role, text)]


def _assistant_items(one: _Sent) -> list[HarmonyMessage]:
    calls = one.message["tool_calls"]
    reasoning = one.message.get("reasoning")
    if reasoning and not isinstance(reasoning, str):
        raise RenderError(f"{one.path}.reasoning must be text.", "messages")
    analysis = [HarmonyMessage("assistant", (reasoning,), "analysis")] if reasoning else []
    if calls:
        content = _flattened(one)
        said = [HarmonyMessage("assistant", (content,), "commentary")] if content else []
        return [*said, *analysis, *map(_call, calls)]
    texts = _texts(one)
    answer = [HarmonyMessage("assistant", texts, "final")] if texts and texts[0] else []
    return [*analysis, *answer]


def _call(call: Mapping[str, Any]) -> HarmonyMessage:
    function = call.get("function", {})
    author = f"assistant to=functions.{function.get('name', '')}"
    return HarmonyMessage(author, (function.get("arguments", ""),), "commentary json", is_call=True)


def _without_past_analysis(items: list[Item]) -> list[Item]:
    last = max((index for index, item in enumerate(items) if _channel(item) == "final"), default=-1)
    return [item for index, item in enumerate(items) if index > last or _channel(item) != "analysis"]


def _channel(item: Item) -> str | None:
    return item.channel if isinstance(item, HarmonyMessage) else None


def _flattened(one: _Sent) -> str | None:
    """The texts of the content joined, None when there are none."""
    content = one.message.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list) or one.form == "role":
        return None
    texts = [part if isinstance(part, str) else part.get("text") for part in content]
    texts = [text for text in texts if text is not None]
    if not all(isinstance(text, str) for text in texts):
        raise RenderError(f"{one.path}.content holds a part whose text is no string.", "messages")
    return "".join(texts) if texts else None


def _texts(one: _Sent) -> tuple[str, ...]:
    """The content text by text. Parts that hold no text are empty texts, as in vLLM (corpus class RS-mm)."""
    content = one.message.get("content") or ""
    if isinstance(content, str):
        return (content,)
    parts = list(content)
    texts = []
    for part in parts:
        if not isinstance(part, dict) or (one.form == "role" and not _fits_role(part, one.role)):
            raise RenderError(f"{one.path}.content holds a part that is not accepted here.", "messages")
        texts.append(part.get("text", ""))
    if not all(isinstance(text, str) for text in texts):
        raise RenderError(f"{one.path}.content holds a part whose text is no string.", "messages")
    return tuple(texts)


def _fits_role(part: Any, role: str) -> bool:
    return _is_text(part) and part["type"] in (("text", "refusal") if role == "assistant" else ("text",))
