"""OLMo 3: calls as Python writes them; <think> and </think> are ordinary text, in several tokens."""

from __future__ import annotations

from typing import Final

from render_core.families.interface import MarkedReasoning, ParserModel, ToolParser
from render_core.families.reasoning_end import Marker, MarkerScan
from render_core.families.recognition import Recognition

_END_REST: Final = ("think", ">")


class Olmo3Reasoning(MarkedReasoning):
    """One </think> anywhere ends reasoning; its first token may carry a leading space."""

    delimiters = ("Ġ</", "</", *_END_REST)

    def find_markers(self, model: ParserModel) -> MarkerScan:
        rest = [model.token_id(text) or 0 for text in _END_REST]
        ends = [[model.token_id(first) or 0, *rest] for first in ("Ġ</", "</")]
        return MarkerScan.of_sequences((end, Marker.END) for end in ends)


TOOL_PARSERS: Final = {"olmo3": ToolParser}
REASONING_PARSERS: Final = {"olmo3": Olmo3Reasoning}
RECOGNITIONS: Final = (
    Recognition(tool="olmo3", reasoning="olmo3", architectures=("Olmo3ForCausalLM",), template=("<think>",)),
    Recognition(tool="olmo3", architectures=("Olmo3ForCausalLM",), absent=("<think>",)),
)
