"""Mistral prompts: samples as vLLM 0.33 makes them, release by release, and what each release refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from render_core.errors import ConfigurationError, RenderError
from render_core.families.encoders.mistral import build
from render_core.protocol.chat import ChatRequest
from render_core.protocol.tokenize import TokenizeChatRequest
from render_core.tokenizer.tekken import HEADER_KEY
from tests.families.encoders.chats import encode_request
from tests.families.encoders.small_tekken import FIRST_TOKENS, document, encoder_of_release

SAMPLES = sorted((Path(__file__).parent / "data" / "mistral").glob("*"))
RELEASES = (3, 7, 11, 13, 15)
HELLO = {"role": "user", "content": "Hello"}
ID, OTHER_ID = "abcdefgh1", "abcdefgh2"


def prompt(release: int, body: dict[str, Any], *, tokenize: bool = False) -> str:
    tokenizer, encoder = encoder_of_release(document(release))
    request = TokenizeChatRequest.parse(body) if tokenize else ChatRequest.parse(body)
    return tokenizer.engine.decode(encode_request(encoder, request).ids or [])


def refused(release: int, *messages: Any, tokenize: bool = False, **fields: Any) -> RenderError:
    with pytest.raises(RenderError) as caught:
        prompt(release, {"messages": list(messages), **fields}, tokenize=tokenize)
    return caught.value


def calling(*ids: str, **fields: Any) -> dict[str, Any]:
    calls = [{"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in ids]
    return {"role": "assistant", "tool_calls": calls, **fields}


def result(call_id: str = ID, **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "r", **fields}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_sample_has_the_recorded_prompt(sample: Path) -> None:
    release = int(sample.name.partition("-")[0].removeprefix("v"))
    request = json.loads((sample / "request.json").read_text(encoding="utf-8"))
    expected = (sample / "expected.txt").read_text(encoding="utf-8")
    assert prompt(release, request) == expected


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    "messages",
    [
        [],
        [calling(ID)],
        [HELLO, {"role": "narrator", "content": "x"}],
        [HELLO, {"role": "function", "name": "f", "content": "x"}],
        [HELLO, {"role": "assistant", "content": "x"}],
        [HELLO, {"role": "assistant", "content": "x"}, {"role": "system", "content": "x"}, HELLO],
        [HELLO, {"role": "assistant", "content": ""}, HELLO],
        [HELLO, {"role": "assistant", "content": [{"type": "text", "text": ""}]}, HELLO],
        [{"role": "user"}],
        [{"role": "user", "content": [{"type": "thinking", "thinking": "x"}]}],
        [{"role": "user", "content": [{"type": "input_text", "text": "x"}, {"type": "text", "text": "x"}]}],
        [HELLO, calling(ID, OTHER_ID), result(), {"role": "assistant", "content": "x"}, HELLO],
        [HELLO, calling("null"), result("null")],
        [HELLO, calling(ID), {"role": "tool", "content": "r"}],
        [HELLO, calling(ID), result(name="a b")],
        [HELLO, calling(ID), result(name=5)],
    ],
    ids=lambda messages: json.dumps(messages)[:60],
)
def test_conversation_is_refused_by_every_release(release: int, messages: list[Any]) -> None:
    assert refused(release, *messages).status == 400


@pytest.mark.parametrize("release", [3, 7, 11])
@pytest.mark.parametrize("call_id", ["call_a1", "12345678", "12345678-"])
def test_id_that_is_not_nine_letters_and_digits_is_refused(release: int, call_id: str) -> None:
    assert refused(release, HELLO, calling(call_id), result(call_id)).status == 400


@pytest.mark.parametrize("release", [13, 15])
def test_later_releases_accept_any_id(release: int) -> None:
    assert "[TOOL_RESULTS]r[/TOOL_RESULTS]" in prompt(
        release, {"messages": [HELLO, calling("call_a1"), result("call_a1")]}
    )


@pytest.mark.parametrize("release", [11, 13, 15])
def test_result_must_answer_a_waiting_call(release: int) -> None:
    refused(release, HELLO, calling(ID), result(OTHER_ID))
    refused(release, HELLO, calling(ID), result(), result())
    refused(release, HELLO, calling(ID, ID), result())


def test_first_releases_count_results_only() -> None:
    text = prompt(7, {"messages": [HELLO, calling(ID), result(OTHER_ID), result(OTHER_ID)]})
    assert text.count("[TOOL_RESULTS]") == 2


def test_first_release_has_either_content_or_calls() -> None:
    refused(3, HELLO, calling(ID, content="x"), result())
    refused(3, HELLO, {"role": "assistant", "content": "x"}, calling(ID), result())


@pytest.mark.parametrize(
    ("release", "accepted"), [(3, False), (7, False), (11, False), (13, True), (15, True)]
)
def test_reasoning_needs_a_release_that_writes_it(release: int, accepted: bool) -> None:
    messages = [HELLO, {"role": "assistant", "content": "x", "reasoning": "y"}, HELLO]
    if accepted:
        assert "[THINK]y[/THINK]x</s>" in prompt(release, {"messages": messages})
    else:
        assert refused(release, *messages).status == 400


def test_reasoning_is_given_once() -> None:
    parts = [{"type": "thinking", "thinking": "x"}]
    refused(13, HELLO, {"role": "assistant", "content": parts, "reasoning": "y"}, HELLO)


def test_vocabulary_without_thinking_tokens_refuses_reasoning() -> None:
    special = [*FIRST_TOKENS, "[ARGS]", "[CALL_ID]", "[THINK]"]
    _, encoder = encoder_of_release(document(13, special))
    messages = [HELLO, {"role": "assistant", "content": "x", "reasoning": "y"}, HELLO]
    with pytest.raises(RenderError, match="Thinking"):
        encode_request(encoder, ChatRequest.parse({"messages": messages}))


@pytest.mark.parametrize("fields", [{"chat_template": "x"}, {"chat_template_kwargs": {}}], ids=str)
def test_chat_with_a_template_or_variables_is_refused(fields: dict[str, Any]) -> None:
    assert refused(3, HELLO, **fields).param == "chat_template"


def test_tokenize_reads_variables() -> None:
    tool = {"function": {"name": "g"}, "zzz": 1}
    body = {"messages": [HELLO], "chat_template_kwargs": {"tools": [tool]}}
    assert '"name": "g"' in prompt(3, body, tokenize=True)
    assert refused(3, HELLO, tokenize=True, chat_template_kwargs={"messages": []}).status == 400


def test_tokenize_keeps_long_ids_and_needs_a_list_of_calls() -> None:
    messages = [HELLO, calling("call_0123456789", content=""), result("call_0123456789")]
    assert '"id": "123456789"' in prompt(3, {"messages": messages})
    refused(3, *messages, tokenize=True)
    refused(13, HELLO, calling(ID, content=None), result(), tokenize=True)
    assert "[TOOL_CALLS]f[ARGS]" in prompt(
        13, {"messages": [HELLO, calling(ID, content=""), result()]}, tokenize=True
    )


def test_last_message_of_the_assistant_does_not_open_a_turn() -> None:
    last = {"role": "assistant", "content": "x"}
    assert refused(3, HELLO, last, add_generation_prompt=True).param == "add_generation_prompt"
    assert refused(3, HELLO, continue_final_message=True, add_generation_prompt=False).status == 400


@pytest.mark.parametrize(
    "function",
    [
        {"name": "a b"},
        {"name": "x" * 65},
        {"name": "f", "parameters": {"type": "zzz"}},
        {"name": "f", "parameters": {"properties": {"a": {"pattern": "("}}}},
    ],
    ids=str,
)
def test_tool_is_refused(function: dict[str, Any]) -> None:
    assert refused(3, HELLO, tools=[{"type": "function", "function": function}]).param == "tools"


def test_effort_that_the_model_does_not_know_is_refused() -> None:
    assert refused(15, HELLO, reasoning_effort="low").param == "reasoning_effort"


def test_model_without_efforts_is_told_none() -> None:
    tokenizer, encoder = encoder_of_release(document(15, model_settings_builder={}))
    request = ChatRequest.parse({"messages": [HELLO], "reasoning_effort": "low"})
    text = tokenizer.engine.decode(encode_request(encoder, request).ids or [])
    assert text == "<s>[INST]Hello[/INST]"


@pytest.mark.parametrize(
    "found",
    [
        document(15, model_settings_builder=None),
        document(15, model_settings_builder={"reasoning_effort": {"values": ["high"], "default": "none"}}),
        document(11, FIRST_TOKENS),
    ],
    ids=["no builder", "no default", "no tokens"],
)
def test_incomplete_file_is_told_at_start(found: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        encoder_of_release(found)


def test_configuration_without_a_header_is_told_at_start() -> None:
    tokenizer, _ = encoder_of_release(document(3))
    with pytest.raises(ConfigurationError, match=HEADER_KEY):
        build({}, tokenizer)
