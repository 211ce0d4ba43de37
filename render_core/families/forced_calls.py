"""Required and named tool calls as JSON: the schema for families whose calls no structural tag describes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from render_core.errors import RenderError
from render_core.protocol.tools import NamedToolChoice, Tool, ToolChoice


def json_calls_schema(
    tools: Sequence[Tool], choice: ToolChoice, parallel_tool_calls: bool | None
) -> dict[str, Any] | None:
    """The JSON schema that forced calls must follow: spec 7.2, 4.

    Returns:
        An array of calls for "required", the tool's parameters for a named tool, None when no call is forced.

    Raises:
        RenderError: the tools' `$defs` contradict each other.
    """
    if isinstance(choice, NamedToolChoice):
        named = [tool for tool in tools if tool.function.name == choice.function.name]
        return _parameters(named[-1].function.parameters)
    if choice != "required":
        return None
    definitions = _common_definitions(tools)
    calls = [
        {
            "properties": {
                "name": {"type": "string", "enum": [tool.function.name]},
                "parameters": _without_definitions(tool.function.parameters),
            },
            "required": ["name", "parameters"],
        }
        for tool in tools
    ]
    schema: dict[str, Any] = {"type": "array", "minItems": 1, "items": {"type": "object", "anyOf": calls}}
    if parallel_tool_calls is False:
        schema["maxItems"] = 1
    if definitions:
        schema["$defs"] = definitions
    return schema


def _parameters(parameters: dict[str, Any] | None) -> dict[str, Any]:
    return parameters or {"type": "object", "properties": {}}


def _without_definitions(parameters: dict[str, Any] | None) -> dict[str, Any]:
    return {key: value for key, value in _parameters(parameters).items() if key != "$defs"}


def _common_definitions(tools: Sequence[Tool]) -> dict[str, Any]:
    """The `$defs` of all tools in one object, since references are read from the root of the schema."""
    common: dict[str, Any] = {}
    for tool in tools:
        definitions = (tool.function.parameters or {}).get("$defs", {})
        if not isinstance(definitions, dict):
            raise RenderError("`$defs` in the parameters of a tool must be an object.", "tools")
        for name, definition in definitions.items():
            if common.setdefault(name, definition) != definition:
                raise RenderError("Two tools define the same `$defs` entry differently.", "tools")
    return common
