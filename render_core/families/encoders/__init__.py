"""Encoders of the families whose prompts come from code, and which configuration takes which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, Protocol, cast

from render_core.families.encoder import PromptEncoder
from render_core.tokenizer.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class EncoderFamily:
    """One family of the registry.

    Attributes:
        name: the value of --tokenizer-mode that selects it.
        architectures: entries of config.json's `architectures` that select it without a flag (spec 10.3).
        model_type: config.json's `model_type` that selects it, whatever the flag.
        config_key: a key that the configuration of its models has, which selects it without a flag.
        has_generic_tokenizer: tokenizer.json is taken as it stands, whatever class the model's files publish.
        module: where its `build` is. Loaded when the family is chosen, so that no other start pays for it.
    """

    name: str
    architectures: frozenset[str]
    module: str
    model_type: str | None = None
    config_key: str | None = None
    has_generic_tokenizer: bool = False


class _EncoderModule(Protocol):
    def build(self, config: Mapping[str, Any], tokenizer: Tokenizer) -> PromptEncoder: ...


def _family(name: str, *architectures: str, has_generic_tokenizer: bool = False) -> EncoderFamily:
    module = f"{__name__}.{name}"
    return EncoderFamily(name, frozenset(architectures), module, has_generic_tokenizer=has_generic_tokenizer)


ENCODER_FAMILIES: Final = (
    _family("deepseek_v32", "DeepseekV32ForCausalLM", has_generic_tokenizer=True),
    _family(
        "deepseek_v4",
        "DeepseekV4ForCausalLM",
        "DeepseekV4ForConditionalGeneration",
        has_generic_tokenizer=True,
    ),
    _family("deepseek_v41", "DeepseekV41ForCausalLM", has_generic_tokenizer=True),
    _family("inkling", "InklingForCausalLM", "InklingForConditionalGeneration"),
    EncoderFamily("mistral", frozenset(), f"{__name__}.mistral", config_key="tekken"),
    EncoderFamily("harmony", frozenset(), f"{__name__}.harmony", model_type="gpt_oss"),
)


def chosen_family(mode: str, config: Mapping[str, Any]) -> EncoderFamily | None:
    """The family of a model under a --tokenizer-mode; None for a model that is rendered with a chat template."""
    typed = next(
        (f for f in ENCODER_FAMILIES if f.model_type and f.model_type == config.get("model_type")), None
    )
    if typed is not None or mode == "hf":
        return typed
    return recognised_family(config) if mode == "auto" else named_family(mode)


def recognised_family(config: Mapping[str, Any]) -> EncoderFamily | None:
    """The family that a model's config.json names, or None for a model that is rendered with a chat template."""
    architectures = config.get("architectures")
    named = architectures if isinstance(architectures, list) else []
    return next(
        (
            family
            for family in ENCODER_FAMILIES
            if not family.architectures.isdisjoint(named) or family.config_key in config
        ),
        None,
    )


def named_family(name: str) -> EncoderFamily | None:
    """The family that --tokenizer-mode selects by name, or None when no encoder has that name."""
    return next((family for family in ENCODER_FAMILIES if family.name == name), None)


def build_encoder(family: EncoderFamily, config: Mapping[str, Any], tokenizer: Tokenizer) -> PromptEncoder:
    """Build a family's encoder for a loaded model.

    Raises:
        ConfigurationError: the tokenizer lacks tokens that the family writes.
    """
    return cast(_EncoderModule, import_module(family.module)).build(config, tokenizer)
