"""The tokenizer engine of a tekken vocabulary: special tokens are never read in texts, and ids show as text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import groupby

import orjson

from render_core.tokenizer.engine import Offset
from render_core.tokenizer.reference import ReferenceEngine
from render_core.tokenizer.tekken import byte_characters


class TekkenEngine:
    """An engine over the document that `read_tekken` makes.

    A lone surrogate in a text counts as U+FFFD instead of raising TypeError, as in mistral-common.
    """

    name = "tokenizers, tekken"

    def __init__(self, serialized: bytes) -> None:
        """Load the document.

        Raises:
            ValueError: the library cannot read it.
        """
        self._serialized = serialized
        self._engine = ReferenceEngine(serialized)

    def encode(self, text: str, add_special_tokens: bool) -> list[int]:
        try:
            return self._engine.encode(text, add_special_tokens)
        except TypeError:
            return self._engine.encode(_without_surrogates(text), add_special_tokens)

    def encode_with_offsets(self, text: str, add_special_tokens: bool) -> tuple[list[int], list[Offset]]:
        try:
            return self._engine.encode_with_offsets(text, add_special_tokens)
        except TypeError:
            return self._engine.encode_with_offsets(_without_surrogates(text), add_special_tokens)

    def decode(self, ids: Sequence[int]) -> str:
        """Text of ids. Bytes that are no UTF-8 show as U+FFFD, and special tokens part the bytes around them."""
        known = [token_id for token_id in ids if token_id < len(self._tokens)]
        texts = []
        for is_text, group in groupby(known, lambda token_id: token_id >= self._special_count):
            joined = b"".join(self._tokens[token_id] for token_id in group)
            texts.append(joined.decode(errors="replace" if is_text else "strict"))
        return "".join(texts)

    def tokens(self, ids: Sequence[int]) -> list[str | None]:
        """What each id shows alone."""
        return [
            self._tokens[token_id].decode(errors="replace") if token_id < len(self._tokens) else None
            for token_id in ids
        ]

    def token_id(self, token: str) -> int | None:
        """The id of a special token, or of the token that shows as this text."""
        characters = byte_characters()
        found = self._engine.token_id("".join(characters[byte] for byte in token.encode(errors="replace")))
        return self._engine.token_id(token) if found is None else found

    @cached_property
    def _tokens(self) -> list[bytes]:
        """The bytes of each id. Read when something is decoded first, which most services never do."""
        vocabulary: dict[str, int] = orjson.loads(self._serialized)["model"]["vocab"]
        byte_of = {character: byte for byte, character in enumerate(byte_characters())}
        tokens = [b""] * len(vocabulary)
        self._special_count = vocabulary[byte_characters()[0]]  # single bytes come first after them
        for string, token_id in vocabulary.items():
            is_special = token_id < self._special_count
            tokens[token_id] = string.encode() if is_special else bytes(byte_of[c] for c in string)
        return tokens


def _without_surrogates(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
