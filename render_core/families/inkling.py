"""Inkling: a message is a row of blocks, each opened by a token that names its kind."""

from __future__ import annotations

from typing import Final

from render_core.families.interface import KeptTokens, MarkedReasoning, ToolParser
from render_core.families.recognition import Recognition


class InklingToolParser(ToolParser):
    forces_json = False
    keeps_special_tokens = KeptTokens.ALWAYS


class InklingReasoning(MarkedReasoning):
    """Reasoning is over only inside a text block, or when nothing more is sampled."""

    starts = ("<|content_thinking|>", "<|message_model|>")
    ends = ("<|content_text|>", "<|content_model_end_sampling|>")
    keeps_special_tokens = True


TOOL_PARSERS: Final = {"inkling": InklingToolParser}
REASONING_PARSERS: Final = {"inkling": InklingReasoning}
RECOGNITIONS: Final = (
    Recognition(
        tool="inkling",
        reasoning="inkling",
        encoder="inkling",
        architectures=("InklingForCausalLM", "InklingForConditionalGeneration"),
    ),
)
