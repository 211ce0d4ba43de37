"""The tokenizer cache: the best engine that is ready and certified for a text answers.

At start the cold engine answers; it loads while the process still imports what else it needs. The hot engine loads
in the background and takes over when it is ready; if it never becomes ready, or its loading is frozen midway, nothing
else changes. What neither is certified for, and offsets, decoding and vocabulary strings, go to the reference engine,
which loads when it is first needed.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from render_core.tokenizer.engine import Engine, Offset
from render_core.tokenizer.fast import Encoder
from render_core.tokenizer.guard import Guard
from render_core.tokenizer.packed_ids import surrounded

_BACKGROUND_NICENESS: Final = 10

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CertifiedEngine:
    """A fast engine with its certificate.

    Attributes:
        load: loads it; may take long, but lets other threads of Python run.
        guard: tells whether a text is outside the domain on which it is exact.
        prepare: does beforehand what does not let them.
    """

    name: str
    load: Callable[[], Encoder]
    guard: Guard
    prepare: Callable[[], None] = lambda: None


_Tier = tuple[str, Encoder, Callable[[str], bool]]


def _tier(engine: CertifiedEngine, encode: Encoder) -> _Tier:
    return engine.name, encode, engine.guard.trips


class _Loading:
    """An engine that is being loaded on a thread of its own."""

    def __init__(self, engine: CertifiedEngine) -> None:
        self._engine = engine
        self._encoder: Encoder | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._load, name="cold-tokenizer", daemon=True)
        self._thread.start()

    def _load(self) -> None:
        try:
            self._encoder = self._engine.load()
        except BaseException as error:  # noqa: BLE001 (raised where it is waited for)
            self._error = error

    def tier(self) -> _Tier:
        """The loaded engine, once it is. Raises what its loading raised."""
        self._thread.join()
        if self._encoder is None:
            raise self._error or RuntimeError("the thread that loads the tokenizer was ended")
        return _tier(self._engine, self._encoder)


def _yield_to_requests() -> None:
    """Lower the priority of this thread where threads have one of their own: requests come first on a busy core."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _BACKGROUND_NICENESS)


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
        """Begin to load the cold engine, and nothing else; the first text waits for it.

        Args:
            prefix_ids, suffix_ids: what the post-processor puts around a text.
        """
        self._hot = hot
        self._load_reference = load_reference
        self._prefix, self._suffix = list(prefix_ids), list(suffix_ids)
        self._reference_lock = threading.Lock()
        self._hot_lock = threading.Lock()
        self._reference: Engine | None = None
        self._tiers: tuple[_Tier, ...] = ()
        self._cold_lock = threading.Lock()
        self._loading = None if cold is None else _Loading(cold)
        self._has_cold = cold is not None
        self._encoded_once = threading.Event()

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

    @property
    def has_reference(self) -> bool:
        """Whether the reference engine is loaded."""
        return self._reference is not None

    def wait_until_ready(self) -> None:
        """Return when the cold engine, if there is one, is loaded. Raises what its loading raised."""
        with self._cold_lock:
            if self._loading is not None:
                self._tiers = (self._loading.tier(),)
                self._loading = None

    def load_hot_in_background(self, patience: float = 0.0) -> threading.Thread | None:
        """Load the hot engine while requests go on. Returns the thread that does; None when there is no hot engine.

        Args:
            patience: seconds to wait for a first text first: a process is often started because of a request, which
                the loading would slow down. Without a cold engine the loading begins at once.
        """
        if self._hot is None:
            return None
        wait = patience if self._has_cold else 0.0
        thread = threading.Thread(
            target=self._load_hot_logging, args=(wait,), name="hot-tokenizer", daemon=True
        )
        thread.start()
        return thread

    def load_hot(self) -> None:
        """Load the hot engine now, before a snapshot of the process is taken. Raises what its loading raises."""
        self.wait_until_ready()
        with self._hot_lock:
            if self._hot is None or any(name == self._hot.name for name, _, _ in self._tiers):
                return
            encode = self._hot.load()
            self._tiers = (_tier(self._hot, encode), *self._tiers)

    def encode(self, text: str, add_special_tokens: bool) -> Sequence[int]:
        if self._loading is not None:
            self.wait_until_ready()
        ids = self.encode_if_ready(text, add_special_tokens)
        return self._loaded_reference().encode(text, add_special_tokens) if ids is None else ids

    def encode_if_ready(self, text: str, add_special_tokens: bool) -> Sequence[int] | None:
        """The ids, if a fast engine is loaded and certified for the text; loads nothing and waits for nothing."""
        for _, encode, trips in self._tiers:
            if not trips(text):
                try:
                    ids = encode(text)
                except UnicodeEncodeError:
                    break  # a lone surrogate: the reference engine decides
                self._encoded_once.set()
                return surrounded(self._prefix, ids, self._suffix) if add_special_tokens else ids
        return None

    def encode_with_offsets(self, text: str, add_special_tokens: bool) -> tuple[list[int], list[Offset]]:
        return self._loaded_reference().encode_with_offsets(text, add_special_tokens)

    def decode(self, ids: Sequence[int]) -> str:
        return self._loaded_reference().decode(ids)

    def tokens(self, ids: Sequence[int]) -> list[str | None]:
        return self._loaded_reference().tokens(ids)

    def token_id(self, token: str) -> int | None:
        return self._loaded_reference().token_id(token)

    def _load_hot_logging(self, patience: float) -> None:
        self._encoded_once.wait(patience)
        try:
            if self._hot is not None:
                self._hot.prepare()  # at full priority: requests wait for whoever holds Python's lock
            _yield_to_requests()
            self.load_hot()
        except Exception:  # noqa: BLE001 (whatever it is, the other engines go on answering)
            _LOG.warning("the hot tokenizer engine could not be loaded", exc_info=True)

    def _loaded_reference(self) -> Engine:
        if self._reference is None:
            with self._reference_lock:
                if self._reference is None:
                    self._reference = self._load_reference()
        return self._reference
