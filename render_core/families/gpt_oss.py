"""gpt-oss: everything in Harmony channels, analysis first; tags cover the whole answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from render_core.families.constraints import compiles_in_tag, constraint_format
from render_core.families.draft import Draft
from render_core.families.interface import (
    CallableTool,
    ParserModel,
    ReasoningParser,
    TaggedToolParser,
    ToolUse,
)
from render_core.families.recognition import Recognition
from render_core.families.tags import (
    Format,
    any_text,
    const_string,
    json_schema,
    one_of,
    optional,
    sequence,
    structural_tag_text,
    tag,
)
from render_core.protocol.structured import StructuredOutputs

REASONING_NAME: Final = "openai_gptoss"

_JSON_MARKS: Final = (" json", " <|constrain|>json")
_CALL_CHANNELS: Final = ("<|channel|>commentary", "<|channel|>analysis", "<|channel|>final")
# A message may also end at a stop token, which no tag can name: the empty text stands for it.
_MESSAGE_END: Final = ["<|end|>", ""]


class HarmonyToolParser(TaggedToolParser):
    def tag(self, tools: Sequence[CallableTool], use: ToolUse) -> Format:
        answers = [
            tag(f"{header}{mark}<|message|>", json_schema(tool.argument_schema), _MESSAGE_END)
            for tool in tools
            for recipient_first in (True, False)
            for mark in _JSON_MARKS
            for channel in _CALL_CHANNELS
            for header in (_call_header(tool.name, channel, recipient_first),)
        ]
        if use == "auto":
            answers += [_final(any_text(), mark) for mark in (*_JSON_MARKS, "")]
        return sequence(_optional_message("analysis"), _optional_message("commentary"), one_of(answers))


class HarmonyReasoning(ReasoningParser):
    """Tags cover the analysis channel as well: constraints apply from the first token."""

    def has_ended(self, kwargs: Mapping[str, Any], prompt_ids: Sequence[int]) -> bool | None:
        return True


def is_harmony(model: ParserModel) -> bool:
    """Whether the model's prompts and answers are Harmony conversations."""
    return bool(model.config.get("model_type") == "gpt_oss")


def confine_to_final_channel(draft: Draft) -> None:
    """Move the request's own constraint into the final channel, after optional analysis.

    Raises:
        RenderError: the constraint cannot be written as a structural tag.
    """
    constraint = draft.constraint()
    content = None if constraint is None else constraint_format(constraint)
    if constraint is None or content is None:
        return
    if content["type"] == "json_schema":
        final = one_of([_final(content, mark) for mark in _JSON_MARKS])
    else:
        final = _final(content, "")
    draft.is_joinable = compiles_in_tag(constraint)
    options = draft.structured_outputs or StructuredOutputs()
    draft.constrain(
        structural_tag=structural_tag_text(sequence(_optional_message("analysis"), final)),
        disable_any_whitespace=options.disable_any_whitespace,
        disable_additional_properties=options.disable_additional_properties,
        whitespace_pattern=options.whitespace_pattern,
    )


def _call_header(name: str, channel: str, recipient_first: bool) -> str:
    return f" to=functions.{name}{channel}" if recipient_first else f"{channel} to=functions.{name}"


def _final(content: Format, mark: str) -> Format:
    return tag(f"<|channel|>final{mark}<|message|>", content, _MESSAGE_END)


def _optional_message(channel: str) -> Format:
    message = tag(f"<|channel|>{channel}<|message|>", any_text(), "<|end|>")
    return optional(sequence(message, const_string("<|start|>assistant")))


TOOL_PARSERS: Final = {"openai": HarmonyToolParser}
REASONING_PARSERS: Final = {REASONING_NAME: HarmonyReasoning}
RECOGNITIONS: Final = (
    Recognition(tool="openai", reasoning=REASONING_NAME, architectures=("GptOssForCausalLM",)),
)
