"""Texts are cut only where that makes no difference."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from render_core.tokenizer.cuts import Cuts, holds, provable_cuts


def token(content: str, **flags: bool) -> dict[str, Any]:
    plain = {"lstrip": False, "rstrip": False, "normalized": False, "single_word": False, "special": True}
    return {"content": content, **plain, **flags}


def cuts(*tokens: dict[str, Any], preferred: tuple[str, ...] = ()) -> list[str]:
    return provable_cuts({"added_tokens": list(tokens)}, preferred)


def test_plain_added_tokens_are_places_to_cut() -> None:
    assert cuts(token("<a>"), token("<b>", rstrip=True, special=False)) == ["<a>", "<b>"]


@pytest.mark.parametrize(
    "unfit",
    [token("<a>", lstrip=True), token("<a>", normalized=True), token(" <a>"), token("\n"), token("aba")],
)
def test_tokens_that_reach_beyond_themselves_are_not(unfit: dict[str, Any]) -> None:
    assert cuts(unfit, token("<b>")) == ["<b>"]


@pytest.mark.parametrize("other", ["x<a>", "x<a>y", "<a>x", "x<a", "x<"])
def test_tokens_that_another_may_hide_are_not(other: str) -> None:
    assert "<a>" not in cuts(token("<a>"), token(other))
    assert "<a>" not in cuts(token("<a>"), token(other, normalized=True))


def test_tokens_that_begin_within_another_do_no_harm() -> None:
    assert cuts(token("<a>"), token("a>x")) == ["<a>"]


def test_a_token_that_looks_at_letters_beside_it_forbids_all() -> None:
    assert cuts(token("<a>"), token("b", single_word=True)) == []


def test_tokens_of_the_templates_come_first_and_few_are_kept() -> None:
    many = [token(f"<{number}>") for number in range(20)]
    found = cuts(*many, preferred=("x <17> y", "<3>"))
    assert found[:2] == ["<3>", "<17>"]
    assert len(found) == 8


def test_a_tokenizer_without_added_tokens_is_not_cut() -> None:
    assert provable_cuts({}, ()) == []
    assert provable_cuts({"added_tokens": None}, ()) == []


@given(st.lists(st.sampled_from(["<a>", "<b>", "x", "yz", "<", " "]), max_size=60), st.integers(0, 9))
def test_pieces_are_the_text_and_begin_with_a_token(parts: list[str], count: int) -> None:
    text = "".join(parts)
    pieces = Cuts(("<a>", "<b>")).pieces(text, count)
    assert "".join(pieces) == text
    assert len(pieces) <= max(count, 1)
    assert all(piece.startswith(("<a>", "<b>")) for piece in pieces[1:])


def test_pieces_are_of_like_length() -> None:
    pieces = Cuts(("<b>", "<a>")).pieces("<a>xxxxxxx" * 100, 4)
    assert [len(piece) for piece in pieces] == [250, 250, 250, 250]


def test_a_text_without_a_place_to_cut_stays_whole() -> None:
    assert Cuts(("<a>",)).pieces("x" * 100, 4) == ["x" * 100]
    assert Cuts(()).pieces("<a>" * 100, 4) == ["<a>" * 100]


def test_what_makes_a_difference_is_seen() -> None:
    def first_counts(text: str) -> list[int]:
        """An encoder that marks the beginning of a text, as some put a blank there."""
        return [0, *map(ord, text)]

    texts = ["<a>", "x<a>y", "x"]
    assert holds("<a>", texts, lambda text: list(map(ord, text)))
    assert not holds("<a>", texts, first_counts)
