"""Seed-OSS: Qwen3-Coder's calls and reasoning under tags of its own; calls are never constrained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from render_core.families.interface import KeptTokens, MarkedReasoning, ToolParser, enables_thinking
from render_core.families.recognition import Recognition


class SeedOssToolParser(ToolParser):
    keeps_special_tokens = KeptTokens.ALWAYS


class SeedOssReasoning(MarkedReasoning):
    starts = ("<seed:think>",)
    ends = ("</seed:think>", "<seed:tool_call>")
    boundaries = ("<seed:bos>", "<seed:eos>")
    keeps_special_tokens = True

    def thinks(self, kwargs: Mapping[str, Any]) -> bool:
        return enables_thinking(kwargs)


TOOL_PARSERS: Final = {"seed_oss": SeedOssToolParser}
REASONING_PARSERS: Final = {"seed_oss": SeedOssReasoning}
RECOGNITIONS: Final = (
    Recognition(tool="seed_oss", reasoning="seed_oss", template=("<seed:tool_call>", "<seed:think>")),
)
