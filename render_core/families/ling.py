"""Ling 3: GLM's calls and reasoning, without GLM's stricter default."""

from __future__ import annotations

from typing import Final

from render_core.families.glm import GlmFormReasoning, GlmFormToolParser
from render_core.families.recognition import Recognition

TOOL_PARSERS: Final = {"ling3": GlmFormToolParser}
REASONING_PARSERS: Final = {"ling3": GlmFormReasoning}
RECOGNITIONS: Final = (
    Recognition(
        tool="ling3",
        reasoning="ling3",
        architectures=("BailingMoeV3ForCausalLM", "BailingMoeV3VLForConditionalGeneration"),
    ),
)
