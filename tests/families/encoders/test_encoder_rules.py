"""What the encoders refuse, what they ignore, and what they must not cost."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from render_core.errors import ConfigurationError, RenderError
from render_core.families.encoder import Prompt
from render_core.families.encoders.dsml import special_token
from render_core.protocol.chat import ChatRequest
from render_core.protocol.tokenize import TokenizeChatRequest
from tests.families.encoders.chats import (
    INKLING_TOKENS,
    CharacterEngine,
    encode_request,
    encoder_of,
    prompt_text,
    small_tokenizer,
)

DEEPSEEK = ("deepseek_v32", "deepseek_v4", "deepseek_v41")
FAMILIES = (*DEEPSEEK, "inkling")

HELLO = {"role": "user", "content": "Hello"}


def call(call_id: str, arguments: str = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "f", "arguments": arguments}}


def deep(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


def refused(family: str, *messages: dict[str, Any], **fields: Any) -> RenderError:
    with pytest.raises(RenderError) as caught:
        prompt_text(family, {"messages": list(messages), **fields})
    return caught.value


@pytest.mark.parametrize("family", FAMILIES)
def test_unknown_role_is_refused(family: str) -> None:
    assert refused(family, HELLO, {"role": "narrator", "content": "x"}).status == 400


@pytest.mark.parametrize("family", FAMILIES)
def test_image_is_refused(family: str) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    assert refused(family, {"role": "user", "content": [image]}).status == 400


@pytest.mark.parametrize("family", ["deepseek_v4", "deepseek_v41", "inkling"])
def test_reference_to_a_tool_is_no_text(family: str) -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "tool_reference", "name": "f"}]
    assert refused(family, {"role": "user", "content": parts}).param == "messages"


@pytest.mark.parametrize("family", ["deepseek_v41", "inkling"])
def test_empty_list_of_parts_is_refused(family: str) -> None:
    assert refused(family, {"role": "user", "content": []}).param == "messages"


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("tools", ["x", {"a": 1}, [1], [{"type": "function"}]], ids=repr)
def test_malformed_tools_among_the_variables_are_refused(family: str, tools: Any) -> None:
    assert refused(family, HELLO, chat_template_kwargs={"tools": tools}).status == 400


@pytest.mark.parametrize("family", DEEPSEEK)
@pytest.mark.parametrize("name", ["conversation", "messages", "self"])
def test_variable_that_the_encoder_is_given_is_refused(family: str, name: str) -> None:
    assert refused(family, HELLO, chat_template_kwargs={name: []}).param == "chat_template_kwargs"


@pytest.mark.parametrize("family", DEEPSEEK)
@pytest.mark.parametrize("flags", [{}, {"continue_final_message": True}], ids=["closed", "continued"])
def test_flags_on_the_final_message_are_ignored(family: str, flags: dict[str, bool]) -> None:
    chat = {"messages": [HELLO, {"role": "assistant", "content": "Well"}]}
    plain = prompt_text(family, chat)
    assert prompt_text(family, {**chat, "add_generation_prompt": False, **flags}) == plain


def test_inkling_continues_no_final_message() -> None:
    error = refused("inkling", HELLO, add_generation_prompt=False, continue_final_message=True)
    assert error.param == "continue_final_message"


def test_v32_refuses_an_empty_conversation() -> None:
    assert refused("deepseek_v32").param == "messages"


@pytest.mark.parametrize(
    "messages",
    [
        [HELLO, {"role": "tool", "content": "x"}],
        [{"role": "assistant", "content": "a"}, {"role": "tool", "content": "x"}],
        [
            {"role": "assistant", "content": "", "tool_calls": [call("c")]},
            *[{"role": "tool", "content": "x"}] * 2,
        ],
    ],
    ids=["after the user", "without calls", "one too many"],
)
def test_v32_refuses_a_result_without_a_call(messages: list[dict[str, Any]]) -> None:
    assert refused("deepseek_v32", *messages).param == "messages"


def test_v32_shows_no_developer_of_the_past_while_thinking() -> None:
    messages = [{"role": "developer", "content": "Rhyme."}, HELLO]
    assert refused("deepseek_v32", *messages, chat_template_kwargs={"thinking": True}).param == "messages"


def test_v32_wants_reasoning_or_calls_after_the_last_user_while_thinking() -> None:
    messages = [HELLO, {"role": "assistant", "content": "Well"}]
    assert refused("deepseek_v32", *messages, chat_template_kwargs={"thinking": True}).param == "messages"


@pytest.mark.parametrize("family", DEEPSEEK)
def test_empty_developer_message_is_refused(family: str) -> None:
    assert refused(family, {"role": "developer", "content": ""}).param == "messages"


@pytest.mark.parametrize("family", ["deepseek_v4", "deepseek_v41"])
def test_unknown_task_is_refused(family: str) -> None:
    assert refused(family, {**HELLO, "task": "juggle"}).param == "messages"


@pytest.mark.parametrize("effort", ["medium", "minimal", "bogus", 0, 101, 7.0, True, [7]], ids=repr)
def test_v41_refuses_an_unknown_effort(effort: Any) -> None:
    assert refused("deepseek_v41", HELLO, chat_template_kwargs={"reasoning_effort": effort}).status == 400


@pytest.mark.parametrize("effort", [-0.1, 1, 0.995], ids=repr)
def test_inkling_refuses_an_effort_out_of_range(effort: float) -> None:
    error = refused("inkling", HELLO, chat_template_kwargs={"reasoning_effort": effort})
    assert error.param == "reasoning_effort"


@pytest.mark.parametrize(("effort", "shown"), [(0.5, "0.5"), (0.125, "0.12"), (0.99, "0.99"), (-0.0, "0.0")])
def test_inkling_shows_two_digits_of_an_effort(effort: float, shown: str) -> None:
    prompt = prompt_text("inkling", {"messages": [], "chat_template_kwargs": {"reasoning_effort": effort}})
    assert f"Thinking effort level: {shown}<|end_message|>" in prompt


@pytest.mark.parametrize("field", ["content", "reasoning"])
def test_v41_refuses_the_image_token(field: str) -> None:
    message = {"role": "assistant", "content": "a", field: special_token("deepseek_image")}
    assert refused("deepseek_v41", HELLO, message).param == "messages"


def test_inkling_refuses_arguments_that_json_cannot_hold() -> None:
    message = {"role": "assistant", "content": "", "tool_calls": [call("c", '{"a": NaN}')]}
    assert refused("inkling", HELLO, message).param == "messages"


def test_inkling_refuses_a_lone_surrogate() -> None:
    assert refused("inkling", {"role": "user", "content": "\ud800"}).status == 400


@pytest.mark.parametrize("family", FAMILIES)
def test_value_that_nests_too_deeply_is_refused(family: str) -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"deep": deep(100_000)}}}
    assert refused(family, HELLO, chat_template_kwargs={"tools": [tool]}).status == 400


@pytest.mark.parametrize("family", FAMILIES)
def test_request_is_left_as_it_was(family: str) -> None:
    document = {
        "messages": [
            {"role": "system", "content": "S"},
            HELLO,
            {
                "role": "assistant",
                "content": None,
                "reasoning_content": "r",
                "tool_calls": [call("a", '{"x": 1}')],
            },
            {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "t"}]},
        ],
        "tools": [{"type": "function", "function": {"name": "f"}}],
    }
    before = json.dumps(document)
    prompt_text(family, document)
    assert json.dumps(document) == before


def encodings(family: str, **assistant: Any) -> tuple[Prompt, Prompt]:
    """The prompts that /tokenize and a rendered chat have with an assistant's message."""
    encoder = encoder_of(family, small_tokenizer())
    document = {
        "messages": [HELLO, {"role": "assistant", "content": None, **assistant}],
        "chat_template_kwargs": {"thinking": True},
    }
    return (
        encode_request(encoder, TokenizeChatRequest.parse(document)),
        encode_request(encoder, ChatRequest.parse(document)),
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_tokenize_reads_a_chat_as_rendering_does(family: str) -> None:
    tokenized, rendered = encodings(family, tool_calls=[call("a")], reasoning="r")
    assert tokenized == rendered


@pytest.mark.parametrize(
    ("family", "is_read"),
    [("deepseek_v32", False), ("deepseek_v4", False), ("deepseek_v41", True), ("inkling", True)],
)
def test_tokenize_reads_the_older_name_of_reasoning_where_vllms_encoder_does(
    family: str, is_read: bool
) -> None:
    tokenized, rendered = encodings(family, tool_calls=[call("a")], reasoning_content="r")
    assert (tokenized == rendered) is is_read
    assert rendered == encodings(family, tool_calls=[call("a")], reasoning="r")[1]


@pytest.mark.parametrize("family", ["deepseek_v4", "deepseek_v41"])
def test_suffix_makes_a_prompt_with_a_hole(family: str) -> None:
    encoder: Any = encoder_of(family, small_tokenizer())
    begin, hole, end = map(special_token, ("fim▁begin", "fim▁hole", "fim▁end"))
    assert encoder.completion_with_suffix("a", "b") == f"{begin}a{hole}b{end}"


def test_inkling_encodes_every_content_on_its_own() -> None:
    tokenizer = small_tokenizer()
    encoder = encoder_of("inkling", tokenizer)
    assert isinstance(tokenizer.engine, CharacterEngine)
    tokenizer.engine.encoded.clear()
    parts = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    encode_request(encoder, ChatRequest.parse({"messages": [{"role": "user", "content": parts}]}))
    assert tokenizer.engine.encoded == ["Thinking effort level: 0.9", "one", "two"]


def test_inkling_takes_an_unnamed_token_for_tool_declarations() -> None:
    tokens = ["<|unused_200024|>" if token == "<|content_xml|>" else token for token in INKLING_TOKENS]
    assert encoder_of("inkling", small_tokenizer(tokens)).name == "inkling"


def test_inkling_names_the_tokens_it_misses() -> None:
    tokens = [token for token in INKLING_TOKENS if token not in ("<|content_xml|>", "<|end_message|>")]
    with pytest.raises(ConfigurationError, match=r"<\|content_xml\|>, <\|end_message\|>"):
        encoder_of("inkling", small_tokenizer(tokens))


def seconds_for_results(count: int) -> float:
    messages = [
        HELLO,
        {"role": "assistant", "content": None, "tool_calls": [call(f"c{index}") for index in range(count)]},
        *({"role": "tool", "tool_call_id": f"c{index}", "content": "x"} for index in range(count)),
    ]
    started = time.process_time()
    prompt_text("deepseek_v32", {"messages": messages})
    return time.process_time() - started


def test_v32_long_run_of_tool_results_costs_linear_time() -> None:
    short = min(seconds_for_results(4_000) for _ in range(2))
    assert min(seconds_for_results(16_000) for _ in range(2)) < 9 * short
