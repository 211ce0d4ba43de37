"""Prompts of sample chats, as vLLM 0.33 writes them: data/<family>/<case>/request.json and expected.txt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from render_core.protocol.chat import ChatRequest
from tests.families.encoders.chats import encode_request, prompt_text
from tests.families.encoders.small_tekken import document, encoder_of_release

DATA = Path(__file__).parent / "data"
FAMILIES = ("deepseek_v32", "deepseek_v4", "deepseek_v41", "inkling", "harmony")
SAMPLES = [sample for family in FAMILIES for sample in sorted((DATA / family).iterdir())]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: f"{sample.parent.name}/{sample.name}")
def test_sample_has_the_recorded_prompt(sample: Path) -> None:
    request = json.loads((sample / "request.json").read_text(encoding="utf-8"))
    expected = (sample / "expected.txt").read_text(encoding="utf-8")
    assert prompt_text(sample.parent.name, request) == expected


@pytest.mark.parametrize("sample", sorted((DATA / "mistral").iterdir()), ids=lambda sample: sample.name)
def test_mistral_sample_has_the_recorded_prompt(sample: Path) -> None:
    """The release of the format is in the sample's name."""
    release = int(sample.name.partition("-")[0].removeprefix("v"))
    tokenizer, encoder = encoder_of_release(document(release))
    request = ChatRequest.parse(json.loads((sample / "request.json").read_text(encoding="utf-8")))
    prompt = encode_request(encoder, request)
    assert tokenizer.engine.decode(prompt.ids or []) == (sample / "expected.txt").read_text(encoding="utf-8")
