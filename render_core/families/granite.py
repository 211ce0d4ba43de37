"""Granite: calls as a JSON list after a marker (3), between tags (4), or as text (20B function calling)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from render_core.families.interface import KeptTokens, ReasoningParser, ToolParser
from render_core.families.qwen import Qwen3Reasoning
from render_core.families.recognition import Recognition


class GraniteToolParser(ToolParser):
    keeps_special_tokens = KeptTokens.ALWAYS


class Granite4ToolParser(ToolParser):
    keeps_special_tokens = KeptTokens.WITH_TOOLS


class GraniteReasoning(ReasoningParser):
    """Reasoning begins and ends with a sentence, which vLLM looks for in answers only."""

    def has_ended(self, kwargs: Mapping[str, Any], prompt_ids: Sequence[int]) -> bool | None:
        return None


TOOL_PARSERS: Final = {
    "granite": GraniteToolParser,
    "granite-20b-fc": ToolParser,
    "granite4": Granite4ToolParser,
}
REASONING_PARSERS: Final = {"granite": GraniteReasoning, "granite_thinking_parser": Qwen3Reasoning}
RECOGNITIONS: Final = (
    Recognition(
        tool="granite", reasoning="granite", template=("<|start_of_role|>", "<|tool_call|>", "thinking")
    ),
    Recognition(tool="granite", template=("<|start_of_role|>", "<|tool_call|>"), absent=("thinking",)),
    Recognition(
        tool="granite4", template=("<|start_of_role|>", "<tool_call>"), absent=("<function=", "</think>")
    ),
)
