"""The routes, and what HTTP adds around the core: bodies, ids, lengths, compression, logs."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from handlers import request_body
from handlers.routes import AT_ONCE_BYTES, RENDERINGS
from handlers.service import create_service
from handlers.settings import Settings
from render_core import Model, RenderError, RequestContext
from render_core.tokenizer.quick import NotQuickError

CHAT = "/v1/chat/completions/render"
COMPLETION = "/v1/completions/render"
GOOD = {"messages": [{"role": "user", "content": "Good morning"}]}


def is_token_ids(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 0 and all(type(each) is int for each in value)


def test_chat_is_one_object(call: Any) -> None:
    response = call("POST", CHAT, json=GOOD)
    assert response.status_code == 200
    assert is_token_ids(response.json()["token_ids"])


def test_completion_is_a_list_with_one_object_for_each_prompt(call: Any) -> None:
    response = call("POST", COMPLETION, json={"prompt": ["a", "b"]})
    assert response.status_code == 200
    assert [is_token_ids(each["token_ids"]) for each in response.json()] == [True, True]


def test_tokenize_and_detokenize_are_inverse(call: Any) -> None:
    tokens = call("POST", "/tokenize", json={"prompt": "Good morning"}).json()["tokens"]
    assert call("POST", "/detokenize", json={"tokens": tokens}).json() == {"prompt": "Good morning"}


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/health"), ("HEAD", "/health"), ("GET", "/ping"), ("POST", "/ping"), ("HEAD", "/ping")],
)
def test_probes_are_empty(call: Any, method: str, path: str) -> None:
    response = call(method, path)
    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["content-length"] == "0"


def test_models_lists_a_card_for_each_name(call: Any, model: Model) -> None:
    answer = call("GET", "/v1/models").json()
    assert answer["object"] == "list"
    assert [card["id"] for card in answer["data"]] == ["demo", "alias"]
    card = answer["data"][0]
    permission = card.pop("permission")[0]
    created = card.pop("created")
    assert card == {
        "id": "demo",
        "object": "model",
        "owned_by": "vllm",
        "root": model.root,
        "parent": None,
        "max_model_len": model.max_model_len,
    }
    assert type(card["max_model_len"]) is int
    assert len(permission.pop("id")) == len("modelperm-") + 16
    assert permission == {
        "object": "model_permission",
        "created": created,
        "allow_create_engine": False,
        "allow_sampling": True,
        "allow_logprobs": True,
        "allow_search_indices": False,
        "allow_view": True,
        "allow_fine_tuning": False,
        "organization": "*",
        "group": None,
        "is_blocking": False,
    }


def test_version(call: Any) -> None:
    assert list(call("GET", "/version").json()) == ["version"]


@pytest.mark.parametrize("path", [f"{CHAT}/", f"/{CHAT}", "//v1//chat/completions/render//", CHAT])
def test_extra_slashes_are_served(call: Any, path: str) -> None:
    assert call("POST", f"http://service{path}", json=GOOD).status_code == 200


def test_stage_prefix_is_served_beside_the_plain_path(model: Model, calling: Any) -> None:
    call = calling(create_service(model, Settings(root_path="/prod", api_key=("k",))))
    key = {"x-api-key": "k"}
    for path in (f"/prod{CHAT}", f"/prod/{CHAT}", CHAT):
        assert call("POST", path, json=GOOD, headers=key).status_code == 200
    assert call("POST", f"/production{CHAT}", json=GOOD, headers=key).status_code == 404
    assert call("GET", "/prod/health").status_code == 200


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        "application/json;charset=latin1",
    ],
)
def test_json_content_types(call: Any, content_type: str) -> None:
    response = call("POST", CHAT, content=json.dumps(GOOD), headers={"content-type": content_type})
    assert response.status_code == 200


@pytest.mark.parametrize(
    "content_type",
    [None, "", "text/plain", "application/vnd.api+json", "application/x-json", "application/json5"],
)
def test_other_content_types_are_refused(call: Any, content_type: str | None) -> None:
    headers = {} if content_type is None else {"content-type": content_type}
    response = call("POST", CHAT, content=json.dumps(GOOD), headers=headers)
    assert response.status_code == 400
    assert response.json()["error"] == {
        "message": "The Content-Type of the request must be application/json",
        "type": "Bad Request",
        "param": None,
        "code": 400,
    }


TOO_LARGE = {
    "message": "The request body is larger than 100 bytes",
    "type": "RequestEntityTooLargeError",
    "param": None,
    "code": 413,
}


@pytest.fixture
def limited(model: Model, calling: Any) -> Any:
    return calling(create_service(model, Settings(max_body_size=100)))


def body_of(size: int) -> bytes:
    return json.dumps(GOOD).encode().ljust(size)


def test_body_of_the_limit_is_served(limited: Any) -> None:
    json_headers = {"content-type": "application/json"}
    assert limited("POST", CHAT, content=body_of(100), headers=json_headers).status_code == 200


def test_announced_length_above_the_limit_is_refused_without_reading(limited: Any) -> None:
    taken: list[int] = []

    async def chunks() -> AsyncIterator[bytes]:
        taken.append(1)
        yield body_of(101)

    headers = {"content-type": "application/json", "content-length": "101"}
    response = limited("POST", CHAT, content=chunks(), headers=headers)
    assert (response.status_code, response.json()["error"], taken) == (413, TOO_LARGE, [])


def test_unannounced_body_is_refused_at_the_limit(limited: Any) -> None:
    taken: list[int] = []

    async def chunks() -> AsyncIterator[bytes]:
        for number in range(1000):
            taken.append(number)
            yield b" " * 60

    response = limited("POST", CHAT, content=chunks(), headers={"content-type": "application/json"})
    assert (response.status_code, response.json()["error"]) == (413, TOO_LARGE)
    assert len(taken) == 2


def test_request_id_is_taken_and_echoed(call: Any) -> None:
    response = call("POST", CHAT, json=GOOD, headers={"X-Request-Id": "abc 123"})
    assert response.headers["x-request-id"] == "abc 123"
    assert response.json()["request_id"] == "chatcmpl-abc 123"


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/health"), ("GET", "/nope"), ("GET", CHAT), ("POST", CHAT), ("GET", "/v1/models")],
)
def test_request_id_is_echoed_on_every_answer(call: Any, method: str, path: str) -> None:
    assert call(method, path, headers={"x-request-id": "abc"}).headers["x-request-id"] == "abc"


@pytest.mark.parametrize("sent", [None, "", "é".encode(), b"a\x7fb", b"a\tb", b"x" * 257])
def test_request_id_that_cannot_be_echoed_is_replaced(call: Any, sent: bytes | None) -> None:
    headers = {} if sent is None else {"x-request-id": sent}
    response = call("POST", CHAT, json=GOOD, headers=headers)
    echoed = response.headers["x-request-id"]
    assert len(bytes.fromhex(echoed)) == 8
    assert response.json()["request_id"] == f"chatcmpl-{echoed}"


def test_request_id_header_can_be_turned_off(model: Model, calling: Any) -> None:
    call = calling(create_service(model, Settings(enable_request_id_headers=False)))
    assert "x-request-id" not in call("GET", "/health", headers={"x-request-id": "abc"}).headers


LONG = {"messages": [{"role": "user", "content": "word " * 2000}]}


def test_answers_are_not_compressed_unless_configured(call: Any) -> None:
    response = call("POST", CHAT, json=LONG, headers={"accept-encoding": "gzip, br"})
    assert "content-encoding" not in response.headers
    assert response.headers["content-type"] == "application/json"
    assert int(response.headers["content-length"]) == len(response.content)


def test_answers_are_compressed_when_configured(model: Model, calling: Any, call: Any) -> None:
    compressing = calling(create_service(model, Settings(compression=True)))
    headers = {"accept-encoding": "gzip", "x-request-id": "same"}
    response = compressing("POST", CHAT, json=LONG, headers=headers)
    assert response.headers["content-encoding"] == "gzip"
    assert response.json() == call("POST", CHAT, json=LONG, headers=headers).json()


def test_keys_are_asked_for_when_configured(model: Model, calling: Any) -> None:
    call = calling(create_service(model, Settings(api_key=("k",))))
    assert call("POST", CHAT, json=GOOD).status_code == 401
    assert call("OPTIONS", CHAT).status_code == 401
    assert call("POST", CHAT, json=GOOD, headers={"authorization": "Bearer k"}).status_code == 200
    assert call("POST", "http://k:@service" + CHAT, json=GOOD).status_code == 200
    assert call("GET", "/health").status_code == 200


def test_the_description_knows_every_route_and_resolves(call: Any) -> None:
    document = call("GET", "/openapi.json").json()
    assert set(document["paths"]) == {*RENDERINGS, "/health", "/ping", "/v1/models", "/version"}
    references = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document)))
    assert {"ChatRequest", "CompletionRequest", "DetokenizeRequest"} <= references
    assert references <= set(document["components"]["schemas"])


def test_clock_is_what_the_settings_say(model: Model, calling: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    contexts: list[RequestContext] = []

    def render(model: Model, body: bytes, context: RequestContext) -> bytes:
        contexts.append(context)
        return b"{}"

    monkeypatch.setitem(RENDERINGS, CHAT, render)
    settings = Settings.from_args(["--clock", "2026-11-29"])
    calling(create_service(model, settings))("POST", CHAT, json=GOOD)
    assert [context.now.isoformat() for context in contexts] == ["2026-11-29T00:00:00"]


def test_rendering_runs_beside_the_event_loop_in_a_bounded_number_of_threads(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = threading.Semaphore(2)
    both = threading.Barrier(2, timeout=30)

    def render(*_: Any) -> bytes:
        assert running.acquire(blocking=False), "more threads than configured"
        both.wait()
        running.release()
        return b"{}"

    monkeypatch.setitem(RENDERINGS, CHAT, render)
    app = create_service(model, Settings(renderer_num_workers=2))

    async def statuses() -> list[int]:
        import httpx

        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service") as client:
            responses = await asyncio.gather(*(client.post(CHAT, json=GOOD) for _ in range(6)))
        return [response.status_code for response in responses]

    assert asyncio.run(statuses()) == [200] * 6


class Renders:
    """Stands in for a render function: tells who is asked, and how the quick model answers."""

    def __init__(self, quick: bytes | Exception) -> None:
        self._quick = quick
        self.asked: list[str] = []

    def __call__(self, model: Model, body: bytes, context: RequestContext) -> bytes:
        is_quick = model.quick is None
        self.asked.append("quick" if is_quick else "whole")
        if is_quick and isinstance(self._quick, Exception):
            raise self._quick
        return b'"quick"' if is_quick else b'"whole"'


@pytest.mark.parametrize(
    ("quick", "padding", "asked"),
    [
        (b"{}", 0, ["quick"]),
        (b"{}", AT_ONCE_BYTES, ["whole"]),
        (NotQuickError(), 0, ["quick", "whole"]),
        (RenderError("wrong, perhaps only in a hurry"), 0, ["quick", "whole"]),
    ],
    ids=["small", "large", "not quick", "wrong"],
)
def test_small_requests_are_rendered_at_once_if_they_can_be(
    model: Model,
    calling: Any,
    monkeypatch: pytest.MonkeyPatch,
    quick: bytes | Exception,
    padding: int,
    asked: list[str],
) -> None:
    renders = Renders(quick)
    monkeypatch.setitem(RENDERINGS, CHAT, renders)
    service = create_service(replace(model, quick=replace(model, quick=None)), Settings())
    response = calling(service)("POST", CHAT, json={**GOOD, "user": "x" * padding})
    assert response.json() == asked[-1]
    assert renders.asked == asked


def test_client_that_leaves_is_no_error(model: Model, caplog: pytest.LogCaptureFixture) -> None:
    app = create_service(model, Settings())
    messages = [{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}]

    async def receive() -> dict[str, Any]:
        return messages.pop(0)

    async def send(message: Any) -> None:
        return None

    headers = [(b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": CHAT, "headers": headers, "query_string": b""}
    with caplog.at_level(logging.DEBUG):
        asyncio.run(app(scope, receive, send))
    assert [record for record in caplog.records if record.levelno > logging.INFO] == []


def test_what_a_client_left_behind_is_not_rendered(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    may_end = threading.Event()
    rendered: list[bytes] = []

    def render(model: Model, body: bytes, context: RequestContext) -> bytes:
        rendered.append(body)
        assert may_end.wait(30)
        return b"{}"

    monkeypatch.setitem(RENDERINGS, CHAT, render)
    app = create_service(model, Settings(renderer_num_workers=1))

    async def request(body: bytes, *, leaves: bool) -> None:
        messages: list[dict[str, Any]] = [{"type": "http.request", "body": body}]

        async def receive() -> dict[str, Any]:
            if messages:
                return messages.pop()
            if not leaves:
                await asyncio.Event().wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            return None

        headers = [(b"content-type", b"application/json")]
        scope = {"type": "http", "method": "POST", "path": CHAT, "headers": headers, "query_string": b""}
        await app(scope, receive, send)

    async def several() -> None:
        first = asyncio.ensure_future(request(b"first", leaves=False))
        await asyncio.sleep(0.05)
        await asyncio.gather(*(request(b"left", leaves=True) for _ in range(20)))
        last = asyncio.ensure_future(request(b"last", leaves=False))
        may_end.set()
        await asyncio.gather(first, last)

    asyncio.run(several())
    assert rendered == [b"first", b"last"]


def test_a_body_that_never_comes_is_given_up(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    app = create_service(model, Settings())
    monkeypatch.setattr(request_body, "IDLE_SECONDS", 0.1)
    sent: list[Any] = []
    parts = [{"type": "http.request", "body": b"{", "more_body": True}] * 3

    async def receive() -> dict[str, Any]:
        if not parts:
            await asyncio.Event().wait()
        await asyncio.sleep(0.05)  # three of them take longer than the limit, none of them does
        return parts.pop()

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": CHAT, "headers": headers, "query_string": b""}
    asyncio.run(app(scope, receive, send))
    assert parts == []
    assert sent[0]["status"] == 408
    assert (b"connection", b"close") in sent[0]["headers"]
    assert json.loads(sent[1]["body"])["error"]["type"] == "RequestTimeoutError"


def test_a_request_that_the_server_gives_up_gets_an_envelope(model: Model) -> None:
    app = create_service(model, Settings())
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Any) -> None:
        sent.append(message)

    async def cancelled() -> None:
        headers = [(b"content-type", b"application/json")]
        scope = {"type": "http", "method": "POST", "path": CHAT, "headers": headers, "query_string": b""}
        task = asyncio.ensure_future(app(scope, receive, send))
        await asyncio.sleep(0.05)
        task.cancel()
        await task

    asyncio.run(cancelled())
    assert sent[0]["status"] == 503
    assert json.loads(sent[1]["body"])["error"]["code"] == 503


def test_access_log_tells_what_happened_and_not_what_was_said(
    call: Any, caplog: pytest.LogCaptureFixture
) -> None:
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    with caplog.at_level(logging.INFO, "render_core.access"):
        call("POST", CHAT, json=GOOD, headers={"x-request-id": "abc", "traceparent": trace})
        call("GET", "/a%0Ab", headers={"traceparent": "00-forged\n"})
    lines = [record.getMessage() for record in caplog.records if record.name == "render_core.access"]
    assert len(lines) == 2
    assert lines[0].startswith(f"POST {CHAT} 200 ")
    assert lines[0].endswith(f" ms id='abc' traceparent={trace}")
    assert lines[1].startswith("GET /a%0Ab 404 ")
    assert "forged" not in lines[1]
    assert "morning" not in caplog.text
