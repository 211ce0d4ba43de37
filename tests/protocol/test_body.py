"""Bodies as Python's json reads them."""

from __future__ import annotations

import json
import math

import pytest

from render_core.errors import InvalidBodyError
from render_core.protocol.body import decode_body, read_fast


def test_integers_of_any_size_stay_exact() -> None:
    assert decode_body(b'{"a": 123456789012345678901234567890}') == {"a": 123456789012345678901234567890}


def test_the_last_of_duplicate_keys_wins() -> None:
    assert decode_body(b'{"return_mm_kwargs": true, "return_mm_kwargs": false}') == {
        "return_mm_kwargs": False
    }


def test_lone_surrogates_and_nan_are_read() -> None:
    document = decode_body(b'{"s": "\\ud83d", "n": NaN}')
    assert document["s"] == "\ud83d"
    assert math.isnan(document["n"])


def test_a_byte_order_mark_is_passed_over() -> None:
    assert decode_body('{"a": "é"}'.encode("utf-8-sig")) == {"a": "é"}


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b"", "body"),
        (b" \n ", "body"),
        (b'{"a": [', "body.7"),
        (b'{"a": "\xff"}', "body"),
        ('{"a": "é"}'.encode("utf-16"), "body"),
        (b"[" * 100_000, "body"),
        (b'{"a": ' + b"1" * 5000 + b"}", "body"),
    ],
    ids=["empty", "blank", "truncated", "no UTF-8", "UTF-16", "deep", "long number"],
)
def test_what_is_no_json_is_told_with_its_place(body: bytes, param: str) -> None:
    with pytest.raises(InvalidBodyError) as caught:
        decode_body(body)
    assert caught.value.param == param


@pytest.mark.parametrize(
    "text",
    [
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        "-9223372036854775809",
        '{"a": {"b": [[123456789012345678901234567890]]}}',
        '{"a": [' + "1, " * 100 + "123456789012345678901234567890]}",
        '{"a": [' + '"x", ' * 100 + "[123456789012345678901234567890]]}",
        '{"a": "123456789012345678901234567890"}',
        "1e30",
        "-1e30",
        "1.5",
        "1e400",
        "[]",
        '"text"',
        "null",
    ],
)
def test_values_are_those_of_pythons_json(text: str) -> None:
    assert repr(decode_body(text.encode())) == repr(json.loads(text))


def test_long_digits_within_texts_leave_the_fast_reader_its_work() -> None:
    assert read_fast(b'{"a": ["123456789012345678901234567890"]}') == {
        "a": ["123456789012345678901234567890"]
    }
    with pytest.raises(ValueError, match="exact"):
        read_fast(b'{"a": [123456789012345678901234567890]}')
