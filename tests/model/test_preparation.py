"""Which tokenizer class a model's files are prepared for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from render_core.model.files import read_model_files
from render_core.model.preparation import prepare


@pytest.mark.parametrize(
    ("mode", "architecture", "loaded"),
    [
        ("auto", "LlamaForCausalLM", "LlamaTokenizer"),
        ("auto", "DeepseekV32ForCausalLM", "TokenizersBackend"),
        ("auto", "DeepseekV41ForCausalLM", "TokenizersBackend"),
        ("deepseek_v4", "LlamaForCausalLM", "TokenizersBackend"),
        ("hf", "DeepseekV32ForCausalLM", "LlamaTokenizer"),
        ("inkling", "LlamaForCausalLM", "LlamaTokenizer"),
    ],
)
def test_deepseeks_encoders_take_the_tokenizer_as_it_stands(
    tmp_path: Path, mode: str, architecture: str, loaded: str
) -> None:
    documents: dict[str, Any] = {
        "config.json": {"model_type": "llama", "architectures": [architecture]},
        "tokenizer_config.json": {"tokenizer_class": "LlamaTokenizer"},
        "tokenizer.json": {"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}},
    }
    for name, document in documents.items():
        (tmp_path / name).write_text(json.dumps(document))
    assert prepare(read_model_files(tmp_path, tokenizer_mode=mode)).tokenizer.class_name == loaded
