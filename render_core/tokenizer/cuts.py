"""Where a text may be cut so that its pieces, each encoded by itself, give the ids of the whole.

Before an added token, that is: tokenizers take such tokens out first, and normalize, split and merge what stands
between them piece by piece. What it takes for that to hold is asked of the tokenizer's document when a bundle is packed
(`provable_cuts`) and tried on the reference engine (`holds`); other tokenizers are never cut.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

_MAX_TOKENS: Final = 8


def provable_cuts(document: Mapping[str, Any], preferred: Iterable[str]) -> list[str]:
    """Added tokens before which a text may be cut, a few of them.

    Args:
        document: tokenizer.json.
        preferred: texts (chat templates) whose tokens come first.
    """
    added = document.get("added_tokens") or ()
    if any(token.get("single_word") for token in added):
        return []  # such a token looks at the letters beside it
    contents = [token["content"] for token in added]
    sources = list(preferred)
    candidates = [token["content"] for token in added if _stands_alone(token)]
    candidates.sort(key=lambda content: not any(content in source for source in sources))
    provable = (content for content in candidates if not any(_hides(other, content) for other in contents))
    return list(itertools.islice(provable, _MAX_TOKENS))


def _stands_alone(token: Mapping[str, Any]) -> bool:
    """Whether a token is taken out of the text as it was given, and nothing before it."""
    content: str = token["content"]
    return bool(content) and not (
        token.get("lstrip") or token.get("normalized", True) or content[0].isspace()
    )


def _hides(other: str, token: str) -> bool:
    """Whether a match of `other` can begin before one of `token` and reach into it, or take its place."""
    if other != token and token in other:
        return True
    return any(other.endswith(token[:size]) for size in range(1, min(len(token), len(other))))


def holds(token: str, texts: Iterable[str], encode: Callable[[str], Sequence[int]]) -> bool:
    """Whether cutting before the token makes no difference to any of the texts."""
    for text in texts:
        first, *others = text.split(token)
        pieces = [first, *(token + other for other in others)]
        apart = list(itertools.chain.from_iterable(encode(piece) for piece in pieces if piece))
        if others and apart != list(encode(text)):
            return False
    return True


class Cuts:
    """Cuts long texts into pieces of like length."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self._tokens = tuple(tokens)

    def pieces(self, text: str, count: int) -> list[str]:
        """At most so many pieces; fewer where there is no place to cut."""
        starts = [0]
        for number in range(1, count):
            wanted, end = number * len(text) // count, (number + 1) * len(text) // count
            if wanted <= starts[-1]:
                continue
            place = next(
                (place for token in self._tokens if (place := text.find(token, wanted, end)) >= 0), None
            )
            if place is not None:
                starts.append(place)
        return [text[start:end] for start, end in itertools.pairwise([*starts, len(text)])]
