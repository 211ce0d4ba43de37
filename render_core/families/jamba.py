"""Jamba: calls between special tokens."""

from __future__ import annotations

from typing import Final

from render_core.families.interface import KeptTokens, ToolParser
from render_core.families.recognition import Recognition


class JambaToolParser(ToolParser):
    delimiters = ("<tool_calls>", "</tool_calls>")
    keeps_special_tokens = KeptTokens.WITH_TOOLS


TOOL_PARSERS: Final = {"jamba": JambaToolParser}
REASONING_PARSERS: Final[dict[str, type]] = {}
RECOGNITIONS: Final = (
    Recognition(tool="jamba", architectures=("JambaForCausalLM",), template=("<tool_calls>",)),
)
