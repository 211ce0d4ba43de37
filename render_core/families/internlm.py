"""InternLM 2: calls between special tokens."""

from __future__ import annotations

from typing import Final

from render_core.families.interface import KeptTokens, ToolParser
from render_core.families.recognition import Recognition


class InternLM2ToolParser(ToolParser):
    keeps_special_tokens = KeptTokens.WITH_TOOLS


TOOL_PARSERS: Final = {"internlm": InternLM2ToolParser}
REASONING_PARSERS: Final[dict[str, type]] = {}
RECOGNITIONS: Final = (
    Recognition(tool="internlm", architectures=("InternLM2ForCausalLM",), template=("<|plugin|>",)),
)
