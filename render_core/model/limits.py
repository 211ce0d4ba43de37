"""The context length of a model, derived from config.json as vLLM derives it (spec 10.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from render_core.errors import ConfigurationError

_LENGTH_KEYS: Final = (
    "max_position_embeddings",
    "n_positions",
    "max_seq_len",
    "seq_length",
    "model_max_length",
    "max_target_positions",
    "max_sequence_length",
    "max_seq_length",
    "seq_len",
)
_DEFAULT_LENGTH: Final = 2048
# RoPE types whose config states the scaled length already.
_SCALED_ROPE_TYPES: Final = ("su", "longrope", "llama3", "yarn", "deepseek_yarn", "deepseek_llama_scaling")


def context_length(config: Mapping[str, Any], requested: int | None, allow_longer: bool) -> int:
    """The context length in tokens.

    Args:
        config: config.json.
        requested: the operator's choice, or None to derive it.
        allow_longer: accept a choice above the derived length.

    Raises:
        ConfigurationError: the choice is above the derived length, and that is not allowed.
    """
    text_config = text_part(config)
    derived = _derived_length(text_config, config.get("model_type") or "")
    if requested is None:
        original = text_config.get("original_max_position_embeddings")
        if original is not None and any(_rope_type(rope) == "longrope" for rope in _ropes(text_config)):
            return int(original)
        return derived
    ceiling = max(derived, int(text_config.get("model_max_length") or 0))
    if requested > ceiling and not allow_longer:
        raise ConfigurationError(
            f"max_model_len {requested} is above the {ceiling} tokens that config.json allows for this model; "
            "set VLLM_ALLOW_LONG_MAX_MODEL_LEN=1 to serve it all the same."
        )
    return requested


def text_part(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of config.json that describes the language model."""
    part = config.get("text_config")
    return part if isinstance(part, Mapping) else config


def _derived_length(text_config: Mapping[str, Any], model_type: str) -> int:
    stated = [value for key in _LENGTH_KEYS if isinstance(value := text_config.get(key), int | float)]
    length = float(text_config.get("model_max_length") or min(stated, default=_DEFAULT_LENGTH))
    ropes = list(_ropes(text_config))
    if ropes and "gemma3" not in model_type:
        factors = [rope.get("factor") for rope in ropes if _rope_type(rope) not in _SCALED_ROPE_TYPES]
        length *= next((factor for factor in reversed(factors) if factor is not None), 1.0)
    return int(length)


def _ropes(text_config: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """RoPE parameters, one mapping a layer type where the config nests them."""
    parameters = text_config.get("rope_parameters") or text_config.get("rope_scaling")
    if not isinstance(parameters, Mapping):
        return
    nested = [value for value in parameters.values() if isinstance(value, Mapping)]
    yield from nested or [parameters]


def _rope_type(rope: Mapping[str, Any]) -> Any:
    return rope.get("rope_type", rope.get("type", "default"))
