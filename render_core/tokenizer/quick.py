"""The tokenizer for whoever must not wait: it answers from an engine that is loaded and certified for the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from render_core.tokenizer.cascade import CascadeEngine
from render_core.tokenizer.engine import Offset


class NotQuickError(Exception):
    """What is asked for may take long; ask where it may. Says nothing about the request."""


class QuickEngine:
    """An Engine that answers as the cascade behind it does, and raises NotQuickError where that loads something."""

    def __init__(self, cascade: CascadeEngine) -> None:
        self._cascade = cascade

    @property
    def name(self) -> str:
        return self._cascade.name

    def encode(self, text: str, add_special_tokens: bool) -> Sequence[int]:
        ids = self._cascade.encode_if_ready(text, add_special_tokens)
        return self._refuse() if ids is None else ids

    def encode_with_offsets(self, text: str, add_special_tokens: bool) -> tuple[list[int], list[Offset]]:
        self._refuse()

    def decode(self, ids: Sequence[int]) -> str:
        self._refuse()

    def tokens(self, ids: Sequence[int]) -> list[str | None]:
        self._refuse()

    def token_id(self, token: str) -> int | None:
        return self._cascade.token_id(token) if self._cascade.has_reference else self._refuse()

    def _refuse(self) -> NoReturn:
        raise NotQuickError
