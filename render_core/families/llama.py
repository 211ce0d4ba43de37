"""Llama 3.1 to 3.3 (calls as JSON text), Llama 4 and other models that call functions as Python does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from render_core.families.interface import CallableTool, TaggedToolParser, ToolParser, ToolUse
from render_core.families.recognition import Recognition
from render_core.families.tags import Format, json_schema, tag, triggered_tags

_EXCLUDED: Final = ("<think>", "</think>")


class LlamaJsonToolParser(TaggedToolParser):
    delimiters = ("<|python_tag|>",)

    def tag(self, tools: Sequence[CallableTool], use: ToolUse) -> Format:
        tags = [
            tag(f'{{"name": "{tool.name}", "parameters": ', json_schema(tool.argument_schema), "}")
            for tool in tools
        ]
        if use == "forced":
            return tags[0]
        return triggered_tags('{"name": ', tags, _EXCLUDED, at_least_one=use == "required")


TOOL_PARSERS: Final = {
    "llama3_json": LlamaJsonToolParser,
    "llama4_json": LlamaJsonToolParser,
    "llama4_pythonic": ToolParser,
    "pythonic": ToolParser,
}
REASONING_PARSERS: Final[dict[str, type]] = {}
RECOGNITIONS: Final = (
    Recognition(tool="llama3_json", template=("<|start_header_id|>", "ipython", '"parameters": ')),
    Recognition(tool="llama4_pythonic", template=("<|header_start|>", "<|python_start|>")),
)
