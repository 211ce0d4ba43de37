"""Public cases of a few models, through the runtime client: the answers that the corpus expects in process."""

from __future__ import annotations

import json
from typing import Any

import pytest

from handlers.options import ArgumentParser, add_options, with_switch_values
from handlers.settings import OPTIONS
from tests.conformance.comparison import differences
from tests.conformance.test_corpus import CLOCK, DECISIONS
from tests.corpus import Case, model_dir, needs_corpus, read_case_file
from tests.lambda_path.events import FRONTS
from tests.lambda_path.function import needs_runtime_client, running

pytestmark = [needs_runtime_client, needs_corpus]

# One with a byte-level tokenizer, one with SentencePiece's, one whose prompts are not made by a template.
MODELS = ("qwen3", "llama2", "gptoss")
STRIDE = 9
"""Every so many cases are sent, each by another front."""


def settings_of(flags: tuple[str, ...]) -> dict[str, str]:
    """The environment that means the same as command line flags."""
    parser = ArgumentParser()
    add_options(parser, OPTIONS)
    given: dict[str, str | list[str]] = vars(parser.parse_args(with_switch_values(flags, OPTIONS)))
    names = {each.name: each.environment_name for each in OPTIONS}
    return {
        names[name]: value if isinstance(value, str) else ",".join(value) for name, value in given.items()
    }


def headers_of(case: Case) -> dict[str, str]:
    sent = {"content-type": "application/json"} | {
        name.lower(): value for name, value in case.headers.items()
    }
    return {name: value for name, value in sent.items() if value}


@pytest.mark.parametrize("name", MODELS)
def test_public_cases_equal_the_python_peer(name: str) -> None:
    case_file = read_case_file(name)
    served_name = case_file.flags[case_file.flags.index("--served-model-name") + 1]
    settings = settings_of(case_file.flags) | {
        "RENDER_CORE_MODEL": str(model_dir(case_file.model_dir)),
        "RENDER_CORE_CLOCK": CLOCK,
    }
    left_out = {entry["case"] for entry in DECISIONS["deviations"]}
    cases = [
        case
        for case in case_file.cases[::STRIDE]
        if case.id not in left_out and case.endpoint not in DECISIONS["absent_endpoints"]
    ]
    wrong: dict[str, Any] = {}
    with running(settings) as function:
        for index, case in enumerate(cases):
            front = FRONTS[index % len(FRONTS)]
            answer = function.invoke(front("POST", case.endpoint, case.body, headers_of(case)))
            body = json.loads(answer["body"])
            found = differences(
                case, answer["statusCode"], body, frozenset(DECISIONS["pending"]), served_name
            )
            if found:
                wrong[case.id] = found
    assert cases
    assert wrong == {}
