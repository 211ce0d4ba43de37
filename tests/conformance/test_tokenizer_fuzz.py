"""Seeded fuzz strings as text completions: the ids of every recorded tokenizer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from render_core import load_model
from render_core.tokenizer.lengths import encode_text
from tests.corpus import SKIP_REASON, case_file_names, model_dir, needs_corpus, read_records


def tokenizers() -> list[Any]:
    return case_file_names("cases-fuzz") or [pytest.param("none", marks=pytest.mark.skip(SKIP_REASON))]


@needs_corpus
@pytest.mark.parametrize("name", tokenizers())
def test_fuzz_strings_have_the_ids_of_the_python_peer(name: str) -> None:
    tokenizer = load_model(str(model_dir(name))).tokenizer
    wrong = []
    for record in read_records(name, "cases-fuzz"):
        text = record["text"]
        tokens = encode_text(tokenizer, text, add_special_tokens=True, with_offsets=False, rules=None)
        if tokens.ids != record["python"]:
            wrong.append(f"{json.dumps(text)[:200]}: {tokens.ids[:12]}, expected {record['python'][:12]}")
    assert not wrong, f"{len(wrong)} strings\n" + "\n".join(wrong[:10])
