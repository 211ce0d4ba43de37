#!/usr/bin/env python3
"""Validate rendered answers with vLLM's own GenerateRequest model.

    render-core's side:  uv run scripts/check_generate_request.py write ANSWERS.jsonl
    vLLM's side:         VLLM_VENV/bin/python scripts/check_generate_request.py check ANSWERS.jsonl

`write` renders a sample of every shape of request with the demo model; `check` needs an environment with vLLM 0.33.
"""

from __future__ import annotations

import datetime
import json
import sys
from pathlib import Path
from typing import Any

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
TOOLS = {"tools": [TOOL]}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}
CHATS: list[dict[str, Any]] = [
    {},
    {"stream": True, "stream_options": {"include_usage": True}},
    {"temperature": 0, "max_tokens": 16},
    {
        "stop": ["a", "bc"],
        "stop_token_ids": [1],
        "logit_bias": {"5": 200},
        "bad_words": ["x"],
        "seed": 7,
        "n": 2,
    },
    {"logprobs": True, "top_logprobs": 5, "prompt_logprobs": 1, "allowed_token_ids": [1, 2]},
    {"response_format": SCHEMA},
    {"structured_outputs": {"regex": "a+"}},
    {"vllm_xargs": {"a": [1, "b"]}, "kv_transfer_params": {"x": 1}, "cache_salt": "s", "priority": 3},
    {"return_token_offsets": True, "return_prompt_text": True, "return_token_ids": True},
    {"thinking_token_budget": 5, "repetition_detection": {"max_pattern_size": 3, "min_count": 2}},
    TOOLS,
    TOOLS | {"tool_choice": "required"},
    TOOLS | {"tool_choice": {"type": "function", "function": {"name": "f"}}, "parallel_tool_calls": False},
    TOOLS | {"response_format": SCHEMA},
    {"include_reasoning": False},
]
COMPLETIONS: list[dict[str, Any]] = [
    {"prompt": "a"},
    {"prompt": ["a", "b"], "echo": True, "logprobs": 2},
    {"prompt": [1, 2, 3], "max_tokens": 5},
    {"prompt": [[1], [2, 3]], "stream": True},
]


def write(path: Path) -> None:
    """Render the samples and write one answer a line."""
    from render_core import ModelOptions, RequestContext, load_model, render_chat, render_completion

    options = ModelOptions(tool_call_parser="hermes", reasoning_parser="qwen3", enable_auto_tool_choice=True)
    model = load_model(None, options)
    context = RequestContext(None, "0" * 16, datetime.datetime(2026, 11, 29))
    messages = {"messages": [{"role": "user", "content": "hi"}]}
    answers = [
        json.loads(render_chat(model, json.dumps(messages | fields).encode(), context)) for fields in CHATS
    ]
    for fields in COMPLETIONS:
        answers += json.loads(render_completion(model, json.dumps(fields).encode(), context))
    path.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    print(f"{len(answers)} answers written")


def check(path: Path) -> None:
    """Validate every line, and compare the model's fields with the keys we write."""
    from vllm.entrypoints.scale_out.token_in_token_out.protocol import GenerateRequest

    lines = path.read_text().splitlines()
    for line in lines:
        answer = json.loads(line)
        request = GenerateRequest.model_validate(answer)
        if list(request.token_ids) != answer["token_ids"]:
            raise SystemExit("token ids changed in validation")
        if unknown := set(answer) - set(GenerateRequest.model_fields) - {"prompt_text"}:
            raise SystemExit(f"vLLM does not know {unknown}")
    print(f"{len(lines)} answers are valid GenerateRequests")


if __name__ == "__main__":
    {"write": write, "check": check}[sys.argv[1]](Path(sys.argv[2]))
