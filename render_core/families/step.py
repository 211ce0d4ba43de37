"""Step 3, 3.5 and 5."""

from __future__ import annotations

from typing import Final

from render_core.families.interface import KeptTokens, MarkedReasoning, ToolParser
from render_core.families.qwen import CHATML_BOUNDARIES, Qwen3CoderToolParser
from render_core.families.recognition import Recognition


class Step3ToolParser(ToolParser):
    keeps_special_tokens = KeptTokens.WITH_TOOLS


class Step3Reasoning(MarkedReasoning):
    """One </think> anywhere ends reasoning for good."""

    delimiters = ("</think>",)
    starts = ()


class Step3p5Reasoning(MarkedReasoning):
    """As Qwen 3's, but thinking cannot be switched off."""

    ends = ("</think>", "<tool_call>")
    boundaries = CHATML_BOUNDARIES
    keeps_special_tokens = True


class Step5Reasoning(MarkedReasoning):
    delimiters = ("<think>", "</think>")


TOOL_PARSERS: Final = {
    "step3": Step3ToolParser,
    "step3p5": Qwen3CoderToolParser,
    "step5": Qwen3CoderToolParser,
}
REASONING_PARSERS: Final = {"step3": Step3Reasoning, "step3p5": Step3p5Reasoning, "step5": Step5Reasoning}
RECOGNITIONS: Final = (
    Recognition(tool="step3", reasoning="step3", template=("<\uff5ctool_calls_begin\uff5c>",)),
    Recognition(
        tool="step3p5",
        reasoning="step3p5",
        architectures=("Step3p5ForCausalLM", "Step3p7ForConditionalGeneration"),
    ),
)
