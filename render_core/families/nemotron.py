"""Nemotron 3: Qwen 3's reasoning, with Qwen3-Coder's calls."""

from __future__ import annotations

from typing import Final

from render_core.families.qwen import Qwen3Reasoning
from render_core.families.recognition import Recognition

TOOL_PARSERS: Final[dict[str, type]] = {}
REASONING_PARSERS: Final = {"nemotron_v3": Qwen3Reasoning}
RECOGNITIONS: Final = (
    Recognition(
        tool="qwen3_coder",
        reasoning="nemotron_v3",
        template=("<tool_call>", "<function=", "truncate_history_thinking"),
    ),
)
