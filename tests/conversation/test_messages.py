"""Messages as templates see them, against what vLLM 0.33 made of the same messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import render_core.conversation.messages as messages_module
from render_core.conversation.content import BILLING_HEADER
from render_core.conversation.messages import count_tool_calls, template_messages
from render_core.conversation.roles import developer_as_system
from render_core.errors import RenderError
from render_core.protocol.chat import with_one_reasoning_name
from render_core.template.content_format import ContentFormat

GOLDEN = Path(__file__).parent.parent / "data" / "messages.jsonl"
SAMPLES = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]


def normalised(message: Any, content_format: str) -> str | None:
    """A chat's message as JSON text, since key order counts; None when it is refused."""
    try:
        (shown,) = template_messages([with_one_reasoning_name(message)], content_format, "m")  # type: ignore[arg-type]
    except RenderError:
        return None
    return json.dumps(shown)


@pytest.mark.parametrize("content_format", ["string", "openai"])
def test_messages_are_normalised_as_vllm_does(content_format: str) -> None:
    wrong = []
    for sample in SAMPLES:
        want = None if sample[content_format] is None else json.dumps(sample[content_format])
        if (got := normalised(sample["message"], content_format)) != want:
            wrong.append(f"{sample['message']}: {got}, expected {want}")
    assert wrong == []


def test_the_clients_messages_are_left_as_they_are() -> None:
    message = {"role": "assistant", "reasoning_content": "r", "content": [{"type": "text", "text": "a"}]}
    before = json.dumps(message)
    template_messages([message], "string", "m")
    assert json.dumps(message) == before


def test_reasoning_is_not_read_under_its_older_name() -> None:
    message = {"role": "assistant", "content": "a", "reasoning_content": "r"}
    assert template_messages([message], "string", "m") == [{"role": "assistant", "content": "a"}]


def test_an_image_on_a_text_model_is_refused_by_name() -> None:
    message = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}
    with pytest.raises(RenderError, match="m is not a multimodal model"):
        template_messages([message], "string", "m")


def test_tool_calls_of_assistant_turns_are_counted() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "assistant", "tool_calls": [call, call]},
        {"role": "user", "tool_calls": [call]},
        {"role": "assistant"},
    ]
    assert count_tool_calls(messages) == 2


@pytest.mark.parametrize(
    ("roles", "merged"),
    [
        ([("developer", "a")], [("system", "a")]),
        ([("system", "a"), ("developer", "b"), ("user", "c")], [("system", "a\n\nb"), ("user", "c")]),
        ([("user", "c"), ("developer", "b")], [("system", "b"), ("user", "c")]),
        ([("developer", ""), ("system", "b")], [("system", "b")]),
    ],
)
def test_developer_messages_become_one_leading_system_message(
    roles: list[tuple[str, str]], merged: list[tuple[str, str]]
) -> None:
    messages = [{"role": role, "content": content, "tools": None} for role, content in roles]
    shown = [(message["role"], message["content"]) for message in developer_as_system(messages)]
    assert shown == merged


def test_parts_of_merged_system_messages_join_with_newline() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    messages = [{"role": "user", "content": "c"}, {"role": "developer", "content": parts}]
    assert developer_as_system(messages)[0] == {"role": "system", "content": "a\nb"}


_TEXTS = st.sampled_from(
    ["", "a", BILLING_HEADER + "x\ny", "{}", '{"a": 1}', "[1]", "{", '{"a": 123456789012345678901}']
)
_ODD = st.sampled_from([None, 0, False, 1, [], {}, ["a"], [{"type": "text", "text": "b"}], "user"])
_CALLS = st.lists(
    st.fixed_dictionaries(
        {"id": _TEXTS | _ODD, "type": st.sampled_from(["function", "custom", None])},
        optional={
            "function": st.fixed_dictionaries(
                {}, optional={"name": _TEXTS | _ODD, "arguments": _TEXTS | _ODD, "x": _ODD}
            ),
            "index": _ODD,
        },
    ),
    max_size=3,
)
_MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant", "tool", "developer", "function", "x"]) | _ODD},
    optional={
        "content": _TEXTS | _ODD,
        "tool_calls": _CALLS | _ODD,
        "tool_call_id": _TEXTS | _ODD,
        "name": _TEXTS | _ODD,
        "reasoning": _TEXTS | _ODD,
    },
)


@settings(max_examples=1000)
@given(_MESSAGES, st.sampled_from(["string", "openai"]))
def test_usual_messages_are_read_as_any_other(message: dict[str, Any], content_format: ContentFormat) -> None:
    quick = messages_module._usual_message(message, content_format)
    if quick is not None:
        slow = messages_module._template_message(message, "body.messages.0", content_format, "m")
        assert json.dumps(quick) == json.dumps(slow)  # key order counts


@pytest.mark.parametrize("content", ["x", None])
@pytest.mark.parametrize("tool_calls", [None, 0, False, 0.0, "", {}, "a", {"a": 1}])
def test_tool_calls_that_are_no_list_are_not_usual(content: Any, tool_calls: Any) -> None:
    message = {"role": "assistant", "content": content, "tool_calls": tool_calls}
    assert messages_module._usual_message(message, "string") is None


@pytest.mark.parametrize(
    "message",
    [
        {"role": "system", "content": "a"},
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "a"},
        {"role": "tool", "content": "a", "tool_call_id": "1"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        },
    ],
)
def test_messages_of_long_conversations_are_usual(message: dict[str, Any]) -> None:
    assert messages_module._usual_message(message, "string") is not None
