"""The Lambda authorizer of the REST API: finds the key that a request presents, for the gateway to check.

It imports nothing outside the standard library and knows no key: the usage plan does. What it returns as
`usageIdentifierKey` is looked up by API Gateway, which refuses a key that no usage plan of the stage holds.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Mapping
from typing import Any

_KEY = re.compile(r"[A-Za-z0-9._~+/=-]{20,128}")
"""API Gateway's keys have 20 to 128 characters; what no Bearer token may hold, no key of ours holds."""


def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:
    """A policy that lets the request through to the usage plan.

    Raises Exception("Unauthorized"), which API Gateway answers with its UNAUTHORIZED response, unless the
    headers present exactly one key.
    """
    key = sole_key(_headers(event))
    if key is None:
        raise Exception("Unauthorized")  # API Gateway knows this text and no type
    return {
        "principalId": "api-key",
        "policyDocument": {
            "Version": "2012-10-17",
            "Statement": [
                {"Action": "execute-api:Invoke", "Effect": "Allow", "Resource": _stage(event["methodArn"])}
            ],
        },
        "usageIdentifierKey": key,
    }


def sole_key(headers: Iterable[tuple[str, str]]) -> str | None:
    """The key, if the headers present one and nothing that differs from it.

    It may come as Bearer token, as either half of Basic credentials (routers that know only a URL send the
    userinfo of `https://key:x@host` or `https://x:key@host`), and as x-api-key. A credential that cannot be a
    key counts as a different one; empty ones and other schemes are passed over.
    """
    presented = set(_presented(headers))
    return presented.pop() if len(presented) == 1 else None


def _presented(headers: Iterable[tuple[str, str]]) -> Iterable[str | None]:
    for name, value in headers:
        match name.lower():
            case "x-api-key" if value.strip():
                yield _key_in(value.strip())
            case "authorization":
                scheme, _, credentials = value.strip().partition(" ")
                credentials = credentials.strip()
                if scheme.lower() == "bearer" and credentials:
                    yield _key_in(credentials)
                elif scheme.lower() == "basic" and credentials:
                    yield _key_in(*_userinfo(credentials))


def _key_in(*candidates: str) -> str | None:
    """The only candidate that has the form of a key; two that differ are none."""
    keys = {each for each in candidates if _KEY.fullmatch(each)}
    return keys.pop() if len(keys) == 1 else None


def _userinfo(credentials: str) -> tuple[str, str]:
    try:
        user, _, password = base64.b64decode(credentials, validate=True).decode("ascii").partition(":")
    except (binascii.Error, ValueError):
        return "", ""
    return user, password


def _headers(event: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Every header with every value: a header that came twice shows only its last value in `headers`."""
    several = event.get("multiValueHeaders") or {}
    once = event.get("headers") or {}
    pairs = [(name, value) for name, values in several.items() for value in values]
    return pairs or list(once.items())


def _stage(method_arn: str) -> str:
    """All methods of the stage, since the gateway may keep the policy for other paths with the same key."""
    api, stage = method_arn.split("/")[:2]
    return f"{api}/{stage}/*"
