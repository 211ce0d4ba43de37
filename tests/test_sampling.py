"""Sampling parameters: precedence, normalisation and what is written."""

from __future__ import annotations

from typing import Any

import pytest

from render_core.errors import RenderError
from render_core.protocol.chat import ChatRequest
from render_core.protocol.completion import CompletionRequest
from render_core.sampling import generation_defaults, output_tokens, sampling_parameters

PLAIN = {
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "repetition_penalty": 1.0,
    "temperature": 1.0,
    "top_p": 1.0,
    "min_p": 0.0,
    "stop": [],
    "stop_token_ids": [],
    "max_tokens": 100,
    "output_kind": 2,
    "skip_clone": True,
    "bad_words": [],
    "skip_reading_prefix_cache": False,
}


def chat(**fields: Any) -> ChatRequest:
    return ChatRequest.parse({"messages": [{"role": "user", "content": "a"}], **fields})


def parameters(
    request: Any, defaults: dict[str, Any] | None = None, max_logprobs: int | None = None
) -> dict[str, Any]:
    return sampling_parameters(request, 100, defaults or {}, max_logprobs)


def test_a_plain_request_writes_every_resolved_value_in_vllms_order() -> None:
    assert list(parameters(chat()).items()) == list(PLAIN.items())


def test_sixteen_tokens_are_written_although_they_are_the_engines_default() -> None:
    assert sampling_parameters(chat(), 16, {}, None)["max_tokens"] == 16


@pytest.mark.parametrize(
    ("fields", "defaults", "changes"),
    [
        ({}, {"temperature": 0.6, "top_k": 20}, {"temperature": 0.6, "top_k": 20}),
        ({}, {"skip_special_tokens": False}, {"skip_special_tokens": False}),
        ({"temperature": 1.0, "top_k": 0}, {"temperature": 0.6, "top_k": 20}, {}),
        ({"temperature": 0.001}, {}, {"temperature": 0.01}),
        ({"seed": -1, "thinking_token_budget": -1}, {}, {}),
        ({"stop": "ab"}, {}, {"stop": ["ab"], "output_text_buffer_length": 1}),
        (
            {"stop": ["ab"], "include_stop_str_in_output": True},
            {},
            {"stop": ["ab"], "include_stop_str_in_output": True},
        ),
        (
            {"stop_token_ids": [3, 1, 3], "bad_words": ["x", "x"]},
            {},
            {"stop_token_ids": [3, 1], "bad_words": ["x"]},
        ),
        ({"logit_bias": {"5": 1000, "6": -1000.0}}, {}, {"logit_bias": {"5": 100.0, "6": -100.0}}),
        ({"logprobs": True}, {}, {"logprobs": 0}),
        ({"echo": True}, {}, {"prompt_logprobs": 0, "skip_reading_prefix_cache": True}),
        ({"vllm_xargs": {"a": [1, "b"]}}, {}, {"extra_args": {"a": [1, "b"]}}),
        ({"stream": True, "n": 3, "top_k": -1}, {}, {"output_kind": 1, "n": 3, "top_k": -1}),
        ({"response_format": {"type": "text"}}, {}, {}),
    ],
)
def test_values_are_normalised(
    fields: dict[str, Any], defaults: dict[str, Any], changes: dict[str, Any]
) -> None:
    assert parameters(chat(**fields), defaults) == PLAIN | changes


def test_greedy_sampling_leaves_out_what_it_ignores() -> None:
    written = parameters(chat(temperature=0), {"top_k": 20, "top_p": 0.9, "min_p": 0.1})
    assert written == {name: value for name, value in PLAIN.items() if name not in ("top_p", "min_p")} | {
        "temperature": 0
    }


def test_a_json_schema_becomes_the_one_constraint() -> None:
    schema = {"type": "object"}
    written = parameters(
        chat(response_format={"type": "json_schema", "json_schema": {"name": "n", "schema": schema}})
    )
    assert written["structured_outputs"] == {
        "json": schema,
        "regex": None,
        "choice": None,
        "grammar": None,
        "json_object": None,
        "disable_any_whitespace": False,
        "disable_additional_properties": False,
        "whitespace_pattern": None,
        "structural_tag": None,
        "_backend": None,
        "_backend_was_auto": False,
    }


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"temperature": -0.1}, "temperature"),
        ({"temperature": 2.5}, "temperature"),
        ({"top_p": 0}, "top_p"),
        ({"top_k": -2}, "top_k"),
        ({"min_p": 1.5}, "min_p"),
        ({"presence_penalty": 2.5}, "presence_penalty"),
        ({"repetition_penalty": 0}, "repetition_penalty"),
        ({"n": 0}, "n"),
        ({"n": 2, "temperature": 0}, "n"),
        ({"min_tokens": 101}, "min_tokens"),
        ({"stop": ""}, "stop"),
        ({"bad_words": [""]}, "bad_words"),
        ({"logit_bias": {"x": 1}}, "logit_bias"),
        ({"vllm_xargs": {"a": 2**64}}, "vllm_xargs"),
        ({"structured_outputs": {}}, "structured_outputs"),
        (
            {"structured_outputs": {"regex": "a"}, "response_format": {"type": "json_object"}},
            "structured_outputs",
        ),
    ],
)
def test_a_value_out_of_range_names_its_field(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(RenderError) as caught:
        parameters(chat(**fields))
    assert caught.value.param == param


@pytest.mark.parametrize(("max_logprobs", "refused"), [(None, False), (-1, False), (20, True)])
def test_log_probabilities_are_capped_only_when_the_operator_says_so(
    max_logprobs: int | None, refused: bool
) -> None:
    request = chat(logprobs=True, top_logprobs=21)
    if refused:
        with pytest.raises(RenderError):
            parameters(request, max_logprobs=max_logprobs)
    else:
        assert parameters(request, max_logprobs=max_logprobs)["logprobs"] == 21


@pytest.mark.parametrize(
    ("fields", "defaults", "hard_limit", "allowed"),
    [
        ({}, {}, None, 90),
        ({"max_tokens": 7}, {}, None, 7),
        ({"max_tokens": 7, "max_completion_tokens": 8}, {}, None, 8),
        ({}, {"max_new_tokens": 20}, None, 20),
        ({"max_tokens": 30}, {"max_new_tokens": 20}, None, 30),
        ({"max_tokens": 30}, {"max_new_tokens": 20}, 20, 20),
        ({"max_tokens": 100}, {}, None, 90),
    ],
)
def test_output_is_limited_by_request_defaults_and_room(
    fields: dict[str, Any], defaults: dict[str, Any], hard_limit: int | None, allowed: int
) -> None:
    assert output_tokens(chat(**fields), 10, 100, defaults, hard_limit) == allowed


def test_a_prompt_that_fills_the_context_leaves_no_room() -> None:
    with pytest.raises(RenderError, match="the prompt fills the context") as caught:
        output_tokens(chat(), 100, 100, {}, None)
    assert caught.value.param == "max_tokens"


def test_a_completion_that_only_echoes_generates_one_token() -> None:
    request = CompletionRequest.parse({"prompt": "a", "echo": True, "max_tokens": 0})
    assert output_tokens(request, 10, 100, {}, None) == 1


def test_an_override_wins_over_generation_defaults_and_nulls_count_as_unset() -> None:
    found = generation_defaults({"temperature": 0.6, "top_k": None, "eos_token_id": 1}, {"temperature": 0.2})
    assert found == {"temperature": 0.2}
