"""Finding the last marker of reasoning in a prompt. Markers are single tokens or sequences of tokens."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from render_core.tokenizer.packed_ids import blocks_from_end

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
        end = len(ids)
        for block in blocks_from_end(ids):
            end -= len(block)
            if known.keys().isdisjoint(block):
                continue
            for at in reversed(range(len(block))):
                for sequence, marker in known.get(block[at], ()):
                    start = end + at
                    if len(sequence) == 1 or tuple(ids[start : start + len(sequence)]) == sequence:
                        return marker
        return None
