"""Loading a model: sources, names and options."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from render_core import (
    ConfigurationError,
    ModelOptions,
    RenderError,
    UnknownModelError,
    load_model,
    validate_options,
)
from render_core.model import hub
from render_core.model import model as model_module
from render_core.model.hub import Snapshot
from render_core.model.model import DEMO_NAME


def test_no_source_is_the_demo_model_and_says_so() -> None:
    model = load_model(None)
    assert (model.is_demo, model.served_names, model.max_model_len, model.vocabulary_size) == (
        True,
        (DEMO_NAME,),
        32768,
        8192,
    )
    assert model.describe()[0].startswith("DEMO MODEL")


def test_a_repository_is_fetched_at_its_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    fetched: list[Any] = []

    def fetch(repository: str, revision: str | None) -> Snapshot:
        fetched.append((repository, revision))
        return Snapshot(model_module._DEMO_ROOT, "c" * 40)

    monkeypatch.setattr(hub, "fetch_snapshot", fetch)
    model = load_model("owner/name", ModelOptions(revision="main"))
    assert fetched == [("owner/name", "main")]
    assert (model.root, model.revision, model.is_demo) == ("owner/name", "c" * 40, False)


def test_a_source_that_is_neither_directory_nor_repository_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="neither a model directory nor a repository id"):
        load_model("no such/model/anywhere")


def test_a_missing_model_is_named_where_nothing_could_fetch_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ConfigurationError, match="'owner/name' is no model directory here"):
        load_model("owner/name")


@pytest.mark.parametrize(
    ("requested", "options", "answered"),
    [
        (None, ModelOptions(served_model_names=("a", "b")), "a"),
        ("", ModelOptions(served_model_names=("a", "b")), "a"),
        ("b", ModelOptions(served_model_names=("a", "b")), "b"),
        ("anything", ModelOptions(accept_any_model=True), "anything"),
    ],
)
def test_requests_are_answered_under_the_name_they_ask_for(
    requested: str | None, options: ModelOptions, answered: str
) -> None:
    assert load_model(None, options).answering_name(requested) == answered


def test_an_unknown_model_is_not_found_and_its_name_is_cut() -> None:
    with pytest.raises(UnknownModelError) as caught:
        load_model(None).answering_name("x" * 1000)
    assert (caught.value.status, caught.value.param, len(caught.value.message) < 300) == (404, "model", True)


def test_an_id_outside_the_vocabulary_is_refused() -> None:
    with pytest.raises(RenderError, match="outside the vocabulary of 8192"):
        load_model(None).check_token_ids([1, 8192], "p")


def test_a_named_template_is_the_operators_choice(tmp_path: Path) -> None:
    for path in model_module._DEMO_ROOT.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "additional_chat_templates").mkdir()
    (tmp_path / "additional_chat_templates" / "plain.jinja").write_text("{{ messages[0].content }}")
    model = load_model(str(tmp_path), ModelOptions(chat_template="plain"))
    assert model.templates.choose(None, with_tools=True).source == "{{ messages[0].content }}"
    with pytest.raises(ConfigurationError, match="no file, no template and no name"):
        load_model(str(tmp_path), ModelOptions(chat_template="absent"))
    with pytest.raises(ConfigurationError, match="does not compile"):
        load_model(str(tmp_path), ModelOptions(chat_template="{% if %}"))


def test_a_broken_tokenizer_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": {"type": "Nonsense", "vocab": {}}}))
    with pytest.raises(ConfigurationError, match=r"tokenizer\.json cannot be loaded") as caught:
        load_model(str(tmp_path))
    assert "\n" not in str(caught.value)


def test_automatic_tool_choice_needs_a_parser() -> None:
    with pytest.raises(ConfigurationError, match="needs a tool call parser"):
        load_model(None, ModelOptions(enable_auto_tool_choice=True))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ModelOptions(tool_call_parser="no"),
            "Unknown tool call parser 'no'; known are: auto, none, apertus",
        ),
        (ModelOptions(reasoning_parser="no"), "Unknown reasoning parser"),
        (ModelOptions(tokenizer_mode="no"), "Unknown tokenizer mode"),
        (ModelOptions(tool_strict_level="no"), "Unknown tool strict level"),
        (ModelOptions(max_model_len=0), "max_model_len must be at least 1"),
        (ModelOptions(max_logprobs=-2), "max_logprobs"),
        (ModelOptions(template_seconds=0), "must be positive"),
        (ModelOptions(max_completion_prompts=0), "max_completion_prompts"),
        (ModelOptions(served_model_names=("",)), "must not be empty"),
    ],
)
def test_options_are_checked_before_any_file(options: ModelOptions, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        validate_options(options)
