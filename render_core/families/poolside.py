"""Poolside Laguna: calls as GLM writes them, never constrained; DeepSeek V3's reasoning within the last turn."""

from __future__ import annotations

from typing import Final

from render_core.families.deepseek import DeepSeekV3Reasoning
from render_core.families.interface import KeptTokens, ToolParser
from render_core.families.recognition import Recognition


class PoolsideToolParser(ToolParser):
    forces_json = False
    keeps_special_tokens = KeptTokens.WITH_TOOLS


class PoolsideReasoning(DeepSeekV3Reasoning):
    delimiters = ("<assistant>",)
    boundaries = ("<assistant>",)


TOOL_PARSERS: Final = {"poolside_v1": PoolsideToolParser}
REASONING_PARSERS: Final = {"poolside_v1": PoolsideReasoning}
RECOGNITIONS: Final = (
    Recognition(tool="poolside_v1", reasoning="poolside_v1", architectures=("LagunaForCausalLM",)),
)
