"""The shape of an answer: what /inference/v1/generate of vLLM 0.33 takes."""

from __future__ import annotations

import datetime
import json
from typing import Any

import pytest

from render_core import RenderError, RequestContext, load_model, render_chat, render_completion
from render_core.protocol.generate import encode_answer

CONTEXT = RequestContext(None, "0" * 16, datetime.datetime(2026, 11, 29))

# Held against vLLM's own model by scripts/check_generate_request.py.
FIELDS = [
    "request_id",
    "token_ids",
    "token_offsets",
    "features",
    "content_parts",
    "sampling_params",
    "model",
    "reasoning_ended",
    "reasoning_parser_kwargs",
    "return_token_ids",
    "output_mode",
    "parse_context",
    "stream",
    "stream_options",
    "cache_salt",
    "priority",
    "kv_transfer_params",
    "ec_transfer_params",
]


def chat(**fields: Any) -> Any:
    body = json.dumps({"messages": [{"role": "user", "content": "hi"}], **fields}).encode()
    return json.loads(render_chat(load_model(None), body, CONTEXT))


def completion(**fields: Any) -> Any:
    return json.loads(render_completion(load_model(None), json.dumps(fields).encode(), CONTEXT))


def test_a_chat_answer_has_vllms_fields_in_vllms_order() -> None:
    assert list(chat()) == FIELDS


def test_a_completion_answer_is_a_list_of_the_same() -> None:
    answers = completion(prompt=["a", "b"])
    assert [list(answer) for answer in answers] == [FIELDS, FIELDS]
    assert [answer["request_id"] for answer in answers] == [
        "cmpl-" + "0" * 16 + "-0",
        "cmpl-" + "0" * 16 + "-1",
    ]


def test_the_prompt_text_is_added_only_when_asked_for() -> None:
    assert list(chat(return_prompt_text=True)) == [*FIELDS, "prompt_text"]
    assert chat(return_prompt_text=True)["prompt_text"].startswith("<|im_start|>user\nhi<|im_end|>")
    assert completion(prompt="a", return_prompt_text=True)[0]["prompt_text"] == "a"


def test_what_the_client_set_at_the_top_travels_on() -> None:
    answer = chat(
        stream=True,
        stream_options={"include_usage": True},
        cache_salt="s",
        priority=7,
        request_id="r",
        kv_transfer_params={"a": 1},
        ec_transfer_params={},
        return_token_ids=True,
    )
    told = {name: answer[name] for name in FIELDS[-6:]} | {"request_id": answer["request_id"]}
    assert told == {
        "stream": True,
        "stream_options": {"include_usage": True, "continuous_usage_stats": False},
        "cache_salt": "s",
        "priority": 7,
        "kv_transfer_params": {"a": 1},
        "ec_transfer_params": None,
        "request_id": "chatcmpl-r",
    }


def test_prompt_ids_of_an_earlier_stage_are_used_and_taken_out() -> None:
    answer = chat(kv_transfer_params={"prompt_token_ids": [5, 6, 7], "a": 1})
    assert (answer["token_ids"], answer["kv_transfer_params"]) == ([5, 6, 7], {"a": 1})


def test_long_integers_are_written_exactly() -> None:
    assert encode_answer({"a": 2**70, "b": "é"}) == '{"a":1180591620717411303424,"b":"é"}'.encode()


def test_a_lone_surrogate_that_would_travel_on_is_refused() -> None:
    with pytest.raises(RenderError, match="lone surrogate"):
        encode_answer({"b": "\ud800"})
