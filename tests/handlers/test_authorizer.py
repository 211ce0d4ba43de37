"""The authorizer: which headers present exactly one key, in which form, and what the gateway is told."""

from __future__ import annotations

import base64
import string
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers.authorizer import handler, sole_key

KEY = "Uq4vN7pKx2Lr9TzBd6Wm1HsE"
OTHER = "aC8yJ3fGk5Qn0RtVw7Xe2DiO"
ARN = "arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/prod/POST/demo/v1/chat/completions/render"
REPOSITORY = Path(__file__).parents[2]

keys = st.text(string.ascii_letters + string.digits, min_size=20, max_size=128)
no_keys = st.text(string.ascii_letters + string.digits, max_size=19)


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def request(**headers: str) -> dict[str, Any]:
    """The event of a REQUEST authorizer, with underscores for hyphens in header names."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    several = {name: [value] for name, value in named.items()}
    return {"type": "REQUEST", "methodArn": ARN, "headers": named, "multiValueHeaders": several}


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": f"Bearer {KEY}"},
        {"authorization": f"bearer  {KEY} "},
        {"AUTHORIZATION": f"BEARER {KEY}"},
        {"Authorization": basic(KEY, "x")},
        {"Authorization": basic("x", KEY)},
        {"Authorization": basic(KEY, "")},
        {"Authorization": basic("", KEY)},
        {"Authorization": basic(KEY, KEY)},
        {"Authorization": "Basic " + base64.b64encode(KEY.encode()).decode()},
        {"x-api-key": KEY},
        {"X-Api-Key": f" {KEY} "},
        {"Authorization": f"Bearer {KEY}", "x-api-key": KEY},
        {"Authorization": basic("router", KEY), "X-API-KEY": KEY},
        {"Authorization": "Bearer ", "x-api-key": KEY},
        {"Authorization": f"Bearer {KEY}", "x-api-key": ""},
        {"Authorization": 'Digest username="a"', "x-api-key": KEY},
    ],
    ids=str,
)
def test_one_key_is_found_in_every_form(headers: dict[str, str]) -> None:
    assert sole_key(headers.items()) == KEY


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content-Type": "application/json"},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": KEY},
        {"Authorization": f"Token {KEY}"},
        {"Authorization": "Bearer too-short"},
        {"Authorization": "Bearer " + "k" * 129},
        {"Authorization": f"Bearer {KEY} {KEY}"},
        {"Authorization": f"Bearer {KEY}, Bearer {KEY}"},
        {"Authorization": f"Bearer {KEY}\u00e9"},
        {"Authorization": basic(KEY, OTHER)},
        {"Authorization": basic("anyone", "nothing")},
        {"Authorization": basic("", "")},
        {"Authorization": basic("x", f"{KEY}:x")},
        {"Authorization": basic("\u00fc", KEY)},
        {"Authorization": "Basic ***"},
        {"Authorization": "Basic " + base64.b64encode(KEY.encode()).decode().rstrip("=") + "!"},
        {"x-api-key": ""},
        {"x-api-key": "too-short"},
        {"Authorization": f"Bearer {KEY}", "x-api-key": OTHER},
        {"Authorization": f"Bearer {KEY}", "x-api-key": "too-short"},
        {"Authorization": "Bearer too-short", "x-api-key": KEY},
        {"Authorization": "Basic ***", "x-api-key": KEY},
        {"Authorization": basic(OTHER, "x"), "x-api-key": KEY},
    ],
    ids=str,
)
def test_no_key_and_two_different_keys_are_refused(headers: dict[str, str]) -> None:
    assert sole_key(headers.items()) is None


def test_header_that_came_twice_is_read_twice() -> None:
    event = request() | {"multiValueHeaders": {"Authorization": [f"Bearer {KEY}", f"Bearer {OTHER}"]}}
    with pytest.raises(Exception, match=r"\AUnauthorized\Z"):
        handler(event | {"headers": {"Authorization": f"Bearer {KEY}"}}, None)


def test_policy_covers_the_stage_and_names_the_key() -> None:
    assert handler(request(Authorization=f"Bearer {KEY}"), None) == {
        "principalId": "api-key",
        "policyDocument": {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Action": "execute-api:Invoke",
                    "Effect": "Allow",
                    "Resource": "arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/prod/*",
                }
            ],
        },
        "usageIdentifierKey": KEY,
    }


def test_policy_does_not_depend_on_the_path() -> None:
    event = request(x_api_key=KEY)
    root = event | {"methodArn": ARN.rpartition("/demo")[0] + "/"}
    assert handler(event, None) == handler(root, None)


@pytest.mark.parametrize("absent", [None, {}])
def test_event_without_the_map_of_all_values_is_read_from_the_other(absent: Any) -> None:
    event = request(Authorization=f"Bearer {KEY}") | {"multiValueHeaders": absent}
    assert handler(event, None)["usageIdentifierKey"] == KEY


@pytest.mark.parametrize("absent", [None, {}])
def test_event_without_headers_is_refused(absent: Any) -> None:
    event = {"methodArn": ARN, "headers": absent, "multiValueHeaders": absent}
    with pytest.raises(Exception, match=r"\AUnauthorized\Z"):
        handler(event, None)


forms = st.sampled_from(
    [
        lambda key: ("Authorization", f"Bearer {key}"),
        lambda key: ("Authorization", basic(key, "x")),
        lambda key: ("Authorization", basic("x", key)),
        lambda key: ("x-api-key", key),
    ]
)


@given(st.lists(forms, min_size=1, max_size=4), keys)
def test_the_same_key_in_any_forms_is_that_key(written: list[Any], key: str) -> None:
    assert sole_key([form(key) for form in written]) == key


@given(forms, forms, keys, keys | no_keys.filter(bool))
def test_two_different_credentials_are_none(first: Any, second: Any, key: str, other: str) -> None:
    headers = [first(key), second(other)]
    assert sole_key(headers) == (key if key == other else None)


@given(keys, no_keys.filter(lambda text: ":" not in text), st.booleans())
def test_the_half_of_basic_that_is_a_key_is_taken(key: str, filler: str, first: bool) -> None:
    user, password = (key, filler) if first else (filler, key)
    assert sole_key([("Authorization", basic(user, password))]) == key


header_names = st.sampled_from(["Authorization", "authorization", "x-api-key", "X-Api-Key", "Cookie"])


@given(st.lists(st.tuples(header_names, st.text() | st.from_regex(r"(Bearer|Basic) .*"))))
def test_any_headers_give_a_key_that_they_hold_or_none(headers: list[tuple[str, str]]) -> None:
    key = sole_key(headers)
    shown = " ".join(value for _, value in headers)
    assert key is None or key in shown or "basic" in shown.lower()
    assert key is None or 20 <= len(key) <= 128


def test_it_imports_nothing_outside_the_standard_library() -> None:
    script = "import sys, handlers.authorizer; print(*{name.partition('.')[0] for name in sys.modules})"
    command = [sys.executable, "-S", "-c", script]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) - sys.stdlib_module_names - {"__main__"} == {"handlers"}
