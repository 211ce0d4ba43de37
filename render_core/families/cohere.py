"""Cohere Command A: schema and tools fold into one structural tag, whatever tool_choice says.

vLLM writes the calls' JSON as a grammar that xgrammar derives from the schemas. Here the same language is written
with a JSON schema for each tool, since nothing at run time can derive that grammar.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from render_core.errors import RenderError
from render_core.families.draft import Draft
from render_core.families.interface import (
    KeptTokens,
    ParserModel,
    ReasoningParser,
    ToolParser,
    force_json_calls,
)
from render_core.families.recognition import Recognition
from render_core.families.tags import Format, json_schema, one_of_or_only, regex, sequence, star
from render_core.protocol.chat import ChatRequest
from render_core.protocol.structured import AnyResponseFormat, ResponseFormat, StructuredOutputs

_CALLS: Final = ("<|START_ACTION|>", "<|END_ACTION|>")
_RESPONSE: Final = ("<|START_RESPONSE|>", "<|END_RESPONSE|>")
_TEXT: Final = ("<|START_TEXT|>", "<|END_TEXT|>")
# The channels that may hold an answer under a schema, by architecture.
_ANSWER_CHANNELS: Final = {
    "Cohere2ForCausalLM": (_RESPONSE,),
    "Cohere2VisionForConditionalGeneration": (_RESPONSE, _TEXT),
    "Cohere2MoeForCausalLM": (_RESPONSE, _TEXT),
}
_DEFINITIONS: Final = ("$defs", "definitions")
_BLANKS: Final = r"[ \t\n]*"


class CohereToolParser(ToolParser):
    keeps_special_tokens = KeptTokens.ALWAYS

    def __init__(self, model: ParserModel, tags_enabled: bool) -> None:
        super().__init__(model, tags_enabled)
        self.architecture = _architecture(model)

    def adjust(self, draft: Draft, kwargs: Mapping[str, Any]) -> None:
        fold_constraints(draft, self.architecture)
        force_json_calls(draft)
        self.keep_special_tokens(draft)


class CohereReasoning(ReasoningParser):
    """Reasoning of the current turn: a closed block, with no later beginning of one or of a turn."""

    keeps_special_tokens = True
    marker_texts: ClassVar[tuple[str, ...]] = (
        "<|START_THINKING|>",
        "<|END_THINKING|>",
        "<|CHATBOT_TOKEN|>",
    )

    def __init__(self, model: ParserModel) -> None:
        super().__init__(model)
        self.start, self.end, self.turn = map(model.token_id, self.marker_texts)
        self.architecture = _architecture(model)

    def adjust(self, draft: Draft, kwargs: Mapping[str, Any]) -> None:
        super().adjust(draft, kwargs)
        fold_constraints(draft, self.architecture)

    def has_ended(self, kwargs: Mapping[str, Any], prompt_ids: Sequence[int]) -> bool | None:
        is_closed = False
        for token in reversed(prompt_ids):
            if token == self.start:
                return is_closed
            if token == self.turn:
                return False
            is_closed = is_closed or token == self.end
        return is_closed


def fold_constraints(draft: Draft, architecture: str | None) -> None:
    """Put the answer's schema and the tools into one structural tag.

    Raises:
        RenderError: the architecture has no known channels.
    """
    constraint, response_format = draft.structured_outputs, draft.response_format
    if (constraint is not None and constraint.structural_tag) or (
        response_format is not None and response_format.type == "structural_tag"
    ):
        return
    schema = _answer_schema(response_format)
    if schema is None:
        schema = _constraint_schema(constraint)
    if schema is None and not draft.request.tools:
        return
    channels = _ANSWER_CHANNELS.get(architecture or "")
    if channels is None:
        raise RenderError(
            f"Architecture {architecture} has no structural tags for calls and schemas.", "tools"
        )
    parts = [] if schema is None else [(c, {"type": "json_schema", "json_schema": schema}) for c in channels]
    if draft.request.tools:
        parts.append((_CALLS, _calls(draft.request)))
    written = {
        "type": "triggered_tags",
        "triggers": [begin for (begin, _), _ in parts],
        "tags": [{"begin": begin, "content": content, "end": end} for (begin, end), content in parts],
    }
    draft.structured_outputs = StructuredOutputs(
        structural_tag=json.dumps({"type": "structural_tag", "format": written})
    )
    if response_format is not None and response_format.type in ("json_schema", "json_object"):
        draft.response_format = None


def _calls(request: ChatRequest) -> Format:
    """A JSON list of calls."""
    tools = one_of_or_only(
        [_call(tool.function.name, tool.function.parameters or {}) for tool in request.tools or ()]
    )
    more = star(sequence(regex(f"{_BLANKS},{_BLANKS}"), tools))
    return sequence(regex(rf"{_BLANKS}\[{_BLANKS}"), tools, more, regex(rf"{_BLANKS}\]{_BLANKS}"))


def _call(name: str, parameters: dict[str, Any]) -> Format:
    return json_schema(
        {
            "type": "object",
            "properties": {
                "tool_call_id": {"type": "string", "pattern": "^[0-9]+$"},
                "tool_name": {"type": "string", "const": name},
                "parameters": {key: value for key, value in parameters.items() if key not in _DEFINITIONS},
            },
            **{key: parameters[key] for key in _DEFINITIONS if key in parameters},
        }
    )


def _answer_schema(response_format: AnyResponseFormat | None) -> dict[str, Any] | None:
    if not isinstance(response_format, ResponseFormat):
        return None
    if response_format.type == "json_object":
        return {"type": "object"}
    if response_format.type != "json_schema" or response_format.json_schema is None:
        return None
    schema = response_format.json_schema.json_schema
    return None if schema is None else _unwrapped(schema)


def _constraint_schema(constraint: StructuredOutputs | None) -> dict[str, Any] | None:
    if constraint is None:
        return None
    if constraint.json_object:
        return {"type": "object"}
    schema: Any = constraint.json_
    if isinstance(schema, str):
        try:
            schema = json.loads(schema)
        except (ValueError, RecursionError):
            schema = None
        if not isinstance(schema, dict):
            raise RenderError("structured_outputs.json must be a JSON object.", "structured_outputs")
    if schema is None:
        return None
    for key in ("schema", "json_schema"):
        if isinstance(schema.get(key), dict):
            return _unwrapped(schema[key])
    return dict(schema)


def _unwrapped(schema: dict[str, Any]) -> dict[str, Any]:
    nested = schema.get("schema")
    return nested if isinstance(nested, dict) else schema


def _architecture(model: ParserModel) -> str | None:
    architectures = model.config.get("architectures") or [None]
    return architectures[0]  # type: ignore[no-any-return]


TOOL_PARSERS: Final = {"cohere_command3": CohereToolParser, "cohere_command4": CohereToolParser}
REASONING_PARSERS: Final = {"cohere_command3": CohereReasoning, "cohere_command4": CohereReasoning}
RECOGNITIONS: Final = (
    Recognition(
        tool="cohere_command3",
        reasoning="cohere_command3",
        template=("<|START_ACTION|>", "<|START_THINKING|>"),
        absent=("<|START_TEXT|>",),
    ),
    Recognition(
        tool="cohere_command4",
        reasoning="cohere_command4",
        template=("<|START_ACTION|>", "<|START_THINKING|>", "<|START_TEXT|>"),
    ),
)
