"""English inflection of the nouns and verbs in the word lists: by rule, or as an entry spells it out."""

import re
from dataclasses import dataclass

CONSONANT_Y = re.compile(r"[^aeiou]y$")
SIBILANT = re.compile(r"(s|x|z|ch|sh)$")
SHORT_SYLLABLE = re.compile(r"^[^aeiou]*[aeiou][bdgklmnprt]$")
SILENT_E = re.compile(r"[^eoy]e$")


@dataclass(frozen=True, slots=True)
class Noun:
    singular: str
    plural: str

    @classmethod
    def parse(cls, entry: str) -> "Noun":
        """Read `house` or, when the plural is irregular or missing, `leaf/leaves` or `music/music`."""
        singular, _, plural = entry.partition("/")
        return cls(singular, plural or with_s(singular))


@dataclass(frozen=True, slots=True)
class Verb:
    base: str
    third_person: str
    past: str
    participle: str
    gerund: str

    @classmethod
    def parse(cls, entry: str) -> "Verb":
        """Read `walk`, `commit+` (the last letter doubles), `write/wrote/written` or `begin/began/begun+`."""
        base, *spelled_out = entry.removesuffix("+").split("/")
        doubles = entry.endswith("+") or SHORT_SYLLABLE.search(base) is not None
        stem = base + base[-1] if doubles else base
        past, participle = spelled_out or [with_ed(stem)] * 2
        third_person = base + "es" if base.endswith("o") else with_s(base)
        return cls(base, third_person, past, participle, with_ing(stem))


def with_s(word: str) -> str:
    if CONSONANT_Y.search(word):
        return word[:-1] + "ies"
    return word + ("es" if SIBILANT.search(word) else "s")


def with_ed(stem: str) -> str:
    if CONSONANT_Y.search(stem):
        return stem[:-1] + "ied"
    return stem + ("d" if stem.endswith("e") else "ed")


def with_ing(stem: str) -> str:
    if stem.endswith("ie"):
        return stem[:-2] + "ying"
    return (stem[:-1] if SILENT_E.search(stem) else stem) + "ing"
