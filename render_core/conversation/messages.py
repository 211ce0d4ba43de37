"""Chat messages from the wire to plain dicts in the key order that templates see (spec 2.3)."""

from __future__ import annotations

from typing import Any, Final

from render_core.conversation.content import BILLING_HEADER, template_content
from render_core.conversation.tool_calls import template_tool_calls, usual_tool_calls
from render_core.conversation.wire_form import wire_form
from render_core.errors import InvalidBodyError, RenderError
from render_core.template.content_format import ContentFormat

Message = dict[str, Any]

_NONE: Final[frozenset[str]] = frozenset()
_USUAL_MEMBERS: Final[dict[str, frozenset[str]]] = {
    "system": frozenset({"role", "content"}),
    "user": frozenset({"role", "content"}),
    "assistant": frozenset({"role", "content", "tool_calls"}),
    "tool": frozenset({"role", "content", "tool_call_id"}),
}


def template_messages(messages: list[Any], content_format: ContentFormat, model_name: str) -> list[Message]:
    """Validate and normalise a conversation. The given list and its messages are left as they are.

    Reasoning is read under the name `reasoning` only (render_core.protocol.chat.with_one_reasoning_name).

    Raises:
        InvalidBodyError: a message or a part of it has the wrong shape.
        RenderError: the conversation holds what this service cannot render.
    """
    return [
        _usual_message(message, content_format)
        or _template_message(message, f"body.messages.{index}", content_format, model_name)
        for index, message in enumerate(messages)
    ]


def _usual_message(message: Any, content_format: ContentFormat) -> Message | None:
    """A message with its role's own members only, all of the plainest type; None for any other.

    Long conversations consist of these. What is read of them is what `_template_message` reads.
    """
    if type(message) is not dict:
        return None
    role, content = message.get("role"), message.get("content")
    if type(role) is not str or not message.keys() <= _USUAL_MEMBERS.get(role, _NONE):
        return None
    if content is None and role == "assistant":
        shown: Message = {"role": role, "content": "" if content_format == "string" else []}
    elif type(content) is not str or (role == "system" and content.startswith(BILLING_HEADER)):
        return None
    elif role == "tool":
        call_id = message.get("tool_call_id")
        return {"role": role, "content": content, "tool_call_id": call_id} if type(call_id) is str else None
    elif content_format == "string":
        shown = {"role": role, "content": content}
    else:
        shown = {"role": role, "content": [{"type": "text", "text": content}]}
    if "tool_calls" in message:
        calls = usual_tool_calls(message["tool_calls"])
        if calls is None:
            return None
        if calls:
            shown["tool_calls"] = calls
    return shown


def _template_message(message: Any, path: str, content_format: ContentFormat, model_name: str) -> Message:
    message = with_call_list(message, path)
    form = wire_form(message, path)
    role = message["role"]
    shown: Message = {
        "role": role,
        "content": template_content(role, message.get("content"), form, content_format, path, model_name),
    }
    if role == "assistant":
        if tool_calls := message.get("tool_calls"):
            shown["tool_calls"] = template_tool_calls(tool_calls, path)
        if (reasoning := message.get("reasoning")) is not None:
            if isinstance(reasoning, dict) and reasoning.get("type") == "prompt_embeds":
                raise RenderError("Reasoning must be text.", "prompt_embeds")
            shown["reasoning"] = reasoning
            shown["reasoning_content"] = reasoning
    elif role == "tool" and "tool_call_id" in message:
        shown["tool_call_id"] = message["tool_call_id"]
    for name in ("name", "task"):
        if isinstance(message.get(name), str):
            shown[name] = message[name]
    if role == "developer":
        tools = message.get("tools")
        shown["tools"] = [_developer_tool(tool) for tool in tools] if form == "custom" and tools else tools
    return shown


def with_call_list(message: Any, path: str) -> Any:
    """A message whose tool calls are a list, as vLLM makes one of whatever can be iterated over.

    Raises:
        InvalidBodyError: they cannot.
    """
    if not isinstance(message, dict):
        return message
    tool_calls = message.get("tool_calls")
    if tool_calls is None or isinstance(tool_calls, list):
        return message
    if not isinstance(tool_calls, str | dict):
        raise InvalidBodyError(f"{path}.tool_calls must be a list.", f"{path}.tool_calls")
    return message | {"tool_calls": list(tool_calls)}


def _developer_tool(tool: dict[str, Any]) -> dict[str, Any]:
    """A tool of a developer message, its keys in the order of OpenAI's type."""
    function = tool["function"]
    names = [name for name in ("name", "description", "parameters", "strict") if name in function]
    ordered = {"function": {name: function[name] for name in (*names, *function)}, "type": tool["type"]}
    return ordered | {name: value for name, value in tool.items() if name not in ordered}


def count_tool_calls(messages: list[Any]) -> int:
    """How many tool calls the assistant made in earlier turns (parse_context.history_tool_call_cnt)."""
    return sum(
        len(message.get("tool_calls") or ())
        for message in messages
        if isinstance(message, dict) and message.get("role") == "assistant"
    )
