"""Hostile templates end in a failure, soon, in little memory, and leave the process alive."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from render_core.template.budget import TemplateBudget
from render_core.template.compiled import compile_template
from render_core.template.failures import TemplateBudgetError
from tests.template.hostile_templates import HOSTILE_SOURCES, HOSTILE_TEMPLATES
from tests.template.reference import NOW

MAX_CPU_SECONDS = 8
"""Half a second is allowed; compiling, and what a slow machine does between two looks at the clock, come on top."""

MAX_KILOBYTES = 128 * 1024
"""The budget allows texts of 1 MiB and 64 Ki elements; compiling a large source takes most."""

# They fail for a reason of their own, or by Python's recursion limit, before they cost anything.
REJECTED_TEMPLATES = {
    "block_recursion",
    "caller_recursion",
    "deep_namespace",
    "deep_print",
    "deep_tojson",
    "long_format_field",
    "macro_recursion",
    "mutual_recursion",
    "punycode",
    "recursive_loop",
}


class Worker:
    """Keeps one process for all templates, and starts another when a template has killed it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def attempt(self, name: str) -> dict[str, Any]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.template.hostile_worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        watchdog = threading.Timer(300, process.kill)
        watchdog.start()
        process.stdin.write(f"{name}\n")
        process.stdin.flush()
        line = process.stdout.readline()
        watchdog.cancel()
        if not line:
            self.stop()
            pytest.fail(f"the process died: {process.returncode}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    worker = Worker()
    yield worker
    worker.stop()


@pytest.mark.parametrize("name", HOSTILE_TEMPLATES)
def test_hostile_template_fails_soon_and_in_little_memory(worker: Worker, name: str) -> None:
    answer = worker.attempt(name)
    is_late = answer["failure"] == "TemplateBudgetError" and "takes longer" in answer["message"]
    expected = "TemplateRejectedError" if name in REJECTED_TEMPLATES else "TemplateBudgetError"
    assert answer["failure"] == expected or is_late, answer
    assert "the secret" not in answer["message"]
    assert answer["cpu_seconds"] < MAX_CPU_SECONDS
    assert answer["kilobytes"] < MAX_KILOBYTES


@pytest.mark.parametrize("name", HOSTILE_SOURCES)
def test_hostile_source_fails_soon_and_in_little_memory(worker: Worker, name: str) -> None:
    answer = worker.attempt(name)
    assert answer["failure"] in ("TemplateRejectedError", "TemplateBudgetError"), answer
    assert answer["cpu_seconds"] < MAX_CPU_SECONDS
    assert answer["kilobytes"] < MAX_KILOBYTES


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{{ 'a' * 101 }}", "The chat template makes more than 100 characters of text."),
        (
            "{% for i in range(60) %}ab{% endfor %}",
            "The chat template makes more than 100 characters of text.",
        ),
        ("{{ [0] * 11 }}", "The chat template builds containers of more than 10 elements."),
        (
            "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
            "The chat template takes longer than 0.05 seconds.",
        ),
    ],
)
def test_message_names_the_limit(source: str, message: str) -> None:
    budget = TemplateBudget(seconds=0.05, max_chars=100, max_items=10)
    with pytest.raises(TemplateBudgetError) as caught:
        compile_template(source).render({}, now=NOW, budget=budget)
    assert caught.value.message == message


def test_text_that_is_added_to_may_grow_up_to_the_limit() -> None:
    """What is dropped on the way does not count: these are 8 MiB of intermediate texts."""
    source = "{% set ns = namespace(x='') %}{% for i in range(4096) %}{% set ns.x = ns.x + 'a' %}{% endfor %}{{ ns.x }}"
    budget = TemplateBudget(max_chars=4096)
    assert compile_template(source).render({}, now=NOW, budget=budget) == "a" * 4096


def test_list_that_is_added_to_may_grow_up_to_the_limit() -> None:
    source = (
        "{% set ns = namespace(x=[]) %}{% for i in range(900) %}{% set ns.x = ns.x + [i] %}{% endfor %}"
        "{{ ns.x|length }}"
    )
    budget = TemplateBudget(max_items=2000)
    assert compile_template(source).render({}, now=NOW, budget=budget) == "900"


def test_text_that_is_read_again_and_again_counts_once() -> None:
    source = "{% for i in range(1000) %}{% set t = text|trim %}{% set u = text[:] %}{% set v = '' ~ text %}{% endfor %}"
    budget = TemplateBudget(max_chars=4096)
    assert compile_template(source).render({"text": "a" * 4000}, now=NOW, budget=budget) == ""
