"""The rules that hold for every parser: when a request is adjusted, and how constraints meet (spec 7.2)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from render_core.errors import RenderError
from render_core.families.effects import Effects, ParserChoice, build_parsers
from render_core.protocol.chat import ChatRequest
from tests.families.parser_models import Tokens

VOCABULARY = ["<think>", "</think>", "<ifm|think>", "</ifm|think>"]
NAMED = {"type": "function", "function": {"name": "f"}}
SCHEMA = {"type": "object", "properties": {"x": {"type": "string"}}}
JSON_FORMAT = {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}


def effects(choice: ParserChoice, prompt: str = "", **fields: Any) -> Effects:
    tokens = Tokens(VOCABULARY)
    request = ChatRequest.parse({"messages": [], **fields})
    kwargs = request.chat_template_kwargs or {}
    return build_parsers(choice, tokens.model()).effects(request, kwargs, tokens.encode(prompt))


def tool(name: str = "f", strict: bool | None = None, **parameters: Any) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": name, "strict": strict, "parameters": {"type": "object", **parameters}},
    }


def tag_of(found: Effects) -> dict[str, Any]:
    assert found.structured_outputs is not None
    tag: dict[str, Any] = json.loads(found.structured_outputs["structural_tag"])
    return tag["format"]


HERMES = ParserChoice(tool="hermes")


def test_no_parser_changes_nothing() -> None:
    assert effects(ParserChoice()) == Effects()


def test_a_requests_own_constraint_stays() -> None:
    found = effects(ParserChoice(), response_format={"type": "json_object"})
    assert found.structured_outputs is not None
    assert found.structured_outputs["json_object"] is True


def test_a_lone_tool_parser_leaves_requests_without_tools_alone() -> None:
    assert effects(ParserChoice(tool="glm45")) == Effects()


def test_a_reasoning_parser_makes_the_tool_parser_adjust_every_request() -> None:
    assert effects(ParserChoice("glm45", "deepseek_r1")).skip_special_tokens is False


def test_an_explicit_null_choice_still_adjusts() -> None:
    found = effects(HERMES, tools=[tool()], tool_choice=None)
    assert (found.skip_special_tokens, found.structured_outputs) == (False, None)


@pytest.mark.parametrize("choice", ["auto", "none"])
def test_without_strict_tools_auto_is_free(choice: str) -> None:
    assert effects(HERMES, tools=[tool()], tool_choice=choice).structured_outputs is None


def test_one_strict_tool_constrains_all_and_holds_its_own_arguments() -> None:
    tags = tag_of(effects(HERMES, tools=[tool("f", True, x=1), tool("g", x=2)]))["tags"]
    assert [entry["content"]["json_schema"] for entry in tags] == [{"type": "object", "x": 1}] * 2 + [
        True
    ] * 2


@pytest.mark.parametrize(("level", "schema"), [("function", True), ("parameter", {"type": "object"})])
def test_a_strict_level_constrains_plain_auto(level: str, schema: Any) -> None:
    found = tag_of(effects(ParserChoice("hermes", strict_level=level), tools=[tool()]))
    assert found["type"] == "triggered_tags"
    assert found["tags"][0]["content"]["json_schema"] == schema


def test_a_strict_level_of_auto_overrides_a_parsers_own() -> None:
    assert effects(ParserChoice("glm45"), tools=[tool()]).structured_outputs is not None
    assert effects(ParserChoice("glm45", strict_level="auto"), tools=[tool()]).structured_outputs is None


def test_a_single_call_constrains_plain_auto() -> None:
    found = tag_of(effects(HERMES, tools=[tool()], parallel_tool_calls=False))
    assert (found["type"], found["stop_after_first"]) == ("triggered_tags", True)


def test_a_single_call_does_not_open_a_response_format_to_calls() -> None:
    found = effects(HERMES, tools=[tool()], parallel_tool_calls=False, response_format=JSON_FORMAT)
    assert found.structured_outputs is not None
    assert found.structured_outputs["json"] == SCHEMA


def test_strict_tools_and_a_response_format_are_alternatives() -> None:
    found = tag_of(effects(HERMES, tools=[tool("f", True)], response_format=JSON_FORMAT))
    assert found["type"] == "or"
    assert found["elements"][0]["type"] == "tags_with_separator"
    assert found["elements"][1]["json_schema"] == SCHEMA


def test_a_single_call_limits_the_calls_and_not_the_response_format() -> None:
    form = {"type": "tags_with_separator", "tags": [], "separator": ","}
    found = tag_of(
        effects(
            HERMES,
            tools=[tool("f", True)],
            parallel_tool_calls=False,
            response_format={"type": "structural_tag", "format": form},
        )
    )
    assert [entry["stop_after_first"] for entry in found["elements"]] == [True, False]


@pytest.mark.parametrize("choice", ["required", NAMED])
def test_a_forced_call_replaces_a_response_format(choice: Any) -> None:
    found = tag_of(effects(HERMES, tools=[tool()], tool_choice=choice, response_format=JSON_FORMAT))
    assert found["type"] == "tags_with_separator"


@pytest.mark.parametrize(
    "constraint",
    [
        {"regex": "(?=a)b"},
        {"json": {"type": "integer", "multipleOf": 3}},
        {"json": {"allOf": [{}, {}]}},
        {"grammar": 'start: "a"'},
    ],
)
def test_a_constraint_that_cannot_be_joined_stands_alone(constraint: dict[str, Any]) -> None:
    found = effects(HERMES, tools=[tool("f", True)], structured_outputs=constraint)
    assert found.structured_outputs is not None
    assert found.structured_outputs["structural_tag"] is None


def test_required_calls_of_a_parser_without_tags_are_json() -> None:
    definitions = {"P": {"type": "string"}}
    found = effects(
        ParserChoice("xlam"),
        tools=[tool("f", **{"$defs": definitions}), {"type": "function", "function": {"name": "g"}}],
        tool_choice="required",
        parallel_tool_calls=False,
    )
    assert found.structured_outputs is not None
    assert found.structured_outputs["json"] == {
        "type": "array",
        "minItems": 1,
        "items": {
            "type": "object",
            "anyOf": [
                {
                    "properties": {
                        "name": {"type": "string", "enum": ["f"]},
                        "parameters": {"type": "object"},
                    },
                    "required": ["name", "parameters"],
                },
                {
                    "properties": {
                        "name": {"type": "string", "enum": ["g"]},
                        "parameters": {"type": "object", "properties": {}},
                    },
                    "required": ["name", "parameters"],
                },
            ],
        },
        "maxItems": 1,
        "$defs": definitions,
    }
    assert found.hoisted_definitions


def test_definitions_that_contradict_each_other_are_refused() -> None:
    tools = [
        tool(name, **{"$defs": {"P": {"type": kind}}}) for name, kind in (("f", "string"), ("g", "null"))
    ]
    with pytest.raises(RenderError) as refused:
        effects(ParserChoice("xlam"), tools=tools, tool_choice="required")
    assert refused.value.param == "tools"


def test_a_named_call_of_a_parser_without_tags_is_its_parameters() -> None:
    found = effects(ParserChoice("xlam"), tools=[tool(x=1)], tool_choice=NAMED)
    assert found.structured_outputs is not None
    assert found.structured_outputs["json"] == {"type": "object", "x": 1}


def test_without_tags_a_tagged_parser_forces_json() -> None:
    found = effects(ParserChoice("hermes", tags_enabled=False), tools=[tool()], tool_choice=NAMED)
    assert found.structured_outputs is not None
    assert found.structured_outputs["json"] == {"type": "object"}


def test_without_tags_kimi_k3_has_no_named_call() -> None:
    with pytest.raises(RenderError) as refused:
        effects(ParserChoice("kimi_k3", tags_enabled=False), tools=[tool()], tool_choice=NAMED)
    assert refused.value.param == "tool_choice"


def test_an_ambiguous_name_is_refused() -> None:
    with pytest.raises(RenderError) as refused:
        effects(HERMES, tools=[tool(), tool()], tool_choice=NAMED)
    assert refused.value.param == "tool_choice"


def test_hy_v4_leaves_an_ambiguous_call_free() -> None:
    tokens = Tokens(["<tool_calls>", "</tool_calls>"])
    parsers = build_parsers(ParserChoice(tool="hy_v4"), tokens.model())
    request = ChatRequest.parse({"messages": [], "tools": [tool(), tool()], "tool_choice": NAMED})
    assert parsers.effects(request, {}, []).structured_outputs is None


def test_reasoning_that_is_not_included_has_ended() -> None:
    assert effects(ParserChoice(), include_reasoning=False).reasoning_ended is True
    assert (
        effects(ParserChoice(reasoning="qwen3"), "<think>", include_reasoning=False).reasoning_ended is True
    )


def test_holo_reports_the_thinking_it_assumes() -> None:
    found = effects(ParserChoice(reasoning="holo2"))
    assert found.added_kwargs == {"thinking": True, "enable_thinking": True}
    assert (
        effects(ParserChoice(reasoning="holo2"), chat_template_kwargs={"thinking": False}).added_kwargs == {}
    )


def test_thinking_without_tokens_for_it_is_refused() -> None:
    tokens = Tokens([])
    parsers = build_parsers(ParserChoice(reasoning="deepseek_v3"), tokens.model())
    request = ChatRequest.parse({"messages": []})
    assert parsers.effects(request, {}, []).reasoning_ended is True
    with pytest.raises(RenderError):
        parsers.effects(request, {"thinking": True}, [])


def test_an_effort_without_tokens_is_refused() -> None:
    with pytest.raises(RenderError) as refused:
        effects(ParserChoice(reasoning="k2_horizon"), chat_template_kwargs={"reasoning_effort": "low"})
    assert refused.value.param == "reasoning_effort"


def test_an_unknown_call_format_is_refused() -> None:
    with pytest.raises(RenderError):
        effects(ParserChoice("k2_horizon"), tools=[tool()], chat_template_kwargs={"tool_call_format": "yaml"})


def test_glm_ignores_a_switch_that_its_template_does_not_have() -> None:
    template = "[gMASK]<sop> Reasoning Effort: <tool_call> <arg_key> <arg_value>"
    tokens = Tokens(VOCABULARY)
    parsers = build_parsers(ParserChoice(reasoning="glm45"), tokens.model(chat_template=template))
    request = ChatRequest.parse({"messages": []})
    assert (
        parsers.effects(request, {"enable_thinking": False}, tokens.encode("<think>")).reasoning_ended
        is False
    )
