"""A model's tokenizer: the engine and what length rules need to know of the vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from render_core.errors import ConfigurationError
from render_core.tokenizer.class_rules import rebuild_pipeline, tokenizer_class
from render_core.tokenizer.engine import Engine
from render_core.tokenizer.special_tokens import complete_added_tokens, special_tokens


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """A tokenizer ready to encode.

    Attributes:
        engine: computes ids.
        class_name: the tokenizer class that transformers would load, for logs.
        special_tokens: named special tokens, as templates see them.
        max_chars_per_token: length of the longest vocabulary string, in characters.
        max_token_id: the largest id of the vocabulary.
        prefix_ids, suffix_ids: what the post-processor puts around a text when special tokens are asked for.
    """

    engine: Engine
    class_name: str
    special_tokens: Mapping[str, str]
    max_chars_per_token: int
    max_token_id: int
    prefix_ids: tuple[int, ...]
    suffix_ids: tuple[int, ...]


def build_tokenizer(
    serialized: bytes,
    config: Mapping[str, Any],
    tokenizer_config: Mapping[str, Any],
    special_tokens_map: Mapping[str, Any],
) -> Tokenizer:
    """Build the tokenizer that vLLM would use for a model directory.

    Args:
        serialized: tokenizer.json.
        config, tokenizer_config, special_tokens_map: the directory's other documents; empty when missing.

    Raises:
        ConfigurationError: tokenizer.json cannot be read.
    """
    from render_core.tokenizer.reference import ReferenceEngine

    try:
        document = orjson.loads(serialized)
        class_name = tokenizer_class(tokenizer_config, config)
        named = special_tokens(tokenizer_config, special_tokens_map, class_name)
        rebuilt = rebuild_pipeline(document, class_name, tokenizer_config)
        completed = complete_added_tokens(document, tokenizer_config, named)
        engine = ReferenceEngine(orjson.dumps(document) if rebuilt or completed else serialized)
        strings = _vocabulary(document)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ConfigurationError(f"tokenizer.json cannot be used: {error}") from None
    prefix, suffix = _surrounding_ids(engine)
    return Tokenizer(
        engine=engine,
        class_name=class_name,
        special_tokens=named,
        max_chars_per_token=max(map(len, strings), default=1),
        max_token_id=max(strings.values(), default=0),
        prefix_ids=prefix,
        suffix_ids=suffix,
    )


def _vocabulary(document: dict[str, Any]) -> dict[str, int]:
    vocabulary: dict[str, int] | list[Any] = document["model"]["vocab"]
    if isinstance(vocabulary, list):  # Unigram: [string, score] in id order
        vocabulary = {entry[0]: index for index, entry in enumerate(vocabulary)}
    return vocabulary | {token["content"]: token["id"] for token in document.get("added_tokens") or ()}


def _surrounding_ids(engine: Engine) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The ids before and after a text that the post-processor adds, read off a one-letter text."""
    bare, full = engine.encode("a", False), engine.encode("a", True)
    for start in range(len(full) - len(bare) + 1):
        if full[start : start + len(bare)] == bare:
            return tuple(full[:start]), tuple(full[start + len(bare) :])
    return (), ()
