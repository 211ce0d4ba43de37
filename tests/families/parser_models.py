"""Models as parsers see them: from a model directory's tokenizer, or from a few invented tokens."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

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
    import tokenizers

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
    """A vocabulary of a few tokens, by which texts are encoded greedily; other characters are tokens of their own."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.tokens = list(dict.fromkeys(vocabulary))
        self.longest_first = sorted(self.tokens, key=len, reverse=True)

    def token_id(self, text: str) -> int | None:
        return self.tokens.index(text) if text in self.tokens else None

    def encode(self, text: str) -> list[int]:
        ids = []
        while text:
            token = next((token for token in self.longest_first if text.startswith(token)), None)
            ids.append(len(self.tokens) + ord(text[0]) if token is None else self.tokens.index(token))
            text = text[1 if token is None else len(token) :]
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        size = len(self.tokens)
        return "".join(self.tokens[i] if i < size else chr(i - size) for i in ids)

    def model(self, **documents: Any) -> ParserModel:
        return ParserModel(
            token_id=self.token_id,
            encode=self.encode,
            decode=self.decode,
            added_tokens=self.tokens,
            **documents,
        )


def _document(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    document: dict[str, Any] = json.loads(path.read_text())
    return document


def _unused(value: Any) -> Any:
    raise NotImplementedError
