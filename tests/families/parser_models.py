"""Models as parsers see them: from a model directory's tokenizer, or from a few invented tokens."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tokenizers

from render_core.families.interface import ParserModel

# The special token that parsers look for; tekken.json of version 3 leaves its special tokens unsaid.
_TEKKEN_TOKENS = {"[TOOL_CALLS]": 9}


def model_of_directory(root: Path) -> ParserModel:
    """The parsers' view of a model directory; of a tekken model only the special tokens are known."""
    tokenizer_config = _document(root / "tokenizer_config.json")
    template = root / "chat_template.jinja"
    own = template.read_text() if template.exists() else tokenizer_config.get("chat_template")
    common: dict[str, Any] = {
        "config": _document(root / "config.json"),
        "tokenizer_config": tokenizer_config,
        "chat_template": own if isinstance(own, str) else None,
    }
    if (root / "tekken.json").exists():
        return ParserModel(token_id=_TEKKEN_TOKENS.get, encode=_unused, decode=_unused, **common)
    tokenizer = tokenizers.Tokenizer.from_file(str(root / "tokenizer.json"))
    return ParserModel(
        token_id=tokenizer.token_to_id,
        encode=lambda text: tokenizer.encode(text, add_special_tokens=False).ids,
        decode=lambda ids: tokenizer.decode(list(ids), skip_special_tokens=False),
        added_tokens=[token.content for token in tokenizer.get_added_tokens_decoder().values()],
        **common,
    )


def templates_of_directory(root: Path) -> list[str]:
    """The chat templates of a model directory."""
    file = root / "chat_template.jinja"
    if file.exists():
        return [file.read_text()]
    declared = _document(root / "tokenizer_config.json").get("chat_template")
    if isinstance(declared, list):
        return [entry["template"] for entry in declared]
    return [] if declared is None else [declared]


class Tokens:
    """A vocabulary of words, for prompts written as texts; words are separated by spaces.

    Every word has an id, but only the declared ones are tokens that a parser finds in the vocabulary.
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.words = list(vocabulary)
        self.size = len(self.words)

    def ids(self, text: str) -> list[int]:
        for word in text.split():
            if word not in self.words:
                self.words.append(word)
        return [self.words.index(word) for word in text.split()]

    def token_id(self, text: str) -> int | None:
        return self.words.index(text) if text in self.words[: self.size] else None

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(self.words[i] for i in ids)

    def model(self, **documents: Any) -> ParserModel:
        return ParserModel(
            token_id=self.token_id,
            encode=self.ids,
            decode=self.decode,
            added_tokens=self.words[: self.size],
            **documents,
        )


def _document(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    document: dict[str, Any] = json.loads(path.read_text())
    return document


def _unused(value: Any) -> Any:
    raise NotImplementedError
