"""Each check of infra.checks finds the mistake that linters pass over, and nothing in the committed template."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from infra.checks import faults

Mutation = Callable[[dict[str, dict[str, Any]]], Any]


def test_committed_template_has_no_faults(template: dict[str, Any]) -> None:
    assert faults(template) == []


def api(properties: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return properties["Api"]


def body(properties: dict[str, dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = properties["Api"]["Body"]
    return found


def responses(properties: dict[str, dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = body(properties)["x-amazon-apigateway-gateway-responses"]
    return found


def authorizer(properties: dict[str, dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = body(properties)["components"]["securitySchemes"]["Keys"][
        "x-amazon-apigateway-authorizer"
    ]
    return found


def operation(properties: dict[str, dict[str, Any]], path: str) -> dict[str, Any]:
    found: dict[str, Any] = body(properties)["paths"][path]["x-amazon-apigateway-any-method"]
    return found


@pytest.mark.parametrize(
    ("mutation", "fault"),
    [
        (
            lambda p: p["DemoFunctionAliaslive"].update(
                ProvisionedConcurrencyConfig={"ProvisionedConcurrentExecutions": 1}
            ),
            "DemoFunction: Lambda has no SnapStart with provisioned concurrency",
        ),
        (
            lambda p: p["DemoFunction"].update(EphemeralStorage={"Size": 1024}),
            "DemoFunction: Lambda has no SnapStart with more than 512 MB of storage",
        ),
        (
            lambda p: p["DemoFunction"].update(Timeout=30),
            "DemoFunction: the gateway waits 29 seconds at most",
        ),
        (
            lambda p: p["DemoFunction"]["LoggingConfig"].pop("LogGroup"),
            "DemoFunction: its log group is none of the template, and would be kept for ever",
        ),
        (
            lambda p: api(p).update(ApiKeySourceType="FOO"),
            "Api: the key must come from the authorizer: routers cannot send x-api-key",
        ),
        (
            lambda p: api(p).pop("ApiKeySourceType"),
            "Api: the key must come from the authorizer: routers cannot send x-api-key",
        ),
        (
            lambda p: api(p).update(MinimumCompressionSize=99999999),
            "Api: a compression size of 99999999 is above 10485760",
        ),
        (
            lambda p: api(p).update(BinaryMediaTypes=["*/*"]),
            "Api: with binary media types, bodies travel as base64",
        ),
        (
            lambda p: authorizer(p).pop("authorizerResultTtlInSeconds"),
            "Api: the answers of Keys would be kept under one name for all callers",
        ),
        (
            lambda p: authorizer(p).update(
                identitySource="method.request.header.Authorization, method.request.header.x-api-key"
            ),
            "Api: Keys asks for several headers at once",
        ),
        (
            lambda p: responses(p).pop("MISSING_AUTHENTICATION_TOKEN"),
            "Api: the gateway's answer MISSING_AUTHENTICATION_TOKEN has no envelope",
        ),
        (
            lambda p: responses(p)["THROTTLED"].update(statusCode="503"),
            "Api: the envelope of THROTTLED is not that of its status",
        ),
        (
            lambda p: operation(p, "/demo/{proxy+}").update(security=[]),
            "Api: x-amazon-apigateway-any-method /demo/{proxy+}: open without a key",
        ),
        (
            lambda p: operation(p, "/demo").update(security=[{"Keys": []}]),
            "Api: x-amazon-apigateway-any-method /demo: open without a key",
        ),
        (
            lambda p: operation(p, "/demo/health").update(security=[{"api_key": []}]),
            "Api: x-amazon-apigateway-any-method /demo/health: a probe that asks for a key",
        ),
    ],
)
def test_mistake_is_found(template: dict[str, Any], mutation: Mutation, fault: str) -> None:
    changed = copy.deepcopy(template)
    mutation({name: each.get("Properties", {}) for name, each in changed["Resources"].items()})
    assert faults(changed) == [fault]


def test_parameter_that_allows_too_large_a_size_is_found(template: dict[str, Any]) -> None:
    changed = copy.deepcopy(template)
    changed["Parameters"]["CompressAboveBytes"]["MaxValue"] = 10485761
    assert faults(changed) == ["Api: a compression size of 10485761 is above 10485760"]
