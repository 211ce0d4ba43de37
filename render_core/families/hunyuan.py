"""Hunyuan A13B, HY 3 and HY 4. The last two may spell their tokens with a suffix of the checkpoint."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from render_core.errors import ConfigurationError
from render_core.families.interface import (
    CallableTool,
    MarkedReasoning,
    ParserModel,
    ReasoningParser,
    TaggedToolParser,
    ToolParser,
    ToolUse,
)
from render_core.families.reasoning_end import Marker, MarkerScan
from render_core.families.recognition import Recognition
from render_core.families.tags import (
    Format,
    any_text,
    const_string,
    one_of_or_only,
    repeated_tags,
    sequence,
    star,
    tag,
)

_SUFFIXED: Final = re.compile(r"<(?:think|tool_calls|tool_call|arg_key|arg_value)(:[^\s>]+)?>")
_THINKING_OFF: Final = "no_think"


class HunyuanA13BReasoning(ReasoningParser):
    """The parser judges answers only."""

    def has_ended(self, kwargs: Mapping[str, Any], prompt_ids: Sequence[int]) -> bool | None:
        return False


class HYV3ToolParser(ToolParser):
    def __init__(self, model: ParserModel, tags_enabled: bool) -> None:
        super().__init__(model, tags_enabled)
        suffix = model.tokenizer_config.get("token_suffix") or ""
        model.require((f"<tool_calls{suffix}>", f"</tool_calls{suffix}>"))


class HYV3Reasoning(MarkedReasoning):
    """Off unless reasoning_effort says otherwise."""

    def find_markers(self, model: ParserModel) -> MarkerScan:
        return _think_markers(model, model.tokenizer_config.get("token_suffix") or "")

    def thinks(self, kwargs: Mapping[str, Any]) -> bool:
        return (kwargs.get("reasoning_effort") or _THINKING_OFF) != _THINKING_OFF


class HYV4ToolParser(TaggedToolParser):
    """Argument values are bare text, so that only names, keys and their order are held."""

    forces_json = False
    refuses_ambiguous_names = False

    def __init__(self, model: ParserModel, tags_enabled: bool) -> None:
        super().__init__(model, tags_enabled)
        self.suffix = _token_suffix(model)
        model.require((f"<tool_calls{self.suffix}>", f"</tool_calls{self.suffix}>"))

    def tag(self, tools: Sequence[CallableTool], use: ToolUse) -> Format | None:
        if use == "auto":
            return None
        calls = repeated_tags([self._call(tool) for tool in tools], only_one=use == "forced")
        return sequence(
            const_string(f"<tool_calls{self.suffix}>"), calls, const_string(f"</tool_calls{self.suffix}>")
        )

    def _call(self, tool: CallableTool) -> Format:
        properties, listed = _argument_keys(tool.parameters or {})
        required = [key for key in properties if key in listed]
        required += [key for key in listed if key not in properties]
        optional = [self._pair(key) for key in properties if key not in listed]
        pairs = [self._pair(key) for key in required]
        if optional:
            pairs.append(star(one_of_or_only(optional)))
        return tag(
            f"<tool_call{self.suffix}>{tool.name}",
            sequence(*pairs) if pairs else any_text(),
            f"</tool_call{self.suffix}>",
        )

    def _pair(self, key: str) -> Format:
        return sequence(
            const_string(f"<arg_key{self.suffix}>"),
            const_string(key),
            const_string(f"</arg_key{self.suffix}>"),
            const_string(f"<arg_value{self.suffix}>"),
            any_text(),
            const_string(f"</arg_value{self.suffix}>"),
        )


class HYV4Reasoning(MarkedReasoning):
    """On unless reasoning_effort says otherwise."""

    def find_markers(self, model: ParserModel) -> MarkerScan:
        return _think_markers(model, _token_suffix(model))

    def thinks(self, kwargs: Mapping[str, Any]) -> bool:
        return kwargs.get("reasoning_effort") != _THINKING_OFF


def _think_markers(model: ParserModel, suffix: str) -> MarkerScan:
    start, end = f"<think{suffix}>", f"</think{suffix}>"
    model.require((start, end))
    return MarkerScan.of_tokens(((end, Marker.END), (start, Marker.START)), model.token_id)


def _argument_keys(parameters: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """The declared keys and the required ones."""
    properties, required = parameters.get("properties"), parameters.get("required")
    return (
        list(properties) if isinstance(properties, dict) else [],
        [key for key in required if isinstance(key, str)] if isinstance(required, list) else [],
    )


def _token_suffix(model: ParserModel) -> str:
    """The suffix of the structural tokens, its colon included, as the vocabulary spells them."""
    declared = model.tokenizer_config.get("model_specific_special_tokens") or {}
    if declared.get("think_begin_token"):
        raise ConfigurationError(
            "tokenizer_config.json declares think_begin_token, which transformers 5 does not read; "
            "the tokens must be in the vocabulary instead"
        )
    matches = (_SUFFIXED.fullmatch(token) for token in model.added_tokens)
    return next((match[1] or "" for match in matches if match is not None), "")


TOOL_PARSERS: Final = {"hunyuan_a13b": ToolParser, "hy_v3": HYV3ToolParser, "hy_v4": HYV4ToolParser}
REASONING_PARSERS: Final = {
    "hunyuan_a13b": HunyuanA13BReasoning,
    "hy_v3": HYV3Reasoning,
    "hy_v4": HYV4Reasoning,
}
RECOGNITIONS: Final = (
    Recognition(tool="hunyuan_a13b", reasoning="hunyuan_a13b", architectures=("HunYuanMoEV1ForCausalLM",)),
    Recognition(tool="hy_v3", reasoning="hy_v3", architectures=("HYV3ForCausalLM",)),
    Recognition(tool="hy_v4", reasoning="hy_v4", architectures=("HYV4ForCausalLM",)),
)
