"""What sends a text to the reference engine."""

from __future__ import annotations

import json

import pytest

from render_core.tokenizer.guard import Guard


@pytest.mark.parametrize(
    ("guard", "text", "trips"),
    [
        (Guard(), "any é\u180e", False),
        (Guard(characters="\u180e"), "plain ascii", False),
        (Guard(characters="\u180e"), "a\u180eb", True),
        (Guard(characters="]-^\u180e"), "a-b", True),
        (Guard(characters="\u180e"), "é", False),
        (Guard(tokens=("<|a|>",)), "x<|a|>y", True),
        (Guard(spaced_tokens=("<|a|>",)), "x<|a|>y", False),
        (Guard(spaced_tokens=("<|a|>",)), "x <|a|>y", True),
        (Guard(spaced_tokens=("<|a|>",)), "x<|a|>\u3000y", True),
    ],
)
def test_a_text_trips_the_guard_on_what_it_names(guard: Guard, text: str, trips: bool) -> None:
    assert guard.trips(text) is trips


def test_a_guard_survives_its_manifest() -> None:
    guard = Guard("\u0898é", ("<a>",), ("<b>",))
    written = json.loads(json.dumps(guard.as_manifest()))
    assert Guard.from_manifest(written) == Guard("é\u0898", ("<a>",), ("<b>",))
