"""Tool calls of earlier assistant turns, as templates want them: arguments as an object, keys in vLLM's order."""

from __future__ import annotations

import json
from typing import Any

from render_core.conversation.wire_form import is_function_tool_call
from render_core.errors import InvalidBodyError, RenderError
from render_core.protocol.body import read_fast


def template_tool_calls(tool_calls: list[Any], path: str) -> list[dict[str, Any]]:
    """Read the tool calls of one assistant message.

    Raises:
        InvalidBodyError: a call lacks its id, type, name or arguments, or has them in another type.
        RenderError: a call is not of type "function", or its arguments nest too deeply.
    """
    return [_template_tool_call(call, f"{path}.tool_calls.{index}") for index, call in enumerate(tool_calls)]


def usual_tool_calls(tool_calls: Any) -> list[dict[str, Any]] | None:
    """The same for a list of calls that have OpenAI's members and no others; None for anything else."""
    if type(tool_calls) is not list:
        return None
    shown = []
    for call in tool_calls:
        if type(call) is not dict or len(call) != 3 or call.get("type") != "function":
            return None
        function, call_id = call.get("function"), call.get("id")
        if type(function) is not dict or len(function) != 2 or type(call_id) is not str:
            return None
        name, arguments = function.get("name"), function.get("arguments")
        if type(name) is not str or type(arguments) is not str:
            return None
        read = _plain_arguments(arguments)
        if read is None:
            return None
        shown.append({"id": call_id, "function": {"arguments": read, "name": name}, "type": "function"})
    return shown


def _template_tool_call(call: Any, path: str) -> dict[str, Any]:
    if not is_function_tool_call(call):
        if isinstance(call, dict) and call.get("type") == "custom" and isinstance(call.get("custom"), dict):
            raise RenderError("Only tool calls of type function can be rendered.", "tool_calls")
        raise InvalidBodyError(
            f"{path} must be a tool call: id, type, and a function with name and arguments as text.", path
        )
    function = call["function"]
    shown = {"arguments": template_arguments(function["arguments"], path), "name": function["name"]}
    shown |= {name: value for name, value in function.items() if name not in shown}
    ordered = {"id": call["id"], "function": shown, "type": "function"}
    return ordered | {name: value for name, value in call.items() if name not in ordered}


def template_arguments(arguments: str, path: str) -> dict[str, Any]:
    """Arguments as an object. What is no JSON object becomes an empty one, so that a conversation can go on.

    Raises:
        RenderError: the arguments nest too deeply to be read.
    """
    if not arguments:
        return {}
    if (plain := _plain_arguments(arguments)) is not None:
        return plain
    try:
        parsed = json.loads(arguments)
    except json.JSONDecodeError:
        return {}
    except (RecursionError, ValueError):
        raise RenderError(f"{path}.function.arguments cannot be read.", "tool_calls") from None
    return parsed if isinstance(parsed, dict) else {}


def _plain_arguments(arguments: str) -> dict[str, Any] | None:
    """Arguments that the fast reader reads as an object; None for any others."""
    try:
        parsed = read_fast(arguments)
    except ValueError:
        return None
    return parsed if type(parsed) is dict else None
