"""Harmony prompts: samples as vLLM 0.33 writes them, what is refused, and what the encoder must not do."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest

from render_core.errors import ConfigurationError, RenderError
from render_core.families.encoders.harmony import HarmonyEncoder
from render_core.protocol.chat import ChatRequest
from render_core.protocol.tokenize import TokenizeChatRequest
from tests.families.encoders.chats import HARMONY_TOKENS, NOW, CharacterEngine, encode_request

SAMPLES = sorted((Path(__file__).parent / "data" / "harmony").glob("*"))
HELLO = {"role": "user", "content": "Hello"}


def encoded(document: dict[str, Any], **options: Any) -> tuple[str, list[str]]:
    """The prompt as text, and the texts that the engine was given for it."""
    engine = CharacterEngine(HARMONY_TOKENS)
    encoder = HarmonyEncoder(engine, **options)
    engine.encoded.clear()
    ids = encode_request(encoder, ChatRequest.parse(document)).ids
    assert ids is not None
    return engine.decode(ids), engine.encoded


def prompt(*messages: dict[str, Any], **fields: Any) -> str:
    return encoded({"messages": list(messages), **fields})[0]


def refused(*messages: Any, **fields: Any) -> RenderError:
    with pytest.raises(RenderError) as caught:
        prompt(*messages, **fields)
    return caught.value


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_sample_has_the_recorded_prompt(sample: Path) -> None:
    request = json.loads((sample / "request.json").read_text(encoding="utf-8"))
    expected = (sample / "expected.txt").read_text(encoding="utf-8")
    assert encoded(request)[0] == expected


def test_parts_are_tokenized_apart() -> None:
    parts = [{"type": "text", "text": text} for text in ("un", "happy")]
    assert encoded({"messages": [{"role": "user", "content": parts}]})[1][-3:-1] == ["un", "happy"]


def test_engine_sees_no_special_token() -> None:
    text = "a<|start|>b<|end|><|call|> <|reserved_200000|> <|| <|A|>"
    _, texts = encoded({"messages": [{"role": "user", "content": text}]})
    assert texts[3:-1] == ["a<|", "start|>b<|", "end|><|", "call|> <|", "reserved_200000|> <|| <|A|>"]


def test_date_is_that_of_now() -> None:
    encoder = HarmonyEncoder(CharacterEngine(HARMONY_TOKENS))
    request = ChatRequest.parse({"messages": [HELLO]})
    texts = [
        CharacterEngine(HARMONY_TOKENS).decode(
            encoder.encode(request, {}, NOW + datetime.timedelta(days=days)).ids or []
        )
        for days in (0, 33)
    ]
    assert [text.partition("Current date: ")[2][:10] for text in texts] == ["2026-11-29", "2027-01-01"]


def test_ids_are_not_to_be_truncated() -> None:
    encoder = HarmonyEncoder(CharacterEngine(HARMONY_TOKENS))
    assert encode_request(encoder, ChatRequest.parse({"messages": [HELLO]})).is_whole


def test_system_instructions_stand_in_the_system_message() -> None:
    messages = [{"role": "developer", "content": "Rhyme."}, HELLO, {"role": "system", "content": "Stop."}]
    text, _ = encoded({"messages": messages}, system_instructions=True)
    assert text.count("# Instructions") == 0
    assert text.startswith(
        "<|start|>system<|message|>You are ChatGPT, a large language model trained by OpenAI.\nRhyme.\nK"
    )
    assert (
        "<|start|>system<|message|>You are ChatGPT, a large language model trained by OpenAI.\nStop.\nK"
        in text
    )


@pytest.mark.parametrize("effort", ["none", "minimal", "xhigh", "max"])
def test_other_efforts_are_refused(effort: str) -> None:
    assert refused(HELLO, reasoning_effort=effort).param == "reasoning_effort"


@pytest.mark.parametrize(
    "message",
    [
        {"role": "narrator", "content": "x"},
        {"role": "function", "name": "f", "content": "x"},
        {"role": "user", "content": "x", "tool_calls": None},
        {"role": "user", "content": "x", "tool_calls": [5]},
        {"role": "user", "content": ["x"]},
        {"role": "user", "content": [{"type": "text", "text": None}]},
        {"role": "user", "content": None},
        {"role": "user", "content": "\ud83d"},
        {"role": "assistant", "content": "x", "reasoning": 5},
        {"role": "assistant", "content": "x", "tool_calls": ["x"]},
    ],
    ids=str,
)
def test_message_is_refused(message: dict[str, Any]) -> None:
    assert refused(HELLO, message).status == 400


def test_parts_of_the_roles_own_form_are_no_instructions() -> None:
    message = {"role": "system", "content": [{"type": "text", "text": "x"}], "task": 5}
    assert "# Instructions" not in prompt(message, HELLO)


def test_tokenize_loses_parts_of_the_roles_own_form() -> None:
    message = {"role": "user", "content": [{"type": "text", "text": "x"}], "task": 5}
    encoder = HarmonyEncoder(engine := CharacterEngine(HARMONY_TOKENS))
    ids = encode_request(encoder, TokenizeChatRequest.parse({"messages": [message]})).ids
    assert "<|start|>user<|message|><|end|>" in engine.decode(ids or [])
    assert "<|start|>user<|message|>x<|end|>" in prompt(message)


def test_call_without_function_has_no_name() -> None:
    call = {"id": "a", "type": "custom", "custom": {"name": "g", "input": "z"}}
    text = prompt(
        {"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "a", "content": ""}
    )
    assert (
        "assistant to=functions.<|channel|>commentary json<|message|><|call|><|start|>functions.None<" in text
    )


def test_tokenizer_without_the_tokens_is_told_at_start() -> None:
    with pytest.raises(ConfigurationError, match=r"<\|call\|>"):
        HarmonyEncoder(CharacterEngine(HARMONY_TOKENS[:-1]))
