"""samconfig.toml: environments that differ where they should, and name parameters that exist."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

CONFIGURATION = tomllib.loads((Path(__file__).parents[2] / "samconfig.toml").read_text())
ENVIRONMENTS = ("default", "dev", "prod")


def overrides(environment: str) -> dict[str, str]:
    given = CONFIGURATION[environment]["deploy"]["parameters"]["parameter_overrides"]
    return dict(each.split("=", 1) for each in given)


def test_default_is_dev() -> None:
    assert CONFIGURATION["default"] == CONFIGURATION["dev"]


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_builds_find_the_repository(environment: str) -> None:
    assert CONFIGURATION[environment]["build"]["parameters"] == {"build_in_source": True}


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_overrides_are_parameters_with_values_they_allow(template: dict[str, Any], environment: str) -> None:
    for name, value in overrides(environment).items():
        allowed = template["Parameters"][name].get("AllowedValues")
        assert allowed is None or value in map(str, allowed)


def test_stacks_and_stages_do_not_meet() -> None:
    stacks = [CONFIGURATION[name]["deploy"]["parameters"]["stack_name"] for name in ("dev", "prod")]
    assert stacks == ["render-core-dev", "render-core-prod"]
    assert (overrides("dev")["Stage"], overrides("prod")["Stage"]) == ("dev", "prod")


def test_prod_moves_traffic_little_by_little_and_asks_first() -> None:
    assert overrides("prod")["DeploymentType"].startswith("Canary")
    assert overrides("dev")["DeploymentType"] == "AllAtOnce"
    assert CONFIGURATION["prod"]["deploy"]["parameters"]["confirm_changeset"] is True
