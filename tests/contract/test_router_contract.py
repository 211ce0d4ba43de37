"""What routers rely on: router-clients.md section 9, the items that a server alone can break, by their numbers."""

from __future__ import annotations

import base64
import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from render_core.conversation.conversation import Conversation
from tests.conformance.served import BASE_URL, InProcess, served

CHAT = "/v1/chat/completions/render"
COMPLETION = "/v1/completions/render"
BASE_NAME = "render-core-demo"

CLIENT_REQUEST: dict[str, Any] = {
    "stream": True,
    "model": "the-client-alias",
    "messages": [
        {"role": "system", "content": "Answer in <b>bold</b> & briefly.\u2028"},
        {"role": "user", "content": "Schreib mir über die Zugvögel."},
    ],
    "temperature": 1.0,
    "seed": 12345,
    "nvext": {"agent_hints": {"priority": 3}},
}
PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
ENVELOPE_KEYS = ["message", "type", "param", "code"]


@pytest.fixture(scope="module")
def router() -> Iterator[InProcess]:
    """The demo model, known by its own name and by two that clients use."""
    with served(None, ["--served-model-name", BASE_NAME, "the-client-alias", "a-lora-name"]) as client:
        yield client


def compact(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def marshalled_by_go(document: Any) -> bytes:
    """As encoding/json writes a map[string]any: sorted keys, whole numbers without a point, HTML characters escaped."""

    def as_float64(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: as_float64(member) for name, member in value.items()}
        if isinstance(value, list):
            return [as_float64(element) for element in value]
        return int(value) if isinstance(value, float) and value.is_integer() else value

    text = json.dumps(as_float64(document), ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode()


def spliced(body: bytes, member: bytes) -> bytes:
    """A body with one more member before its last brace, as the router adds it without parsing."""
    head, brace, tail = body.rpartition(b"}")
    return head + b"," + member + brace + tail


def token_ids(response: httpx.Response) -> list[int]:
    assert response.status_code == 200, response.text
    ids: list[int] = response.json()["token_ids"]
    return ids


def prompts(response: httpx.Response) -> list[list[int]]:
    assert response.status_code == 200, response.text
    return [each["token_ids"] for each in response.json()]


def error(response: httpx.Response) -> dict[str, Any]:
    """The error of an answer in the OpenAI envelope, checked to be one."""
    document = response.json()
    assert list(document) == ["error"]
    told: dict[str, Any] = document["error"]
    assert list(told) == ENVELOPE_KEYS
    assert told["code"] == response.status_code
    return told


def test_1_sorted_body_of_generation_a_gives_the_ids_of_the_original(router: InProcess) -> None:
    stamped = {**CLIENT_REQUEST, "model": BASE_NAME}
    assert token_ids(router.post(CHAT, marshalled_by_go(stamped))) == token_ids(
        router.post(CHAT, compact(CLIENT_REQUEST))
    )


@pytest.mark.parametrize(
    "body",
    [
        b"  \r\n\t" + compact(CLIENT_REQUEST) + b"\n  ",
        spliced(compact(CLIENT_REQUEST), b'"return_mm_kwargs":false'),
        spliced(b" \n" + compact(CLIENT_REQUEST) + b" \n", b'"return_mm_kwargs":false'),
        spliced(compact({"return_mm_kwargs": True, **CLIENT_REQUEST}), b'"return_mm_kwargs":false'),
        spliced(compact({"return_mm_kwargs": "a string", **CLIENT_REQUEST}), b'"return_mm_kwargs":false'),
    ],
    ids=["surrounded by blanks", "spliced", "spliced before blanks", "key twice", "only the last key counts"],
)
def test_1_raw_body_of_generation_b_gives_the_ids_of_the_original(router: InProcess, body: bytes) -> None:
    assert token_ids(router.post(CHAT, body)) == token_ids(router.post(CHAT, compact(CLIENT_REQUEST)))


def test_1_rewriting_to_prefill_only_keeps_the_ids(router: InProcess) -> None:
    rewritten = {**CLIENT_REQUEST, "max_tokens": 1, "max_completion_tokens": 1, "min_tokens": 0}
    assert token_ids(router.post(CHAT, compact(rewritten))) == token_ids(
        router.post(CHAT, compact(CLIENT_REQUEST))
    )


def test_2_text_prompt_gives_an_array_of_one(router: InProcess) -> None:
    response = router.post(COMPLETION, compact({"prompt": "Good morning"}))
    tokens = router.post("/tokenize", compact({"prompt": "Good morning"})).json()["tokens"]
    assert prompts(response) == [tokens]


@pytest.mark.parametrize("texts", [["one", "two words"], ["two words", "one"]])
def test_2_text_prompts_keep_their_order(router: InProcess, texts: list[str]) -> None:
    alone = [prompts(router.post(COMPLETION, compact({"prompt": text})))[0] for text in texts]
    assert prompts(router.post(COMPLETION, compact({"prompt": texts}))) == alone


@pytest.mark.parametrize(
    ("prompt", "rendered"),
    [
        ([1, 2, 3], [[1, 2, 3]]),
        ([[1, 2, 3]], [[1, 2, 3]]),
        ([[3, 2], [1]], [[3, 2], [1]]),
        ([[1], [3, 2]], [[1], [3, 2]]),
    ],
)
def test_2_prompts_of_ids_come_back_as_they_are(
    router: InProcess, prompt: list[Any], rendered: list[list[int]]
) -> None:
    assert prompts(router.post(COMPLETION, compact({"prompt": prompt}))) == rendered


def test_2_request_ids_number_the_prompts(router: InProcess) -> None:
    response = router.post(COMPLETION, compact({"prompt": ["a", "b"]}), {"X-Request-Id": "base"})
    assert [each["request_id"] for each in response.json()] == ["cmpl-base-0", "cmpl-base-1"]


def warm_up(content: Any) -> bytes:
    return compact({"model": BASE_NAME, "max_tokens": 1, "messages": [{"role": "user", "content": content}]})


def test_3_warm_up_with_text_renders(router: InProcess) -> None:
    as_text = token_ids(router.post(CHAT, warm_up("warmup")))
    assert as_text
    assert token_ids(router.post(CHAT, warm_up([{"type": "text", "text": "warmup"}]))) == as_text


def test_3_warm_up_with_an_image_is_refused_before_any_template_renders(
    router: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    rendered: list[Conversation] = []
    monkeypatch.setattr(Conversation, "render", lambda conversation, *_: rendered.append(conversation))
    content = [{"type": "text", "text": "warmup"}, {"type": "image_url", "image_url": {"url": PIXEL}}]
    response = router.post(CHAT, warm_up(content))
    told = error(response)
    assert (told["code"], told["type"], rendered) == (400, "BadRequestError", [])
    assert PIXEL not in response.text


@pytest.mark.parametrize("path", ["/v1/messages/render", "/v1/responses/render"])
def test_4_routes_that_are_not_offered_are_a_404(router: InProcess, path: str) -> None:
    told = error(router.post(path, warm_up("warmup")))
    assert (told["code"], told["type"]) == (404, "NotFoundError")


@pytest.mark.parametrize("path", [CHAT, COMPLETION, "/tokenize", "/detokenize"])
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_4_other_methods_than_post_are_a_405(router: InProcess, method: str, path: str) -> None:
    response = router.request(method, path)
    assert (error(response)["code"], response.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    ("path", "prompt"),
    [(CHAT, {"messages": CLIENT_REQUEST["messages"]}), (COMPLETION, {"prompt": "warmup"})],
)
def test_5_unknown_model_is_a_404_about_the_model(
    router: InProcess, path: str, prompt: dict[str, Any]
) -> None:
    told = error(router.post(path, compact({**prompt, "model": "no-such-model"})))
    assert (told["code"], told["type"], told["param"]) == (404, "NotFoundError", "model")


@pytest.mark.parametrize("name", [BASE_NAME, "the-client-alias", "a-lora-name"])
def test_5_every_served_name_is_accepted_and_echoed(router: InProcess, name: str) -> None:
    response = router.post(CHAT, compact({**CLIENT_REQUEST, "model": name}))
    assert (response.status_code, response.json()["model"]) == (200, name)


@pytest.mark.parametrize("fields", [{}, {"model": None}, {"model": ""}])
def test_5_request_without_a_model_is_answered_with_the_base_name(
    router: InProcess, fields: dict[str, Any]
) -> None:
    response = router.post(CHAT, compact({"messages": CLIENT_REQUEST["messages"], **fields}))
    assert (response.status_code, response.json()["model"]) == (200, BASE_NAME)


def test_5_model_list_names_every_alias_with_an_integer_length(router: InProcess) -> None:
    cards = router.request("GET", "/v1/models").json()["data"]
    assert [card["id"] for card in cards] == [BASE_NAME, "the-client-alias", "a-lora-name"]
    assert all(type(card["max_model_len"]) is int and card["max_model_len"] > 0 for card in cards)


def test_5_accept_any_model_renders_names_it_never_heard_of() -> None:
    with served(None, ["--accept-any-model"]) as client:
        response = client.post(CHAT, compact({**CLIENT_REQUEST, "model": "whatever"}))
    assert (response.status_code, response.json()["model"]) == (200, "whatever")


def tool_round(call: dict[str, Any], **assistant: Any) -> list[dict[str, Any]]:
    """A conversation in which the assistant made one tool call."""
    return [
        {"role": "user", "content": "How warm is it?"},
        {"role": "assistant", "tool_calls": [call], **assistant},
        {"role": "tool", "tool_call_id": "call_1", "content": "17 °C"},
    ]


def tool_call(arguments: Any) -> dict[str, Any]:
    return {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": arguments}}


def chat_ids(router: InProcess, messages: list[dict[str, Any]]) -> list[int]:
    return token_ids(router.post(CHAT, compact({"messages": messages})))


def test_6_assistant_without_content_is_as_one_with_null(router: InProcess) -> None:
    call = tool_call('{"city":"Ulm"}')
    assert chat_ids(router, tool_round(call)) == chat_ids(router, tool_round(call, content=None))


def test_6_reasoning_is_shown_under_its_older_name_too(router: InProcess) -> None:
    call = tool_call("{}")
    shown = chat_ids(router, tool_round(call, reasoning="I must look it up."))
    assert shown == chat_ids(router, tool_round(call, reasoning_content="I must look it up."))
    assert shown != chat_ids(router, tool_round(call))


def test_6_arguments_given_as_text_reach_the_template_as_an_object(router: InProcess) -> None:
    body = {"messages": tool_round(tool_call('{"city":"Ulm"}')), "return_prompt_text": True}
    prompt = router.post(CHAT, compact(body)).json()["prompt_text"]
    assert '<tool_call>{"name": "weather", "arguments": {"city": "Ulm"}}</tool_call>' in prompt


def test_6_arguments_given_as_an_object_are_refused_as_the_python_peer_does(router: InProcess) -> None:
    response = router.post(CHAT, compact({"messages": tool_round(tool_call({"city": "Ulm"}))}))
    assert (error(response)["code"], error(response)["type"]) == (400, "Bad Request")


def test_6_tool_call_id_may_be_left_out(router: InProcess) -> None:
    messages = tool_round(tool_call("{}"))
    anonymous = [*messages[:2], {"role": "tool", "content": "17 °C"}]
    assert chat_ids(router, anonymous) == chat_ids(router, messages)


@pytest.mark.parametrize("path", [CHAT, COMPLETION, "/tokenize", "/v1/models", "/no-such-path"])
def test_7_client_that_offers_gzip_gets_identity_with_its_exact_length(router: InProcess, path: str) -> None:
    body = {CHAT: {"messages": [{"role": "user", "content": "word " * 4000}]}}.get(
        path, {"prompt": "word " * 4000}
    )
    method = "GET" if path == "/v1/models" else "POST"
    headers = {"accept-encoding": "gzip, br", "content-type": "application/json"}
    response = router.request(method, path, content=compact(body), headers=headers)
    assert "content-encoding" not in response.headers
    assert "transfer-encoding" not in response.headers
    assert response.headers["content-length"] == str(len(response.content))
    assert response.headers["content-type"] == "application/json"
    assert response.json()


KEYS = ("first-key", "second-key")
NO_HEADERS: dict[str, str] = {}


def basic(user: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


@pytest.fixture(scope="module")
def guarded() -> Iterator[InProcess]:
    with served(None, ["--api-key", *KEYS]) as client:
        yield client


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("form", ["Bearer", "x-api-key", "Basic user", "Basic password"])
def test_8_key_opens_in_every_form_a_client_can_send(guarded: InProcess, form: str, key: str) -> None:
    headers = {
        "Bearer": {"Authorization": f"Bearer {key}"},
        "x-api-key": {"x-api-key": key},
        "Basic user": basic(key, ""),
        "Basic password": basic("anyone", key),
    }[form]
    assert guarded.post(CHAT, compact({"messages": CLIENT_REQUEST["messages"]}), headers).status_code == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", CHAT),
        ("POST", COMPLETION),
        ("POST", "/tokenize"),
        ("POST", "/detokenize"),
        ("GET", "/v1/models"),
        ("GET", "/version"),
        ("POST", "/v1/messages/render"),
        ("GET", "/no-such-path"),
    ],
)
@pytest.mark.parametrize(
    "headers",
    [
        NO_HEADERS,
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Bearer"},
        {"x-api-key": "wrong"},
        basic("anyone", "wrong"),
        {"Authorization": "Basic no-base64"},
    ],
    ids=["none", "Bearer", "empty Bearer", "x-api-key", "Basic", "broken Basic"],
)
def test_8_without_a_right_key_every_other_route_is_a_401(
    guarded: InProcess, headers: dict[str, str], method: str, path: str
) -> None:
    response = guarded.request(method, path, headers=headers)
    assert (error(response)["code"], response.headers["www-authenticate"]) == (401, "Bearer")


@pytest.mark.parametrize("headers", [NO_HEADERS, {"Authorization": "Bearer wrong"}], ids=["none", "wrong"])
@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/health"), ("HEAD", "/health"), ("GET", "/ping"), ("POST", "/ping")],
)
def test_8_probes_stay_open(guarded: InProcess, method: str, path: str, headers: dict[str, str]) -> None:
    assert guarded.request(method, path, headers=headers).status_code == 200


def test_8_service_without_keys_does_not_look_at_credentials(router: InProcess) -> None:
    response = router.post(
        CHAT, compact({"messages": CLIENT_REQUEST["messages"]}), {"Authorization": "Bearer x"}
    )
    assert response.status_code == 200


TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def test_11_traceparent_is_logged(router: InProcess, caplog: pytest.LogCaptureFixture) -> None:
    headers = {"traceparent": TRACE, "tracestate": "vendor=1", "baggage": "a=b"}
    with caplog.at_level(logging.INFO, "render_core.access"):
        response = router.post(CHAT, compact(CLIENT_REQUEST), headers)
    logged = [record.getMessage() for record in caplog.records if record.name == "render_core.access"]
    assert response.status_code == 200
    assert [line.endswith(f"traceparent={TRACE}") for line in logged] == [True]


def test_11_request_id_header_is_echoed_into_the_answer(router: InProcess) -> None:
    headers = {"X-Request-Id": "router-7"}
    response = router.post(CHAT, compact({**CLIENT_REQUEST, "request_id": "of-the-body"}), headers)
    assert response.headers["x-request-id"] == "router-7"
    assert response.json()["request_id"] == "chatcmpl-router-7"


def test_11_request_id_of_the_body_stands_in_for_the_header(router: InProcess) -> None:
    response = router.post(COMPLETION, compact({"prompt": "a", "request_id": "of-the-body"}))
    assert response.json()[0]["request_id"] == "cmpl-of-the-body"


def test_11_request_without_any_id_gets_one(router: InProcess) -> None:
    response = router.post(CHAT, compact(CLIENT_REQUEST))
    assert re.fullmatch("chatcmpl-[0-9a-f]{16}", response.json()["request_id"])


SPELLINGS = ["/{}", "//{}", "/{}/", "//{}//", "/prod/{}", "/prod//{}", "//prod/{}", "/prod/{}/"]


@pytest.fixture(scope="module")
def staged() -> Iterator[InProcess]:
    with served(None, ["--root-path", "/prod"]) as client:
        yield client


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", CHAT, {"messages": CLIENT_REQUEST["messages"]}),
        ("POST", COMPLETION, {"prompt": "a"}),
        ("POST", "/tokenize", {"prompt": "a"}),
        ("POST", "/detokenize", {"tokens": [1]}),
        ("GET", "/v1/models", None),
        ("GET", "/health", None),
    ],
)
def test_12_stage_prefix_and_needless_slashes_are_served_without_a_redirect(
    staged: InProcess, method: str, path: str, body: Any, spelling: str
) -> None:
    url = BASE_URL + spelling.format(path.removeprefix("/"))
    response = staged.request(
        method, url, content=compact(body), headers={"content-type": "application/json"}
    )
    assert (response.status_code, response.history) == (200, [])


@pytest.mark.parametrize("path", [f"/production{CHAT}", f"/prod/prod{CHAT}", f"/stage{CHAT}"])
def test_12_other_prefixes_are_a_404(staged: InProcess, path: str) -> None:
    assert error(staged.post(path, warm_up("warmup")))["code"] == 404


def test_12_unknown_path_below_the_prefix_is_a_404(staged: InProcess) -> None:
    assert error(staged.post("/prod/v1/messages/render", warm_up("warmup")))["code"] == 404
