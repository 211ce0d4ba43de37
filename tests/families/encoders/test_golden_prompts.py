"""Prompts of sample chats, as vLLM 0.33 writes them: data/<family>/<case>/request.json and expected.txt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.families.encoders.chats import prompt_text

DATA = Path(__file__).parent / "data"
FAMILIES = ("deepseek_v32", "deepseek_v4", "deepseek_v41", "inkling")
SAMPLES = [sample for family in FAMILIES for sample in sorted((DATA / family).iterdir())]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: f"{sample.parent.name}/{sample.name}")
def test_sample_has_the_recorded_prompt(sample: Path) -> None:
    request = json.loads((sample / "request.json").read_text(encoding="utf-8"))
    expected = (sample / "expected.txt").read_text(encoding="utf-8")
    assert prompt_text(sample.parent.name, request) == expected
