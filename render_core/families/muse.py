"""Muse Spark and Muse Glimmer: channels that name their recipient, calls in ATEM."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from render_core.families.interface import KeptTokens, ParserModel, ReasoningParser, ToolParser
from render_core.families.recognition import Recognition

_ASSISTANT: Final = "<|start|>assistant"
_CALL_MARKS: Final = ("<atem:function_calls>", "<atem:invoke")
_OTHER_ROLE: Final = re.compile(r"<\|start\|>(?!assistant(?:\s|<|$))[^\s<]+")
_HEADER: Final = re.compile(r"(?:<\|start\|>assistant\s*)?(?:to=(?P<recipient>[^\s<]+))?<\|message\|>")
_MESSAGE_END: Final = re.compile(r"<\|eom\|>|<\|eot\|>|<\|start\|>")
_NO_TOOLS: Final = (None, "self", "user", "commentary", "developer")

_GLIMMER_HEADER: Final = re.compile(r"to=(?P<recipient>[^\s<]+)<\|message\|>")
_GLIMMER_REASONING: Final = re.compile(
    r"(?:<\|start\|>assistant\s*)?to=self<\|message\|>.*?<\|eom\|>", re.DOTALL
)
_GLIMMER_OPEN_REASONING: Final = re.compile(
    r"(?:<\|start\|>assistant\s*)?to=self<\|message\|>"
    r"(?:(?!<\|eom\|>)(?!to=[^\s<]+<\|message\|>).)*(?=to=[^\s<]+<\|message\|>|$)",
    re.DOTALL,
)


class MuseToolParser(ToolParser):
    forces_json = False
    keeps_special_tokens = KeptTokens.ALWAYS


class MuseReasoning(ReasoningParser):
    """Reasoning is over once a channel to a tool holds a call. Markers may be several tokens: text is read."""

    keeps_special_tokens = True

    def __init__(self, model: ParserModel) -> None:
        super().__init__(model)
        self.decode = model.decode

    def has_ended(self, kwargs: Mapping[str, Any], prompt_ids: Sequence[int]) -> bool | None:
        turn = _current_turn(self.decode(prompt_ids))
        headers = list(_HEADER.finditer(turn))
        ends = [header.start() for header in headers[1:]] + [len(turn)]
        return any(
            header["recipient"] not in _NO_TOOLS and _holds_call(_body(turn, header.end(), end))
            for header, end in zip(headers, ends, strict=False)
        )


class MuseGlimmerReasoning(MuseReasoning):
    def has_ended(self, kwargs: Mapping[str, Any], prompt_ids: Sequence[int]) -> bool | None:
        _, opened, last_turn = (text := self.decode(prompt_ids)).rpartition(_ASSISTANT)
        turn = _GLIMMER_OPEN_REASONING.sub("", _GLIMMER_REASONING.sub("", last_turn if opened else text))
        for header in _GLIMMER_HEADER.finditer(turn):
            if header["recipient"] not in ("self", "user"):
                return _holds_call(turn[header.start() :])
        return False


def _current_turn(text: str) -> str:
    """What the assistant wrote since any other role spoke."""
    others = list(_OTHER_ROLE.finditer(text))
    if not others:
        return text
    start = text.find(_ASSISTANT, others[-1].end())
    return text[start:] if start != -1 else ""


def _body(turn: str, start: int, end: int) -> str:
    closing = _MESSAGE_END.search(turn, start, end)
    return turn[start : end if closing is None else closing.start()]


def _holds_call(text: str) -> bool:
    return any(mark in text for mark in _CALL_MARKS)


TOOL_PARSERS: Final = {
    "muse": MuseToolParser,
    "muse_glimmer": MuseToolParser,
    "musespark1x": MuseToolParser,
}
REASONING_PARSERS: Final = {
    "muse": MuseReasoning,
    "muse_glimmer": MuseGlimmerReasoning,
    "musespark1x": MuseReasoning,
}
RECOGNITIONS: Final = (
    Recognition(
        tool="muse_glimmer",
        reasoning="muse_glimmer",
        architectures=("MuseGlimmerForCausalLM", "MuseGlimmerForConditionalGeneration"),
    ),
    Recognition(tool="muse", reasoning="muse", architectures=("MuseSparkForConditionalGeneration",)),
)
