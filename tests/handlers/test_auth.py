"""Which requests the key check lets through."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message, Receive, Scope, Send

from handlers.auth import KeyCheck, presented_keys

KEYS = ("first-key", "zweiter-schlüssel")


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def exchange(
    headers: list[tuple[str, str]], path: str = "/v1/models", keys: tuple[str, ...] = KEYS
) -> list[Message]:
    """What the check sends for a request; 299 stands for the application behind. Reading the body fails."""
    sent: list[Message] = []

    async def behind(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 299, "headers": []})

    async def receive() -> Message:
        raise AssertionError("the body was read")

    async def send(message: Message) -> None:
        sent.append(message)

    raw = [(name.lower().encode(), value.encode()) for name, value in headers]
    scope: dict[str, Any] = {"type": "http", "method": "POST", "path": path, "headers": raw}
    asyncio.run(KeyCheck(behind, keys)(scope, receive, send))
    return sent


def status(*headers: tuple[str, str], path: str = "/v1/models") -> int:
    answered: int = exchange(list(headers), path)[0]["status"]
    return answered


@pytest.mark.parametrize(
    "header",
    [
        ("Authorization", "Bearer first-key"),
        ("Authorization", "bearer  first-key "),
        ("Authorization", "Bearer zweiter-schlüssel"),
        ("x-api-key", "first-key"),
        ("X-Api-Key", "zweiter-schlüssel"),
        ("Authorization", basic("anyone", "first-key")),
        ("Authorization", basic("", "zweiter-schlüssel")),
        ("Authorization", basic("first-key", "")),
        ("Authorization", basic("first-key", "x")),
        ("Authorization", "Basic " + base64.b64encode(b"first-key").decode()),
    ],
)
def test_a_key_opens_in_each_of_its_forms(header: tuple[str, str]) -> None:
    assert status(header) == 299


@pytest.mark.parametrize(
    "header",
    [
        ("Authorization", "Bearer wrong"),
        ("Authorization", "Bearer first-key2"),
        ("Authorization", "Bearer FIRST-KEY"),
        ("Authorization", "Bearer"),
        ("Authorization", "Bearer first-key, Bearer first-key"),
        ("Authorization", "first-key"),
        ("Authorization", "Digest first-key"),
        ("Authorization", basic("wrong", "wrong")),
        ("Authorization", basic("", "")),
        ("Authorization", "Basic first-key"),
        ("Authorization", ""),
        ("x-api-key", ""),
        ("x-api-key", "Bearer first-key"),
        ("api-key", "first-key"),
    ],
)
def test_anything_else_does_not(header: tuple[str, str]) -> None:
    assert status(header) == 401


def test_no_header_does_not() -> None:
    assert status() == 401


def test_the_same_key_twice_opens() -> None:
    assert status(("Authorization", "Bearer first-key"), ("x-api-key", "first-key")) == 299
    assert status(("Authorization", basic("first-key", "x")), ("x-api-key", "first-key")) == 299


@pytest.mark.parametrize("other", ["zweiter-schlüssel", "wrong"])
def test_two_different_keys_do_not_open(other: str) -> None:
    assert status(("Authorization", "Bearer first-key"), ("x-api-key", other)) == 401
    assert status(("x-api-key", other), ("x-api-key", "first-key")) == 401
    assert status(("Authorization", basic("first-key", "x")), ("x-api-key", other)) == 401


def test_blank_and_foreign_credentials_do_not_spoil_a_key() -> None:
    foreign = ("Authorization", "AWS4-HMAC-SHA256 Credential=a, Signature=b")
    assert status(foreign, ("x-api-key", "first-key")) == 299
    assert status(("x-api-key", ""), ("Authorization", "Bearer first-key")) == 299


@pytest.mark.parametrize(
    ("path", "answered"),
    [
        ("/health", 299),
        ("/ping", 299),
        ("/healthz", 401),
        ("/health/x", 401),
        ("/HEALTH", 401),
        ("/", 401),
        ("/version", 401),
        ("/tokenize", 401),
    ],
)
def test_only_the_probes_are_open(path: str, answered: int) -> None:
    assert status(path=path) == answered


def test_refusal_is_an_envelope_with_a_challenge_and_reads_no_body() -> None:
    start, body = exchange([])
    headers = dict(start["headers"])
    assert start["status"] == 401
    assert headers[b"www-authenticate"] == b"Bearer"
    assert headers[b"content-type"] == b"application/json"
    assert b'"type":"AuthenticationError","param":null,"code":401' in body["body"]


def test_other_scopes_pass() -> None:
    passed: list[Scope] = []

    async def behind(scope: Scope, receive: Receive, send: Send) -> None:
        passed.append(scope)

    async def nothing(*_: Any) -> Any:
        return None

    asyncio.run(KeyCheck(behind, KEYS)({"type": "lifespan"}, nothing, nothing))
    assert passed == [{"type": "lifespan"}]


key_texts = st.text(
    st.characters(min_codepoint=33, exclude_categories=("Cs", "Z", "C"), exclude_characters=":"),
    min_size=1,
    max_size=12,
)


@given(st.lists(key_texts, min_size=1, max_size=3), st.lists(key_texts, max_size=3), st.data())
def test_opens_exactly_when_one_known_key_is_presented(
    known: list[str], others: list[str], data: st.DataObject
) -> None:
    wanted = data.draw(st.lists(st.sampled_from(known + others), max_size=3))
    forms = {
        "bearer": lambda key: ("authorization", f"Bearer {key}"),
        "x-api-key": lambda key: ("x-api-key", key),
        "basic password": lambda key: ("authorization", basic("", key)),
        "basic user": lambda key: ("authorization", basic(key, "")),
    }
    headers = [forms[data.draw(st.sampled_from(sorted(forms)))](key) for key in wanted]
    opens = len(set(wanted)) == 1 and wanted[0] in known
    assert exchange(headers, keys=tuple(known))[0]["status"] == (299 if opens else 401)


@given(
    st.lists(st.tuples(st.sampled_from([b"authorization", b"x-api-key", b"cookie"]), st.binary(max_size=40)))
)
def test_any_bytes_can_be_presented(headers: list[tuple[bytes, bytes]]) -> None:
    assert b"" not in presented_keys(headers)
