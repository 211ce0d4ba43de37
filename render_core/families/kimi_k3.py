"""Kimi K3: channels in XTML, one tag for each argument of a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from render_core.errors import RenderError
from render_core.families.draft import Draft
from render_core.families.interface import (
    CallableTool,
    KeptTokens,
    MarkedReasoning,
    ParserModel,
    TaggedToolParser,
    ToolUse,
)
from render_core.families.reasoning_end import Marker, MarkerScan
from render_core.families.recognition import Recognition
from render_core.families.tags import (
    Format,
    any_text,
    const_string,
    json_schema,
    one_of_or_only,
    optional,
    plus,
    regex,
    repeated_tags,
    sequence,
    star,
    tag,
)
from render_core.protocol.tools import NamedToolChoice

_OPEN, _CLOSE, _SEP = "<|open|>", "<|close|>", "<|sep|>"
_ARGUMENT_END: Final = f"{_CLOSE}argument{_SEP}"
_XTML_TYPES: Final = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
    "object": "object",
    "array": "array",
}
_MOST_CHOICES: Final = 256
_LONGEST_BOUND: Final = 4096


class KimiK3ToolParser(TaggedToolParser):
    forces_json = False
    keeps_special_tokens = KeptTokens.ALWAYS
    keeps_spacing = True

    def tag(self, tools: Sequence[CallableTool], use: ToolUse) -> Format:
        """The response channel, then the calls; the prompt may have opened the response already."""
        calls = tag(
            f"{_OPEN}tools{_SEP}", repeated_tags([_call(tool) for tool in tools]), f"{_CLOSE}tools{_SEP}"
        )
        return sequence(
            optional(const_string(f"{_OPEN}response{_SEP}")),
            tag("", any_text((_OPEN, _CLOSE, "<|end_of_msg|>")), f"{_CLOSE}response{_SEP}"),
            optional(calls) if use == "auto" else calls,
            optional(const_string(f"{_CLOSE}message{_SEP}")),
        )

    def adjust(self, draft: Draft, kwargs: Mapping[str, Any]) -> None:
        constraint = draft.structured_outputs
        if isinstance(draft.request.tool_choice, NamedToolChoice) and (
            constraint is None or constraint.structural_tag is None
        ):
            raise RenderError(
                "A named tool_choice needs structural tags, which are switched off.", "tool_choice"
            )
        super().adjust(draft, kwargs)


class KimiK3Reasoning(MarkedReasoning):
    keeps_special_tokens = True
    keeps_spacing = True

    def find_markers(self, model: ParserModel) -> MarkerScan:
        start, end = f"{_OPEN}think{_SEP}", f"{_CLOSE}think{_SEP}"
        return MarkerScan.of_sequences(((model.encode(end), Marker.END), (model.encode(start), Marker.START)))

    def thinks(self, kwargs: Mapping[str, Any]) -> bool:
        thinking = kwargs.get("thinking")
        return bool(kwargs.get("enable_thinking", True) if thinking is None else thinking)


def _call(tool: CallableTool) -> Format:
    return tag(
        f'{_OPEN}call tool="{_escaped(tool.name)}" index="',
        sequence(regex("[0-9]+"), const_string(f'"{_SEP}'), _arguments(tool.argument_schema)),
        f"{_CLOSE}call{_SEP}",
    )


def _arguments(parameters: dict[str, Any] | bool) -> Format:
    """Arguments in any order; at least one when the schema requires any."""
    properties = parameters.get("properties") if isinstance(parameters, dict) else None
    if not isinstance(parameters, dict) or not isinstance(properties, dict) or not properties:
        return star(_any_argument())
    definitions = {
        name: parameters[name] for name in ("$defs", "definitions") if isinstance(parameters.get(name), dict)
    }
    arguments = one_of_or_only([_argument(key, schema, definitions) for key, schema in properties.items()])
    required = parameters.get("required")
    return plus(arguments) if isinstance(required, list) and required else star(arguments)


def _argument(key: str, schema: Any, definitions: dict[str, Any]) -> Format:
    declared = schema.get("type") if isinstance(schema, dict) else None
    kind = _XTML_TYPES.get(declared) if isinstance(declared, str) else None
    if kind is None:
        return _any_argument()
    value = _text(schema) if kind == "string" else json_schema({**schema, **_missing(definitions, schema)})
    return tag(f'{_OPEN}argument key="{_escaped(key)}" type="{kind}"{_SEP}', value, _ARGUMENT_END)


def _any_argument() -> Format:
    attributes = regex(r"[^<]*<\|sep\|>")
    return tag(f"{_OPEN}argument ", sequence(attributes, any_text((_CLOSE,))), _ARGUMENT_END)


def _text(schema: dict[str, Any]) -> Format:
    """A bare string: one of its choices, or held to its length, or free."""
    choices = schema.get("enum")
    if choices is None and isinstance(schema.get("const"), str):
        choices = [schema["const"]]
    if (
        isinstance(choices, list)
        and 0 < len(choices) <= _MOST_CHOICES
        and all(isinstance(choice, str) and "<|" not in choice for choice in choices)
    ):
        return one_of_or_only([const_string(choice) for choice in choices])
    longest, shortest = schema.get("maxLength"), schema.get("minLength", 0)
    if not isinstance(longest, int) or not 0 <= longest <= _LONGEST_BOUND:
        return any_text((_CLOSE,))
    if not isinstance(shortest, int) or not 0 <= shortest <= longest:
        shortest = 0
    return regex(f"(?:[^<]|<[^|]){{{shortest},{longest}}}")


def _missing(definitions: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    return {name: table for name, table in definitions.items() if name not in schema}


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;")


TOOL_PARSERS: Final = {"kimi_k3": KimiK3ToolParser}
REASONING_PARSERS: Final = {"kimi_k3": KimiK3Reasoning}
RECOGNITIONS: Final = (
    Recognition(
        tool="kimi_k3",
        reasoning="kimi_k3",
        encoder="kimi_k3",
        architectures=("KimiK3ForConditionalGeneration",),
    ),
)
