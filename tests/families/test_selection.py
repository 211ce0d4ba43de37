"""Automatic selection: every model of the corpus gets its family's parsers, by files alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from render_core.families.effects import ParserChoice, build_parsers
from render_core.families.recognition import Evidence
from render_core.families.registry import FAMILIES
from render_core.families.selection import Selection, select_parsers
from tests.corpus import model_dir, needs_corpus
from tests.families.parser_models import model_of_directory, templates_of_directory

EXPECTED: dict[str, list[str | None]] = json.loads(
    (Path(__file__).parent / "data" / "selection.json").read_text()
)
# What --tokenizer-mode says of the models whose prompts code makes; the corpus keeps stubs of their configurations.
ENCODERS = {
    "deepseek_v32": "deepseek_v32",
    "deepseek_v4": "deepseek_v4",
    "deepseek_v41": "deepseek_v41",
    "inkling": "inkling",
    "mistral_tekken": "mistral",
}


@needs_corpus
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_every_corpus_model_gets_its_familys_parsers_and_can_use_them(name: str) -> None:
    root = model_dir(name)
    model = model_of_directory(root)
    selection = select_parsers(
        model.config, templates_of_directory(root), encoder=ENCODERS.get(name), token_id=model.token_id
    )
    assert [selection.tool, selection.reasoning] == EXPECTED[name], selection.reason
    build_parsers(ParserChoice(selection.tool, selection.reasoning), model)


@needs_corpus
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_no_two_rules_describe_one_model(name: str) -> None:
    root = model_dir(name)
    config = json.loads((root / "config.json").read_text())
    evidence = Evidence(
        ENCODERS.get(name), config.get("architectures") or (), "\n".join(templates_of_directory(root))
    )
    matching = [rule for family in FAMILIES for rule in family.load().RECOGNITIONS if rule.reason(evidence)]
    assert len(matching) <= 1, matching


def test_the_reason_names_the_evidence() -> None:
    selection = select_parsers({}, ["{{ '<seed:tool_call>' }} {{ '<seed:think>' }}"])
    assert selection == Selection(
        "seed_oss", "seed_oss", "the chat template has '<seed:tool_call>' and '<seed:think>'"
    )


def test_an_architecture_outweighs_a_template() -> None:
    selection = select_parsers(
        {"architectures": ["DeepseekV32ForCausalLM"]}, ["<seed:tool_call> <seed:think>"]
    )
    assert (selection.tool, selection.reasoning) == ("deepseek_v32", "deepseek_v3")


def test_an_encoder_outweighs_an_architecture() -> None:
    selection = select_parsers({"architectures": ["DeepseekV32ForCausalLM"]}, [], encoder="deepseek_v4")
    assert selection.tool == "deepseek_v4"


def test_a_parser_without_its_delimiters_is_not_chosen() -> None:
    selection = select_parsers({}, ["[TOOL_CALLS]"], token_id=lambda text: None)
    assert selection.tool is None
    assert selection.reason.endswith("not mistral, since the tokenizer has no token '[TOOL_CALLS]'")


def test_an_unknown_model_gets_no_parsers() -> None:
    selection = select_parsers({"architectures": ["QuuxForCausalLM"]}, ["{{ messages }}"])
    assert (selection.tool, selection.reasoning) == (None, None)
