"""The files of a model directory in Hugging Face form, read into plain values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from render_core.errors import ConfigurationError

# What a renderer reads of a repository: no weights.
PATTERNS: Final = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "generation_config.json",
    "chat_template.jinja",
    "additional_chat_templates/*.jinja",
    "tekken.json",
)


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The documents of one model directory. A document that is missing and may be missing is empty.

    Attributes:
        templates: chat templates by name; a model with one template has it under "default".
    """

    root: Path
    config: Mapping[str, Any]
    tokenizer: bytes
    tokenizer_config: Mapping[str, Any]
    special_tokens_map: Mapping[str, Any]
    generation_config: Mapping[str, Any]
    templates: Mapping[str, str]


def read_model_files(root: Path, generation_config: str = "auto") -> ModelFiles:
    """Read a model directory.

    Args:
        root: the directory.
        generation_config: "auto", "vllm" or another directory (ModelOptions.generation_config).

    Raises:
        ConfigurationError: config.json or tokenizer.json is missing, or a document cannot be read.
    """
    if not root.is_dir():
        raise ConfigurationError(f"{root} is no model directory.")
    tokenizer_config = _document(root / "tokenizer_config.json")
    return ModelFiles(
        root=root,
        config=_document(root / "config.json", required=True),
        tokenizer=_bytes(root / "tokenizer.json"),
        tokenizer_config=tokenizer_config,
        special_tokens_map=_document(root / "special_tokens_map.json"),
        generation_config=_generation_config(root, generation_config),
        templates=_templates(root, tokenizer_config),
    )


def _generation_config(root: Path, choice: str) -> Mapping[str, Any]:
    if choice == "vllm":
        return {}
    if choice == "auto":
        return _document(root / "generation_config.json")
    path = Path(choice)
    return _document(path / "generation_config.json" if path.is_dir() else path, required=True)


def _templates(root: Path, tokenizer_config: Mapping[str, Any]) -> Mapping[str, str]:
    """Template files win over tokenizer_config.json, where there is a string, a list of named ones or an object."""
    found: dict[str, str] = {}
    if (single := root / "chat_template.jinja").is_file():
        found["default"] = _text(single)
    for path in sorted((root / "additional_chat_templates").glob("*.jinja")):
        found[path.stem] = _text(path)
    if found:
        return found
    stated = tokenizer_config.get("chat_template")
    if isinstance(stated, str):
        return {"default": stated}
    if isinstance(stated, Mapping):
        return {str(name): text for name, text in stated.items() if isinstance(text, str)}
    if isinstance(stated, list):
        return {entry["name"]: entry["template"] for entry in stated if _is_named_template(entry)}
    return {}


def _is_named_template(entry: Any) -> bool:
    return (
        isinstance(entry, Mapping)
        and isinstance(entry.get("name"), str)
        and isinstance(entry.get("template"), str)
    )


def _document(path: Path, *, required: bool = False) -> Mapping[str, Any]:
    if not path.is_file():
        if required:
            raise ConfigurationError(f"{path} is missing.")
        return {}
    try:
        document = json.loads(_text(path))
    except ValueError as error:
        raise ConfigurationError(f"{path} is not valid JSON: {error}") from None
    if not isinstance(document, dict):
        raise ConfigurationError(f"{path} must hold a JSON object.")
    return document


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}") from None


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ConfigurationError(f"{path} is missing.") from None
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error}") from None
