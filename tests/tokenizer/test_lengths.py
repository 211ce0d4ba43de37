"""Truncation and length checks, on a tokenizer of one token a letter with a BOS before the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from render_core.errors import RenderError
from render_core.tokenizer.engine import Offset
from render_core.tokenizer.lengths import LengthRules, encode_text, truncate_ids
from render_core.tokenizer.tokenizer import Tokenizer

BOS = 1


class LetterEngine:
    name = "letters"

    def encode(self, text: str, add_special_tokens: bool) -> list[int]:
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise TypeError(text)
        return ([BOS] if add_special_tokens else []) + [ord(letter) for letter in text]

    def encode_with_offsets(self, text: str, add_special_tokens: bool) -> tuple[list[int], list[Offset]]:
        added = [(0, 0)] if add_special_tokens else []
        return self.encode(text, add_special_tokens), added + [(i, i + 1) for i in range(len(text))]

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(map(chr, ids))

    def tokens(self, ids: Sequence[int]) -> list[str | None]:
        return [chr(i) for i in ids]

    def token_id(self, token: str) -> int | None:
        return ord(token)


TOKENIZER = Tokenizer(LetterEngine(), "letters", {}, {}, 2, 127, (BOS,), ())


def rules(max_model_len: int = 10, max_output_tokens: int | None = None, **fields: Any) -> LengthRules:
    return LengthRules(max_model_len=max_model_len, max_output_tokens=max_output_tokens, **fields)


def encoded(
    text: str, length_rules: LengthRules, add_special_tokens: bool = False
) -> tuple[str, list[Offset] | None]:
    tokens = encode_text(
        TOKENIZER, text, add_special_tokens=add_special_tokens, with_offsets=True, rules=length_rules
    )
    return "".join(map(chr, tokens.ids)), tokens.offsets


@pytest.mark.parametrize(
    ("fields", "kept", "offsets"),
    [
        ({"truncate": 3}, "def", [(3, 4), (4, 5), (5, 6)]),
        ({"truncate": 3, "side": "left"}, "def", [(3, 4), (4, 5), (5, 6)]),
        ({"truncate": 3, "side": "right"}, "abc", [(0, 1), (1, 2), (2, 3)]),
        ({"truncate": 0}, "", []),
        ({"truncate": 9}, "abcdef", [(i, i + 1) for i in range(6)]),
    ],
)
def test_truncation_keeps_the_asked_side_and_its_offsets(
    fields: Any, kept: str, offsets: list[Offset]
) -> None:
    assert encoded("abcdef", rules(**fields)) == (kept, offsets)


def test_truncation_by_the_tokenizer_keeps_the_bos_and_cuts_the_text() -> None:
    assert encoded("abcdef", rules(truncate=3), add_special_tokens=True) == (
        "\x01ef",
        [(0, 0), (4, 5), (5, 6)],
    )


def test_truncation_to_a_named_side_counts_the_bos_as_any_token() -> None:
    assert encoded("abcdef", rules(truncate=3, side="left"), add_special_tokens=True)[0] == "def"
    assert encoded("abcdef", rules(truncate=3, side="right"), add_special_tokens=True)[0] == "\x01ab"


@pytest.mark.parametrize(("max_output_tokens", "kept"), [(None, 9), (5, 9), (0, 10)])
def test_minus_one_leaves_a_token_of_room_when_something_is_generated(
    max_output_tokens: int | None, kept: int
) -> None:
    length_rules = rules(max_output_tokens=max_output_tokens, truncate=-1)
    assert len(encoded("a" * 30, length_rules)[0]) == kept


def test_offsets_refer_to_the_whole_text_after_its_start_was_cut_off() -> None:
    text = "a" * 25 + "bc"  # 27 characters; 10 tokens hold 20 at most
    assert encoded(text, rules(truncate=2, side="left")) == ("bc", [(25, 26), (26, 27)])


@pytest.mark.parametrize(
    ("text", "length_rules", "param"),
    [
        ("a" * 11, rules(), "input_tokens"),
        ("a" * 21, rules(), "input_text"),
        ("a\ud800", rules(), None),
    ],
)
def test_a_prompt_that_does_not_fit_is_refused(
    text: str, length_rules: LengthRules, param: str | None
) -> None:
    with pytest.raises(RenderError) as caught:
        encoded(text, length_rules)
    assert caught.value.param == param


def test_ids_that_do_not_fit_are_refused_with_their_number() -> None:
    with pytest.raises(RenderError, match="contains 11 input tokens"):
        truncate_ids([5] * 11, rules())
    assert truncate_ids([1, 2, 3, 4], rules(truncate=2)) == [3, 4]


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"max_output_tokens": 11, "output_param": "max_completion_tokens"}, "max_completion_tokens"),
        ({"truncate": 11}, "truncate_prompt_tokens"),
    ],
)
def test_numbers_above_the_context_are_refused_before_any_encoding(fields: Any, param: str) -> None:
    with pytest.raises(RenderError) as caught:
        rules(**fields).check()
    assert caught.value.param == param
    assert caught.value.message.endswith(f"(parameter={param}, value=11)")


def test_without_rules_nothing_is_checked() -> None:
    tokens = encode_text(TOKENIZER, "a" * 100, add_special_tokens=True, with_offsets=False, rules=None)
    assert len(tokens.ids) == 101
