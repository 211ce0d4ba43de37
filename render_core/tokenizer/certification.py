"""Measuring a fast engine against the reference, for one tokenizer: where it is exact, and what guards the rest.

An engine is certified when every difference that was found comes from few code points or added tokens, which
then form its guard, and when no text that passes the guard differs. Otherwise it is not used. Runs when a
bundle is packed; see docs in the README for what is tried.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from render_core.tokenizer.certification_texts import (
    CONTEXTS,
    MARK_CONTEXTS,
    added_token_texts,
    fuzz_texts,
    normal_form_texts,
    ordinary_texts,
    other_characters,
    possible_marks,
    unicode_version,
    used_characters,
    vocabulary_mixtures,
)
from render_core.tokenizer.guard import Guard

Encode = Callable[[str], Sequence[int]]

_CHUNK: Final = 64
_LARGE_CHUNK: Final = 1024
_MAX_GUARDED_CHARACTERS: Final = 2048
_FUZZ_SEED: Final = 20261129


@dataclass(frozen=True, slots=True)
class Certificate:
    """What was measured of one engine.

    Attributes:
        exact: whether the engine may answer for texts that pass the guard.
        texts: how many texts were compared.
        differing: how many of them differed, guarded or not.
        reason: why the engine is not exact; empty when it is.
    """

    exact: bool
    guard: Guard
    texts: int
    differing: int
    reason: str = ""

    def as_manifest(self) -> dict[str, Any]:
        return {
            "exact": self.exact,
            "guard": self.guard.as_manifest(),
            "texts": self.texts,
            "differing": self.differing,
            "reason": self.reason,
            "tables": unicode_version(),
        }


def certify(
    reference: Encode,
    engine: Encode,
    added_tokens: Sequence[str],
    vocabulary: Sequence[str] = (),
    fuzz_count: int = 3000,
    below: int = 0x110000,
) -> Certificate:
    """Compare an engine with the reference.

    Args:
        reference, engine: text to ids, without special tokens around the text.
        added_tokens: the tokenizer's added tokens; each is tried in every context.
        vocabulary: the texts of all its ids, as far as they are texts. Each is tried alone; where one differs the
            engine merges otherwise than the reference, which no guard could be trusted to fence in.
        fuzz_count: seeded mixtures to try, of everything and of vocabulary alone.
        below: the code points that are swept; less than all of them is for tests.
    """
    return _Comparison(reference, engine, added_tokens, vocabulary, below).certificate(fuzz_count)


class _Comparison:
    """One run of comparisons; grows a guard from what differs."""

    def __init__(
        self,
        reference: Encode,
        engine: Encode,
        added_tokens: Sequence[str],
        vocabulary: Sequence[str],
        below: int,
    ) -> None:
        self._reference, self._engine = reference, engine
        self._below = below
        self._added_tokens = added_tokens
        self._vocabulary = vocabulary
        self._texts = self._differing = 0
        self._characters: set[str] = set()
        self._tokens: set[str] = set()
        self._spaced_tokens: set[str] = set()
        self._trips_on_tokens = Guard().trips
        self._reason = ""

    def certificate(self, fuzz_count: int) -> Certificate:
        self._sweep_characters()
        self._sweep_added_tokens()
        self._sweep_vocabulary()
        for texts in (
            ordinary_texts(),
            normal_form_texts(),
            fuzz_texts(_FUZZ_SEED, fuzz_count, self._added_tokens),
            vocabulary_mixtures(_FUZZ_SEED, fuzz_count, self._vocabulary, self._added_tokens),
        ):
            self._explain_all(texts)
        self._try_long_text(fuzz_count)
        return Certificate(not self._reason, self._guard(), self._texts, self._differing, self._reason)

    def _guard(self) -> Guard:
        return Guard(
            "".join(sorted(self._characters)), tuple(sorted(self._tokens)), tuple(sorted(self._spaced_tokens))
        )

    def _differs(self, text: str) -> bool:
        self._texts += 1
        try:
            same = self._engine(text) == self._reference(text)
        except Exception:  # noqa: BLE001 (an engine that fails on a text is not exact on it)
            same = False
        self._differing += not same
        return not same

    def _sweep_characters(self) -> None:
        used, marks, others = used_characters(), possible_marks(), other_characters()
        sweeps = [(context, used, _CHUNK) for context in CONTEXTS]
        sweeps += [(context, marks, _CHUNK) for context in MARK_CONTEXTS]
        sweeps.append((CONTEXTS[0], others, _LARGE_CHUNK))
        for context, characters, size in sweeps:
            for start in range(0, len(characters), size):
                chunk = [
                    character
                    for character in characters[start : start + size]
                    if ord(character) < self._below and character not in self._characters
                ]
                self._characters.update(self._differing_characters(context, chunk))
                if self._too_many():
                    return

    def _differing_characters(self, context: str, characters: list[str]) -> Iterator[str]:
        """The characters of a chunk on which the engine differs, found by halving."""
        if not characters or not self._differs(
            "".join(context.format(character) for character in characters)
        ):
            return
        if len(characters) == 1:
            yield characters[0]
            return
        middle = len(characters) // 2
        found = [
            *self._differing_characters(context, characters[:middle]),
            *self._differing_characters(context, characters[middle:]),
        ]
        yield from found or characters  # only together do they differ: all are suspect

    def _sweep_added_tokens(self) -> None:
        for token in self._added_tokens:
            differing = [
                text
                for text in added_token_texts(token)
                if not self._guard_trips(text) and self._differs(text)
            ]
            if self._reason or not differing:
                continue
            bare = any(self._differs(text) for text in (token, f"{token}{token}", f"a{token}b", f"1{token}2"))
            (self._tokens if bare else self._spaced_tokens).add(token)
            self._trips_on_tokens = Guard("", tuple(self._tokens), tuple(self._spaced_tokens)).trips

    def _sweep_vocabulary(self) -> None:
        """Try every vocabulary string as all the text between two added tokens, where an engine may look it up."""
        strings = [text for text in self._vocabulary if not self._guard_trips(text)]
        # Beside white space too it must be harmless: some of the strings are nothing else.
        separator = next((token for token in self._added_tokens if not self._guard_trips(f" {token} ")), None)
        size = 1 if separator is None else _CHUNK
        for start in range(0, len(strings), size):
            if self._reason:
                return
            chunk = strings[start : start + size]
            if self._differs((separator or "").join(chunk)):
                one = next((text for text in chunk if self._differs(text)), None)
                self._reason = f"differs on {(one or chunk[0])[:40]!r} of the vocabulary"

    def _try_long_text(self, fuzz_count: int) -> None:
        """Try one text of everything, far longer than any before: an engine may cut such a one up."""
        texts = chain(
            ordinary_texts(),
            fuzz_texts(_FUZZ_SEED, fuzz_count, self._added_tokens),
            vocabulary_mixtures(_FUZZ_SEED, fuzz_count, self._vocabulary, self._added_tokens),
        )
        long = "\n".join(text for text in texts if not self._guard_trips(text))
        if not self._reason and not self._guard_trips(long) and self._differs(long):
            self._reason = f"differs on a text of {len(long)} characters"

    def _explain_all(self, texts: Iterable[str]) -> None:
        for text in texts:
            if self._reason or self._too_many():
                return
            while not self._reason and not self._guard_trips(text) and self._differs(text):
                self._explain(text)

    def _explain(self, text: str) -> None:
        """Add what makes a text differ to the guard, or give up on the engine."""
        least = self._smallest_differing(text)
        marks = {character for character in least if unicodedata.combining(character)}
        foreign = {character for character in least if not character.isascii()}
        tokens = {token for token in self._added_tokens if token in least}
        if suspects := (marks or foreign) - self._characters:
            self._characters |= suspects
        elif tokens - self._tokens:
            self._tokens |= tokens
            self._trips_on_tokens = Guard("", tuple(self._tokens), tuple(self._spaced_tokens)).trips
        else:
            self._reason = f"differs on {least[:40]!r}, which no guard explains"

    def _smallest_differing(self, text: str) -> str:
        """A short piece of a text that still differs."""
        size = len(text)
        while size > 1:
            size = (size + 1) // 2
            start = 0
            while start < len(text):
                shorter = text[:start] + text[start + size :]
                if shorter and self._differs(shorter):
                    text = shorter
                else:
                    start += size
        return text

    def _guard_trips(self, text: str) -> bool:
        return not self._characters.isdisjoint(text) or self._trips_on_tokens(text)

    def _too_many(self) -> bool:
        if len(self._characters) > _MAX_GUARDED_CHARACTERS:
            self._reason = f"differs on more than {_MAX_GUARDED_CHARACTERS} code points"
        return bool(self._reason)
