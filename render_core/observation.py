"""What rendering one request took and found: the core writes it on the way, with a clock that it was handed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

Part = Literal["read", "prompt", "tokenize", "answer"]
"""Parsing and checking the body; template or encoder; the tokenizer, either way; sampling, parsers and JSON."""


class Observation:
    """Filled by one rendering, for whoever handed it in.

    Attributes:
        prompt_tokens: tokens of the rendered prompts; 0 when none was rendered.
        seconds: time by part, for the parts that were reached.
    """

    __slots__ = ("_clock", "_last", "prompt_tokens", "seconds")

    def __init__(self, clock: Callable[[], float]) -> None:
        """Takes a clock that counts seconds from any moment."""
        self._clock = clock
        self._last = 0.0
        self.prompt_tokens = 0
        self.seconds: dict[Part, float] = {}

    def begin(self) -> None:
        """Time and tokens count from here; what an attempt before this one left is forgotten."""
        self.prompt_tokens = 0
        self.seconds = {}
        self._last = self._clock()

    def finish(self, part: Part) -> None:
        """The time since the last call was spent on this part."""
        now = self._clock()
        self.seconds[part] = self.seconds.get(part, 0.0) + now - self._last
        self._last = now

    def count_tokens(self, number: int) -> None:
        """So many tokens of prompt were rendered, besides those counted before."""
        self.prompt_tokens += number


class _Unobserved(Observation):
    """Keeps nothing, so that all renderings that nobody watches can share one."""

    __slots__ = ()

    def begin(self) -> None: ...

    def finish(self, part: Part) -> None: ...

    def count_tokens(self, number: int) -> None: ...


UNOBSERVED: Observation = _Unobserved(lambda: 0.0)
