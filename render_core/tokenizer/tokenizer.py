"""A model's tokenizer: the engine and what length rules need to know of the vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from render_core.errors import ConfigurationError
from render_core.tokenizer.class_rules import GENERIC_CLASS, rebuild_pipeline, tokenizer_class
from render_core.tokenizer.engine import Engine
from render_core.tokenizer.special_tokens import complete_added_tokens, special_tokens


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """A tokenizer ready to encode.

    Attributes:
        engine: computes ids.
        class_name: the tokenizer class that transformers would load, for logs.
        special_tokens: named special tokens, as templates see them.
        added_tokens: ids of the added tokens by their string.
        max_chars_per_token: length of the longest vocabulary string, in characters.
        max_token_id: the largest id of the vocabulary.
        prefix_ids, suffix_ids: what the post-processor puts around a text when special tokens are asked for.
    """

    engine: Engine
    class_name: str
    special_tokens: Mapping[str, str]
    added_tokens: Mapping[str, int]
    max_chars_per_token: int
    max_token_id: int
    prefix_ids: tuple[int, ...]
    suffix_ids: tuple[int, ...]

    def token_id(self, token: str) -> int | None:
        """The id of a vocabulary string, or None. Added tokens are found without asking the engine."""
        found = self.added_tokens.get(token)
        return self.engine.token_id(token) if found is None else found


@dataclass(frozen=True, slots=True)
class PreparedTokenizer:
    """A tokenizer.json as the engine uses it, and what is known of it.

    Attributes:
        serialized: the document, with the pipeline of its class and all its added tokens.
        added_tokens: ids of the added tokens by their string.
        vocabulary: ids by string, added tokens included.
    """

    serialized: bytes
    class_name: str
    special_tokens: Mapping[str, str]
    added_tokens: Mapping[str, int]
    vocabulary: Mapping[str, int]

    def tokenizer(self, engine: Engine) -> Tokenizer:
        """The tokenizer that answers through an engine loaded from `serialized`."""
        prefix, suffix = _surrounding_ids(engine)
        return Tokenizer(
            engine=engine,
            class_name=self.class_name,
            special_tokens=self.special_tokens,
            added_tokens=self.added_tokens,
            max_chars_per_token=max(map(len, self.vocabulary), default=1),
            max_token_id=max(self.vocabulary.values(), default=0),
            prefix_ids=prefix,
            suffix_ids=suffix,
        )


def prepare_tokenizer(
    serialized: bytes,
    config: Mapping[str, Any],
    tokenizer_config: Mapping[str, Any],
    special_tokens_map: Mapping[str, Any],
    *,
    is_generic: bool = False,
) -> PreparedTokenizer:
    """Find out what vLLM would use for a model directory.

    Args:
        serialized: tokenizer.json.
        config, tokenizer_config, special_tokens_map: the directory's other documents; empty when missing.
        is_generic: the generic class is loaded, whatever these documents say.

    Raises:
        ConfigurationError: tokenizer.json cannot be read.
    """
    try:
        document = orjson.loads(serialized)
        class_name = GENERIC_CLASS if is_generic else tokenizer_class(tokenizer_config, config)
        named = special_tokens(tokenizer_config, special_tokens_map, class_name)
        rebuilt = rebuild_pipeline(document, class_name, tokenizer_config)
        completed = complete_added_tokens(document, tokenizer_config, named)
        return PreparedTokenizer(
            serialized=orjson.dumps(document) if rebuilt or completed else serialized,
            class_name=class_name,
            special_tokens=named,
            added_tokens={token["content"]: token["id"] for token in document.get("added_tokens") or ()},
            vocabulary=_vocabulary(document),
        )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ConfigurationError(f"tokenizer.json cannot be used: {error}") from None


def build_tokenizer(prepared: PreparedTokenizer) -> Tokenizer:
    """The tokenizer with the reference engine.

    Raises:
        ConfigurationError: the engine cannot load it.
    """
    try:
        return prepared.tokenizer(load_reference(prepared.class_name, prepared.serialized))
    except ValueError as error:
        raise ConfigurationError(f"The tokenizer cannot be used: {error}") from None


def load_reference(class_name: str, serialized: bytes) -> Engine:
    """The reference engine of a tokenizer class, from the document of a PreparedTokenizer.

    Raises:
        ValueError: the engine cannot load it.
    """
    if class_name == "Tekkenizer":
        from render_core.tokenizer.tekken_engine import TekkenEngine

        return TekkenEngine(serialized)
    from render_core.tokenizer.reference import ReferenceEngine

    return ReferenceEngine(serialized)


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
