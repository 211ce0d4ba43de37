"""Every family's parsers against values recorded from vLLM 0.33."""

from __future__ import annotations

import pytest

from render_core.families.registry import FAMILIES
from tests.families.recorded import DATA, RecordedCase, recorded_cases

# Parsers whose values cannot be recorded: refused, tied to a library of their own, or Harmony's (in the corpus).
UNRECORDED = {"cohere", "gpt_oss", "response_template"}


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in recorded_cases()])
def test_effects_equal_the_recording(case: RecordedCase) -> None:
    assert case.effects() == case.expected


def test_every_family_has_a_recording() -> None:
    recorded = {file.stem.removeprefix("effects_") for file in DATA.glob("effects_*.json")}
    assert recorded == {family.module for family in FAMILIES} - UNRECORDED
