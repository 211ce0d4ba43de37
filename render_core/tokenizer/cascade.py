"""The tokenizer cache: the best engine that is ready and certified for a text answers.

At start the cold engine answers. The hot engine loads in the background and takes over when it is ready; if it
never becomes ready, or its loading is frozen midway, nothing else changes. What neither is certified for, and
offsets, decoding and vocabulary strings, go to the reference engine, which loads when it is first needed.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from render_core.tokenizer.engine import Engine, Offset
from render_core.tokenizer.fast import Encoder
from render_core.tokenizer.guard import Guard

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CertifiedEngine:
    """A fast engine with its certificate.

    Attributes:
        load: loads it; may take long.
        trips: whether a text is outside the domain on which it is exact.
    """

    name: str
    load: Callable[[], Encoder]
    guard: Guard


class CascadeEngine:
    """An Engine over a cold, a hot and the reference engine. Every one of them gives the same ids."""

    def __init__(
        self,
        cold: CertifiedEngine | None,
        hot: CertifiedEngine | None,
        load_reference: Callable[[], Engine],
        prefix_ids: Sequence[int],
        suffix_ids: Sequence[int],
    ) -> None:
        """Load the cold engine, and nothing else.

        Args:
            prefix_ids, suffix_ids: what the post-processor puts around a text.
        """
        self._hot = hot
        self._load_reference = load_reference
        self._prefix, self._suffix = list(prefix_ids), list(suffix_ids)
        self._reference_lock = threading.Lock()
        self._hot_lock = threading.Lock()
        self._reference: Engine | None = None
        self._tiers: tuple[tuple[str, Encoder, Callable[[str], bool]], ...] = ()
        if cold is not None:
            self._tiers = ((cold.name, cold.load(), cold.guard.trips),)

    @property
    def name(self) -> str:
        """The engines that are ready, best first."""
        ready = [name for name, _, _ in self._tiers] + (["tokenizers"] if self._reference is not None else [])
        return " over ".join(ready) or "tokenizers, not loaded yet"

    @property
    def tier(self) -> Literal["hot", "cold", "reference"]:
        """The best kind of engine that is ready: what a text without anything unusual is encoded by."""
        if not self._tiers:
            return "reference"
        return "hot" if self._hot is not None and self._tiers[0][0] == self._hot.name else "cold"

    def load_hot_in_background(self) -> threading.Thread | None:
        """Start loading the hot engine while requests go on. Returns the thread; None when there is none."""
        if self._hot is None:
            return None
        thread = threading.Thread(target=self._load_hot_logging, name="hot-tokenizer", daemon=True)
        thread.start()
        return thread

    def load_hot(self) -> None:
        """Load the hot engine now, before a snapshot of the process is taken. Raises what its loading raises."""
        with self._hot_lock:
            if self._hot is None or any(name == self._hot.name for name, _, _ in self._tiers):
                return
            encode = self._hot.load()
            encode("ready")  # what is built at the first call is built here
            self._tiers = ((self._hot.name, encode, self._hot.guard.trips), *self._tiers)

    def encode(self, text: str, add_special_tokens: bool) -> list[int]:
        for _, encode, trips in self._tiers:
            if not trips(text):
                try:
                    ids = encode(text)
                except UnicodeEncodeError:
                    break  # a lone surrogate: the reference engine decides
                return [*self._prefix, *ids, *self._suffix] if add_special_tokens else ids
        return self._loaded_reference().encode(text, add_special_tokens)

    def encode_with_offsets(self, text: str, add_special_tokens: bool) -> tuple[list[int], list[Offset]]:
        return self._loaded_reference().encode_with_offsets(text, add_special_tokens)

    def decode(self, ids: Sequence[int]) -> str:
        return self._loaded_reference().decode(ids)

    def tokens(self, ids: Sequence[int]) -> list[str | None]:
        return self._loaded_reference().tokens(ids)

    def token_id(self, token: str) -> int | None:
        return self._loaded_reference().token_id(token)

    def _load_hot_logging(self) -> None:
        try:
            self.load_hot()
        except Exception:  # noqa: BLE001 (whatever it is, the other engines go on answering)
            _LOG.warning("the hot tokenizer engine could not be loaded", exc_info=True)

    def _loaded_reference(self) -> Engine:
        if self._reference is None:
            with self._reference_lock:
                if self._reference is None:
                    self._reference = self._load_reference()
        return self._reference
