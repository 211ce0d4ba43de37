"""gpt-oss: a request's own constraint moves into the final channel."""

from __future__ import annotations

import json
from typing import Any

import pytest

from render_core.errors import RenderError
from render_core.families.effects import Effects, ParserChoice, build_parsers
from render_core.families.tags import (
    any_text,
    const_string,
    json_schema,
    one_of,
    optional,
    regex,
    sequence,
    tag,
)
from render_core.protocol.chat import ChatRequest
from tests.families.parser_models import Tokens

END = ["<|end|>", ""]
ANALYSIS = optional(
    sequence(tag("<|channel|>analysis<|message|>", any_text(), "<|end|>"), const_string("<|start|>assistant"))
)


def effects(choice: ParserChoice, **fields: Any) -> Effects:
    parsers = build_parsers(choice, Tokens([]).model(config={"model_type": "gpt_oss"}))
    return parsers.effects(ChatRequest.parse({"messages": [], **fields}), {}, [])


def tag_of(found: Effects) -> Any:
    assert found.structured_outputs is not None
    return json.loads(found.structured_outputs["structural_tag"])["format"]


def test_reasoning_is_over_from_the_start_without_any_flag() -> None:
    assert effects(ParserChoice()) == Effects(reasoning_ended=True)


def test_a_schema_is_confined_to_the_final_channel_as_json() -> None:
    found = effects(ParserChoice(), response_format={"type": "json_object"})
    content = json_schema({"type": "object"})
    final = one_of(
        [tag(f"<|channel|>final{mark}<|message|>", content, END) for mark in (" json", " <|constrain|>json")]
    )
    assert tag_of(found) == sequence(ANALYSIS, final)


def test_other_constraints_are_confined_as_text() -> None:
    found = effects(ParserChoice(), structured_outputs={"regex": "a+"})
    assert tag_of(found) == sequence(ANALYSIS, tag("<|channel|>final<|message|>", regex("a+"), END))


def test_options_of_a_constraint_are_kept() -> None:
    found = effects(
        ParserChoice(), structured_outputs={"json": {"type": "object"}, "disable_any_whitespace": True}
    )
    assert found.structured_outputs is not None
    assert found.structured_outputs["disable_any_whitespace"] is True
    assert found.structured_outputs["json"] is None


@pytest.mark.parametrize(
    ("constraint", "is_joined"),
    [
        ({"regex": "a+"}, True),
        ({"regex": "(?=a)b"}, False),
        ({"regex": ""}, False),
        ({"choice": []}, False),
        ({"grammar": ""}, False),
        ({"json": {"type": "integer", "multipleOf": 3}}, True),
        ({"json": "false"}, False),
    ],
)
def test_calls_stand_beside_a_confined_constraint_that_compiles(
    constraint: dict[str, Any], is_joined: bool
) -> None:
    tool = {"type": "function", "function": {"name": "f", "strict": True}}
    found = effects(ParserChoice(tool="openai"), tools=[tool], structured_outputs=constraint)
    assert tag_of(found)["type"] == ("or" if is_joined else "sequence")


def test_a_lark_grammar_cannot_be_confined() -> None:
    with pytest.raises(RenderError) as refused:
        effects(ParserChoice(), structured_outputs={"grammar": 'start: "a"'})
    assert refused.value.param == "structured_outputs"
