"""Valid requests with most of what a client may say: what malformed ones are made of, and what follows each of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

CHAT: Final = "/v1/chat/completions/render"
COMPLETION: Final = "/v1/completions/render"
TOKENIZE: Final = "/tokenize"
DETOKENIZE: Final = "/detokenize"

SECRET: Final = "Zimtstern4711"


def good_chat() -> dict[str, Any]:
    """A valid chat request with most of what a client may say. It needs a tool parser for its tool_choice."""
    call = {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": _arguments()}}
    return {
        "messages": [
            {"role": "system", "name": "rules", "content": f"Be brief about {SECRET}."},
            {"role": "user", "content": [_text_part(), _text_part()]},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": SECRET},
            {"role": "assistant", "content": [{"type": "refusal", "refusal": SECRET}]},
            {"role": "user", "content": f"Tell me more about {SECRET}."},
        ],
        "model": None,
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "search",
                    "description": f"Finds {SECRET}.",
                    "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
                    "strict": True,
                },
            }
        ],
        "tool_choice": {"type": "function", "function": {"name": "search"}},
        "parallel_tool_calls": True,
        "documents": [{"title": "A document", "text": SECRET}],
        "chat_template_kwargs": {"enable_thinking": False},
        "add_generation_prompt": True,
        "continue_final_message": False,
        "reasoning_effort": "low",
        "include_reasoning": True,
        "logprobs": True,
        "top_logprobs": 2,
        "max_completion_tokens": 100,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "description": SECRET, "schema": {"type": "object"}},
        },
        **_good_common(),
    }


def good_completion() -> dict[str, Any]:
    """A valid completion request with most of what a client may say."""
    return {
        "prompt": [f"Once upon a time {SECRET}", SECRET],
        "model": None,
        "logprobs": 2,
        "best_of": 1,
        "structured_outputs": {"regex": "[a-z]+", "disable_any_whitespace": False},
        **_good_common(),
    }


def good_tokenize_text() -> dict[str, Any]:
    return {"prompt": SECRET, "model": None, "add_special_tokens": True, "return_token_strs": True}


def good_tokenize_chat() -> dict[str, Any]:
    chat = good_chat()
    kept = (
        "messages",
        "model",
        "tools",
        "chat_template_kwargs",
        "add_generation_prompt",
        "continue_final_message",
    )
    return {name: chat[name] for name in kept} | {"add_special_tokens": False, "return_token_strs": True}


def good_detokenize() -> dict[str, Any]:
    return {"tokens": [1, 2, 3], "model": None, "note": SECRET}


GOOD_REQUESTS: Final[list[tuple[str, Callable[[], dict[str, Any]]]]] = [
    (CHAT, good_chat),
    (COMPLETION, good_completion),
    (TOKENIZE, good_tokenize_text),
    (TOKENIZE, good_tokenize_chat),
    (DETOKENIZE, good_detokenize),
]


def _good_common() -> dict[str, Any]:
    return {
        "frequency_penalty": 0.1,
        "presence_penalty": 0.1,
        "repetition_penalty": 1.1,
        "temperature": 0.7,
        "top_p": 0.9,
        "top_k": 20,
        "min_p": 0.05,
        "logit_bias": {"5": 1.5},
        "seed": 42,
        "n": 2,
        "stop": [SECRET, "END"],
        "stop_token_ids": [7],
        "include_stop_str_in_output": False,
        "ignore_eos": False,
        "min_tokens": 1,
        "skip_special_tokens": True,
        "spaces_between_special_tokens": True,
        "bad_words": [SECRET],
        "allowed_token_ids": [1, 2, 3],
        "stream": True,
        "stream_options": {"include_usage": True, "continuous_usage_stats": False},
        "stream_interval": 1,
        "thinking_token_budget": 100,
        "truncate_prompt_tokens": 1000,
        "truncation_side": "left",
        "priority": 1,
        "request_id": "mine",
        "user": SECRET,
        "cache_salt": "salt",
        "kv_transfer_params": {"remote": {"host": SECRET}},
        "vllm_xargs": {"weight": 1.5},
        "return_token_ids": True,
        "return_token_offsets": True,
        "return_prompt_text": True,
        "mm_payload": "none",
        "mm_processor_kwargs": {},
        "routed_experts_prompt_start": 1,
        "repetition_detection": {"max_pattern_size": 20, "min_pattern_size": 5, "min_count": 3},
        "add_special_tokens": False,
        "use_beam_search": False,
        "length_penalty": 1.0,
        "echo": False,
    }


def _text_part() -> dict[str, Any]:
    return {"type": "text", "text": SECRET}


def _arguments() -> str:
    return json.dumps({"query": SECRET})


def good_everywhere() -> str:
    """A body that every route takes, as far as it is text and JSON."""
    return f'{{"prompt": "{SECRET}", "messages": [{user_message()}], "tokens": [1]}}'


def user_message() -> str:
    return json.dumps({"role": "user", "content": SECRET})


def chat_of(*messages: Any) -> bytes:
    return json.dumps({"messages": messages}).encode()


def text_body(field: str, literal: bytes) -> bytes:
    """A body whose text is a literal in JSON: a completion's prompt, or the content of a chat's one message."""
    if field == "prompt":
        return b'{"prompt": %b}' % literal
    return b'{"messages": [{"role": "user", "content": %b}]}' % literal
