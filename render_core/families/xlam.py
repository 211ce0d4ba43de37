"""xLAM: calls as JSON text. The models use other families' templates, so nothing tells them apart."""

from __future__ import annotations

from typing import Final

from render_core.families.interface import ToolParser
from render_core.families.recognition import Recognition

TOOL_PARSERS: Final = {"xlam": ToolParser}
REASONING_PARSERS: Final[dict[str, type]] = {}
RECOGNITIONS: Final[tuple[Recognition, ...]] = ()
