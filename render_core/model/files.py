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
        tokenizer: tokenizer.json, or tekken.json when that is the model's tokenizer.
        templates: chat templates by name; a model with one template has it under "default".
        inputs: the bytes of every file that was read, by its path in the directory.
        tokenizer_mode: what they were read for (ModelOptions.tokenizer_mode).
    """

    root: Path
    config: Mapping[str, Any]
    tokenizer: bytes
    tokenizer_config: Mapping[str, Any]
    special_tokens_map: Mapping[str, Any]
    generation_config: Mapping[str, Any]
    templates: Mapping[str, str]
    inputs: Mapping[str, bytes]
    is_tekken: bool = False
    tokenizer_mode: str = "auto"


def read_model_files(root: Path, generation_config: str = "auto", tokenizer_mode: str = "auto") -> ModelFiles:
    """Read a model directory.

    Args:
        root: the directory.
        tokenizer_mode: "mistral" reads tekken.json, "auto" does when there is nothing else or the weights that lie
            beside it are in Mistral's own format.
        generation_config: "auto", "vllm" or another directory (ModelOptions.generation_config).

    Raises:
        ConfigurationError: config.json or the tokenizer is missing, or a document cannot be read.
    """
    if not root.is_dir():
        raise ConfigurationError(f"{root} is no model directory.")
    reader = _Reader(root)
    tokenizer_config = reader.document("tokenizer_config.json")
    is_tekken = tokenizer_mode == "mistral" or (tokenizer_mode == "auto" and _is_in_mistral_format(root))
    return ModelFiles(
        root=root,
        config=reader.document("config.json", required=True),
        tokenizer=reader.bytes_of("tekken.json" if is_tekken else "tokenizer.json"),
        tokenizer_config=tokenizer_config,
        special_tokens_map=reader.document("special_tokens_map.json"),
        generation_config=_generation_config(reader, generation_config),
        templates=_templates(reader, tokenizer_config),
        inputs=reader.inputs,
        is_tekken=is_tekken,
        tokenizer_mode=tokenizer_mode,
    )


def _is_in_mistral_format(root: Path) -> bool:
    if not (root / "tekken.json").is_file():
        return False
    return not (root / "tokenizer.json").is_file() or any(root.glob("consolidated*.safetensors"))


class _Reader:
    """Reads files of one directory and remembers their bytes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.inputs: dict[str, bytes] = {}

    def document(self, name: str, *, required: bool = False) -> Mapping[str, Any]:
        path = self.root / name
        if not required and not path.is_file():
            return {}
        text = self.text(name)
        try:
            document = json.loads(text)
        except ValueError as error:
            raise ConfigurationError(f"{path} is not valid JSON: {error}") from None
        if not isinstance(document, dict):
            raise ConfigurationError(f"{path} must hold a JSON object.")
        return document

    def text(self, name: str) -> str:
        try:
            return self.bytes_of(name).decode("utf-8")
        except UnicodeDecodeError as error:
            raise ConfigurationError(f"{self.root / name} cannot be read: {error}") from None

    def bytes_of(self, name: str) -> bytes:
        path = self.root / name
        try:
            content = self.inputs[name] = path.read_bytes()
        except FileNotFoundError:
            raise ConfigurationError(f"{path} is missing.") from None
        except OSError as error:
            raise ConfigurationError(f"{path} cannot be read: {error}") from None
        return content


def _generation_config(reader: _Reader, choice: str) -> Mapping[str, Any]:
    if choice == "vllm":
        return {}
    return (
        reader.document("generation_config.json")
        if choice == "auto"
        else read_generation_config(Path(choice))
    )


def read_generation_config(path: Path) -> Mapping[str, Any]:
    """A generation_config.json, given as its folder or as the file. Raises ConfigurationError without one."""
    folder, name = (path, "generation_config.json") if path.is_dir() else (path.parent, path.name)
    return _Reader(folder).document(name, required=True)


def _templates(reader: _Reader, tokenizer_config: Mapping[str, Any]) -> Mapping[str, str]:
    """Template files win over tokenizer_config.json, where there is a string, a list of named ones or an object."""
    found: dict[str, str] = {}
    if (reader.root / "chat_template.jinja").is_file():
        found["default"] = reader.text("chat_template.jinja")
    for path in sorted((reader.root / "additional_chat_templates").glob("*.jinja")):
        found[path.stem] = reader.text(f"additional_chat_templates/{path.name}")
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
