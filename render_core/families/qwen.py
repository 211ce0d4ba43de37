"""Qwen 3 reasoning, and the XML calls of Qwen3-Coder and Qwen 3.5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from render_core.families.interface import (
    CallableTool,
    KeptTokens,
    MarkedReasoning,
    TaggedToolParser,
    ToolUse,
    enables_thinking,
)
from render_core.families.recognition import Recognition
from render_core.families.tags import Format, json_schema, tag, triggered_tags

CHATML_BOUNDARIES: Final = ("<|im_start|>", "<|im_end|>")
THINK_TAGS: Final = ("<think>", "</think>")

_CALL_BEGIN: Final = "<tool_call>\n<function="


class Qwen3CoderToolParser(TaggedToolParser):
    keeps_special_tokens = KeptTokens.ALWAYS

    def tag(self, tools: Sequence[CallableTool], use: ToolUse) -> Format:
        tags = [
            tag(
                f"{_CALL_BEGIN}{tool.name}>\n",
                json_schema(tool.argument_schema, "qwen_xml"),
                "\n</function>\n</tool_call>",
            )
            for tool in tools
        ]
        if use == "forced":
            return tags[0]
        return triggered_tags(_CALL_BEGIN, tags, THINK_TAGS, at_least_one=use == "required")


class Qwen3Reasoning(MarkedReasoning):
    """A call also ends reasoning; earlier turns do not count."""

    ends = ("</think>", "<tool_call>")
    boundaries = CHATML_BOUNDARIES
    keeps_special_tokens = True

    def thinks(self, kwargs: Mapping[str, Any]) -> bool:
        return enables_thinking(kwargs)


TOOL_PARSERS: Final = {"qwen3_coder": Qwen3CoderToolParser, "qwen3_xml": Qwen3CoderToolParser}
REASONING_PARSERS: Final = {"qwen3": Qwen3Reasoning}
RECOGNITIONS: Final = (
    Recognition(
        tool="qwen3_coder",
        template=("<tool_call>", "<function=", "<parameter="),
        absent=("</think>", "<seed:tool_call>"),
    ),
    Recognition(
        tool="qwen3_coder",
        reasoning="qwen3",
        template=("<tool_call>", "<function=", "<parameter=", "</think>"),
        absent=("truncate_history_thinking", "<seed:tool_call>"),
    ),
)
