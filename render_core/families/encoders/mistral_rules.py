"""What Mistral's chat format demands of a conversation and its tools, release by release (mistral-common 1.13).

The rules are those of mistral-common's test mode, in which vLLM runs it. A release is the version of a tokenizer
file: v3, v7, v11, v13 or v15.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from render_core.errors import RenderError
from render_core.families.encoders.mistral_messages import MistralMessage, Thought
from render_core.families.encoders.mistral_schema import is_schema

# `$` lets a line feed follow, here as there.
_CALL_ID: Final = re.compile(r"^[a-zA-Z0-9]{9}$")
_FUNCTION_NAME: Final = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
_NO_ID: Final = "null"

_FOLLOWERS: Final = {
    "system": frozenset({"user", "assistant", "system"}),
    "user": frozenset({"assistant", "system", "user"}),
    "assistant": frozenset({"assistant", "user", "tool"}),
    "tool": frozenset({"assistant", "tool", "user"}),
}


@dataclass(frozen=True, slots=True)
class Release:
    """A version of the format and what follows from it."""

    version: int

    @property
    def system_stays_in_place(self) -> bool:
        """Whether system messages are messages of their own; before, their text leads the last user message."""
        return self.version >= 7

    @property
    def content_beside_calls(self) -> bool:
        return self.version >= 7

    @property
    def pairs_results_by_id(self) -> bool:
        """Whether results must name a call that waits for one, and are put in the order of the calls."""
        return self.version >= 11

    @property
    def fixed_length_ids(self) -> bool:
        return self.version < 13

    @property
    def shows_ids(self) -> bool:
        return self.version < 13

    @property
    def tools_lead(self) -> bool:
        """Whether the tools stand before the first user message; before, they stand before the last one."""
        return self.version >= 13

    @property
    def part_separator(self) -> str:
        """What joins the text parts of one message."""
        return "" if self.version >= 15 else "\n\n"

    @property
    def has_settings(self) -> bool:
        return self.version >= 15

    def allows_thoughts(self, role: str) -> bool:
        """Whether a message of this role may hold parts that were thought."""
        if role == "assistant":
            return self.version >= 11
        return role == "system" and 7 <= self.version < 15


def check_conversation(messages: Sequence[MistralMessage], release: Release) -> None:
    """Raises RenderError for a conversation that the release does not accept."""
    if not messages:
        raise RenderError("A conversation needs at least one message.", "messages")
    first, last = messages[0], messages[-1]
    if len(messages) == 1 and first.role not in ("user", "system"):
        raise RenderError("A conversation of one message starts with a user or system message.", "messages")
    if last.role == "assistant" and not last.is_open:
        raise RenderError("The last message must not be the assistant's unless it is continued.", "messages")
    for before, message in pairwise(messages):
        if message.role not in _FOLLOWERS[before.role]:
            raise RenderError(f"A {message.role} message cannot follow a {before.role} message.", "messages")
    if release.pairs_results_by_id:
        _check_pairs(messages[1:])
    else:
        _check_counts(messages[1:])
    for message in messages:
        _check_message(message, release)


def check_tools(tools: Iterable[dict[str, Any]]) -> None:
    """Check tools in the form of `shown_tools`.

    Raises:
        RenderError: a name or the parameters of a tool are not what they have to be.
    """
    for tool in tools:
        function = tool["function"]
        _check_name(function["name"])
        try:
            valid = is_schema(function["parameters"])
        except RecursionError:
            valid = False
        if not valid:
            raise RenderError("The parameters of a tool are no valid JSON schema.", "tools")


def shown_tools(tools: Iterable[Any]) -> list[dict[str, Any]]:
    """Tools as prompts show them: three keys, none of them absent.

    Raises:
        RenderError: a tool is not an object with a function that has a name.
    """
    return [_shown_tool(tool) for tool in tools]


def _shown_tool(tool: Any) -> dict[str, Any]:
    function = tool.get("function") if isinstance(tool, dict) else None
    if not isinstance(function, dict) or tool.get("type", "function") != "function":
        raise RenderError("A tool must be an object of type function.", "tools")
    name, description, parameters = (function.get(key) for key in ("name", "description", "parameters"))
    if not isinstance(name, str) or not isinstance(description, str | None):
        raise RenderError("A tool needs a name, and a description that is text.", "tools")
    if not isinstance(parameters, dict | None):
        raise RenderError("The parameters of a tool must be an object.", "tools")
    shown = {"name": name, "description": description or "", "parameters": parameters or {}}
    return {"type": "function", "function": shown}


def _check_counts(messages: Iterable[MistralMessage]) -> None:
    """Before an assistant speaks again, its calls must have had as many results. The first message does not count."""
    waiting = 0
    for message in messages:
        if message.role == "tool":
            waiting -= 1
        elif message.role == "assistant":
            if waiting:
                raise RenderError("Calls and results of tools differ in number.", "messages")
            waiting = len(message.calls)


def _check_pairs(messages: Iterable[MistralMessage]) -> None:
    """As `_check_counts`, by id: each result names a call that has none yet."""
    called: set[str] = set()
    answered: set[str | None] = set()
    for message in messages:
        if message.role == "tool":
            if message.call_id in answered or message.call_id not in called:
                raise RenderError("A tool's result answers no call, or one that has its result.", "messages")
            answered.add(message.call_id)
        elif message.role == "assistant":
            if len(called) != len(answered):
                raise RenderError("Calls and results of tools differ in number.", "messages")
            called, answered = {call.id for call in message.calls}, set()
            if len(called) != len(message.calls):
                raise RenderError("Two calls of one message have the same id.", "messages")


def _check_message(message: MistralMessage, release: Release) -> None:
    thought = any(isinstance(chunk, Thought) for chunk in message.content)
    if thought and not release.allows_thoughts(message.role):
        raise RenderError(f"Thinking in a {message.role} message is not supported by this model.", "messages")
    if message.role == "tool":
        if message.name is not None:
            _check_name(message.name)
        _check_id(message.call_id or "", release)
    if message.role == "assistant":
        if not release.content_beside_calls and bool(message.content) == bool(message.calls):
            raise RenderError("An assistant message holds either content or tool calls.", "messages")
        for call in message.calls:
            _check_id(call.id, release)
            _check_name(call.name)


def _check_id(call_id: str, release: Release) -> None:
    if call_id in ("", _NO_ID) or (release.fixed_length_ids and not _CALL_ID.match(call_id)):
        wanted = "nine letters and digits" if release.fixed_length_ids else "a text other than 'null'"
        raise RenderError(f"The id of a tool call must be {wanted}.", "messages")


def _check_name(name: str) -> None:
    if not _FUNCTION_NAME.match(name):
        raise RenderError(
            "The name of a function must be up to 64 letters, digits, underscores and dashes.", "tools"
        )
