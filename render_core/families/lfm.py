"""LFM 2: pythonic calls between special tokens."""

from __future__ import annotations

from typing import Final

from render_core.families.interface import KeptTokens, ToolParser
from render_core.families.recognition import Recognition


class Lfm2ToolParser(ToolParser):
    delimiters = ("<|tool_call_start|>", "<|tool_call_end|>")
    keeps_special_tokens = KeptTokens.WITH_TOOLS


TOOL_PARSERS: Final = {"lfm2": Lfm2ToolParser}
REASONING_PARSERS: Final[dict[str, type]] = {}
RECOGNITIONS: Final = (Recognition(tool="lfm2", template=("<|tool_list_start|>",)),)
