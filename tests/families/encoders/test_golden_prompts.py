"""Prompts of sample chats, as vLLM 0.33 writes them: data/<family>/<case>/request.json and expected.txt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.families.encoders.chats import prompt_text

SAMPLES = sorted((Path(__file__).parent / "data").glob("*/*"))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: f"{sample.parent.name}/{sample.name}")
def test_sample_has_the_recorded_prompt(sample: Path) -> None:
    request = json.loads((sample / "request.json").read_text(encoding="utf-8"))
    expected = (sample / "expected.txt").read_text(encoding="utf-8")
    assert prompt_text(sample.parent.name, request) == expected
