"""MiniMax M2 (calls in XML) and M3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from render_core.families.interface import (
    CallableTool,
    KeptTokens,
    MarkedReasoning,
    ParserModel,
    TaggedToolParser,
    ToolParser,
    ToolUse,
)
from render_core.families.reasoning_end import Marker, MarkerScan
from render_core.families.recognition import Recognition
from render_core.families.tags import (
    Format,
    const_string,
    json_schema,
    repeated_tags,
    sequence,
    tag,
    triggered_tags,
)

_SECTION_BEGIN, _SECTION_END = "<minimax:tool_call>", "</minimax:tool_call>"


class MiniMaxM2ToolParser(TaggedToolParser):
    keeps_special_tokens = KeptTokens.ALWAYS

    def tag(self, tools: Sequence[CallableTool], use: ToolUse) -> Format:
        calls = repeated_tags([_call(tool) for tool in tools], only_one=use == "forced")
        if use == "auto":
            section = tag(f"{_SECTION_BEGIN}\n", calls, _SECTION_END)
            return triggered_tags(_SECTION_BEGIN, [section], ("<think>", "</think>"))
        return sequence(const_string(f"\n{_SECTION_BEGIN}\n"), calls, const_string(_SECTION_END))


class MiniMaxM3ToolParser(ToolParser):
    """Markers are ordinary tokens, which survive decoding."""

    forces_json = False


class MiniMaxM2Reasoning(MarkedReasoning):
    ends = ("</think>", _SECTION_BEGIN)
    keeps_special_tokens = True


class MiniMaxM2AppendThinkReasoning(MarkedReasoning):
    """Reasoning stays in the answer's text."""


class MiniMaxM3Reasoning(MarkedReasoning):
    """Markers are looked for as the tokens their text encodes to."""

    delimiters = ("<mm:think>", "</mm:think>")

    def find_markers(self, model: ParserModel) -> MarkerScan:
        start, end = map(model.encode, self.delimiters)
        return MarkerScan.of_sequences(((end, Marker.END), (start, Marker.START)))


def _call(tool: CallableTool) -> Format:
    return tag(
        f'<invoke name="{tool.name}">\n', json_schema(tool.argument_schema, "minimax_xml"), "</invoke>\n"
    )


TOOL_PARSERS: Final = {"minimax_m2": MiniMaxM2ToolParser, "minimax_m3": MiniMaxM3ToolParser}
REASONING_PARSERS: Final = {
    "minimax_m2": MiniMaxM2Reasoning,
    "minimax_m2_append_think": MiniMaxM2AppendThinkReasoning,
    "minimax_m3": MiniMaxM3Reasoning,
}
RECOGNITIONS: Final = (
    Recognition(tool="minimax_m2", reasoning="minimax_m2", template=(_SECTION_BEGIN,)),
    Recognition(tool="minimax_m3", reasoning="minimax_m3", template=("<mm:think>",)),
)
