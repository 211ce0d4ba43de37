"""The HTTP layers add nothing: a server behind a socket and the app in process answer byte for byte alike."""

from __future__ import annotations

import re

import httpx
import pytest

from tests.conformance.served import InProcess, served
from tests.conformance.serving import serving
from tests.corpus import Case, model_dir, needs_corpus, read_case_file

FAMILIES = ("qwen3", "llama3_1", "gemma3")
CASES = 120
CLOCK = "2026-11-29"
_RANDOM_ID = re.compile(rb'"request_id":"(chatcmpl|cmpl)-[0-9a-f]{16}')

Answer = tuple[int, str, bytes]


def slice_of(cases: tuple[Case, ...]) -> list[Case]:
    """The same cases every time, spread over all of them."""
    return [cases[index * len(cases) // CASES] for index in range(CASES)]


def answer_of(response: httpx.Response) -> Answer:
    """Status, content type and body of an answer, without what is drawn at random."""
    body = _RANDOM_ID.sub(rb'"request_id":"\1-<random>', response.content)
    return response.status_code, response.headers.get("content-type", ""), body


def in_process(client: InProcess, case: Case) -> Answer:
    return answer_of(client.post(case.endpoint, case.body, case.headers))


def over_the_socket(client: httpx.Client, case: Case) -> Answer:
    headers = {"content-type": "application/json"} | {
        name.lower(): value for name, value in case.headers.items()
    }
    sent = {name: value for name, value in headers.items() if value}
    return answer_of(client.post(case.endpoint, content=case.body, headers=sent))


@needs_corpus
@pytest.mark.parametrize("family", FAMILIES)
def test_server_and_app_in_process_answer_alike(family: str) -> None:
    case_file = read_case_file(family)
    cases = slice_of(case_file.cases)
    model = str(model_dir(case_file.model_dir))
    with served(model, case_file.flags, CLOCK) as client:
        expected = {case.id: in_process(client, case) for case in cases}
    with serving(model, *case_file.flags, "--clock", CLOCK) as server:
        answered = {case.id: over_the_socket(server.client, case) for case in cases}
    assert answered == expected
    assert {200, 400} <= {status for status, _, _ in answered.values()}
