"""The text the demo tokenizer is trained on: written for this project, multiplied by a seeded generator.

The `.txt` files beside this module hold word lists, sentence patterns, prose, code snippets and phrases in
other languages. Nothing in them is taken from elsewhere. `corpus` turns them into the same text on every run.
"""

import random
from collections.abc import Iterator

from .lexicon import DIRECTORY, Lexicon

SEED = 8192
PARAGRAPH_COUNT = 18_000
LONGEST_PARAGRAPH = 4
PROSE_REPEATS = 12
SNIPPET_REPEATS = 40
PHRASE_COUNT_PER_LINE = 25
UNSPACED_LANGUAGES = {"emoji", "ja", "th", "zh"}


def corpus() -> Iterator[str]:
    rng = random.Random(SEED)
    lexicon = Lexicon(rng)
    yield from paragraphs(lexicon)
    yield from read_text("prose.txt").splitlines() * PROSE_REPEATS
    yield from snippets(lexicon)
    for language, lines in read_languages().items():
        yield from phrases(language, lines, lexicon)


def paragraphs(lexicon: Lexicon) -> Iterator[str]:
    patterns = read_text("sentences.txt").splitlines()
    for _ in range(PARAGRAPH_COUNT):
        length = 1 + lexicon.integer_below(LONGEST_PARAGRAPH)
        yield lexicon.fill(" ".join(lexicon.choose(patterns) for _ in range(length)))


def snippets(lexicon: Lexicon) -> Iterator[str]:
    for pattern in read_text("snippets.txt").split("%%\n"):
        for _ in range(SNIPPET_REPEATS):
            yield lexicon.fill(pattern)


def phrases(language: str, lines: list[str], lexicon: Lexicon) -> Iterator[str]:
    """Shuffle the words of a language, so that no sentence of an unspaced script becomes a token."""
    words = " ".join(lines).split(" ")
    separator = "" if language in UNSPACED_LANGUAGES else " "
    for _ in range(PHRASE_COUNT_PER_LINE * len(lines)):
        length = 4 + lexicon.integer_below(10)
        yield separator.join(lexicon.choose(words) for _ in range(length))


def read_languages() -> dict[str, list[str]]:
    """Read the sections of `languages.txt`: a language, then lines of words parted by one space."""
    sections = [section.splitlines() for section in read_text("languages.txt").split("\n\n")]
    return {language: lines for language, *lines in sections}


def read_text(filename: str) -> str:
    return (DIRECTORY / filename).read_text(encoding="utf-8")
