"""Mistral: calls after [TOOL_CALLS], reasoning between [THINK] and [/THINK].

vLLM constrains tekken tokenizers from version 11 on by a Lark grammar of mistral-common. That grammar is not made
here: those models are treated as Mistral models with other tokenizers are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from render_core.families.draft import Draft
from render_core.families.interface import KeptTokens, MarkedReasoning, ParserModel, ToolParser
from render_core.families.recognition import Recognition
from render_core.protocol.chat import ChatRequest
from render_core.protocol.tools import NamedToolChoice

_CALLS_BEGIN: Final = "[TOOL_CALLS]"
_REPLACED_FORMATS: Final = ("text", "json_object", "json_schema")


class MistralToolParser(ToolParser):
    delimiters = (_CALLS_BEGIN,)
    keeps_special_tokens = KeptTokens.ALWAYS

    def adjust(self, draft: Draft, kwargs: Mapping[str, Any]) -> None:
        _force_calls(draft)
        self.keep_special_tokens(draft)


class MistralReasoning(MarkedReasoning):
    """A model without thinking tokens never reasons."""

    delimiters = (_CALLS_BEGIN,)
    starts = ("[THINK]",)
    ends = ("[/THINK]", _CALLS_BEGIN)
    keeps_special_tokens = True

    def __init__(self, model: ParserModel) -> None:
        super().__init__(model)
        self.has_thinking_tokens = model.token_id("[THINK]") is not None

    def thinks(self, kwargs: Mapping[str, Any]) -> bool:
        return self.has_thinking_tokens

    def adjust(self, draft: Draft, kwargs: Mapping[str, Any]) -> None:
        super().adjust(draft, kwargs)
        _force_calls(draft)


def _force_calls(draft: Draft) -> None:
    """Hold forced calls to the model's own JSON list, unless the client constrains the answer itself."""
    request, response_format = draft.request, draft.response_format
    is_replaceable = response_format is None or response_format.type in _REPLACED_FORMATS
    is_forced = request.tool_choice == "required" or isinstance(request.tool_choice, NamedToolChoice)
    if request.tools and is_forced and draft.structured_outputs is None and is_replaceable:
        draft.constrain(json_=_calls_schema(request))


def _calls_schema(request: ChatRequest) -> dict[str, Any]:
    choice, tools = request.tool_choice, request.tools or []
    limit: dict[str, Any] = {}
    if isinstance(choice, NamedToolChoice):
        tools = [tool for tool in tools if tool.function.name == choice.function.name]
        limit = {"maxItems": 1}
    calls = [
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "enum": [tool.function.name]},
                "arguments": tool.function.parameters or {"type": "object"},
            },
            "required": ["name", "arguments"],
        }
        for tool in tools
    ]
    return {"type": "array", "minItems": 1, **limit, "items": {"type": "object", "anyOf": calls}}


TOOL_PARSERS: Final = {"mistral": MistralToolParser}
REASONING_PARSERS: Final = {"mistral": MistralReasoning}
RECOGNITIONS: Final = (
    Recognition(tool="mistral", encoder="mistral"),
    Recognition(tool="mistral", reasoning="mistral", template=(_CALLS_BEGIN, "[THINK]")),
    Recognition(tool="mistral", template=(_CALLS_BEGIN,), absent=("[THINK]",)),
)
