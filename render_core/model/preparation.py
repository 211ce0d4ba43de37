"""From the files of a model directory to its tokenizer and the configuration that goes with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from render_core.families.encoders import chosen_family
from render_core.model.files import ModelFiles
from render_core.tokenizer.tokenizer import PreparedTokenizer, prepare_tokenizer


@dataclass(frozen=True, slots=True)
class Preparation:
    """What engines are loaded from and models are assembled from.

    Attributes:
        config: config.json, with the header of tekken.json when that is the model's tokenizer.
    """

    config: Mapping[str, Any]
    tokenizer: PreparedTokenizer


def prepare(files: ModelFiles) -> Preparation:
    """Prepare a model's tokenizer.

    Raises:
        ConfigurationError: the tokenizer's file cannot be used.
    """
    if not files.is_tekken:
        family = chosen_family(files.tokenizer_mode, files.config)
        prepared = prepare_tokenizer(
            files.tokenizer,
            files.config,
            files.tokenizer_config,
            files.special_tokens_map,
            is_generic=family is not None and family.has_generic_tokenizer,
        )
        return Preparation(files.config, prepared)
    from render_core.tokenizer.tekken import HEADER_KEY, read_tekken

    tekken = read_tekken(files.tokenizer)
    return Preparation({**files.config, HEADER_KEY: tekken.header}, tekken.prepared)
