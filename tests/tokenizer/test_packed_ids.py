"""Packed ids are what a list of the same ids is."""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from render_core.protocol.generate import encode_answer
from render_core.tokenizer.packed_ids import PackedIds, blocks_from_end, packer, surrounded

IDS = st.lists(st.integers(0, 2**32 - 1), max_size=40)


def packed(ids: Sequence[int]) -> PackedIds:
    kind = "I" if array("I").itemsize == 4 else "L"
    made: PackedIds = packer()(array(kind, ids).tobytes())
    return made


@given(IDS, st.slices(40))
def test_they_read_like_a_list(ids: list[int], part: slice) -> None:
    made = packed(ids)
    assert made == ids
    assert list(made) == ids
    assert len(made) == len(ids)
    assert bool(made) == bool(ids)
    assert list(reversed(made)) == ids[::-1]
    assert isinstance(made[part], PackedIds)
    assert made[part] == ids[part]
    assert [made[index] for index in range(len(ids))] == ids
    assert all(type(number) is int for number in made)
    assert made != [*ids, 1]


@given(IDS, st.lists(st.integers(0, 2**32 - 1), max_size=2), st.lists(st.integers(0, 2**32 - 1), max_size=2))
def test_others_are_put_around_them(ids: list[int], before: list[int], after: list[int]) -> None:
    assert surrounded(before, packed(ids), after) == [*before, *ids, *after]
    assert surrounded(before, ids, after) == [*before, *ids, *after]


@given(IDS)
def test_they_are_written_as_a_list_is(ids: list[int]) -> None:
    assert encode_answer({"a": packed(ids), "b": None}) == encode_answer({"a": ids, "b": None})


def test_they_are_written_beside_what_only_the_exact_writer_can_write() -> None:
    assert json.loads(encode_answer({"a": packed([1, 2]), "b": 2**70})) == {"a": [1, 2], "b": 2**70}


def test_nothing_else_is_written_for_want_of_a_form() -> None:
    with pytest.raises(TypeError):
        encode_answer({"a": {1, 2}})


@pytest.mark.parametrize("count", [0, 1, 1023, 1024, 1025, 3000])
def test_blocks_from_the_end_are_all_of_them(count: int) -> None:
    ids = list(range(count))
    for each in (ids, packed(ids)):
        blocks = list(blocks_from_end(each))
        assert [number for block in reversed(blocks) for number in block] == ids
        assert all(type(block) is list and len(block) <= 1024 for block in blocks)
