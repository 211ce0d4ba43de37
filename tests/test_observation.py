"""What a rendering notes of itself, and that nobody has to ask for it."""

from __future__ import annotations

import datetime
import json
from itertools import count

import pytest

from render_core import Model, RenderError, RequestContext, load_model
from render_core.observation import UNOBSERVED, Observation
from render_core.render import detokenize, render_chat, render_completion, tokenize

CHAT = {"messages": [{"role": "user", "content": "Hello"}]}
ALL = {"read", "prompt", "tokenize", "answer"}


@pytest.fixture(scope="module")
def model() -> Model:
    return load_model(None)


def watching() -> Observation:
    ticks = count()
    return Observation(lambda: float(next(ticks)))


def context(observation: Observation = UNOBSERVED) -> RequestContext:
    return RequestContext(None, "0" * 16, datetime.datetime(2026, 11, 29), observation)


@pytest.mark.parametrize(
    ("render", "request_body", "parts"),
    [
        (render_chat, CHAT, ALL),
        (tokenize, CHAT, ALL),
        (tokenize, {"prompt": "Hello"}, ALL - {"prompt"}),
        (render_completion, {"prompt": ["Hello", "you"]}, ALL - {"prompt"}),
        (detokenize, {"tokens": [1, 2]}, ALL - {"prompt"}),
    ],
)
def test_parts_are_timed_and_tokens_counted(
    model: Model, render: object, request_body: dict[str, object], parts: set[str]
) -> None:
    observation = watching()
    answer = json.loads(render(model, json.dumps(request_body).encode(), context(observation)))  # type: ignore[operator]
    assert set(observation.seconds) == parts
    assert all(seconds >= 1 for seconds in observation.seconds.values())
    answers = answer if isinstance(answer, list) else [answer]
    assert observation.prompt_tokens == sum(
        len(each.get("token_ids") or each.get("tokens") or []) for each in answers
    )


def test_a_refusal_leaves_the_parts_that_were_reached(model: Model) -> None:
    observation = watching()
    with pytest.raises(RenderError):
        render_chat(model, json.dumps({**CHAT, "model": "other"}).encode(), context(observation))
    assert (set(observation.seconds), observation.prompt_tokens) == ({"read"}, 0)


def test_the_same_is_rendered_with_nobody_watching(model: Model) -> None:
    body = json.dumps(CHAT).encode()
    assert render_chat(model, body, context()) == render_chat(model, body, context(watching()))
    assert (UNOBSERVED.seconds, UNOBSERVED.prompt_tokens) == ({}, 0)
