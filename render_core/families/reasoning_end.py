"""Finding the last marker of reasoning in a prompt. Markers are single tokens or sequences of tokens."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

TokenIds = tuple[int, ...]


class Marker(enum.Enum):
    START = enum.auto()
    END = enum.auto()
    BOUNDARY = enum.auto()


@dataclass(frozen=True, slots=True)
class MarkerScan:
    """Markers by their first token; where several begin at one place, the first listed counts."""

    by_first: Mapping[int, tuple[tuple[TokenIds, Marker], ...]]

    @classmethod
    def of_tokens(
        cls, markers: Iterable[tuple[str, Marker]], token_id: Callable[[str], int | None]
    ) -> MarkerScan:
        """Markers that are tokens; those outside the vocabulary are left out."""
        found = [((number,), marker) for text, marker in markers if (number := token_id(text)) is not None]
        return cls.of_sequences(found)

    @classmethod
    def of_sequences(cls, markers: Iterable[tuple[Sequence[int], Marker]]) -> MarkerScan:
        """Markers that are sequences of tokens; empty ones are left out."""
        by_first: dict[int, tuple[tuple[TokenIds, Marker], ...]] = {}
        for ids, marker in markers:
            if ids:
                by_first[ids[0]] = (*by_first.get(ids[0], ()), (tuple(ids), marker))
        return cls(by_first)

    def last(self, ids: Sequence[int]) -> Marker | None:
        """The marker that begins last, or None."""
        known = self.by_first
        for back, token in enumerate(reversed(ids), start=1):
            if token not in known:
                continue
            at = len(ids) - back
            for sequence, marker in known[token]:
                if len(sequence) == 1 or tuple(ids[at : at + len(sequence)]) == sequence:
                    return marker
        return None
