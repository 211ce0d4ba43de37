"""Kimi K2: a section of numbered calls between special tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from render_core.families.interface import (
    CallableTool,
    KeptTokens,
    MarkedReasoning,
    TaggedToolParser,
    ToolUse,
    thinks_either_way,
)
from render_core.families.recognition import Recognition
from render_core.families.tags import (
    Format,
    const_string,
    json_schema,
    regex,
    repeated_tags,
    sequence,
    tag,
    triggered_tags,
)

_SECTION_BEGIN, _SECTION_END = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
_CALL_BEGIN: Final = "<|tool_call_begin|>"


class KimiK2ToolParser(TaggedToolParser):
    forces_json = False
    keeps_special_tokens = KeptTokens.WITH_TOOLS

    def tag(self, tools: Sequence[CallableTool], use: ToolUse) -> Format:
        calls = [_call(tool) for tool in tools]
        if use == "auto":
            section = tag(_SECTION_BEGIN, repeated_tags(calls), _SECTION_END)
            return triggered_tags(_SECTION_BEGIN, [section], ("<think>", "</think>", _CALL_BEGIN))
        content = calls[0] if use == "forced" else repeated_tags(calls)
        return sequence(const_string(_SECTION_BEGIN), content, const_string(_SECTION_END))


class KimiK2Reasoning(MarkedReasoning):
    ends = ("</think>", _SECTION_BEGIN)
    keeps_special_tokens = True

    def thinks(self, kwargs: Mapping[str, Any]) -> bool:
        return thinks_either_way(kwargs)


def _call(tool: CallableTool) -> Format:
    content = sequence(
        regex(r"\d+"), const_string("<|tool_call_argument_begin|>"), json_schema(tool.argument_schema)
    )
    return tag(f"{_CALL_BEGIN}functions.{tool.name}:", content, "<|tool_call_end|>")


TOOL_PARSERS: Final = {"kimi_k2": KimiK2ToolParser}
REASONING_PARSERS: Final = {"kimi_k2": KimiK2Reasoning}
RECOGNITIONS: Final = (
    Recognition(tool="kimi_k2", reasoning="kimi_k2", template=(_SECTION_BEGIN, "</think>")),
    Recognition(tool="kimi_k2", template=(_SECTION_BEGIN,), absent=("</think>",)),
)
