"""Hostile chat templates of requests end within the budget, and the server renders the next request.

The server is a process of its own, since a template that escapes its budget would not let the tests end.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conformance.serving import Server, serving
from tests.hostile.refusals import ERRORS, faults_of_refusal
from tests.hostile.templates import TEMPLATES

CHAT = "/v1/chat/completions/render"
TOKENIZE = "/tokenize"
FLAGS = (
    "--trust-request-chat-template",
    "--chat-template-timeout",
    "0.5",
    "--chat-template-max-chars",
    "100000",
)
SECONDS = 120
"""For an answer: the budget, and generously what a slow machine adds."""

MAX_MEGABYTES = 600
"""For the server's memory at its peak: it starts with about 60, and the hostile templates want a gigabyte and more."""

GOOD: dict[str, Any] = {"messages": [{"role": "user", "content": "Good morning"}]}


class Keeper:
    """Keeps one server for all tests, and starts another when a template has got the better of it."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._server: Server | None = None

    def server(self) -> Server:
        if self._server is None:
            self._server = self._stack.enter_context(serving(*FLAGS, answer_seconds=SECONDS))
        return self._server

    def give_up(self) -> None:
        if self._server is not None:
            self._server.process.kill()
            self._server = None
        self._stack.close()


@pytest.fixture(scope="module")
def keeper() -> Iterator[Keeper]:
    keeper = Keeper()
    yield keeper
    keeper.give_up()


@pytest.fixture(scope="module")
def good_ids(keeper: Keeper) -> list[int]:
    return answer_to_good(keeper)


def answer_to_good(keeper: Keeper) -> list[int]:
    response = post(keeper, CHAT, GOOD)
    assert response.status_code == 200, response.text
    ids: list[int] = response.json()["token_ids"]
    return ids


def post(keeper: Keeper, path: str, body: dict[str, Any]) -> httpx.Response:
    try:
        return keeper.server().client.post(path, json=body)
    except httpx.TransportError as error:
        keeper.give_up()
        pytest.fail(f"no answer: {error!r}")


def forget_peak(server: Server) -> None:
    """Start measuring anew, where the system can (Linux)."""
    references = Path(f"/proc/{server.process.pid}/clear_refs")
    if references.exists():
        references.write_text("5")


def peak_megabytes(server: Server) -> int:
    """The most memory that the server has held since; 0 where the system does not tell."""
    status = Path(f"/proc/{server.process.pid}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return sum(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM:"))


@pytest.mark.parametrize("source", [pytest.param(source, id=name) for name, source in TEMPLATES.items()])
def test_hostile_template_is_refused_and_the_next_request_rendered(
    keeper: Keeper, good_ids: list[int], source: str
) -> None:
    forget_peak(keeper.server())
    response = post(keeper, CHAT, {**GOOD, "chat_template": source})
    assert faults_of_refusal(response.status_code, response.content, ERRORS) == []
    assert peak_megabytes(keeper.server()) < MAX_MEGABYTES
    assert answer_to_good(keeper) == good_ids


@pytest.mark.parametrize(
    "name",
    ["endless: loops in loops", "large: doubled text", "deep: macro that calls itself", "escaping: builtins"],
)
def test_hostile_template_is_refused_by_tokenize_too(keeper: Keeper, good_ids: list[int], name: str) -> None:
    response = post(keeper, TOKENIZE, {**GOOD, "chat_template": TEMPLATES[name]})
    assert faults_of_refusal(response.status_code, response.content, ERRORS) == []
    assert answer_to_good(keeper) == good_ids


def test_hostile_template_in_the_kwargs_is_refused_too(keeper: Keeper, good_ids: list[int]) -> None:
    kwargs = {"chat_template": TEMPLATES["endless: loops in loops"]}
    response = post(keeper, CHAT, {**GOOD, "chat_template_kwargs": kwargs})
    assert faults_of_refusal(response.status_code, response.content, ERRORS) == []
    assert answer_to_good(keeper) == good_ids


def test_harmless_template_of_a_request_is_rendered(keeper: Keeper) -> None:
    source = "{% for message in messages %}{{ message.role }}: {{ message.content }}{% endfor %}"
    response = post(keeper, CHAT, {**GOOD, "chat_template": source, "return_prompt_text": True})
    assert (response.status_code, response.json()["prompt_text"]) == (200, "user: Good morning")
