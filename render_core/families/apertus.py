"""Apertus: calls between special tokens; nothing but those must survive decoding."""

from __future__ import annotations

from typing import Final

from render_core.families.interface import KeptTokens, ToolParser
from render_core.families.recognition import Recognition


class ApertusToolParser(ToolParser):
    keeps_special_tokens = KeptTokens.WITH_TOOLS


TOOL_PARSERS: Final = {"apertus": ApertusToolParser}
REASONING_PARSERS: Final[dict[str, type]] = {}
RECOGNITIONS: Final = (Recognition(tool="apertus", template=("<|tools_prefix|>",)),)
