"""Requests as the fronts of AWS hand them to a function."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

Event = dict[str, Any]
Front = Callable[..., Event]

JSON = {"Content-Type": "application/json"}


def rest_api(
    method: str,
    path: str,
    body: bytes | None = None,
    headers: Mapping[str, str] = JSON,
    *,
    prefix: str = "",
    stage: str = "prod",
    in_base64: bool = False,
) -> Event:
    """API Gateway REST, proxy integration. `prefix` is the model's; the stage is in no path that counts."""
    route = f"{prefix}/{{proxy+}}"
    return {
        "resource": route,
        "path": prefix + path,
        "httpMethod": method,
        "headers": dict(headers),
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
        "pathParameters": {"proxy": path.lstrip("/")},
        "stageVariables": None,
        "requestContext": {
            "resourcePath": route,
            "httpMethod": method,
            "path": f"/{stage}{prefix}{path}",
            "stage": stage,
            "protocol": "HTTP/1.1",
            "domainName": "abc123.execute-api.xx-test-1.amazonaws.com",
            "requestId": "gateway-request",
            "identity": {"sourceIp": "192.0.2.1", "userAgent": "test"},
        },
        "body": _body(body, in_base64),
        "isBase64Encoded": in_base64,
    }


def http_api(
    method: str,
    path: str,
    body: bytes | None = None,
    headers: Mapping[str, str] = JSON,
    *,
    prefix: str = "",
    stage: str = "prod",
    in_base64: bool = False,
) -> Event:
    """API Gateway HTTP, payload 2.0: a named stage is part of the path."""
    raw_path = ("" if stage == "$default" else f"/{stage}") + prefix + path
    event = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": raw_path,
        "rawQueryString": "",
        "headers": {name.lower(): value for name, value in headers.items()},
        "requestContext": {
            "domainName": "abc123.execute-api.xx-test-1.amazonaws.com",
            "http": {
                "method": method,
                "path": raw_path,
                "protocol": "HTTP/1.1",
                "sourceIp": "192.0.2.1",
                "userAgent": "test",
            },
            "requestId": "gateway-request",
            "routeKey": "$default",
            "stage": stage,
        },
        "isBase64Encoded": in_base64,
    }
    return event if body is None else {**event, "body": _body(body, in_base64)}


def function_url(
    method: str,
    path: str,
    body: bytes | None = None,
    headers: Mapping[str, str] = JSON,
    *,
    prefix: str = "",
    in_base64: bool = False,
) -> Event:
    """A function URL: as an HTTP API without a stage."""
    event = http_api(method, path, body, headers, prefix=prefix, stage="$default", in_base64=in_base64)
    event["requestContext"]["domainName"] = "abc123.lambda-url.xx-test-1.on.aws"
    return event


FRONTS: tuple[Front, ...] = (rest_api, http_api, function_url)


def _body(body: bytes | None, in_base64: bool) -> str | None:
    if body is None:
        return None
    return (base64.b64encode(body) if in_base64 else body).decode()
