"""What a gateway that keeps the authorizer's answers takes, and what it cannot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from handlers import authorizer
from infra.command import TEMPLATE
from infra.generation import with_generated_parts
from infra.models import DeployedModel, Deployment
from infra.translation import translated
from tests.infra.gateway import Gateway

KEY = "Uq4vN7pKx2Lr9TzBd6Wm1HsE"
OTHER = "aC8yJ3fGk5Qn0RtVw7Xe2DiO"
ADDRESS = "https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com/dev"


def answering(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return {"statusCode": 200, "body": event["path"]}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    pytest.importorskip("samtranslator", reason="SAM's translator is not installed")
    models = (DeployedModel(name="demo"), DeployedModel(name="demo-2"))
    text = with_generated_parts(TEMPLATE.read_text(), Deployment(models=models, key_cache_seconds=300))
    file: Path = tmp_path_factory.mktemp("template") / "template.yaml"
    file.write_text(text)
    return translated(file)


@pytest.fixture
def gateway(template: dict[str, Any]) -> Gateway:
    functions = {
        "DemoFunction": answering,
        "Demo2Function": answering,
        "AuthorizerFunction": authorizer.handler,
    }
    return Gateway(template, functions, {KEY, OTHER})


def status(gateway: Gateway, path: str, **headers: str) -> int:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Client(transport=gateway).get(ADDRESS + path, headers=named).status_code


def test_answer_is_kept_for_all_paths_and_models(gateway: Gateway) -> None:
    paths = ("/demo/v1/models", "/demo", "/demo-2/version")
    assert [status(gateway, path, Authorization=f"Bearer {KEY}") for path in paths] == [200, 200, 200]
    assert gateway.authorizer_calls == 1


def test_answer_is_kept_for_its_time_and_its_header(gateway: Gateway) -> None:
    for seconds, key in ((0, KEY), (0, OTHER), (299, KEY), (2, KEY)):
        gateway.clock.now += seconds
        assert status(gateway, "/demo", Authorization=f"Bearer {key}") == 200
    assert gateway.authorizer_calls == 3


def test_refusal_is_not_kept(gateway: Gateway) -> None:
    assert [status(gateway, "/demo", Authorization="Bearer short") for _ in range(2)] == [401, 401]
    assert gateway.authorizer_calls == 2


def test_x_api_key_alone_is_refused_unasked(gateway: Gateway) -> None:
    assert status(gateway, "/demo", x_api_key=KEY) == 401
    assert gateway.authorizer_calls == 0


def test_key_that_is_not_known_stays_refused(gateway: Gateway) -> None:
    unknown = "nQ5bM0sZr8Yc4KhXu2Pj7LfA"
    assert [status(gateway, "/demo", Authorization=f"Bearer {unknown}") for _ in range(2)] == [401, 401]
