"""Hermes and what writes calls as it does: JSON between <tool_call> tags (Qwen 2.5 and 3, LongCat, SmolLM 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from render_core.families.interface import CallableTool, KeptTokens, TaggedToolParser, ToolUse
from render_core.families.recognition import Recognition
from render_core.families.tags import Format, json_schema, repeated_tags, tag, triggered_tags


class HermesToolParser(TaggedToolParser):
    """Two spellings are allowed: with line breaks inside the tags, and without."""

    keeps_special_tokens = KeptTokens.WITH_TOOLS
    begin: ClassVar[str] = "<tool_call>"
    end: ClassVar[str] = "</tool_call>"

    def tag(self, tools: Sequence[CallableTool], use: ToolUse) -> Format:
        tags = [
            tag(
                f'{self.begin}{line_break}{{"name": "{tool.name}", "arguments": ',
                json_schema(tool.argument_schema),
                f"}}{line_break}{self.end}",
            )
            for tool in tools
            for line_break in ("\n", "")
        ]
        if use == "auto":
            return triggered_tags(self.begin, tags)
        return repeated_tags(tags, only_one=use == "forced")


class LongcatToolParser(HermesToolParser):
    begin = "<longcat_tool_call>"
    end = "</longcat_tool_call>"


_XML_CALLS: Final = ("<function=", "<arg_key>", "<|start_of_role|>")

TOOL_PARSERS: Final = {
    "hermes": HermesToolParser,
    "qwen3_json": HermesToolParser,
    "longcat": LongcatToolParser,
}
REASONING_PARSERS: Final[dict[str, type]] = {}
RECOGNITIONS: Final = (
    Recognition(tool="longcat", template=("<longcat_tool_call>",)),
    # QwQ and the Qwen 3 models that always think: the template opens <think> itself.
    Recognition(
        tool="hermes",
        reasoning="deepseek_r1",
        template=("<tool_call>", r"assistant\n<think>\n"),
        absent=_XML_CALLS,
    ),
    Recognition(
        tool="hermes",
        reasoning="qwen3",
        template=("<tool_call>", "enable_thinking"),
        absent=(*_XML_CALLS, r"assistant\n<think>\n"),
    ),
    Recognition(tool="hermes", template=("<tool_call>",), absent=(*_XML_CALLS, "</think>")),
    Recognition(tool="hermes", reasoning="qwen3", template=("SmolLM", "Reasoning Mode: ")),
)
