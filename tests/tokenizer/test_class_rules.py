"""Which tokenizer class is loaded, and what it makes of tokenizer.json."""

from __future__ import annotations

from typing import Any

import pytest

from render_core.tokenizer.class_rules import rebuild_pipeline, tokenizer_class
from render_core.tokenizer.special_tokens import complete_added_tokens, special_tokens


@pytest.mark.parametrize(
    ("published", "model_type", "loaded"),
    [
        ("LlamaTokenizer", "llama", "LlamaTokenizer"),
        ("LlamaTokenizerFast", "deepseek_v3", "TokenizersBackend"),
        ("LlamaTokenizer", "phi3", "TokenizersBackend"),
        ("LlamaTokenizer", "mistral", "TokenizersBackend"),
        ("GPT2Tokenizer", "llama", "GPT2Tokenizer"),
        ("GPT2Tokenizer", "granite", "TokenizersBackend"),
        ("PreTrainedTokenizerFast", "qwen2", "Qwen2Tokenizer"),
        ("PreTrainedTokenizerFast", "qwen3", "TokenizersBackend"),
        ("Qwen2TokenizerFast", "qwen3", "Qwen2Tokenizer"),
        ("Qwen2Tokenizer", "qwen3_5", "Qwen3_5Tokenizer"),
        ("GemmaTokenizer", "gemma3_text", "GemmaTokenizer"),
        ("LlamaTokenizer", "step5", "TokenizersBackend"),
        ("Qwen2Tokenizer", "step3p7", "TokenizersBackend"),
        (None, "gemma2", "GemmaTokenizer"),
        (None, "unheard_of", "TokenizersBackend"),
    ],
)
def test_the_class_depends_on_the_model_type(published: str | None, model_type: str, loaded: str) -> None:
    tokenizer_config = {} if published is None else {"tokenizer_class": published}
    assert tokenizer_class(tokenizer_config, {"model_type": model_type}) == loaded


def document(**parts: Any) -> dict[str, Any]:
    return {
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": None,
        "post_processor": {"type": "Kept"},
        "added_tokens": [],
        "model": {"type": "BPE", "vocab": {"a": 0, "<s>": 1}, "merges": [], "unk_token": "a"},
        **parts,
    }


def test_a_generic_class_leaves_the_document_alone() -> None:
    given = document()
    assert rebuild_pipeline(given, "TokenizersBackend", {}) is False
    assert given == document()


def test_a_rebuilt_pipeline_keeps_vocabulary_and_post_processor() -> None:
    given = document()
    assert rebuild_pipeline(given, "Qwen2Tokenizer", {}) is True
    assert given["normalizer"] == {"type": "NFC"}
    assert given["post_processor"] == {"type": "Kept"}
    assert given["model"]["vocab"] == {"a": 0, "<s>": 1}
    assert given["model"]["unk_token"] is None


@pytest.mark.parametrize(
    ("tokenizer_config", "scheme"),
    [
        ({"legacy": True}, "always"),
        ({"legacy": False}, "first"),
        ({}, "first"),
        ({"add_prefix_space": False}, "never"),
    ],
)
def test_a_llama_prefix_depends_on_the_configuration(tokenizer_config: dict[str, Any], scheme: str) -> None:
    given = document()
    rebuild_pipeline(given, "LlamaTokenizer", tokenizer_config)
    assert given["pre_tokenizer"]["prepend_scheme"] == scheme


def test_special_tokens_come_from_the_config_then_the_map_then_the_class() -> None:
    tokenizer_config = {
        "bos_token": {"content": "<b>"},
        "pad_token": None,
        "extra_special_tokens": {"image_token": "<i>"},
    }
    found = special_tokens(
        tokenizer_config, {"bos_token": "<no>", "eos_token": "<e>", "pad_token": "<no>"}, "LlamaTokenizer"
    )
    assert found == {"bos_token": "<b>", "eos_token": "<e>", "unk_token": "<unk>", "image_token": "<i>"}


def test_named_tokens_are_added_with_their_own_id_or_the_next_free_one() -> None:
    given = document()
    assert complete_added_tokens(given, {}, {"bos_token": "<s>", "eos_token": "</s>"}) is True
    added = [(token["id"], token["content"], token["special"]) for token in given["added_tokens"]]
    assert added == [(1, "<s>", True), (2, "</s>", True)]
    assert complete_added_tokens(given, {}, {"bos_token": "<s>"}) is False
