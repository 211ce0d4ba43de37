"""Reading a model directory: precedences and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from render_core.errors import ConfigurationError
from render_core.model.files import read_model_files


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, "config.json", {})
    (tmp_path / "tokenizer.json").write_text("{}")
    return tmp_path


def write(root: Path, name: str, document: Any) -> None:
    (root / name).write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("stated", "templates"),
    [
        ("a", {"default": "a"}),
        (
            [{"name": "default", "template": "a"}, {"name": "tool_use", "template": "b"}],
            {"default": "a", "tool_use": "b"},
        ),
        ({"default": "a", "rag": "b"}, {"default": "a", "rag": "b"}),
        (None, {}),
    ],
)
def test_templates_of_the_tokenizer_config(root: Path, stated: Any, templates: dict[str, str]) -> None:
    write(root, "tokenizer_config.json", {"chat_template": stated})
    assert read_model_files(root).templates == templates


def test_template_files_win_even_when_blank(root: Path) -> None:
    write(root, "tokenizer_config.json", {"chat_template": "a"})
    (root / "chat_template.jinja").write_text("")
    assert read_model_files(root).templates == {"default": ""}


def test_additional_templates_have_the_name_of_their_file(root: Path) -> None:
    (root / "chat_template.jinja").write_text("a")
    (root / "additional_chat_templates").mkdir()
    (root / "additional_chat_templates" / "tool_use.jinja").write_text("b")
    assert read_model_files(root).templates == {"default": "a", "tool_use": "b"}


def test_generation_defaults_come_from_the_model_or_elsewhere_or_nowhere(root: Path, tmp_path: Path) -> None:
    write(root, "generation_config.json", {"top_k": 1})
    other = tmp_path / "other"
    other.mkdir()
    write(other, "generation_config.json", {"top_k": 2})
    found = [read_model_files(root, choice).generation_config for choice in ("auto", str(other), "vllm")]
    assert found == [{"top_k": 1}, {"top_k": 2}, {}]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("config.json", None, "config.json is missing"),
        ("tokenizer.json", None, "tokenizer.json is missing"),
        ("tokenizer_config.json", b"{", "is not valid JSON"),
        ("generation_config.json", b"[]", "must hold a JSON object"),
        ("chat_template.jinja", b"\xff", "cannot be read"),
    ],
)
def test_a_directory_that_cannot_be_used_is_told_in_one_line(
    root: Path, name: str, content: bytes | None, message: str
) -> None:
    (root / name).unlink(missing_ok=True)
    if content is not None:
        (root / name).write_bytes(content)
    with pytest.raises(ConfigurationError, match=message) as caught:
        read_model_files(root)
    assert "\n" not in str(caught.value)


def test_what_is_no_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="is no model directory"):
        read_model_files(tmp_path / "absent")
