"""dots.llm: calls in XML, which no JSON schema may force."""

from __future__ import annotations

from typing import Final

from render_core.families.interface import ToolParser
from render_core.families.recognition import Recognition


class DotsToolParser(ToolParser):
    forces_json = False


TOOL_PARSERS: Final = {"dots": DotsToolParser}
REASONING_PARSERS: Final[dict[str, type]] = {}
RECOGNITIONS: Final = (Recognition(tool="dots", template=("<dots_function_call>",)),)
