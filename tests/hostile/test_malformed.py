"""Malformed requests end in an envelope that tells nothing of the prompt, and harm no later request."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conformance.served import InProcess, served
from tests.hostile.good_requests import CHAT, COMPLETION, DETOKENIZE, GOOD_REQUESTS, SECRET, TOKENIZE
from tests.hostile.malformed import Malformed, malformed_requests
from tests.hostile.oversized import KINDS, NESTING_PLACES, nested, nested_arguments
from tests.hostile.refusals import faults_of_refusal

FLAGS = ("--enable-auto-tool-choice", "--tool-call-parser", "hermes")
REQUESTS = malformed_requests()
GOOD: dict[str, Any] = {
    CHAT: {"messages": [{"role": "user", "content": "Good morning"}], "request_id": "good"},
    COMPLETION: {"prompt": "Good morning", "request_id": "good"},
    TOKENIZE: {"prompt": "Good morning"},
    DETOKENIZE: {"tokens": [71, 111]},
}
SECONDS = 60
"""For one refusal, generously: most take a millisecond, bodies of 50 MB a second."""

DEPTHS = (100, 252, 500, 900, 960, 1000, 1024, 1100, 3000)
"""Around the limits of the readers, writers and validators that a body passes: 254, 1000 and 1024."""


@pytest.fixture(scope="module")
def client() -> Iterator[InProcess]:
    with served(None, FLAGS) as client:
        yield client


@pytest.fixture(scope="module")
def good_answers(client: InProcess) -> dict[str, bytes]:
    return {path: answer_to_good(client, path) for path in GOOD}


def answer_to_good(client: InProcess, path: str) -> bytes:
    response = client.post(path, json.dumps(GOOD[path]).encode())
    assert response.status_code == 200, response.text
    return response.content


def send(client: InProcess, request: Malformed) -> tuple[int, bytes]:
    headers = (
        {} if request.content_type == "application/json" else {"content-type": request.content_type or ""}
    )
    response = client.post(request.path, request.make_body(), headers)
    return response.status_code, response.content


def test_there_are_enough_of_them_and_no_two_are_alike() -> None:
    assert len(REQUESTS) >= 200
    assert len({request.name for request in REQUESTS}) == len(REQUESTS)


@pytest.mark.parametrize("path", [CHAT, COMPLETION, TOKENIZE, DETOKENIZE])
def test_every_route_is_attacked(path: str) -> None:
    assert sum(request.path == path for request in REQUESTS) >= 100


@pytest.mark.parametrize(("path", "make"), GOOD_REQUESTS)
def test_request_that_the_wrong_ones_are_made_of_is_right(client: InProcess, path: str, make: Any) -> None:
    response = client.post(path, json.dumps(make()).encode())
    assert response.status_code == 200, response.text


@pytest.mark.parametrize("request_", [pytest.param(each, id=each.name) for each in REQUESTS])
def test_malformed_request_is_refused_in_silence_and_harms_nothing(
    client: InProcess,
    good_answers: dict[str, bytes],
    request_: Malformed,
    caplog: pytest.LogCaptureFixture,
) -> None:
    began = time.monotonic()
    with caplog.at_level(logging.DEBUG):
        status, content = send(client, request_)
    assert time.monotonic() - began < SECONDS
    assert faults_of_refusal(status, content, secret=SECRET) == []
    assert SECRET not in caplog.text
    assert answer_to_good(client, request_.path) == good_answers[request_.path]


def test_body_above_the_configured_limit_is_a_413(good_answers: dict[str, bytes]) -> None:
    with served(None, ["--max-body-size", "1000"]) as client:
        body = json.dumps({"prompt": SECRET * 100}).encode()
        response = client.post(COMPLETION, body)
        assert response.status_code == 413
        assert faults_of_refusal(response.status_code, response.content, secret=SECRET) == []
        assert answer_to_good(client, COMPLETION) == good_answers[COMPLETION]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", [*NESTING_PLACES, "tool call arguments"])
def test_nesting_of_any_depth_is_answered_or_refused(
    client: InProcess, good_answers: dict[str, bytes], place: str, kind: str
) -> None:
    wrong = []
    for depth in DEPTHS:
        if place == "tool call arguments":
            path, body = CHAT, nested_arguments(depth, kind)
        else:
            path, text = NESTING_PLACES[place]
            body = (text % nested(depth, kind)).encode()
        response = client.post(path, body)
        if response.status_code != 200:  # moderate nesting is no fault
            found = faults_of_refusal(response.status_code, response.content, secret=SECRET)
            wrong += [f"depth {depth}: {fault}" for fault in found]
    assert wrong == []
    assert answer_to_good(client, path) == good_answers[path]
