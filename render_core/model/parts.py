"""What a model is assembled from, whether it comes from a directory or from a bundle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from render_core.template.compiled import CompiledTemplate
from render_core.tokenizer.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class ModelParts:
    """The parts of a model before an operator's options are applied.

    Attributes:
        config, generation_config, tokenizer_config: the model's documents.
        templates: its chat templates by name, compiled.
        served_names, tool_call_parser, reasoning_parser: defaults that a bundle brings along.
    """

    config: Mapping[str, Any]
    generation_config: Mapping[str, Any]
    tokenizer_config: Mapping[str, Any]
    tokenizer: Tokenizer
    templates: Mapping[str, CompiledTemplate]
    revision: str | None = None
    served_names: tuple[str, ...] = ()
    tool_call_parser: str | None = None
    reasoning_parser: str | None = None
