"""Inkling prompts: token ids made piece by piece, as vLLM 0.33 makes them for --tokenizer-mode inkling.

There is no text of a prompt: a name or a content is encoded on its own, and tokens of the format are put between.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from render_core.errors import ConfigurationError, RenderError
from render_core.families.encoder import Prompt, PromptEncoder
from render_core.families.encoders.reading import (
    EncodedRequest,
    Message,
    offered_tools,
    tool_functions,
    wire_messages,
)
from render_core.tokenizer.engine import Engine
from render_core.tokenizer.tokenizer import Tokenizer

_MODEL: Final = "<|message_model|>"
_SYSTEM: Final = "<|message_system|>"
_TEXT: Final = "<|content_text|>"
_THINKING: Final = "<|content_thinking|>"
_XML: Final = "<|content_xml|>"
_TOOL_CALL: Final = "<|content_invoke_tool_json|>"
_END: Final = "<|end_message|>"
_END_SAMPLING: Final = "<|content_model_end_sampling|>"

_ROLE_TOKENS: Final = {
    "user": "<|message_user|>",
    "assistant": _MODEL,
    "system": _SYSTEM,
    "developer": _SYSTEM,
    "tool": "<|message_tool|>",
}
# Published vocabularies leave some tokens of the format unnamed.
_OTHER_SPELLINGS: Final = {_XML: "<|unused_200024|>"}
_TOKENS: Final = (*_ROLE_TOKENS.values(), _TEXT, _THINKING, _XML, _TOOL_CALL, _END, _END_SAMPLING)

_EFFORTS: Final[dict[Any, float]] = {
    "none": 0.0,
    "minimal": 0.1,
    "low": 0.2,
    "medium": 0.7,
    "high": 0.9,
    "xhigh": 0.99,
    "max": 0.99,
}
_DEFAULT_EFFORT: Final = 0.9
_MOST_EFFORT: Final = 0.99


@dataclass(frozen=True, slots=True)
class InklingEncoder:
    """Encodes messages with the model's tokenizer.

    Attributes:
        engine: encodes names and contents; tokens of the format in them become those tokens.
        token_ids: ids of the format's tokens.
    """

    engine: Engine
    token_ids: Mapping[str, int]
    name: str = "inkling"

    def encode(self, request: EncodedRequest, kwargs: Mapping[str, Any], now: datetime.datetime) -> Prompt:
        """The prompt ids of a chat; that of no messages is a prompt as well.

        `reasoning_effort` may also be a number from 0 to 0.99 among the template variables. Nothing else of them
        is read but `tools` and the two flags on the final message.

        Raises:
            RenderError: the final message is to be continued, the effort is out of range, or a message is malformed
                or has a role or content part that the format does not know.
        """
        if kwargs.get("continue_final_message"):
            raise RenderError("This model cannot continue the final message.", "continue_final_message")
        messages = wire_messages(request)
        ids = list(self._tools(_declared_tools(messages, offered_tools(request, kwargs))))
        effort = _effort(kwargs.get("reasoning_effort"))
        names: dict[Any, str] = {}
        for message in messages:
            if message["role"] not in _ROLE_TOKENS:
                raise RenderError("messages holds a role that this model does not know.", "messages")
            if effort is not None and message["role"] not in ("system", "developer"):
                ids += self._effort_message(effort)
                effort = None
            ids += self._message(message, names)
        if effort is not None:
            ids += self._effort_message(effort)
        if kwargs.get("add_generation_prompt", True):
            ids.append(self.token_ids[_MODEL])
        return Prompt(ids=ids)

    def _tools(self, tools: list[Any]) -> list[int]:
        if not tools:
            return []
        return self._framed(
            "system", _XML, _sorted_json([_declaration(tool) for tool in tools]), "tool_declare"
        )

    def _effort_message(self, effort: float) -> list[int]:
        return self._framed("system", _TEXT, f"Thinking effort level: {_effort_number(effort)}")

    def _message(self, message: Message, names: dict[Any, str]) -> Iterator[int]:
        """The ids of one message. `names` collects which tool each call id belongs to."""
        role, content = message["role"], message.get("content")
        if role == "tool":
            name = message.get("name") or names.get(message.get("tool_call_id"), "")
            yield from self._framed(role, _TEXT, "".join(_texts(content)), str(name))
            return
        reasoning = message.get("reasoning")
        if reasoning is None:  # only /tokenize leaves the older name in place
            reasoning = message.get("reasoning_content")
        if role == "assistant" and reasoning:
            if not isinstance(reasoning, str):
                raise RenderError("reasoning must be text.", "messages")
            yield from self._framed(role, _THINKING, reasoning)
        for text in _texts(content):
            yield from self._framed(role, _TEXT, text)
        if role != "assistant":
            return
        for call in message.get("tool_calls") or ():
            function = call["function"]
            if call["id"]:
                names[call["id"]] = function["name"]
            yield from self._framed(role, _TOOL_CALL, _call_json(function), function["name"])
        yield self.token_ids[_END_SAMPLING]

    def _framed(self, role: str, kind: str, text: str, name: str = "") -> list[int]:
        """One message of the wire format: who speaks, under which name, what kind of content, and the content."""
        return [
            self.token_ids[_ROLE_TOKENS[role]],
            *(self._encoded(name) if name else ()),
            self.token_ids[kind],
            *self._encoded(text),
            self.token_ids[_END],
        ]

    def _encoded(self, text: str) -> Sequence[int]:
        try:
            return self.engine.encode(text, False)
        except TypeError:
            raise RenderError("The prompt holds a lone surrogate, which has no token.", "messages") from None


def build(config: Mapping[str, Any], tokenizer: Tokenizer) -> PromptEncoder:
    """Build the encoder for a model's tokenizer.

    Raises:
        ConfigurationError: the vocabulary lacks tokens of the format.
    """
    engine = tokenizer.engine
    found = {token: _token_id(engine, token) for token in _TOKENS}
    missing = [token for token, token_id in found.items() if token_id is None]
    if missing:
        raise ConfigurationError(f"The tokenizer lacks tokens of Inkling's format: {', '.join(missing)}.")
    return InklingEncoder(
        engine, {token: token_id for token, token_id in found.items() if token_id is not None}
    )


def _token_id(engine: Engine, token: str) -> int | None:
    for spelling in (token, _OTHER_SPELLINGS.get(token)):
        if spelling is None:
            continue
        ids = engine.encode(spelling, False)
        if engine.tokens(ids) == [spelling]:
            return ids[0]
    return None


def _declared_tools(messages: list[Message], offered: list[Any]) -> list[Any]:
    """The request's tools and those of its developer messages, which are declared together."""
    tools = list(offered)
    functions = tool_functions(offered)
    for message in messages:
        if message["role"] == "developer":
            functions += tool_functions(message.get("tools"))
            tools += message.get("tools") or ()
    if not all(isinstance(function, dict) and "name" in function for function in functions):
        raise RenderError("A tool must have a function with a name.", "tools")
    return tools


def _declaration(tool: dict[str, Any]) -> dict[str, Any]:
    function = tool["function"]
    return {
        "description": function.get("description") or "",
        "name": function["name"],
        "parameters": function.get("parameters") or {},
        "type": tool.get("type", "function"),
    }


def _call_json(function: dict[str, Any]) -> str:
    return f'{{"name":{_sorted_json(function["name"])},"args":{_sorted_json(function["arguments"])}}}'


def _sorted_json(value: Any) -> str:
    """JSON without blanks, keys in order: the model was trained on one spelling of an object."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True)
    except (RecursionError, ValueError):
        raise RenderError(
            "Tools and arguments must not hold NaN or Infinity, nor nest too deeply.", "messages"
        ) from None


def _effort(asked: Any) -> float | None:
    """The level of effort to state, or None for a name or type that no level belongs to."""
    if asked is None:
        return _DEFAULT_EFFORT
    if isinstance(asked, str):
        return _EFFORTS.get(asked)
    if isinstance(asked, bool) or not isinstance(asked, int | float):
        return None
    if not 0.0 <= asked <= _MOST_EFFORT:
        raise RenderError("reasoning_effort must be a number from 0 to 0.99.", "reasoning_effort")
    return float(asked)


def _effort_number(effort: float) -> str:
    """At most two digits after the point, at least one only for zero."""
    number = f"{abs(effort):.2f}".rstrip("0").rstrip(".")
    return "0.0" if number == "0" else number


def _texts(content: Any) -> Iterator[str]:
    """The texts of a content; of a list, those of its parts, which may be empty."""
    if content is None or isinstance(content, str):
        if content:
            yield content
        return
    for part in content:
        if isinstance(part, str):
            yield part
            continue
        if not isinstance(part, dict) or part.get("type") not in (None, "text", "input_text"):
            raise RenderError("messages holds a content part that is no text.", "messages")
        text = part.get("text", "")
        yield text if isinstance(text, str) else ""
