"""Certification finds each kind of inexactness that fast engines are known for, and refuses what it cannot guard."""

from __future__ import annotations

import re
import unicodedata

import pytest

from render_core.tokenizer.certification import certify

TOKEN = "<|end|>"


def reference(text: str) -> list[int]:
    """Stands in for an exact tokenizer: one id a code point, added tokens as one id, blanks in runs."""
    pieces = re.findall(rf"{re.escape(TOKEN)}|\s+|.", unicodedata.normalize("NFC", text), re.DOTALL)
    return [hash(piece) for piece in pieces]


def mongolian_vowel_separator_as_blank(text: str) -> list[int]:
    pieces = re.findall(rf"{re.escape(TOKEN)}|[\s\u180e]+|.", unicodedata.normalize("NFC", text), re.DOTALL)
    return [hash(piece) for piece in pieces]


def older_mark_order(text: str) -> list[int]:
    """U+1DFA is taken for a letter, so that marks around it are not put in order."""
    return [
        *reference(text.split("\u1dfa")[0]),
        *(i for part in text.split("\u1dfa")[1:] for i in [-1, *reference(part)]),
    ]


def blanks_around_added_tokens_kept(text: str) -> list[int]:
    return reference(text)


def stripping_reference(text: str) -> list[int]:
    return reference(re.sub(rf"\s*({re.escape(TOKEN)})\s*", r"\1", text))


def wrong_on_ascii(text: str) -> list[int]:
    return reference(text.replace("34", "43"))


def test_an_exact_engine_needs_no_guard() -> None:
    certificate = certify(reference, reference, [TOKEN], fuzz_count=200, below=0x2000)
    assert (certificate.exact, certificate.differing, certificate.guard.as_manifest()) == (
        True,
        0,
        {"characters": [], "tokens": [], "spaced_tokens": []},
    )
    assert certificate.texts > 2_000


def test_a_foreign_blank_is_found_and_guarded() -> None:
    certificate = certify(
        reference, mongolian_vowel_separator_as_blank, [TOKEN], fuzz_count=200, below=0x2000
    )
    assert certificate.exact
    assert certificate.guard.characters == "\u180e"


def test_marks_in_another_order_are_found_and_guarded() -> None:
    certificate = certify(reference, older_mark_order, [TOKEN], fuzz_count=200, below=0x2000)
    assert certificate.exact
    assert "\u1dfa" in certificate.guard.characters


def test_strip_flags_are_found_and_guarded_only_beside_blanks() -> None:
    certificate = certify(
        stripping_reference, blanks_around_added_tokens_kept, [TOKEN], fuzz_count=200, below=0x2000
    )
    assert certificate.exact
    assert (certificate.guard.tokens, certificate.guard.spaced_tokens) == ((), (TOKEN,))


@pytest.mark.parametrize(
    "engine", [wrong_on_ascii, lambda text: reference(text)[::-1]], ids=["ascii", "everywhere"]
)
def test_what_no_guard_explains_is_not_certified(engine: object) -> None:
    certificate = certify(reference, engine, [TOKEN], fuzz_count=200, below=0x2000)  # type: ignore[arg-type]
    assert not certificate.exact
    assert certificate.reason


def test_an_engine_that_fails_on_a_text_is_not_exact_on_it() -> None:
    def failing(text: str) -> list[int]:
        if "\u0e01" in text:
            raise ValueError(text)
        return reference(text)

    certificate = certify(reference, failing, [], fuzz_count=50, below=0x2000)
    assert certificate.guard.characters == "\u0e01"


def test_a_token_that_swallows_its_double_is_guarded_wherever_it_stands() -> None:
    def doubling(text: str) -> list[int]:
        return reference(text.replace(TOKEN * 2, TOKEN))

    certificate = certify(reference, doubling, [TOKEN], fuzz_count=50, below=0x200)
    assert certificate.exact
    assert certificate.guard.tokens == (TOKEN,)


def test_an_engine_that_takes_a_vocabulary_string_for_one_token_is_not_certified() -> None:
    """As kitoken does with ` YYYY` of Gemma 3, which the merges of that tokenizer do not lead to."""

    def unmerged(text: str) -> list[int]:
        parts = [[1] if part == " YYYY" else reference(part) for part in text.split(TOKEN)]
        return [token_id for part in parts for token_id in [*reference(TOKEN), *part]][1:]

    assert certify(reference, unmerged, [TOKEN], ["the", " Y"], fuzz_count=50, below=0x200).exact
    certificate = certify(reference, unmerged, [TOKEN], ["the", " YYYY"], fuzz_count=50, below=0x200)
    assert not certificate.exact
    assert certificate.reason == "differs on ' YYYY' of the vocabulary"


def test_rows_of_vocabulary_strings_are_tried() -> None:
    def unmerged(text: str) -> list[int]:
        return reference(text.replace("bc", "cb"))

    assert certify(reference, unmerged, [], ["xyz"], fuzz_count=50, below=0x200).exact
    assert not certify(reference, unmerged, [], ["ab", "cd"], fuzz_count=50, below=0x200).exact
