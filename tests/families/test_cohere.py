"""Cohere Command A: schemas and tools fold into one structural tag."""

from __future__ import annotations

import json
from typing import Any

import pytest

from render_core.errors import RenderError
from render_core.families.effects import Effects, ParserChoice, build_parsers
from render_core.protocol.chat import ChatRequest
from tests.families.grammar_engine import accepts
from tests.families.parser_models import Tokens

THINK = ["<|START_THINKING|>", "<|END_THINKING|>", "<|CHATBOT_TOKEN|>"]
COMMAND_A = "Cohere2ForCausalLM"
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {
                "type": "object",
                "properties": {"at": {"$ref": "#/$defs/Place"}},
                "$defs": {"Place": {"type": kind}},
            },
        },
    }
    for name, kind in (("get_weather", "string"), ("count", "integer"))
]


def effects(architecture: str = COMMAND_A, prompt: str = "", **fields: Any) -> Effects:
    tokens = Tokens(THINK)
    parsers = build_parsers(
        ParserChoice("cohere_command3", "cohere_command3"),
        tokens.model(config={"architectures": [architecture]}),
    )
    return parsers.effects(ChatRequest.parse({"messages": [], **fields}), {}, tokens.encode(prompt))


def tag_of(found: Effects) -> str:
    assert found.structured_outputs is not None
    text: str = found.structured_outputs["structural_tag"]
    return text


def test_special_tokens_are_always_kept() -> None:
    assert effects() == Effects(skip_special_tokens=False, reasoning_ended=False)


def test_a_schema_goes_into_every_channel_of_the_answer() -> None:
    found = effects("Cohere2MoeForCausalLM", response_format={"type": "json_object"})
    content = {"type": "json_schema", "json_schema": {"type": "object"}}
    assert json.loads(tag_of(found))["format"] == {
        "type": "triggered_tags",
        "triggers": ["<|START_RESPONSE|>", "<|START_TEXT|>"],
        "tags": [
            {"begin": "<|START_RESPONSE|>", "content": content, "end": "<|END_RESPONSE|>"},
            {"begin": "<|START_TEXT|>", "content": content, "end": "<|END_TEXT|>"},
        ],
    }


def test_calls_are_a_json_list_whose_definitions_stay_apart() -> None:
    tag = tag_of(effects(tools=TOOLS, tool_choice="auto"))

    def calls(*items: tuple[str, Any]) -> str:
        listed = [
            {"tool_call_id": str(index), "tool_name": name, "parameters": {"at": at}}
            for index, (name, at) in enumerate(items)
        ]
        return f"<|START_ACTION|>{json.dumps(listed)}<|END_ACTION|>"

    assert accepts(tag, calls(("get_weather", "Paris"), ("count", 3)))
    assert not accepts(tag, calls(("get_wether", "Paris")))
    assert not accepts(tag, calls(("count", "Paris")))
    assert not accepts(tag, calls())


def test_an_architecture_without_known_channels_is_refused() -> None:
    with pytest.raises(RenderError):
        effects("CohereForCausalLM", tools=TOOLS)


@pytest.mark.parametrize(
    ("prompt", "ended"),
    [
        ("", False),
        ("<|CHATBOT_TOKEN|><|START_THINKING|>", False),
        ("<|CHATBOT_TOKEN|><|START_THINKING|>x<|END_THINKING|>", True),
        ("<|START_THINKING|>x<|END_THINKING|><|CHATBOT_TOKEN|>", False),
        ("x<|END_THINKING|>", True),
    ],
)
def test_reasoning_of_the_present_turn_counts(prompt: str, ended: bool) -> None:
    assert effects(prompt=prompt).reasoning_ended is ended
