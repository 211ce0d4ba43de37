"""Tools in the prompts of a model whose prompts come from code."""

from __future__ import annotations

import datetime
import json
from typing import Any

import pytest

from render_core import ModelOptions, RequestContext, load_model, render_chat

CONTEXT = RequestContext(None, "0" * 16, datetime.datetime(2026, 11, 29))
TOOL = {"type": "function", "function": {"name": "f"}}


def prompt_ids(is_excluding: bool, **fields: Any) -> list[int]:
    options = ModelOptions(tokenizer_mode="deepseek_v32", exclude_tools_when_tool_choice_none=is_excluding)
    body = {"messages": [{"role": "user", "content": "hi"}], **fields}
    ids: list[int] = json.loads(render_chat(load_model(None, options), json.dumps(body).encode(), CONTEXT))[
        "token_ids"
    ]
    return ids


@pytest.mark.parametrize("is_excluding", [True, False])
def test_tools_that_may_not_be_called_are_left_out_if_the_operator_says_so(is_excluding: bool) -> None:
    with_tools = prompt_ids(is_excluding, tools=[TOOL], tool_choice="none")
    assert (with_tools == prompt_ids(is_excluding)) is is_excluding
