"""K2 Horizon: one pair of thinking tokens for each reasoning effort; calls in three forms, none constrained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from render_core.errors import RenderError
from render_core.families.draft import Draft
from render_core.families.interface import ParserModel, ReasoningParser, ToolParser
from render_core.families.reasoning_end import Marker, MarkerScan
from render_core.families.recognition import Recognition

_CALL_FORMATS: Final = ("json", "xml", "xml_typed")
_THINK_TAGS: Final = {"high": "ifm|think", "medium": "ifm|think_fast", "low": "ifm|think_faster"}
_CALLS_BEGIN: Final = "<ifm|tool_calls>"


class K2HorizonToolParser(ToolParser):
    forces_json = False

    def adjust(self, draft: Draft, kwargs: Mapping[str, Any]) -> None:
        asked = (draft.request.chat_template_kwargs or {}).get("tool_call_format", "xml")
        if asked not in _CALL_FORMATS:
            raise RenderError(
                f"tool_call_format must be one of {', '.join(_CALL_FORMATS)}.", "chat_template_kwargs"
            )


class K2HorizonReasoning(ReasoningParser):
    delimiters = ("<ifm|think>", "</ifm|think>")

    def __init__(self, model: ParserModel) -> None:
        super().__init__(model)
        self.scans = {
            effort: MarkerScan.of_tokens(
                ((f"<{name}>", Marker.START), (f"</{name}>", Marker.END), (_CALLS_BEGIN, Marker.END)),
                model.token_id,
            )
            for effort, name in _THINK_TAGS.items()
            if model.token_id(f"<{name}>") is not None and model.token_id(f"</{name}>") is not None
        }

    def adjust(self, draft: Draft, kwargs: Mapping[str, Any]) -> None:
        self._scan(kwargs)

    def has_ended(self, kwargs: Mapping[str, Any], prompt_ids: Sequence[int]) -> bool | None:
        return self._scan(kwargs).last(prompt_ids) is Marker.END

    def _scan(self, kwargs: Mapping[str, Any]) -> MarkerScan:
        effort = kwargs.get("reasoning_effort", "high")
        scan = self.scans.get(effort) if isinstance(effort, str) else None
        if scan is None:
            raise RenderError(f"reasoning_effort must be one of {', '.join(self.scans)}.", "reasoning_effort")
        return scan


TOOL_PARSERS: Final = {"k2_horizon": K2HorizonToolParser}
REASONING_PARSERS: Final = {"k2_horizon": K2HorizonReasoning}
RECOGNITIONS: Final = (
    Recognition(tool="k2_horizon", reasoning="k2_horizon", architectures=("K2HorizonForCausalLM",)),
)
