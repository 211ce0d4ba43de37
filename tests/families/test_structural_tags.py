"""Structural tags as an engine takes them: they compile, let a family's calls through, and nothing misspelt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from render_core.families.effects import ParserChoice, build_parsers
from render_core.families.interface import TaggedToolParser
from render_core.families.names import TOOL_PARSERS
from render_core.families.registry import tool_parser_class
from render_core.protocol.chat import ChatRequest
from tests.families.grammar_engine import accepts, compile_tag
from tests.families.parser_models import Tokens

DATA = Path(__file__).parent / "data"
ANSWERS: dict[str, dict[str, str | None]] = json.loads((DATA / "answers.json").read_text())
NAMED = {"type": "function", "function": {"name": "get_weather"}}
CHOICES = {"auto": "auto", "required": "required", "forced": NAMED}
WEATHER = {
    "type": "object",
    "properties": {
        "location": {"type": "string"},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
    },
    "required": ["location"],
}


def tools(strict: bool) -> list[Any]:
    return [
        {"type": "function", "function": {"name": "get_weather", "parameters": WEATHER, "strict": strict}},
        {
            "type": "function",
            "function": {"name": "search", "parameters": {"type": "object"}, "strict": strict},
        },
    ]


def tag_of(parser: str, **fields: Any) -> str | None:
    harmony = {"model_type": "gpt_oss"} if parser == "openai" else {}
    vocabulary = [*tool_parser_class(parser).delimiters, "<tool_calls>", "</tool_calls>"]
    parsers = build_parsers(ParserChoice(tool=parser), Tokens(vocabulary).model(config=harmony))
    request = ChatRequest.parse({"messages": [], **fields})
    constraint = parsers.effects(request, {}, []).structured_outputs
    text: str | None = None if constraint is None else constraint["structural_tag"]
    return text


def samples() -> list[Any]:
    return [
        pytest.param(parser, use, answer, strict, id=f"{parser}-{use}-{'strict' if strict else 'free'}")
        for parser, answers in ANSWERS.items()
        for use, answer in answers.items()
        for strict in (True, False)
        if answer is not None
    ]


def test_every_parser_with_tags_has_sample_answers() -> None:
    assert set(ANSWERS) == {
        name for name in TOOL_PARSERS if issubclass(tool_parser_class(name), TaggedToolParser)
    }


@pytest.mark.parametrize(("parser", "use", "answer", "strict"), samples())
def test_a_tag_takes_the_familys_calls_and_no_misspelt_name(
    parser: str, use: str, answer: str, strict: bool
) -> None:
    tag = tag_of(parser, tools=tools(strict), tool_choice=CHOICES[use], parallel_tool_calls=use == "required")
    if tag is None:
        tag = tag_of(parser, tools=tools(True), tool_choice=CHOICES[use])
    assert tag is not None
    assert accepts(tag, answer)
    assert not accepts(tag, answer.replace("get_weather", "get_wether"))


@pytest.mark.parametrize("parser", sorted(ANSWERS))
def test_a_strict_tool_takes_no_argument_outside_its_schema(parser: str) -> None:
    tag = tag_of(parser, tools=tools(True), tool_choice="required")
    answer = ANSWERS[parser]["required"]
    assert tag is not None
    assert answer is not None
    assert accepts(tag, answer)
    assert parser == "hy_v4" or not accepts(tag, answer.replace("celsius", "kelvin"))


@pytest.mark.parametrize("parser", sorted(ANSWERS))
def test_a_tag_beside_a_response_format_takes_either(parser: str) -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tag = tag_of(
        parser,
        tools=tools(True),
        response_format={"type": "json_schema", "json_schema": {"name": "n", "schema": schema}},
    )
    answer = ANSWERS[parser]["required"]
    final = '{"city": "Paris"}'
    assert tag is not None
    assert answer is not None
    assert accepts(tag, answer)
    assert accepts(tag, f"<|channel|>final json<|message|>{final}" if parser == "openai" else final)
    assert not accepts(tag, '{"town": "Paris"}')


def recorded_tags() -> list[Any]:
    return [
        pytest.param(
            json.dumps(case["effects"]["structured_outputs"]["structural_tag"]), id=f"{file.stem}-{index}"
        )
        for file in sorted(DATA.glob("effects_*.json"))
        for index, case in enumerate(json.loads(file.read_text())["cases"])
        if "structural_tag" in (case["effects"].get("structured_outputs") or {})
    ]


@pytest.mark.parametrize(
    "text", recorded_tags() or [pytest.param("", marks=pytest.mark.skip("nothing recorded"))]
)
def test_recorded_tags_compile(text: str) -> None:
    compile_tag(text)
