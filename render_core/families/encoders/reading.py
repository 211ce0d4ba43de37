"""What encoders read off a request: its messages, the tools it offers, and variables no request may set."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from render_core.conversation.messages import template_messages
from render_core.conversation.wire_form import wire_form
from render_core.errors import RenderError
from render_core.protocol.chat import ChatRequest
from render_core.protocol.tokenize import TokenizeChatRequest
from render_core.template.content_format import ContentFormat

EncodedRequest = ChatRequest | TokenizeChatRequest
Message = dict[str, Any]

# How messages about media call the model: an encoder does not know its served name.
_MODEL: Final = "This model"
# vLLM hands these to its encoders itself, so that a request which sets one breaks the call (400 there as well).
_TAKEN_KWARGS: Final = ("conversation", "messages", "self")


def normalised_messages(request: EncodedRequest, content_format: ContentFormat) -> list[Message]:
    """The conversation as chat templates would see it (spec 2.3).

    Raises:
        RenderError: a message is malformed or holds more than text.
    """
    return template_messages(request.messages, content_format, _MODEL)


def wire_messages(request: EncodedRequest) -> list[Message]:
    """The messages with their content, and every field no API knows, as the client wrote them.

    vLLM's renderers of V4.1 and Inkling read these instead of the normalised conversation: parts keep their types
    and an attribution line in a system message stays. Only tool calls are the normalised ones.

    Raises:
        RenderError: a message is malformed, holds more than text, or holds parts in a form that those renderers
            cannot read: a list that fits its role's own form better than the custom one is consumed in vLLM by
            validation, which they answer with 400.
    """
    normalised = normalised_messages(request, "string")
    return [
        _wire_message(*pair, index)
        for index, pair in enumerate(zip(request.messages, normalised, strict=True))
    ]


def _wire_message(sent: Message, normalised: Message, index: int) -> Message:
    message = dict(sent)
    path = f"body.messages.{index}"
    content = message.get("content")
    if content is not None and not isinstance(content, str) and wire_form(message, path) == "role":
        raise RenderError(f"{path}.content holds no list of parts that this model can be shown.", "messages")
    if "tool_calls" in normalised:
        message["tool_calls"] = normalised["tool_calls"]
    if message.get("tools") and message["role"] in ("developer", "system"):
        # both roles are validated alike, but only a developer's tools are part of the normalised message
        as_developer = template_messages([message | {"role": "developer"}], "string", _MODEL)[0]
        message["tools"] = as_developer["tools"]
    return message


def offered_tools(request: EncodedRequest, kwargs: Mapping[str, Any]) -> list[Any]:
    """The tools of a request, empty when it offers none.

    Tools among the template variables replace the request's own and stay as the client wrote them, with unknown
    keys and in the client's order; the request's own have the shape and order of spec 2.6.

    Raises:
        RenderError: the tools among the variables are no list.
    """
    own = kwargs.get("tools")
    if own is None:
        return [tool.as_template_variable() for tool in request.tools or ()]
    if own and not isinstance(own, list):
        raise RenderError("chat_template_kwargs.tools must be a list of objects.", "chat_template_kwargs")
    return own or []


def tool_functions(tools: Any) -> list[Any]:
    """The `function` of each tool; of none for absent tools.

    Raises:
        RenderError: this is no list of objects with a function.
    """
    if not tools:
        return []
    if not isinstance(tools, list) or not all(
        isinstance(tool, dict) and "function" in tool for tool in tools
    ):
        raise RenderError("tools must be a list of objects that have a function.", "tools")
    return [tool["function"] for tool in tools]


def refuse_taken_kwargs(kwargs: Mapping[str, Any]) -> None:
    """Raises RenderError for template variables whose names vLLM's call already uses."""
    for name in _TAKEN_KWARGS:
        if name in kwargs:
            raise RenderError(f"chat_template_kwargs must not hold {name!r}.", "chat_template_kwargs")


def json_text(value: Any) -> str:
    """JSON as Python's json module writes it, other scripts unescaped: blanks and key order are tokens.

    Raises:
        RenderError: the value nests too deeply to be written.
    """
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        raise RenderError("The request holds a value that nests too deeply.", "messages") from None
