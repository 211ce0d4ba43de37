"""Paths of the application, found in the events of every front that AWS has."""

from __future__ import annotations

from typing import Any

import pytest

from handlers.lambda_events import is_http, path_within_api

CHAT = "/v1/chat/completions/render"


def rest(resource: str, stage: str = "prod", **parameters: str) -> dict[str, Any]:
    return {
        "resource": resource,
        "httpMethod": "POST",
        "pathParameters": parameters or None,
        "requestContext": {"stage": stage},
    }


def http_api(route_key: str, stage: str = "$default", **parameters: str) -> dict[str, Any]:
    return {
        "version": "2.0",
        "routeKey": route_key,
        "requestContext": {"stage": stage, "http": {"method": "POST"}},
        **({"pathParameters": parameters} if parameters else {}),
    }


BELOW_MODEL = rest("/qwen3/{proxy+}", proxy=CHAT[1:])
HEALTH = rest("/qwen3/health")


@pytest.mark.parametrize(
    ("event", "path", "expected"),
    [
        pytest.param(BELOW_MODEL, f"/qwen3{CHAT}", f"/qwen3{CHAT}", id="rest"),
        pytest.param(BELOW_MODEL, f"/base/qwen3{CHAT}", f"/qwen3{CHAT}", id="rest, custom domain"),
        pytest.param(BELOW_MODEL, f"/a/b/qwen3{CHAT}", f"/qwen3{CHAT}", id="rest, base path of two segments"),
        pytest.param(
            BELOW_MODEL, f"/base/prod/qwen3{CHAT}", f"/qwen3{CHAT}", id="rest, mapped without a stage"
        ),
        pytest.param(BELOW_MODEL, f"//qwen3/{CHAT}/", f"/qwen3{CHAT}", id="rest, doubled slashes"),
        pytest.param(HEALTH, "/base/qwen3/health", "/qwen3/health", id="rest, route without parameter"),
        pytest.param(rest("/{proxy+}", proxy=CHAT[1:]), f"/qwen3{CHAT}", CHAT, id="rest, model as base path"),
        pytest.param(
            rest("/{proxy+}", stage="v1", proxy=CHAT[1:]), CHAT, CHAT, id="rest, stage named as a segment"
        ),
        pytest.param(rest("/{proxy+}", stage="v1"), CHAT, CHAT, id="rest, parameters are missing"),
        pytest.param(rest("/{proxy+}", proxy="v1/x y"), "/base/v1/x y", "/v1/x y", id="rest, decoded"),
        pytest.param(rest("/{proxy+}", proxy="v1/x%20y"), "/base/v1/x y", "/v1/x y", id="rest, encoded"),
        pytest.param(rest("/{proxy+}", proxy="v1/{a}"), "/v1/{a}", "/v1/{a}", id="rest, braces in the path"),
        pytest.param(http_api("$default"), f"/qwen3{CHAT}", f"/qwen3{CHAT}", id="http api"),
        pytest.param(
            http_api("$default", "prod"), f"/prod/qwen3{CHAT}", f"/qwen3{CHAT}", id="http api, stage"
        ),
        pytest.param(
            http_api("$default", "prod"), f"/production{CHAT}", f"/production{CHAT}", id="http api, segments"
        ),
        pytest.param(http_api("$default", "v1"), f"/v1{CHAT}", CHAT, id="http api, stage named as a segment"),
        pytest.param(http_api("$default", "prod"), "/prod", "/", id="http api, stage alone"),
        pytest.param(
            http_api("ANY /qwen3/{proxy+}", "prod", proxy=CHAT[1:]),
            f"/prod/qwen3{CHAT}",
            f"/qwen3{CHAT}",
            id="http api, route",
        ),
        pytest.param(
            {**rest("$default"), "version": "1.0"}, f"/prod{CHAT}", CHAT, id="http api, payload 1.0, stage"
        ),
        pytest.param(
            {**rest("/{proxy+}", proxy=CHAT[1:]), "version": "1.0"},
            f"/base{CHAT}",
            CHAT,
            id="http api, payload 1.0, custom domain",
        ),
        pytest.param({"httpMethod": "POST", "requestContext": {"elb": {}}}, CHAT, CHAT, id="load balancer"),
        pytest.param({**BELOW_MODEL, "pathParameters": "?"}, CHAT, CHAT, id="malformed parameters"),
        pytest.param({**BELOW_MODEL, "resource": 3}, CHAT, CHAT, id="malformed resource"),
    ],
)
def test_path_within_api(event: dict[str, Any], path: str, expected: str) -> None:
    assert path_within_api(event, path) == expected


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (rest("/"), True),
        (http_api("$default"), True),
        ({}, False),
        (None, False),
        ([], False),
        ("warm", False),
        ({"source": "aws.events", "detail-type": "Scheduled Event", "detail": {}}, False),
        ({"requestContext": None, "httpMethod": "GET"}, False),
        ({"requestContext": {"routeKey": "$connect", "eventType": "CONNECT"}}, False),
        ({"Records": []}, False),
    ],
)
def test_only_http_events_are_requests(event: Any, expected: bool) -> None:
    assert is_http(event) is expected
