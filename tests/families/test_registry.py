"""The registry: every name leads to a class, and every class of a family's module has a name in the registry."""

from __future__ import annotations

import subprocess
import sys

import pytest

from render_core.errors import ConfigurationError
from render_core.families.effects import ParserChoice, build_parsers
from render_core.families.interface import ReasoningParser, ToolParser
from render_core.families.names import REASONING_PARSERS, TOOL_PARSERS
from render_core.families.registry import (
    FAMILIES,
    Family,
    reasoning_parser_class,
    tool_parser_class,
)
from tests.families.parser_models import Tokens


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.module)
def test_a_familys_module_offers_what_the_registry_says(family: Family) -> None:
    module = family.load()
    assert set(module.TOOL_PARSERS) == set(family.tools)
    assert set(module.REASONING_PARSERS) == set(family.reasoning)
    rules = module.RECOGNITIONS
    assert {rule.tool for rule in rules} - {None} <= set(TOOL_PARSERS)
    assert {rule.reasoning for rule in rules} - {None} <= set(REASONING_PARSERS)


@pytest.mark.parametrize("name", TOOL_PARSERS)
def test_every_tool_call_parser_has_a_class(name: str) -> None:
    assert issubclass(tool_parser_class(name), ToolParser)


@pytest.mark.parametrize("name", REASONING_PARSERS)
def test_every_reasoning_parser_has_a_class(name: str) -> None:
    assert issubclass(reasoning_parser_class(name), ReasoningParser)


def test_names_are_unique() -> None:
    assert len(set(TOOL_PARSERS)) == len(TOOL_PARSERS)
    assert len(set(REASONING_PARSERS)) == len(REASONING_PARSERS)


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        ConfigurationError, match="Unknown tool call parser 'herms'; known are: apertus, beam"
    ):
        build_parsers(ParserChoice(tool="herms"), Tokens([]).model())


def test_names_load_no_family() -> None:
    code = (
        "import sys; import render_core.families.names; "
        "print(*sorted(m for m in sys.modules if m.startswith(('render_core.families.', 'pydantic'))))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["render_core.families.names", "render_core.families.registry"]


@pytest.mark.parametrize(
    ("tool", "reasoning"),
    [("cohere_command3", "qwen3"), ("hermes", "cohere_command4"), ("hf", "qwen3"), ("hermes", "beam")],
)
def test_parsers_that_do_all_the_work_stand_alone(tool: str, reasoning: str) -> None:
    with pytest.raises(ConfigurationError, match="do not go together"):
        build_parsers(ParserChoice(tool, reasoning), Tokens(["<think>", "</think>"]).model())


def test_a_harmony_model_takes_no_other_parser() -> None:
    with pytest.raises(ConfigurationError, match="do not go together"):
        build_parsers(ParserChoice("hermes"), Tokens([]).model(config={"model_type": "gpt_oss"}))


def test_a_missing_delimiter_is_told_at_start() -> None:
    with pytest.raises(ConfigurationError) as told:
        build_parsers(ParserChoice("jamba", "step3"), Tokens(["<tool_calls>", "</think>"]).model())
    assert str(told.value) == (
        "--tool-call-parser jamba and --reasoning-parser step3 cannot be used with this model: "
        "the tokenizer has no token '</tool_calls>'."
    )


@pytest.mark.parametrize("name", ["hf", "beam"])
def test_response_template_parsers_are_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="response_template are not offered"):
        build_parsers(ParserChoice(tool=name), Tokens([]).model())
