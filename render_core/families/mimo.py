"""MiMo V2: Qwen3-Coder's calls without line breaks, Qwen 3's reasoning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from render_core.families.interface import CallableTool, KeptTokens, TaggedToolParser, ToolUse
from render_core.families.qwen import THINK_TAGS, Qwen3Reasoning
from render_core.families.recognition import Recognition
from render_core.families.tags import Format, json_schema, tag, triggered_tags


class MiMoToolParser(TaggedToolParser):
    keeps_special_tokens = KeptTokens.ALWAYS

    def tag(self, tools: Sequence[CallableTool], use: ToolUse) -> Format:
        tags = [
            tag(
                f"<tool_call><function={tool.name}>",
                json_schema(tool.argument_schema, "qwen_xml"),
                "</function></tool_call>",
            )
            for tool in tools
        ]
        if use == "forced":
            return tags[0]
        return triggered_tags(
            "<tool_call>",
            tags,
            (*THINK_TAGS, "</tool_call>", "<function="),
            at_least_one=use == "required",
        )


TOOL_PARSERS: Final = {"mimo": MiMoToolParser}
REASONING_PARSERS: Final = {"mimo": Qwen3Reasoning}
RECOGNITIONS: Final = (
    Recognition(tool="mimo", reasoning="mimo", architectures=("MiMoV2FlashForCausalLM", "MiMoV2ForCausalLM")),
)
