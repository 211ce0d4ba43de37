"""FunctionGemma and Gemma 4. Gemma 3 has no form for calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from render_core.families.interface import KeptTokens, MarkedReasoning, ToolParser, enables_thinking
from render_core.families.recognition import Recognition


class FunctionGemmaToolParser(ToolParser):
    keeps_special_tokens = KeptTokens.WITH_TOOLS


class Gemma4ToolParser(ToolParser):
    """Calls are written in the model's own syntax even when forced: no schema may turn them into JSON."""

    forces_json = False
    keeps_special_tokens = KeptTokens.ALWAYS


class Gemma4Reasoning(MarkedReasoning):
    starts = ("<|channel>",)
    ends = ("<channel|>", "<|tool_call>")
    boundaries = ("<|turn>", "<|tool_response>")
    keeps_special_tokens = True
    opens_when_off = True

    def thinks(self, kwargs: Mapping[str, Any]) -> bool:
        return enables_thinking(kwargs, default=False)


TOOL_PARSERS: Final = {"functiongemma": FunctionGemmaToolParser, "gemma4": Gemma4ToolParser}
REASONING_PARSERS: Final = {"gemma4": Gemma4Reasoning}
RECOGNITIONS: Final = (
    Recognition(tool="functiongemma", template=("<start_function_call>",)),
    Recognition(tool="gemma4", reasoning="gemma4", template=("<|channel>", "<|tool_call>")),
)
