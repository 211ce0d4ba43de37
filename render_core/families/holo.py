"""Holo 2: DeepSeek V3's reasoning, thinking unless told otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from render_core.families.deepseek import THINK_TAGS, DeepSeekV3Reasoning
from render_core.families.recognition import Recognition


class Holo2Reasoning(DeepSeekV3Reasoning):
    delimiters = THINK_TAGS
    thinks_by_default = True

    def added_kwargs(self, kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
        if kwargs.get("thinking") is None and kwargs.get("enable_thinking") is None:
            return {"thinking": True, "enable_thinking": True}
        return {}


TOOL_PARSERS: Final[dict[str, type]] = {}
REASONING_PARSERS: Final = {"holo2": Holo2Reasoning}
RECOGNITIONS: Final[tuple[Recognition, ...]] = ()
