"""GLM 4.5 to 5: calls as a name and pairs of argument key and value."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from render_core.errors import RenderError
from render_core.families.interface import (
    CallableTool,
    KeptTokens,
    MarkedReasoning,
    ParserModel,
    StrictLevel,
    TaggedToolParser,
    ToolUse,
    thinks_either_way,
)
from render_core.families.recognition import Recognition
from render_core.families.tags import (
    Format,
    any_text,
    const_string,
    json_schema,
    one_of_or_only,
    repeated_tags,
    sequence,
    star,
    tag,
    triggered_tags,
)

_CALL_BEGIN, _CALL_END = "<tool_call>", "</tool_call>"
_ARGUMENT_TAGS: Final = ("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>")
# Free text around calls may hold everything but these; an argument's value may not hold a call's beginning either.
_TEXT_EXCLUDES: Final = ("<think>", "</think>", _CALL_END, *_ARGUMENT_TAGS)
_VALUE_EXCLUDES: Final = ("<think>", "</think>", _CALL_BEGIN, _CALL_END, *_ARGUMENT_TAGS)
_COMBINED_SCHEMAS: Final = ("$ref", "allOf", "anyOf", "oneOf", "patternProperties")


class GlmFormToolParser(TaggedToolParser):
    """Strict tools are held to their schema; the others to the keys they declare and the types of their values."""

    forces_json = False
    keeps_special_tokens = KeptTokens.ALWAYS

    def tag(self, tools: Sequence[CallableTool], use: ToolUse) -> Format:
        tags = [tag(f"{_CALL_BEGIN}{tool.name}", _arguments(tool), _CALL_END) for tool in tools]
        all_strict = all(tool.is_strict for tool in tools)
        if use == "auto":
            return triggered_tags(_CALL_BEGIN, tags, _TEXT_EXCLUDES)
        if not all_strict:
            return repeated_tags(tags, only_one=use == "forced")
        if use == "forced":
            return tags[0]
        return triggered_tags(_CALL_BEGIN, tags, _TEXT_EXCLUDES, at_least_one=True)


class GlmToolParser(GlmFormToolParser):
    strict_level = StrictLevel.FUNCTION


class GlmFormReasoning(MarkedReasoning):
    ends = ("</think>", _CALL_BEGIN)
    boundaries = ("<|system|>", "<|user|>", "<|assistant|>", "<|observation|>")
    keeps_special_tokens = True

    def thinks(self, kwargs: Mapping[str, Any]) -> bool:
        return thinks_either_way(kwargs)


class GlmReasoning(GlmFormReasoning):
    """GLM 5.3's template has no switch for thinking: there, kwargs that ask to switch it off are ignored."""

    def __init__(self, model: ParserModel) -> None:
        super().__init__(model)
        template = model.chat_template or ""
        shown = ("[gMASK]<sop>", "Reasoning Effort:", _CALL_BEGIN, "<arg_key>", "<arg_value>")
        self.always_thinks = all(text in template for text in shown) and "enable_thinking" not in template

    def thinks(self, kwargs: Mapping[str, Any]) -> bool:
        refused = kwargs.get("thinking") is False or kwargs.get("enable_thinking") is False
        return (refused and self.always_thinks) or super().thinks(kwargs)


def _arguments(tool: CallableTool) -> Format:
    properties = None if tool.is_strict else _plain_properties(tool.parameters or {})
    if properties is None:
        return json_schema(tool.argument_schema, "glm_xml")
    pairs = [
        sequence(
            const_string(f"<arg_key>{key}</arg_key><arg_value>"),
            _value(schema),
            const_string("</arg_value>"),
        )
        for key, schema in properties.items()
    ]
    return star(one_of_or_only(pairs))


def _plain_properties(parameters: Mapping[str, Any]) -> dict[str, Any] | None:
    """The declared properties, when nothing but they may be given."""
    properties = parameters.get("properties")
    if not isinstance(properties, dict) or not properties or parameters.get("additionalProperties") is True:
        return None
    return None if any(key in parameters for key in _COMBINED_SCHEMAS) else properties


def _value(schema: Any) -> Format:
    """Strings are written bare, other types as JSON.

    Raises:
        RenderError: the schema of the property has no shape that a value could follow.
    """
    if not isinstance(schema, dict) or not isinstance(schema.get("enum", []), list):
        raise RenderError("A property of a tool's parameters must have an object as its schema.", "tools")
    if "enum" in schema:
        choices = [value if isinstance(value, str) else json.dumps(value) for value in schema["enum"]]
        return one_of_or_only([const_string(choice) for choice in choices])
    declared = schema.get("type")
    if isinstance(declared, list):
        formats = [json_schema({"type": entry}) for entry in declared if entry != "string"]
        if "string" in declared:
            formats.append(any_text(_VALUE_EXCLUDES))
        return one_of_or_only(formats)
    return any_text(_VALUE_EXCLUDES) if declared in (None, "string") else json_schema({"type": declared})


TOOL_PARSERS: Final = {"glm45": GlmToolParser, "glm47": GlmToolParser}
REASONING_PARSERS: Final = {"glm45": GlmReasoning, "glm47": GlmReasoning}
RECOGNITIONS: Final = (
    Recognition(
        tool="glm45",
        reasoning="glm45",
        template=("[gMASK]<sop>", "<arg_key>", "<tool_call>{function-name}\n"),
    ),
    Recognition(
        tool="glm47",
        reasoning="glm47",
        template=("[gMASK]<sop>", "<arg_key>"),
        absent=("<tool_call>{function-name}\n",),
    ),
)
