"""Phi-4-mini: calls as JSON text."""

from __future__ import annotations

from typing import Final

from render_core.families.interface import ToolParser
from render_core.families.recognition import Recognition

TOOL_PARSERS: Final = {"phi4_mini_json": ToolParser}
REASONING_PARSERS: Final[dict[str, type]] = {}
RECOGNITIONS: Final = (Recognition(tool="phi4_mini_json", template=("<|tool|>", "<|/tool|>")),)
