"""Finding the last marker in a prompt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from render_core.families.reasoning_end import Marker, MarkerScan

START, END, TURN = (1,), (2, 3), (2,)
SCAN = MarkerScan.of_sequences(((END, Marker.END), (START, Marker.START), (TURN, Marker.BOUNDARY)))


def test_no_marker_is_found_in_nothing() -> None:
    assert SCAN.last([]) is None


def test_the_last_marker_counts() -> None:
    assert SCAN.last([1, 9, 2, 3, 9]) is Marker.END
    assert SCAN.last([2, 3, 1]) is Marker.START


def test_of_markers_at_one_place_the_first_listed_counts() -> None:
    assert SCAN.last([2, 3]) is Marker.END
    assert SCAN.last([2, 9]) is Marker.BOUNDARY


def test_markers_outside_the_vocabulary_are_left_out() -> None:
    scan = MarkerScan.of_tokens((("<a>", Marker.START), ("<b>", Marker.END)), {"<a>": 7}.get)
    assert dict(scan.by_first) == {7: (((7,), Marker.START),)}


@given(st.lists(st.integers(0, 4), max_size=12))
def test_a_scan_equals_looking_at_every_place(ids: list[int]) -> None:
    markers = ((END, Marker.END), (START, Marker.START), (TURN, Marker.BOUNDARY))
    found = [
        marker
        for at in reversed(range(len(ids)))
        for sequence, marker in markers
        if tuple(ids[at : at + len(sequence)]) == sequence
    ]
    assert SCAN.last(ids) is (found[0] if found else None)


@pytest.mark.parametrize("at", [0, 1, 1021, 1022, 1023, 1024, 1025, 2047, 2998])
def test_markers_are_found_in_long_prompts_wherever_they_stand(at: int) -> None:
    ids = [9] * at + [2, 3] + [9] * (2998 - at)
    assert SCAN.last(ids) is Marker.END
    assert SCAN.last([*ids, 1]) is Marker.START
    assert SCAN.last([9] * 3000) is None
