"""The texts on which a fast engine may differ from the reference: what to look for, at next to no cost."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Guard:
    """Conditions under which a text goes to the reference engine.

    Attributes:
        characters: code points on which the engine differs.
        tokens: added tokens on which it differs wherever they stand.
        spaced_tokens: added tokens on which it differs when white space stands next to them.
    """

    characters: str = ""
    tokens: tuple[str, ...] = ()
    spaced_tokens: tuple[str, ...] = ()

    @cached_property
    def trips(self) -> Callable[[str], bool]:
        """Whether a text meets a condition. Costs nothing for ASCII text where all conditions are beyond ASCII."""
        searches: list[Callable[[str], Any]] = []
        if self.tokens:
            searches.append(re.compile(_any_of(self.tokens)).search)
        if self.spaced_tokens:
            either = _any_of(self.spaced_tokens)
            searches.append(re.compile(rf"\s(?:{either})|(?:{either})\s").search)
        if ascii_ones := [character for character in self.characters if character.isascii()]:
            searches.append(re.compile(_any_of(ascii_ones)).search)
        others = "".join(character for character in self.characters if not character.isascii())
        beyond_ascii = re.compile(f"[{re.escape(others)}]").search if others else None
        always = tuple(searches)

        def trips(text: str) -> bool:
            if any(search(text) for search in always):
                return True
            return beyond_ascii is not None and not text.isascii() and beyond_ascii(text) is not None

        return trips

    def as_manifest(self) -> dict[str, Any]:
        """The guard as JSON values; code points as numbers, since some are hard to read."""
        return {
            "characters": sorted(map(ord, self.characters)),
            "tokens": sorted(self.tokens),
            "spaced_tokens": sorted(self.spaced_tokens),
        }

    @classmethod
    def from_manifest(cls, document: Mapping[str, Any]) -> Guard:
        """The inverse of as_manifest(). Raises KeyError or TypeError for anything else."""
        return cls(
            "".join(map(chr, document["characters"])),
            tuple(document["tokens"]),
            tuple(document["spaced_tokens"]),
        )


def _any_of(tokens: Sequence[str]) -> str:
    return "|".join(map(re.escape, sorted(tokens, key=len, reverse=True)))
