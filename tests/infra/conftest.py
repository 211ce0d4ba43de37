"""The committed template, translated once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from infra.translation import translated

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def template() -> dict[str, Any]:
    """template.yaml without SAM's types. Not to be changed."""
    pytest.importorskip("samtranslator", reason="SAM's translator is not installed")
    return translated(REPOSITORY / "template.yaml")
