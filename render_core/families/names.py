"""The parser names that can be asked for, which are vLLM 0.33's (spec 7.1). What each does is not here."""

from __future__ import annotations

from typing import Final

from render_core.families.registry import FAMILIES

TOOL_PARSERS: Final = tuple(sorted(name for family in FAMILIES for name in family.tools))
REASONING_PARSERS: Final = tuple(sorted(name for family in FAMILIES for name in family.reasoning))
