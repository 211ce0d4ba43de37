"""Validation of request bodies: the rules of spec 2.2 and what an error may tell."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from render_core.errors import InvalidBodyError, RenderError
from render_core.protocol.chat import ChatRequest
from render_core.protocol.completion import CompletionRequest
from render_core.protocol.tokenize import TokenizeChatRequest
from render_core.protocol.tools import Tool

MESSAGES = [{"role": "user", "content": "secret words"}]
TOOL = {"type": "function", "function": {"name": "f"}}
NAMED = {"type": "function", "function": {"name": "f"}}


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"tools": []}, "tools"),
        ({"tool_choice": "auto"}, "tool_choice"),
        ({"tools": [TOOL], "tool_choice": "sometimes"}, "tool_choice"),
        ({"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "g"}}}, "tool_choice"),
        ({"continue_final_message": True, "add_generation_prompt": True}, "continue_final_message"),
        ({"stream_options": {"include_usage": True}}, "stream_options"),
        ({"prompt_logprobs": 1, "stream": True}, "prompt_logprobs"),
        ({"top_logprobs": 2}, "top_logprobs"),
        ({"top_logprobs": "2", "logprobs": True}, "top_logprobs"),
        ({"logprob_token_ids": [1]}, "logprob_token_ids"),
        ({"cache_salt": ""}, "cache_salt"),
        ({"cache_salt": "a/b"}, "cache_salt"),
        ({"structured_outputs": {"regex": "a", "choice": ["b"]}}, "structured_outputs"),
        ({"structured_outputs": {"json": {}}, "tools": [TOOL], "tool_choice": NAMED}, "structured_outputs"),
        ({"structured_outputs": {"regex": "a"}, "tools": [TOOL], "tool_choice": None}, "structured_outputs"),
        ({"structured_outputs": {"choice": []}, "tool_choice": None}, "structured_outputs"),
        ({"thinking_token_budget": 1.5}, "thinking_token_budget"),
        ({"request_id": None}, "request_id"),
        ({"repetition_detection": {"max_pattern_size": 2, "min_count": 1}}, "repetition_detection"),
    ],
)
def test_a_broken_rule_names_its_field(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(RenderError) as caught:
        ChatRequest.parse({"messages": MESSAGES, **fields})
    assert (caught.value.status, caught.value.param) == (400, param)


@pytest.mark.parametrize(
    "fields",
    [
        {"structured_outputs": {"grammar": "root ::= 'a'"}, "tool_choice": NAMED},
        {"structured_outputs": {"json_object": True}, "tool_choice": None},
        {"structured_outputs": {"json": None, "structural_tag": "{}"}, "tool_choice": NAMED},
        {"structured_outputs": None, "tool_choice": NAMED},
        {"structured_outputs": {"json": {}}, "tool_choice": "required"},
        {"structured_outputs": {"json": {}}},
        {"response_format": {"type": "json_object"}, "tool_choice": NAMED},
    ],
)
def test_other_constraints_go_with_any_choice(fields: dict[str, Any]) -> None:
    request = ChatRequest.parse({"messages": MESSAGES, "tools": [TOOL], **fields})
    assert request.tools is not None


def test_a_wrong_type_is_told_by_path_and_without_the_input() -> None:
    with pytest.raises(InvalidBodyError) as caught:
        ChatRequest.parse({"messages": MESSAGES, "seed": "secret", "documents": [{"secret key": 5}]})
    assert caught.value.param == "body.seed"
    assert caught.value.message.startswith("2 validation errors: body.seed: ")
    assert "secret" not in caught.value.message


MANY = 5000
MANY_NAMES = [str(index) for index in range(MANY)]


@pytest.mark.parametrize(
    "fields",
    [
        {"prompt": [None] * MANY},
        {"prompt": [[None] * MANY]},
        {"prompt": [[None]] * MANY},
        {"prompt": "a", "stop_token_ids": ["x"] * MANY},
        {"prompt": "a", "bad_words": [1] * MANY},
        {"prompt": "a", "logit_bias": dict.fromkeys(MANY_NAMES, "x")},
        {"prompt": "a", "vllm_xargs": {key: [{}] for key in MANY_NAMES}},
        {"prompt": "a", "media_io_kwargs": dict.fromkeys(MANY_NAMES, 1)},
        {"prompt": "a", "structured_outputs": {"choice": [1] * MANY}},
        {"prompt": "a", "response_format": {"type": "structural_tag", "structures": [{}] * MANY}},
    ],
    ids=lambda fields: list(fields)[-1],
)
def test_many_wrong_entries_make_a_short_report(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as caught:
        CompletionRequest.model_validate(fields)
    assert caught.value.error_count() < 2000


def test_a_long_object_keeps_its_entries_and_their_order() -> None:
    request = CompletionRequest.parse({"prompt": "a", "logit_bias": dict.fromkeys(MANY_NAMES, "0.5")})
    assert list((request.logit_bias or {}).items()) == [(name, 0.5) for name in MANY_NAMES]


def test_tools_without_a_choice_default_to_auto_and_a_null_choice_stays() -> None:
    assert ChatRequest.parse({"messages": MESSAGES, "tools": [TOOL]}).tool_choice == "auto"
    assert ChatRequest.parse({"messages": MESSAGES, "tools": [TOOL], "tool_choice": None}).tool_choice is None
    assert ChatRequest.parse({"messages": MESSAGES}).tool_choice == "none"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ({"reasoning_content": "r"}, {"reasoning": "r"}),
        ({"reasoning_content": "r", "reasoning": "n"}, {"reasoning": "n"}),
        ({"reasoning_content": "r", "reasoning": None}, {"reasoning": "r"}),
        ({"reasoning_content": None}, {}),
    ],
)
def test_only_chats_read_reasoning_under_its_older_name(
    written: dict[str, Any], read: dict[str, Any]
) -> None:
    answer = {"role": "assistant", "content": "a"}
    document = {"messages": [answer | written]}
    assert ChatRequest.parse(document).messages == [answer | read]
    assert TokenizeChatRequest.parse(document).messages == [answer | written]


def test_numbers_are_read_leniently() -> None:
    request = ChatRequest.parse({"messages": MESSAGES, "temperature": "0.5", "max_tokens": 10.0, "seed": "7"})
    assert (request.temperature, request.max_tokens, request.seed) == (0.5, 10, 7)


def test_a_tool_is_shown_in_vllms_key_order_without_unknown_keys() -> None:
    written = {
        "x": 1,
        "function": {"strict": True, "parameters": {"b": 1, "a": 2}, "y": 2, "name": "f"},
        "defer_loading": True,
    }
    shown = Tool.model_validate(written).as_template_variable()
    assert repr(shown) == repr(
        {
            "type": "function",
            "function": {
                "name": "f",
                "description": None,
                "parameters": {"b": 1, "a": 2},
                "strict": True,
                "defer_loading": True,
            },
            "defer_loading": True,
        }
    )


@pytest.mark.parametrize("prompt", [None, "", []])
def test_a_completion_needs_a_prompt(prompt: Any) -> None:
    with pytest.raises(RenderError) as caught:
        CompletionRequest.parse({"prompt": prompt})
    assert caught.value.param == "prompt"


def test_a_null_limit_of_a_completion_is_sixteen_tokens() -> None:
    assert CompletionRequest.parse({"prompt": "a", "max_tokens": None}).max_tokens == 16
