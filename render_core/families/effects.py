"""What a model's parsers change in a rendered request: spec 7.2, in the order vLLM 0.33 works in.

The reasoning parser goes first, then a structural tag is made for the tools, then the tool call parser has its say;
whether reasoning has ended is read off the prompt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from render_core.errors import ConfigurationError, RenderError
from render_core.families import gpt_oss
from render_core.families.constraints import can_join, constraint_format
from render_core.families.draft import Draft
from render_core.families.interface import (
    CallableTool,
    ParserModel,
    ReasoningParser,
    StrictLevel,
    TaggedToolParser,
    ToolParser,
    ToolUse,
)
from render_core.families.registry import check_pair, reasoning_parser_class, tool_parser_class
from render_core.families.tags import limited_to_one_call, one_of, structural_tag_text
from render_core.protocol.chat import ChatRequest
from render_core.protocol.tools import NamedToolChoice


@dataclass(frozen=True, slots=True)
class ParserChoice:
    """The parsers of a model.

    Attributes:
        tool: a tool call parser's name; None unless --enable-auto-tool-choice and --tool-call-parser are given.
        reasoning: a reasoning parser's name, or None.
        strict_level: "auto", "function" or "parameter"; None leaves it to the tool call parser.
        tags_enabled: False leaves calls without structural tags (VLLM_ENFORCE_STRICT_TOOL_CALLING=0).
    """

    tool: str | None = None
    reasoning: str | None = None
    strict_level: str | None = None
    tags_enabled: bool = True


@dataclass(frozen=True, slots=True)
class Effects:
    """What changes in one request.

    Attributes:
        skip_special_tokens, spaces_between_special_tokens: False when forced, None to leave the request's value.
        structured_outputs: the object `sampling_params.structured_outputs`, or None for no constraint.
        reasoning_ended: for the field of the same name.
        added_kwargs: what reasoning_parser_kwargs.chat_template_kwargs holds beyond the effective kwargs.
        hoisted_definitions: parse_context.tools lacks the `$defs` at the root of the tools' parameters.
    """

    skip_special_tokens: bool | None = None
    spaces_between_special_tokens: bool | None = None
    structured_outputs: dict[str, Any] | None = None
    reasoning_ended: bool | None = None
    added_kwargs: Mapping[str, Any] = field(default_factory=dict)
    hoisted_definitions: bool = False


@dataclass(frozen=True, slots=True)
class Parsers:
    """The parsers of a loaded model. Immutable; safe for threads."""

    tool: ToolParser | None
    reasoning: ReasoningParser | None
    strict_level: StrictLevel | None
    is_harmony: bool

    def effects(self, request: ChatRequest, kwargs: Mapping[str, Any], prompt_ids: Sequence[int]) -> Effects:
        """What the parsers change.

        Args:
            request: the validated request, its tool_choice checked against the available parser.
            kwargs: effective chat_template_kwargs (spec 2.7).
            prompt_ids: the rendered prompt.

        Raises:
            RenderError: the parsers in use cannot serve what the request asks for.
        """
        draft = Draft.of(request)
        if self._adjusts(request):
            self._adjust(draft, kwargs)
        return Effects(
            skip_special_tokens=draft.skip_special_tokens,
            spaces_between_special_tokens=draft.spaces_between_special_tokens,
            structured_outputs=draft.constraint(),
            reasoning_ended=self._reasoning_ended(request, kwargs, prompt_ids),
            added_kwargs={} if self.reasoning is None else self.reasoning.added_kwargs(kwargs),
            hoisted_definitions=draft.hoisted_definitions,
        )

    def _adjusts(self, request: ChatRequest) -> bool:
        """A lone tool call parser leaves requests alone that may call no tool."""
        if self.is_harmony or self.reasoning is not None:
            return True
        return self.tool is not None and request.tool_choice != "none"

    def _adjust(self, draft: Draft, kwargs: Mapping[str, Any]) -> None:
        if self.is_harmony:
            gpt_oss.confine_to_final_channel(draft)
        if self.reasoning is not None:
            self.reasoning.adjust(draft, kwargs)
        if self.tool is not None:
            self._constrain_calls(draft, self.tool)
            self.tool.adjust(draft, kwargs)

    def _constrain_calls(self, draft: Draft, parser: ToolParser) -> None:
        """Put a structural tag for the tools into the draft, if one applies (spec 7.2, 3)."""
        request = draft.request
        use = _tool_use(request)
        if use is None:
            return
        constraint = draft.constraint()
        single_call = request.parallel_tool_calls is False
        level = parser.strict_level if self.strict_level is None else self.strict_level
        if single_call and not (use == "auto" and constraint is not None):
            level = max(level, StrictLevel.FUNCTION)
        if not isinstance(parser, TaggedToolParser) or not parser.tags_enabled:
            return
        tools = _callable_tools(request, level)
        if use == "forced" and len(tools) > 1:
            if parser.refuses_ambiguous_names:
                raise RenderError("tool_choice must name exactly one of the tools.", "tool_choice")
            return
        if use == "auto" and level is StrictLevel.AUTO and not any(tool.is_strict for tool in tools):
            return
        joined = None
        if use == "auto" and constraint is not None:
            if not draft.is_joinable or not can_join(constraint):
                return
            joined = constraint_format(constraint)
        format_ = parser.tag(tools, use if joined is None else "required")
        if format_ is None:
            return
        if single_call:
            format_ = limited_to_one_call(format_)
        if joined is not None:
            format_ = one_of([format_, joined])
        draft.constrain(structural_tag=structural_tag_text(format_))

    def _reasoning_ended(
        self, request: ChatRequest, kwargs: Mapping[str, Any], prompt_ids: Sequence[int]
    ) -> bool | None:
        if not request.include_reasoning:
            return True
        return None if self.reasoning is None else self.reasoning.has_ended(kwargs, prompt_ids)


def build_parsers(choice: ParserChoice, model: ParserModel) -> Parsers:
    """Build the parsers of a model.

    Raises:
        ConfigurationError: a name is unknown, two parsers do not go together, or a parser does not fit the model.
    """
    is_harmony = gpt_oss.is_harmony(model)
    reasoning = choice.reasoning or (gpt_oss.REASONING_NAME if is_harmony else None)
    check_pair(choice.tool, reasoning, is_harmony)
    try:
        return Parsers(
            tool=None if choice.tool is None else tool_parser_class(choice.tool)(model, choice.tags_enabled),
            reasoning=None if reasoning is None else reasoning_parser_class(reasoning)(model),
            strict_level=None if choice.strict_level is None else StrictLevel[choice.strict_level.upper()],
            is_harmony=is_harmony,
        )
    except ConfigurationError as error:
        names = " and ".join(
            f"{flag} {name}"
            for flag, name in (("--tool-call-parser", choice.tool), ("--reasoning-parser", reasoning))
            if name is not None
        )
        raise ConfigurationError(f"{names} cannot be used with this model: {error}.") from None


def _tool_use(request: ChatRequest) -> ToolUse | None:
    """How tools are to be used; None when there is nothing to constrain."""
    choice = request.tool_choice
    if not request.tools or choice is None or choice == "none":
        return None
    return "forced" if isinstance(choice, NamedToolChoice) else choice


def _callable_tools(request: ChatRequest, level: StrictLevel) -> list[CallableTool]:
    """The tools a structural tag covers: all of them, or those of the name that is asked for."""
    choice = request.tool_choice
    tools = [
        CallableTool(
            name=tool.function.name,
            parameters=tool.function.parameters,
            is_strict=level is StrictLevel.PARAMETER or tool.function.strict is True,
        )
        for tool in request.tools or ()
    ]
    if not isinstance(choice, NamedToolChoice):
        return tools
    return [tool for tool in tools if tool.name == choice.function.name]
