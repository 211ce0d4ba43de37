"""GigaChat 3: calls after a special token."""

from __future__ import annotations

from typing import Final

from render_core.families.interface import KeptTokens, ToolParser
from render_core.families.recognition import Recognition


class GigaChat3ToolParser(ToolParser):
    keeps_special_tokens = KeptTokens.WITH_TOOLS


TOOL_PARSERS: Final = {"gigachat3": GigaChat3ToolParser}
REASONING_PARSERS: Final[dict[str, type]] = {}
RECOGNITIONS: Final = (Recognition(tool="gigachat3", template=("function call<|role_sep|>",)),)
