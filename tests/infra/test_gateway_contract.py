"""router-clients.md section 9 through the gateway: the contract of the service, and what only a gateway can break.

The tests that are imported are those of the service itself; here their client speaks to the simulated gateway, behind
which the real Lambda handler serves the demo model.
"""

from __future__ import annotations

import base64
import importlib
import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from handlers import authorizer
from tests.contract.test_router_contract import (  # noqa: F401
    BASE_NAME,
    CHAT,
    CLIENT_REQUEST,
    COMPLETION,
    TRACE,
    compact,
    error,
    test_1_raw_body_of_generation_b_gives_the_ids_of_the_original,
    test_1_rewriting_to_prefill_only_keeps_the_ids,
    test_1_sorted_body_of_generation_a_gives_the_ids_of_the_original,
    test_2_prompts_of_ids_come_back_as_they_are,
    test_2_request_ids_number_the_prompts,
    test_2_text_prompt_gives_an_array_of_one,
    test_2_text_prompts_keep_their_order,
    test_3_warm_up_with_an_image_is_refused_before_any_template_renders,
    test_3_warm_up_with_text_renders,
    test_4_other_methods_than_post_are_a_405,
    test_4_routes_that_are_not_offered_are_a_404,
    test_5_every_served_name_is_accepted_and_echoed,
    test_5_model_list_names_every_alias_with_an_integer_length,
    test_5_request_without_a_model_is_answered_with_the_base_name,
    test_5_unknown_model_is_a_404_about_the_model,
    test_6_arguments_given_as_an_object_are_refused_as_the_python_peer_does,
    test_6_arguments_given_as_text_reach_the_template_as_an_object,
    test_6_assistant_without_content_is_as_one_with_null,
    test_6_reasoning_is_shown_under_its_older_name_too,
    test_6_tool_call_id_may_be_left_out,
    test_7_client_that_offers_gzip_gets_identity_with_its_exact_length,
    test_11_request_id_header_is_echoed_into_the_answer,
    test_11_request_id_of_the_body_stands_in_for_the_header,
    test_11_request_without_any_id_gets_one,
)
from tests.infra.gateway import Function, Gateway

KEY = "Uq4vN7pKx2Lr9TzBd6Wm1HsE"
SECOND_KEY = "aC8yJ3fGk5Qn0RtVw7Xe2DiO"
UNKNOWN_KEY = "nQ5bM0sZr8Yc4KhXu2Pj7LfA"
ADDRESS = "https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com/dev/demo"
BEARER = {"Authorization": f"Bearer {KEY}"}
MEBIBYTE = 1024 * 1024


class Client:
    """A client with the base URL of a model; it has the members that the contract's tests use."""

    def __init__(self, gateway: Gateway, headers: dict[str, str]) -> None:
        self.gateway = gateway
        self._client = httpx.Client(transport=gateway, base_url=ADDRESS, headers=headers)

    def request(self, method: str, path: str, **parts: Any) -> httpx.Response:
        return self._client.request(method, path, **parts)

    def post(self, path: str, body: bytes, headers: dict[str, str] | None = None) -> httpx.Response:
        return self.request(
            "POST", path, content=body, headers={"content-type": "application/json", **(headers or {})}
        )


Connect = Callable[..., Client]


@pytest.fixture(scope="module")
def handler(template: dict[str, Any]) -> Iterator[Function]:
    """The Lambda entry with the variables that the template gives it, but for the bundle of a built function."""
    variables = template["Resources"]["DemoFunction"]["Properties"]["Environment"]["Variables"]
    names = ",".join((BASE_NAME, "the-client-alias", "a-lora-name"))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**variables, "RENDER_CORE_SERVED_MODEL_NAME": names}.items():
            patch.setenv(name, value)
        patch.delenv("RENDER_CORE_MODEL")
        yield importlib.reload(importlib.import_module("handlers.lambda_function")).handler


@pytest.fixture(scope="module")
def connect(template: dict[str, Any], handler: Function) -> Connect:
    """Gives a client of a new gateway; by default with a key, and with the real functions behind it."""

    def made(
        headers: dict[str, str] | None = None, function: Function = handler, **parameters: str
    ) -> Client:
        functions = {"DemoFunction": function, "AuthorizerFunction": authorizer.handler}
        gateway = Gateway(
            template, functions, {KEY, SECOND_KEY}, {"KeyRate": "1e9", "KeyBurst": "1e9"} | parameters
        )
        return Client(gateway, BEARER if headers is None else headers)

    return made


@pytest.fixture(scope="module")
def router(connect: Connect) -> Client:
    return connect()


def basic(user: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


@pytest.mark.parametrize(
    "headers",
    [
        BEARER,
        basic(KEY, "x"),
        basic("x", KEY),
        basic(KEY, ""),
        {"x-api-key": KEY},
        {**BEARER, "x-api-key": KEY},
    ],
    ids=["Bearer", "Basic user", "Basic password", "Basic user alone", "x-api-key", "the same twice"],
)
def test_8_key_opens_in_every_form_a_client_can_send(connect: Connect, headers: dict[str, str]) -> None:
    assert connect(headers).post(CHAT, compact(CLIENT_REQUEST)).status_code == 200


def test_8_userinfo_of_the_url_is_a_key(template: dict[str, Any], handler: Function) -> None:
    functions = {"DemoFunction": handler, "AuthorizerFunction": authorizer.handler}
    client = httpx.Client(transport=Gateway(template, functions, {KEY}))
    url = ADDRESS.replace("https://", f"https://{KEY}:x@") + CHAT
    assert client.post(url, json=CLIENT_REQUEST).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer"},
        {"Authorization": f"Bearer {UNKNOWN_KEY}"},
        {"Authorization": "Bearer short"},
        {"x-api-key": UNKNOWN_KEY},
        basic("anyone", "wrong"),
        basic("x", UNKNOWN_KEY),
        {"Authorization": "Basic ***"},
        {**BEARER, "x-api-key": SECOND_KEY},
        basic(KEY, SECOND_KEY),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("method", "path"), [("POST", CHAT), ("GET", "/v1/models"), ("GET", ""), ("GET", "/no-such-path")]
)
def test_8_without_a_right_key_every_route_of_a_model_is_a_401(
    connect: Connect, headers: dict[str, str], method: str, path: str
) -> None:
    response = connect(headers).request(method, ADDRESS + path)
    assert (error(response)["code"], response.headers["www-authenticate"]) == (401, "Bearer")


@pytest.mark.parametrize("headers", [{}, {"Authorization": f"Bearer {UNKNOWN_KEY}"}], ids=["none", "unknown"])
@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/health"), ("HEAD", "/health"), ("GET", "/ping"), ("POST", "/ping")]
)
def test_8_probes_stay_open(connect: Connect, headers: dict[str, str], method: str, path: str) -> None:
    assert connect(headers).request(method, path).status_code == 200


@pytest.mark.parametrize("headers", [{}, BEARER], ids=["no key", "key"])
@pytest.mark.parametrize("path", ["", "/", "/demos/v1/models", "/no-model/v1/chat/completions/render"])
def test_4_path_of_no_model_is_a_404_and_never_a_403(
    connect: Connect, path: str, headers: dict[str, str]
) -> None:
    response = connect(headers).request("POST", ADDRESS.removesuffix("/demo") + path)
    assert (error(response)["code"], error(response)["type"]) == (404, "NotFoundError")


def padded(size: int) -> bytes:
    """A request body of a number of bytes, most of them in a field that nobody reads."""
    body = compact({**CLIENT_REQUEST, "padding": ""})
    return body.replace(b'"padding":""', b'"padding":"%s"' % (b"x" * (size - len(body))))


@pytest.mark.parametrize(
    ("mebibytes", "status"), [(5.9, 200), (6.1, 413), (10.1, 413)], ids=["5.9 MB", "6.1 MB", "10.1 MB"]
)
def test_9_size_decides_between_an_answer_and_an_envelope(
    router: Client, mebibytes: float, status: int
) -> None:
    response = router.post(CHAT, padded(int(mebibytes * MEBIBYTE)))
    assert response.status_code == status
    if status == 413:
        assert error(response)["type"] == "RequestEntityTooLargeError"


def test_10_more_than_the_burst_is_a_429_that_says_when_to_retry(connect: Connect) -> None:
    client = connect(KeyRate="1", KeyBurst="2")
    statuses = [client.request("GET", "/v1/models").status_code for _ in range(3)]
    refused = client.request("GET", "/v1/models")
    assert (statuses, error(refused)["code"], refused.headers["retry-after"]) == ([200, 200, 429], 429, "1")
    client.gateway.clock.now += 1
    assert client.request("GET", "/v1/models").status_code == 200


def test_10_keys_are_throttled_one_by_one(connect: Connect) -> None:
    client = connect(KeyRate="1", KeyBurst="1")
    others = {"Authorization": f"Bearer {SECOND_KEY}"}
    assert [client.request("GET", "/v1/models").status_code for _ in range(2)] == [200, 429]
    assert client.request("GET", "/v1/models", headers=others).status_code == 200


def test_10_used_up_quota_is_a_429(connect: Connect) -> None:
    client = connect(KeyQuota="2")
    responses = [client.request("GET", "/v1/models") for _ in range(3)]
    assert [each.status_code for each in responses] == [200, 200, 429]
    assert (error(responses[2])["code"], responses[2].headers["retry-after"]) == (429, "3600")


def test_10_probes_are_no_part_of_the_quota(connect: Connect) -> None:
    client = connect(KeyQuota="1")
    assert [client.request("GET", path).status_code for path in ("/health", "/v1/models")] == [200, 200]


def test_10_slow_function_is_a_504(connect: Connect) -> None:
    def slow(event: dict[str, Any], context: Any) -> dict[str, Any]:
        client.gateway.clock.now += 24.6
        return {"statusCode": 200, "body": "{}"}

    client = connect(function=slow)
    assert error(client.post(CHAT, compact(CLIENT_REQUEST)))["code"] == 504


def crashing(event: dict[str, Any], context: Any) -> dict[str, Any]:
    raise MemoryError


@pytest.mark.parametrize(
    "function",
    [
        crashing,
        lambda event, context: {"errorMessage": "2026-11-29T12:00:00Z Task timed out after 25.00 seconds"},
        lambda event, context: {"statusCode": 200, "body": "x" * (6 * MEBIBYTE)},
    ],
    ids=["crash", "no answer", "too large an answer"],
)
def test_10_function_without_an_answer_is_a_502_in_the_envelope(connect: Connect, function: Function) -> None:
    assert error(connect(function=function).post(CHAT, compact(CLIENT_REQUEST)))["code"] == 502


def test_11_traceparent_is_logged_and_the_prompt_is_not(
    router: Client, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.INFO):
        response = router.post(CHAT, compact(CLIENT_REQUEST), {"traceparent": TRACE})
    logged = caplog.text + capsys.readouterr().out
    assert response.status_code == 200
    assert TRACE in logged
    assert "Zugv" not in logged
    assert KEY not in logged


@pytest.mark.parametrize("spelling", ["/{}", "//{}", "/{}/", "//{}//"])
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", CHAT, {"messages": CLIENT_REQUEST["messages"]}),
        ("POST", COMPLETION, {"prompt": "a"}),
        ("POST", "/tokenize", {"prompt": "a"}),
        ("POST", "/detokenize", {"tokens": [1]}),
        ("GET", "/v1/models", None),
    ],
)
def test_12_needless_slashes_below_the_base_url_are_served_without_a_redirect(
    router: Client, method: str, path: str, body: Any, spelling: str
) -> None:
    url = ADDRESS + spelling.format(path.removeprefix("/"))
    response = router.request(
        method, url, content=compact(body), headers={"content-type": "application/json"}
    )
    assert (response.status_code, response.history) == (200, [])


def test_12_unknown_path_of_a_model_is_answered_by_the_application(router: Client) -> None:
    response = router.post("/v1/messages/render", compact(CLIENT_REQUEST))
    assert error(response)["code"] == 404
    assert "x-request-id" in response.headers


def test_authorizer_is_asked_for_every_request_that_needs_a_key(connect: Connect) -> None:
    client = connect()
    for path in ("/v1/models", "/version", "/health"):
        client.request("GET", path)
    assert client.gateway.authorizer_calls == 2


def test_no_refusal_repeats_a_key_or_the_prompt(connect: Connect) -> None:
    client = connect({"Authorization": f"Bearer {UNKNOWN_KEY}"})
    text = client.post(CHAT, compact({"messages": [{"role": "user", "content": "a secret"}]})).text
    assert UNKNOWN_KEY not in text
    assert "secret" not in text
    assert json.loads(text)["error"]["message"]
