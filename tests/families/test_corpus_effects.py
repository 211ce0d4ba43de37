"""Every public chat of the corpus that the Python peer rendered: what its parsers changed, whole values."""

from __future__ import annotations

import json
from typing import Any

import pytest

from render_core.families.effects import Effects, ParserChoice, Parsers, build_parsers
from render_core.protocol.body import decode_body
from render_core.protocol.chat import ChatRequest
from tests.corpus import (
    SKIP_REASON,
    Case,
    case_file_names,
    model_dir,
    needs_corpus,
    read_case_file,
)
from tests.families.parser_models import model_of_directory

CHAT = "/v1/chat/completions/render"
MEDIA_OPTIONS = ("mm_processor_kwargs", "media_io_kwargs")


def case_files() -> list[Any]:
    names = [name for name in case_file_names() if not name.endswith("_long")]
    return names or [pytest.param("none", marks=pytest.mark.skip(SKIP_REASON))]


@needs_corpus
@pytest.mark.parametrize("name", case_files())
def test_parsers_change_what_the_python_peer_changes(name: str) -> None:
    case_file = read_case_file(name)
    parsers = build_parsers(choice_of(case_file.flags), model_of_directory(model_dir(case_file.model_dir)))
    wrong = []
    for case in case_file.cases:
        if case.endpoint == CHAT and case.expected["status"] == 200:
            got, expected = effects_of(parsers, case), recorded(case.expected["body"])
            wrong += [
                f"{case.id}: {field} is {json.dumps(got[field])[:300]}, expected {json.dumps(expected[field])[:300]}"
                for field in expected
                if got[field] != expected[field]
            ]
    assert not wrong, "\n".join(wrong)


def choice_of(flags: tuple[str, ...]) -> ParserChoice:
    def value_of(flag: str) -> str | None:
        return flags[flags.index(flag) + 1] if flag in flags else None

    return ParserChoice(
        tool=value_of("--tool-call-parser") if "--enable-auto-tool-choice" in flags else None,
        reasoning=value_of("--reasoning-parser"),
        strict_level=value_of("--tool-strict-level"),
    )


def effects_of(parsers: Parsers, case: Case) -> dict[str, Any]:
    body = case.expected["body"]
    document = decode_body(case.body)
    for name in MEDIA_OPTIONS:  # which render_core refuses, and vLLM ignores for Harmony
        document.pop(name, None)
    request = ChatRequest.parse(document)
    kwargs = body["parse_context"]["chat_template_kwargs"]
    return changed(request, parsers.effects(request, kwargs, body["token_ids"]))


def changed(request: ChatRequest, effects: Effects) -> dict[str, Any]:
    """The fields that parsers may change, as an answer shows them."""
    skip, spaces = effects.skip_special_tokens, effects.spaces_between_special_tokens
    return {
        "skip_special_tokens": request.skip_special_tokens is not False if skip is None else skip,
        "spaces_between_special_tokens": request.spaces_between_special_tokens if spaces is None else spaces,
        "structured_outputs": effects.structured_outputs,
        "reasoning_ended": effects.reasoning_ended,
    }


def recorded(body: dict[str, Any]) -> dict[str, Any]:
    sampling = body["sampling_params"]
    return {
        "skip_special_tokens": sampling.get("skip_special_tokens", True),
        "spaces_between_special_tokens": sampling.get("spaces_between_special_tokens", True),
        "structured_outputs": sampling.get("structured_outputs"),
        "reasoning_ended": body["reasoning_ended"],
    }
