"""The reference engine: Hugging Face `tokenizers`, the library that vLLM's tokenizer runs on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from render_core.tokenizer.engine import Offset

if TYPE_CHECKING:
    import tokenizers

_MAX_ID = 2**32 - 1


class ReferenceEngine:
    """An engine over one serialized tokenizer. Encoding holds the GIL (tokenizers 0.23)."""

    name = "tokenizers"

    def __init__(self, serialized: bytes) -> None:
        """Load a tokenizer.json document.

        Raises:
            ValueError: the document is no tokenizer that this library can read.
        """
        import tokenizers

        try:
            self._tokenizer: tokenizers.Tokenizer = tokenizers.Tokenizer.from_buffer(serialized)
        except Exception as error:  # noqa: BLE001 (the library raises nothing more special)
            raise ValueError(f"tokenizer.json cannot be loaded: {error}") from None
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def encode(self, text: str, add_special_tokens: bool) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=add_special_tokens).ids
        return ids

    def encode_with_offsets(self, text: str, add_special_tokens: bool) -> tuple[list[int], list[Offset]]:
        encoding = self._tokenizer.encode(text, add_special_tokens=add_special_tokens)
        return encoding.ids, encoding.offsets

    def decode(self, ids: Sequence[int]) -> str:
        text: str = self._tokenizer.decode([i for i in ids if i <= _MAX_ID], skip_special_tokens=False)
        return text

    def tokens(self, ids: Sequence[int]) -> list[str | None]:
        return [self._tokenizer.id_to_token(i) if i <= _MAX_ID else None for i in ids]

    def token_id(self, token: str) -> int | None:
        found: int | None = self._tokenizer.token_to_id(token)
        return found
