"""What every family fills in: what its parsers ask of a tokenizer and change in a rendered request.

Nothing here reads a model's answer, and nothing may: parsing happens where the tokens are generated.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from render_core.errors import ConfigurationError
from render_core.families.draft import Draft
from render_core.families.forced_calls import json_calls_schema
from render_core.families.reasoning_end import Marker, MarkerScan
from render_core.families.tags import Format

ToolUse = Literal["auto", "required", "forced"]


class StrictLevel(enum.IntEnum):
    """How much of a tool call is constrained, at least (--tool-strict-level).

    AUTO follows tool_choice and each tool's `strict`; FUNCTION holds the form of calls in every request with
    tools; PARAMETER also holds arguments to the parameters of every tool.
    """

    AUTO = 0
    FUNCTION = 1
    PARAMETER = 2


class KeptTokens(enum.Enum):
    """When a parser needs to see special tokens in the answer's text, so that skip_special_tokens becomes false."""

    NEVER = enum.auto()
    WITH_TOOLS = enum.auto()
    ALWAYS = enum.auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class ParserModel:
    """What parsers ask of a model.

    Attributes:
        token_id: the id of a vocabulary string, or None.
        encode: token ids of a text, without added special tokens.
        decode: text of token ids, special tokens included.
        added_tokens: the strings of the tokenizer's added tokens.
        chat_template: the tokenizer's own chat template, if it has exactly one.
        config, tokenizer_config: the documents of these names; empty when missing.
    """

    token_id: Callable[[str], int | None]
    encode: Callable[[str], Sequence[int]]
    decode: Callable[[Sequence[int]], str]
    added_tokens: Collection[str] = ()
    chat_template: str | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    tokenizer_config: Mapping[str, Any] = field(default_factory=dict)

    def require(self, delimiters: Sequence[str]) -> None:
        """Raises ConfigurationError when a delimiter is not a token of the vocabulary."""
        missing = [text for text in delimiters if self.token_id(text) is None]
        if missing:
            raise ConfigurationError(f"the tokenizer has no token {', '.join(map(repr, missing))}")


@dataclass(frozen=True, slots=True)
class CallableTool:
    """A tool that a structural tag lets the model call.

    Attributes:
        parameters: the parameters' JSON schema as the client gave it.
        is_strict: whether the arguments are held to that schema.
    """

    name: str
    parameters: dict[str, Any] | None
    is_strict: bool

    @property
    def argument_schema(self) -> dict[str, Any] | bool:
        """The schema arguments are held to; true takes any arguments."""
        return self.parameters if self.is_strict and self.parameters is not None else True


class ToolParser:
    """A tool call parser. Built once for a model; requests share it.

    Class attributes:
        delimiters: tokens that the vocabulary must have.
        strict_level: what holds when the operator sets no --tool-strict-level.
        forces_json: required and named calls are written as JSON, by a schema. Parsers whose calls have a form
            of their own leave the model free instead.
        keeps_special_tokens: see KeptTokens.
        keeps_spacing: whenever special tokens are kept, the spaces between them are not to be added either.
    """

    delimiters: ClassVar[tuple[str, ...]] = ()
    strict_level: ClassVar[StrictLevel] = StrictLevel.AUTO
    forces_json: ClassVar[bool] = True
    keeps_special_tokens: ClassVar[KeptTokens] = KeptTokens.NEVER
    keeps_spacing: ClassVar[bool] = False

    def __init__(self, model: ParserModel, tags_enabled: bool) -> None:
        """Raises ConfigurationError when the model does not fit: its tokenizer lacks a delimiter, say.

        Args:
            tags_enabled: calls may be constrained by structural tags.
        """
        model.require(self.delimiters)
        self.tags_enabled = tags_enabled

    def adjust(self, draft: Draft, kwargs: Mapping[str, Any]) -> None:
        """Change what the parser needs changed. A structural tag, if one applies, is in the draft already.

        Raises:
            RenderError: the request asks for what the parser cannot give.
        """
        if self.forces_json:
            force_json_calls(draft)
        self.keep_special_tokens(draft)

    def keep_special_tokens(self, draft: Draft) -> None:
        request = draft.request
        if self.keeps_special_tokens is KeptTokens.ALWAYS or (
            self.keeps_special_tokens is KeptTokens.WITH_TOOLS
            and request.tools
            and request.tool_choice != "none"
        ):
            draft.keep_special_tokens(keep_spacing=self.keeps_spacing)


class TaggedToolParser(ToolParser):
    """A tool call parser whose calls a structural tag describes.

    The tag takes the place of the JSON schema; with tags switched off (VLLM_ENFORCE_STRICT_TOOL_CALLING=0) the
    parser is like any other.

    Class attributes:
        refuses_ambiguous_names: a named choice must fit one tool only; if not, an ambiguous one is not constrained.
    """

    refuses_ambiguous_names: ClassVar[bool] = True

    def tag(self, tools: Sequence[CallableTool], use: ToolUse) -> Format | None:
        """The form of an answer.

        Args:
            tools: the tools that may be called; only the named one when `use` is "forced".

        Returns:
            The structural tag's format, or None to leave the answer free.
        """
        raise NotImplementedError

    def adjust(self, draft: Draft, kwargs: Mapping[str, Any]) -> None:
        if self.forces_json and not self.tags_enabled:
            force_json_calls(draft)
        self.keep_special_tokens(draft)


class ReasoningParser:
    """A reasoning parser. Built once for a model; requests share it.

    Class attributes:
        delimiters: tokens that the vocabulary must have.
        keeps_special_tokens, keeps_spacing: the answer's text must show special tokens, without added spaces.
    """

    delimiters: ClassVar[tuple[str, ...]] = ()
    keeps_special_tokens: ClassVar[bool] = False
    keeps_spacing: ClassVar[bool] = False

    def __init__(self, model: ParserModel) -> None:
        """Raises ConfigurationError when the model does not fit: its tokenizer lacks a delimiter, say."""
        model.require(self.delimiters)

    def has_ended(self, kwargs: Mapping[str, Any], prompt_ids: Sequence[int]) -> bool | None:
        """Whether generation starts after the reasoning; None when the parser cannot tell.

        Raises:
            RenderError: the template kwargs ask for a mode that the parser does not know.
        """
        raise NotImplementedError

    def adjust(self, draft: Draft, kwargs: Mapping[str, Any]) -> None:
        """Change what the parser needs changed, before the tool call parser does."""
        if self.keeps_special_tokens:
            draft.keep_special_tokens(keep_spacing=self.keeps_spacing)

    def added_kwargs(self, kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
        """Template kwargs that vLLM's parser adds, as a side effect, to the answer's reasoning_parser_kwargs."""
        return {}


class MarkedReasoning(ReasoningParser):
    """Reasoning that tokens of the prompt open and close.

    Class attributes:
        starts: tokens that open reasoning.
        ends: tokens that end it; without the first of them in the vocabulary, none counts.
        boundaries: tokens that separate turns; what comes before the last of them does not count.
        opens_when_off: with thinking off, an opened and unclosed block still means that reasoning goes on.
    """

    starts: ClassVar[tuple[str, ...]] = ("<think>",)
    ends: ClassVar[tuple[str, ...]] = ("</think>",)
    boundaries: ClassVar[tuple[str, ...]] = ()
    opens_when_off: ClassVar[bool] = False

    def __init__(self, model: ParserModel) -> None:
        super().__init__(model)
        self.scan = self.find_markers(model)

    def find_markers(self, model: ParserModel) -> MarkerScan:
        """The markers in the model's vocabulary."""
        markers = {
            Marker.END: self.ends if model.token_id(self.ends[0]) is not None else (),
            Marker.START: self.starts,
            Marker.BOUNDARY: self.boundaries,
        }
        return MarkerScan.of_tokens(
            ((text, marker) for marker, texts in markers.items() for text in texts), model.token_id
        )

    def thinks(self, kwargs: Mapping[str, Any]) -> bool:
        """Whether the template kwargs leave thinking on."""
        return True

    def has_ended(self, kwargs: Mapping[str, Any], prompt_ids: Sequence[int]) -> bool | None:
        if self.thinks(kwargs):
            return self.scan.last(prompt_ids) is Marker.END
        return not self.opens_when_off or self.scan.last(prompt_ids) is not Marker.START


def force_json_calls(draft: Draft) -> None:
    """Hold a required or named call to JSON, unless a structural tag is there already."""
    request = draft.request
    tagged = draft.structured_outputs is not None and draft.structured_outputs.structural_tag is not None
    if request.tools and not tagged:
        schema = json_calls_schema(request.tools, request.tool_choice, request.parallel_tool_calls)
        if schema is not None:
            draft.constrain(json_=schema)
            draft.hoisted_definitions = request.tool_choice == "required"


def enables_thinking(kwargs: Mapping[str, Any], default: bool = True) -> bool:
    """What `enable_thinking` says."""
    return bool(kwargs.get("enable_thinking", default))


def thinks_either_way(kwargs: Mapping[str, Any], default: bool = True) -> bool:
    """What `thinking` and `enable_thinking` say together; neither given is the default."""
    thinking, enabled = kwargs.get("thinking"), kwargs.get("enable_thinking")
    return default if thinking is None and enabled is None else bool(thinking) or bool(enabled)
