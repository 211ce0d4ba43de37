"""The English word lists, and the filling of `[noun]`-like slots in a pattern by weighted random choice."""

import bisect
import itertools
import random
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from .inflection import Noun, Verb

DIRECTORY = Path(__file__).parent
SLOT = re.compile(r"\[([A-Za-z]+)\]")


@dataclass(frozen=True, slots=True)
class RankedWords:
    """Words from frequent to rare; the first is drawn about nine times as often as the last."""

    words: tuple[str, ...]
    cumulative_weights: tuple[float, ...]

    @classmethod
    def of(cls, words: Iterable[str]) -> "RankedWords":
        distinct = tuple(dict.fromkeys(words))
        flattening = len(distinct) / 8
        weights = (1 / (rank + flattening) for rank in range(1, len(distinct) + 1))
        return cls(distinct, tuple(itertools.accumulate(weights)))

    def draw(self, rng: random.Random) -> str:
        return self.words[bisect.bisect(self.cumulative_weights, rng.random() * self.cumulative_weights[-1])]


class Lexicon:
    """Fills slots: `[noun]` gives `tree`, `[Noun]` `Tree` and `[NOUN]` `TREE`; an unknown slot stays.

    Only `random.Random.random` is called: it is the one method whose sequence Python promises to keep.
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        nouns = [Noun.parse(entry) for entry in read_entries("nouns.txt")]
        verbs = [Verb.parse(entry) for entry in read_entries("verbs.txt")]
        word_lists: dict[str, Iterable[str]] = {
            "noun": (noun.singular for noun in nouns),
            "nouns": (noun.plural for noun in nouns),
            "verb": (verb.base for verb in verbs),
            "verbs": (verb.third_person for verb in verbs),
            "past": (verb.past for verb in verbs),
            "participle": (verb.participle for verb in verbs),
            "verbing": (verb.gerund for verb in verbs),
            "adjective": read_entries("adjectives.txt"),
            "adverb": read_entries("adverbs.txt"),
            "name": read_entries("names.txt"),
            "month": read_entries("months.txt"),
        }
        self._slots: dict[str, Callable[[], str]] = {
            slot: self._word_drawer(RankedWords.of(words)) for slot, words in word_lists.items()
        }
        self._slots |= {
            "digit": lambda: str(self.integer_below(10)),
            "digits": lambda: f"{self.integer_below(100):02}",
            "day": lambda: str(1 + self.integer_below(28)),
            "year": lambda: str(1980 + self.integer_below(50)),
            "number": lambda: str(self.integer_below(10 ** (1 + self.integer_below(4)))),
        }

    def _word_drawer(self, words: RankedWords) -> Callable[[], str]:
        return lambda: words.draw(self._rng)

    def integer_below(self, limit: int) -> int:
        return int(self._rng.random() * limit)

    def choose(self, texts: list[str]) -> str:
        return texts[self.integer_below(len(texts))]

    def fill(self, pattern: str) -> str:
        return SLOT.sub(self._fill_slot, pattern)

    def _fill_slot(self, match: re.Match[str]) -> str:
        slot = match[1]
        draw = self._slots.get(slot.lower())
        if draw is None:
            return match[0]
        word = draw()
        if slot.isupper():
            return word.upper()
        return word[0].upper() + word[1:] if slot[0].isupper() else word


def read_entries(filename: str) -> list[str]:
    return (DIRECTORY / filename).read_text(encoding="utf-8").split()
