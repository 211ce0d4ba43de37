"""PLaMo 3: markers of several tokens around every part of a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from render_core.families.interface import (
    CallableTool,
    KeptTokens,
    MarkedReasoning,
    ParserModel,
    TaggedToolParser,
    ToolUse,
    enables_thinking,
)
from render_core.families.reasoning_end import Marker, MarkerScan
from render_core.families.recognition import Recognition
from render_core.families.tags import Format, json_schema, repeated_tags, tag, triggered_tags

_TURN_END: Final = "<|plamo:tag|>"


class Plamo3ToolParser(TaggedToolParser):
    forces_json = False
    keeps_special_tokens = KeptTokens.ALWAYS

    def tag(self, tools: Sequence[CallableTool], use: ToolUse) -> Format:
        begin, end = _begin("tool_requests"), _end("tool_requests")
        calls = repeated_tags([_call(tool) for tool in tools], only_one=use == "forced")
        section = tag(begin, calls, [end, end + _TURN_END])
        return triggered_tags(begin, [section]) if use == "auto" else section


class Plamo3Reasoning(MarkedReasoning):
    keeps_special_tokens = True

    def find_markers(self, model: ParserModel) -> MarkerScan:
        turn_end = model.token_id(_TURN_END)
        return MarkerScan.of_sequences(
            (
                (model.encode(_end("think")), Marker.END),
                (model.encode(_begin("think")), Marker.START),
                (() if turn_end is None else (turn_end,), Marker.BOUNDARY),
            )
        )

    def thinks(self, kwargs: Mapping[str, Any]) -> bool:
        return enables_thinking(kwargs)


def _call(tool: CallableTool) -> Format:
    return tag(
        _begin("tool_request")
        + _begin("tool_name")
        + tool.name
        + _end("tool_name")
        + _begin("tool_arguments")
        + "<|plamo:constrain|>json<|plamo:msg|>",
        json_schema(tool.argument_schema),
        _end("tool_arguments") + _end("tool_request"),
    )


def _begin(part: str) -> str:
    return f"<|plamo:begin_{part}:plamo|>"


def _end(part: str) -> str:
    return f"<|plamo:end_{part}:plamo|>"


TOOL_PARSERS: Final = {"plamo3": Plamo3ToolParser}
REASONING_PARSERS: Final = {"plamo3": Plamo3Reasoning}
RECOGNITIONS: Final = (Recognition(tool="plamo3", reasoning="plamo3", architectures=("Plamo3ForCausalLM",)),)
