"""MiniCPM 5 (calls in XML made of special tokens) and MiniCPM-V (Qwen 3's reasoning)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from render_core.families.interface import KeptTokens, MarkedReasoning, ToolParser, enables_thinking
from render_core.families.recognition import Recognition


class MiniCPM5ToolParser(ToolParser):
    keeps_special_tokens = KeptTokens.WITH_TOOLS


class MiniCPMVReasoning(MarkedReasoning):
    ends = ("</think>", "<tool_call>")
    keeps_special_tokens = True
    opens_when_off = True

    def thinks(self, kwargs: Mapping[str, Any]) -> bool:
        return enables_thinking(kwargs)


TOOL_PARSERS: Final = {"minicpm5": MiniCPM5ToolParser}
REASONING_PARSERS: Final = {"minicpmv": MiniCPMVReasoning}
RECOGNITIONS: Final = (
    Recognition(tool="minicpm5", reasoning="qwen3", template=('<function name="', "</think>")),
)
