"""The vocabulary of structural tags."""

from __future__ import annotations

from typing import Any

import pytest

from render_core.errors import RenderError
from render_core.families.tags import (
    any_text,
    completed,
    const_string,
    limited_to_one_call,
    optional,
    repeated_tags,
    sequence,
    tag,
    triggered_tags,
)


def test_every_field_is_written_in_order() -> None:
    assert list(triggered_tags("<a", [], ["<b>"]).items()) == [
        ("type", "triggered_tags"),
        ("triggers", ["<a"]),
        ("tags", []),
        ("at_least_one", False),
        ("stop_after_first", False),
        ("excludes", ["<b>"]),
    ]


def test_a_limit_reaches_every_list_of_calls() -> None:
    calls = repeated_tags([tag("<a>", repeated_tags([]), "</a>")])
    limited = limited_to_one_call(sequence(const_string("x"), optional(calls)))
    outer = limited["elements"][1]["content"]
    assert outer["stop_after_first"]
    assert outer["tags"][0]["content"]["stop_after_first"]
    assert not calls["stop_after_first"]


def test_a_limit_does_not_reach_into_schemas() -> None:
    schema = {"type": "triggered_tags"}
    content = {"type": "json_schema", "json_schema": schema}
    assert limited_to_one_call(tag("<a>", content, "</a>"))["content"] == content


def test_a_clients_format_gets_its_defaults_and_loses_unknown_fields() -> None:
    format_ = {
        "type": "triggered_tags",
        "triggers": ["<a"],
        "tags": [{"begin": "<a>", "content": {"type": "any_text", "colour": "red"}, "end": "</a>"}],
    }
    assert completed(format_) == triggered_tags("<a", [tag("<a>", any_text(), "</a>")])


def test_rules_of_a_dispatch_are_completed() -> None:
    found = completed({"type": "dispatch", "rules": [["<x>", {"type": "any_text"}]]})
    assert found == {"type": "dispatch", "rules": [["<x>", any_text()]], "loop": True, "excludes": []}


def test_a_token_may_begin_a_tag() -> None:
    found = completed({"type": "tag", "begin": {"token": 5}, "content": {"type": "any_text"}, "end": "x"})
    assert found["begin"] == {"type": "token", "token": 5}


@pytest.mark.parametrize(
    "format_",
    [
        None,
        "any_text",
        {},
        {"type": "unheard_of"},
        {"type": "tag", "begin": "<a>", "end": "</a>"},
        {"type": "sequence", "elements": {"type": "any_text"}},
        {"type": "optional", "content": [{"type": "any_text"}]},
    ],
)
def test_no_format_is_refused(format_: Any) -> None:
    with pytest.raises(RenderError) as refused:
        completed(format_)
    assert refused.value.param == "response_format"
