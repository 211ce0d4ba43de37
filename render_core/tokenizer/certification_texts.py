"""The texts on which engines are measured against the reference: everything a prompt may hold, in some context.

All are made from Unicode's own tables and fixed seeds, so that certifying twice measures the same.
"""

from __future__ import annotations

import random
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

# Every code point of the planes that Unicode uses is tried in each of these.
CONTEXTS: Final = ("a{}b", " {} ", "{0}{0}1", "\n{}.")
# Every mark, and every code point that may become one, is tried before and after marks of known order.
MARK_CONTEXTS: Final = ("e{}\u0301", "e\u0301{}", "e{}\u0323", "e\u0323{}", "e{}\u0345", "e\u0334{}")
_BLANKS: Final = (
    " ",
    "  ",
    "\t",
    "\n",
    "\r\n",
    "\r",
    "\u00a0",
    "\u2003",
    "\u3000",
    "\u200b",
    "\u180e",
    "\x0b",
    "\x0c",
    "\x85",
)
_TOKEN_CONTEXTS: Final = (
    "{}",
    "{0}{0}",
    " {} ",
    "\n{}\n",
    "\t{}\t",
    "  {}  ",
    "a{}b",
    "é{}é",
    "1{}2",
    "{} x",
    "x {}",
    "<{}>",
)
_CODE: Final = (
    "def f(x: int) -> str:\n    return f'{x:>08.3f}'  # it's 100%\n",
    "\tif ((a[i]!=b->c)&&!d){ return -1; }\r\n\r\n",
    'SELECT "a", COUNT(*) FROM t WHERE x>=1e-9 GROUP BY 1;\n\n\n',
    "https://example.org/a?b=c&d=%20#e   user@example.org  C:\\dir\\file.txt",
    "we'll they'd I'M you'VE it's 'twas don't can't 'S 'RE",
    "1234567890 3.14159 1,000,000 0x7fff 12:30:59 2026-11-29 v1.2.3-rc.4",
    "<|im_start|><|im_end|> [INST] [/INST] <s></s> <pad> <|unknown|> <think>",
    "=" * 77 + "\n" + "-" * 300 + "   " * 50 + "\n" * 40 + "\t" * 33,
)


_USED_PLANES: Final = (range(0xD800), range(0xE000, 0x34000), range(0xE0000, 0xE1000))
_OTHER_PLANES: Final = (range(0x34000, 0xE0000), range(0xE1000, 0x110000))


def used_characters() -> list[str]:
    """Every code point of the planes that Unicode uses, assigned or not: engines carry newer tables than Python."""
    return [chr(point) for points in _USED_PLANES for point in points]


def other_characters() -> list[str]:
    """All code points beyond: unassigned and private planes."""
    return [chr(point) for points in _OTHER_PLANES for point in points]


def possible_marks() -> list[str]:
    """Combining marks, and code points that Python's tables do not know yet."""
    return [
        character
        for character in used_characters()
        if unicodedata.category(character) in ("Mn", "Mc", "Me", "Cn")
    ]


def _assigned_characters() -> list[str]:
    return [character for character in used_characters() if unicodedata.category(character) != "Cn"]


def ordinary_texts() -> Iterator[str]:
    """Code, numbers, contractions and runs of white space of every kind."""
    yield from _CODE
    for blank in _BLANKS:
        for count in (1, 2, 3, 7, 16, 65):
            yield f"a{blank * count}b{blank * count}"
            yield f"{blank * count}.{blank * count}1"
    for first in _BLANKS:
        for second in _BLANKS:
            yield f"a{first}{second}b {first}{second}{first}"


def normal_form_texts() -> Iterator[str]:
    """Letters with marks in all four normal forms, and marks in every order."""
    marks = [character for character in _assigned_characters() if unicodedata.combining(character)]
    for index, mark in enumerate(marks):
        other = marks[(index * 7 + 3) % len(marks)]
        yield f"e{mark}x o{mark}{other} o{other}{mark} {mark}"
    for start in (
        0xC0,
        0x100,
        0x180,
        0x370,
        0x1E00,
        0x1F00,
        0xAC00,
        0x0958,
        0xFB00,
        0xFE70,
        0x3300,
        0xF900,
        0x2F800,
    ):
        block = "".join(
            chr(point) for point in range(start, start + 128) if unicodedata.category(chr(point)) != "Cn"
        )
        for form in ("NFC", "NFD", "NFKC", "NFKD"):
            yield unicodedata.normalize(form, block)


def added_token_texts(token: str) -> Iterator[str]:
    """One added token alone, doubled, with blanks around, inside words and at ends."""
    for context in _TOKEN_CONTEXTS:
        yield context.format(token)
    yield token[:-1]
    yield f"{token[:-1]} {token}{token[1:]}"


def fuzz_texts(seed: int, count: int, added_tokens: Sequence[str]) -> Iterator[str]:
    """Seeded mixtures of scripts, blanks, code and added tokens; 5 to 60 pieces each."""
    chance = random.Random(seed)  # noqa: S311 (it must repeat)
    pools = _script_pools()
    words = 'the of and token_ids renderCore naïve Straße don\'t 42 3.5 {"a": [1]} != ... 🙂 👩‍💻 日本語 привет'.split(
        " "
    )
    for _ in range(count):
        pieces = []
        for _ in range(chance.randint(5, 60)):
            kind = chance.random()
            if kind < 0.35:
                pieces.append(chance.choice(words))
            elif kind < 0.55:
                pieces.append(chance.choice(_BLANKS) * chance.randint(1, 3))
            elif kind < 0.8:
                pool = chance.choice(pools)
                pieces.append("".join(chance.choice(pool) for _ in range(chance.randint(1, 6))))
            elif kind < 0.9 and added_tokens:
                pieces.append(chance.choice(added_tokens))
            else:
                pieces.append(chance.choice(_CODE)[: chance.randint(1, 40)])
        yield "".join(pieces)


def cut_texts(token: str) -> Iterator[str]:
    """Texts with one added token in many places: every context of it, and seeded mixtures."""
    yield from added_token_texts(token)
    yield from fuzz_texts(seed=len(token), count=500, added_tokens=(token,))


def vocabulary_mixtures(
    seed: int, count: int, vocabulary: Sequence[str], added_tokens: Sequence[str]
) -> Iterator[str]:
    """Seeded rows of 3 to 25 vocabulary strings, an eighth of them added tokens: what merges are made of."""
    if not vocabulary:
        return
    chance = random.Random(seed)  # noqa: S311 (it must repeat)
    for _ in range(count):
        yield "".join(
            chance.choice(added_tokens if added_tokens and chance.random() < 0.125 else vocabulary)
            for _ in range(chance.randint(3, 25))
        )


def _script_pools() -> list[str]:
    """Code points by block of 128, each pool one block."""
    pools: dict[int, list[str]] = {}
    for character in _assigned_characters():
        pools.setdefault(ord(character) // 128, []).append(character)
    return ["".join(pool) for pool in pools.values()]


def unicode_version() -> str:
    """The version of the tables used, and of the interpreter that holds them."""
    return f"Unicode {unicodedata.unidata_version}, Python {sys.version_info.major}.{sys.version_info.minor}"
