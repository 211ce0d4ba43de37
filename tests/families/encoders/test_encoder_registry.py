"""Which configuration takes which encoder, and what choosing one costs the others."""

from __future__ import annotations

import subprocess
import sys

import pytest

from render_core.families.encoders import (
    ENCODER_FAMILIES,
    EncoderFamily,
    build_encoder,
    named_family,
    recognised_family,
)
from tests.families.encoders.chats import HARMONY_TOKENS, INKLING_TOKENS, small_tokenizer

FROM_TOKENIZER_JSON = [family for family in ENCODER_FAMILIES if family.config_key is None]


@pytest.mark.parametrize("family", FROM_TOKENIZER_JSON, ids=lambda family: family.name)
def test_family_builds_an_encoder_of_its_name(family: EncoderFamily) -> None:
    tokenizer = small_tokenizer((*INKLING_TOKENS, *HARMONY_TOKENS))
    assert build_encoder(family, {}, tokenizer).name == family.name


@pytest.mark.parametrize(
    ("architecture", "name"),
    [
        ("DeepseekV32ForCausalLM", "deepseek_v32"),
        ("DeepseekV4ForCausalLM", "deepseek_v4"),
        ("DeepseekV4ForConditionalGeneration", "deepseek_v4"),
        ("DeepseekV41ForCausalLM", "deepseek_v41"),
        ("InklingForCausalLM", "inkling"),
        ("InklingForConditionalGeneration", "inkling"),
    ],
)
def test_architecture_selects_its_family(architecture: str, name: str) -> None:
    assert recognised_family({"architectures": [architecture]}) == named_family(name)


@pytest.mark.parametrize(
    "config",
    [{}, {"architectures": None}, {"architectures": ["DeepseekV3ForCausalLM"]}, {"model_type": "inkling"}],
)
def test_other_configuration_selects_none(config: dict[str, object]) -> None:
    assert recognised_family(config) is None


def test_header_of_tekken_json_selects_mistral() -> None:
    assert recognised_family({"architectures": ["MistralForCausalLM"], "tekken": {}}) == named_family(
        "mistral"
    )


def test_unknown_name_selects_none() -> None:
    assert named_family("qwen3") is None


LOADED = """
import sys
from render_core.families.encoders import ENCODER_FAMILIES
print([family.name for family in ENCODER_FAMILIES if family.module in sys.modules])
"""


def test_registry_loads_no_encoder() -> None:
    printed = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    ).stdout
    assert printed == "[]\n"
