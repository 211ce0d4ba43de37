"""What a tokenizer engine must offer. Every engine behind this interface gives the same ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

Offset = tuple[int, int]


class Engine(Protocol):
    """A loaded tokenizer. Safe to use from several threads at once.

    Texts with lone surrogates raise TypeError: they have no UTF-8 form.
    """

    @property
    def name(self) -> str:
        """The library that answers, for logs."""
        ...

    def encode(self, text: str, add_special_tokens: bool) -> Sequence[int]:
        """Token ids of a text; with `add_special_tokens` the post-processor adds what it adds (a BOS, say)."""
        ...

    def encode_with_offsets(self, text: str, add_special_tokens: bool) -> tuple[list[int], list[Offset]]:
        """Token ids and, for each, its half-open character range in the text ((0, 0) for an added special token)."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """Text of token ids, special tokens included; an id outside the vocabulary adds nothing."""
        ...

    def tokens(self, ids: Sequence[int]) -> list[str | None]:
        """The vocabulary's own strings for ids; None outside the vocabulary."""
        ...

    def token_id(self, token: str) -> int | None:
        """The id of a vocabulary string, or None."""
        ...
