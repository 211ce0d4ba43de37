"""The context length that config.json stands for."""

from __future__ import annotations

from typing import Any

import pytest

from render_core.errors import ConfigurationError
from render_core.model.limits import context_length


@pytest.mark.parametrize(
    ("config", "length"),
    [
        ({}, 2048),
        ({"max_position_embeddings": 4096}, 4096),
        ({"max_position_embeddings": 4096, "seq_length": 1024}, 1024),
        ({"max_position_embeddings": 8192, "model_max_length": 131072}, 131072),
        ({"text_config": {"max_position_embeddings": 512}}, 512),
        ({"max_position_embeddings": 4096, "rope_scaling": {"type": "linear", "factor": 4.0}}, 16384),
        ({"max_position_embeddings": 4096, "rope_scaling": {"rope_type": "llama3", "factor": 8.0}}, 4096),
        ({"max_position_embeddings": 4096, "rope_scaling": {"rope_type": "yarn", "factor": 8.0}}, 4096),
        (
            {
                "model_type": "gemma3",
                "max_position_embeddings": 4096,
                "rope_scaling": {"type": "linear", "factor": 8},
            },
            4096,
        ),
        ({"max_position_embeddings": 4096, "rope_scaling": {"type": "linear", "factor": None}}, 4096),
        (
            {
                "max_position_embeddings": 131072,
                "original_max_position_embeddings": 4096,
                "rope_scaling": {"type": "longrope", "factor": 32.0},
            },
            4096,
        ),
    ],
)
def test_the_length_is_derived_from_the_configuration(config: dict[str, Any], length: int) -> None:
    assert context_length(config, None, allow_longer=False) == length


def test_an_operator_may_shorten_but_not_lengthen_unless_allowed() -> None:
    config = {"max_position_embeddings": 4096}
    assert context_length(config, 100, allow_longer=False) == 100
    assert context_length(config, 5000, allow_longer=True) == 5000
    with pytest.raises(ConfigurationError, match="above the 4096 tokens"):
        context_length(config, 5000, allow_longer=False)
