"""ERNIE 4.5: calls as JSON, thinking between <think> and </think>."""

from __future__ import annotations

from typing import Final

from render_core.families.interface import MarkedReasoning, ToolParser
from render_core.families.recognition import Recognition


class Ernie45Reasoning(MarkedReasoning):
    delimiters = ("<think>", "</think>")


TOOL_PARSERS: Final = {"ernie45": ToolParser}
REASONING_PARSERS: Final = {"ernie45": Ernie45Reasoning}
RECOGNITIONS: Final = (
    Recognition(
        tool="ernie45",
        reasoning="ernie45",
        architectures=("Ernie4_5ForCausalLM", "Ernie4_5_MoeForCausalLM"),
        template=("</think>",),
    ),
)
