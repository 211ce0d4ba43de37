"""The demo model: its files are what the script writes, no text is lost, its template renders each case."""

import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

import pytest
from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer, pre_tokenizers

REPOSITORY = Path(__file__).resolve().parent.parent
MODEL_DIRECTORY = REPOSITORY / "render_core" / "demo_model"
TRAINING_SCRIPT = REPOSITORY / "scripts" / "train_demo_model.py"

SPECIAL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MARKUP_TOKENS = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]

MULTILINGUAL_SAMPLES = [
    "Where did you leave the umbrella?  I can't find it\tanywhere.\r\n\r\n",
    "Où est passé l'été ? Ça dépend, répondit-elle.",
    "Größere Übungen für müde Füße.",
    "¿Cuándo llegará el señor Núñez mañana?",
    "A canção não acabou; então, ficamos.",
    "Późną jesienią łąka błyszczała od szronu.",
    "Σήμερα η θάλασσα είναι ήρεμη.",
    "Сегодня идёт снег, и объявлен выходной.",
    "القطار يصل في الساعة ٩",
    "הרכבת מגיעה בשעה תשע",
    "आज मौसम अच्छा है।",
    "วันนี้อากาศดี",
    "今天下雨。我们在家看书。",
    "雨の日は家で本を読みます。",
    "비가 오는 날에는 책을 읽어요.",
    "👩‍👩‍👧 🏳️‍🌈 👍🏽 🇧🇷",
    "e\u0301 \u00a0\u2003\ufeff\x00\x7f",
]

ORDINARY_ENGLISH = """\
The bakery on the corner opens before sunrise. By the time the first bus comes down the hill, the windows
are fogged and there is a short queue outside: two nurses on their way home, a man with a sleepy toddler,
and usually a student who has not gone to bed yet. Nobody talks much. The owner remembers what everyone
ordered last time, and she is right more often than not. When the price of flour went up in spring, she put
a note on the door that explained how much each loaf would cost and why. People read it, shrugged, and kept
coming. I once asked her whether she ever wanted a larger shop. She laughed and said that she already gets
up early enough.
"""

WEATHER_TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Weather of a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}
CLOCK_TOOL = {"type": "function", "function": {"name": "now", "description": None, "parameters": None}}


def raise_exception(message: str) -> NoReturn:
    raise TemplateError(message)


def tojson(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def render(messages: list[dict[str, Any]], **variables: Any) -> str:
    """Render as the service does: `tools` and `documents` are None when the request has none."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = lambda pattern: datetime(2025, 1, 2).strftime(pattern)
    template = environment.from_string((MODEL_DIRECTORY / "chat_template.jinja").read_text(encoding="utf-8"))
    return template.render({"messages": messages, "tools": None, "documents": None} | variables)


def call(name: str, arguments: dict[str, Any] | str) -> dict[str, Any]:
    return {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(MODEL_DIRECTORY / "tokenizer.json"))


def run_training_script(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(TRAINING_SCRIPT), *arguments], capture_output=True, text=True, check=False
    )


def test_committed_files_are_what_the_script_writes() -> None:
    result = run_training_script("--check")
    assert (result.returncode, result.stderr) == (0, "")


def test_check_names_each_file_that_differs(tmp_path: Path) -> None:
    for name in ["tokenizer.json", "tokenizer_config.json", "generation_config.json"]:
        (tmp_path / name).write_bytes((MODEL_DIRECTORY / name).read_bytes())
    (tmp_path / "generation_config.json").write_text("{}", encoding="utf-8")
    result = run_training_script("--check", "--directory", str(tmp_path))
    assert result.returncode == 1
    assert [line.split()[0] for line in result.stderr.splitlines()] == [
        "config.json",
        "generation_config.json",
    ]


def test_vocabulary_size_agrees_with_config(tokenizer: Tokenizer) -> None:
    config = json.loads((MODEL_DIRECTORY / "config.json").read_text(encoding="utf-8"))
    assert (tokenizer.get_vocab_size(), config["vocab_size"]) == (8192, 8192)


def test_every_byte_has_a_token_of_its_own(tokenizer: Tokenizer) -> None:
    ids = {tokenizer.token_to_id(symbol) for symbol in pre_tokenizers.ByteLevel.alphabet()}
    assert ids == set(range(256))


def test_every_byte_of_utf8_survives_the_round_trip(tokenizer: Tokenizer) -> None:
    leads_of_three = "".join(map(chr, [0x800, *range(0x1000, 0xD000, 0x1000), 0xD000, 0xE000, 0xF000]))
    leads_of_four = "".join(map(chr, [0x10000, 0x40000, 0x80000, 0xC0000, 0x100000]))
    text = "".join(map(chr, range(0x800))) + leads_of_three + leads_of_four
    never_in_utf8 = {0xC0, 0xC1, *range(0xF5, 0x100)}
    assert set(text.encode()) == set(range(256)) - never_in_utf8
    assert tokenizer.decode(tokenizer.encode(text).ids) == text


def test_added_tokens_are_single_ids_at_the_end(tokenizer: Tokenizer) -> None:
    tokens = SPECIAL_TOKENS + MARKUP_TOKENS
    assert [tokenizer.encode(token).ids for token in tokens] == [[token_id] for token_id in range(8183, 8192)]


def test_only_chat_markers_are_skipped_as_special(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("".join(SPECIAL_TOKENS + MARKUP_TOKENS)).ids
    assert tokenizer.decode(ids, skip_special_tokens=True) == "".join(MARKUP_TOKENS)


def test_tokenizer_config_lists_the_added_tokens(tokenizer: Tokenizer) -> None:
    config = json.loads((MODEL_DIRECTORY / "tokenizer_config.json").read_text(encoding="utf-8"))
    listed = {int(key): token["content"] for key, token in config["added_tokens_decoder"].items()}
    assert listed == {key: token.content for key, token in tokenizer.get_added_tokens_decoder().items()}


@pytest.mark.parametrize("text", MULTILINGUAL_SAMPLES)
def test_text_survives_the_round_trip(tokenizer: Tokenizer, text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text).ids, skip_special_tokens=False) == text


def test_offsets_cover_ordinary_text_without_gaps(tokenizer: Tokenizer) -> None:
    encoding = tokenizer.encode(ORDINARY_ENGLISH)
    pieces = [ORDINARY_ENGLISH[start:end] for start, end in encoding.offsets]
    assert pieces == [tokenizer.decode([token_id]) for token_id in encoding.ids]


def test_english_takes_more_than_three_characters_per_token(tokenizer: Tokenizer) -> None:
    assert len(ORDINARY_ENGLISH) / len(tokenizer.encode(ORDINARY_ENGLISH)) > 3


def test_template_renders_system_and_user_turns() -> None:
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello!"},
        {"role": "user", "content": "Bye"},
    ]
    assert render(messages, add_generation_prompt=True) == (
        "<|im_start|>system\nBe brief.<|im_end|>\n"
        "<|im_start|>user\nHi<|im_end|>\n"
        "<|im_start|>assistant\nHello!<|im_end|>\n"
        "<|im_start|>user\nBye<|im_end|>\n"
        "<|im_start|>assistant\n"
    )


def test_template_without_generation_prompt_ends_after_the_last_turn() -> None:
    assert render([{"role": "user", "content": "Hi"}]) == "<|im_start|>user\nHi<|im_end|>\n"


def test_template_opens_with_empty_think_block_when_thinking_is_off() -> None:
    messages = [{"role": "user", "content": "Hi"}]
    assert render(messages, add_generation_prompt=True, enable_thinking=False) == (
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
    )


def test_template_lists_tools_in_the_system_turn() -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Rain in Köln?"}]
    assert render(messages, tools=[WEATHER_TOOL, CLOCK_TOOL], add_generation_prompt=True) == (
        "<|im_start|>system\n"
        "Be brief.\n"
        "\n"
        "# Tools\n"
        "\n"
        "You can call the functions below. Each line describes one of them in JSON.\n"
        "\n"
        '{"type": "function", "function": {"name": "get_weather", "description": "Weather of a city", '
        '"parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}\n'
        '{"type": "function", "function": {"name": "now", "description": null, "parameters": null}}\n'
        "\n"
        "To call a function, answer with its name and its arguments as one JSON object:\n"
        '<tool_call>{"name": "function_name", "arguments": {"parameter": "value"}}</tool_call>\n'
        "Several calls may follow each other, every one between its own pair of tags.<|im_end|>\n"
        "<|im_start|>user\nRain in Köln?<|im_end|>\n"
        "<|im_start|>assistant\n"
    )


def test_template_groups_tool_results_in_one_user_turn() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Rain?"},
        {
            "role": "assistant",
            "content": "Let me look.",
            "reasoning_content": "Two cities.",
            "tool_calls": [call("get_weather", {"city": "Köln"}), call("get_weather", '{"city":"Oslo"}')],
        },
        {"role": "tool", "content": "wet"},
        {"role": "tool", "content": "dry"},
        {"role": "assistant", "content": "", "tool_calls": [call("now", {})]},
        {"role": "tool", "content": "12:00"},
    ]
    assert render(messages, add_generation_prompt=True) == (
        "<|im_start|>user\nRain?<|im_end|>\n"
        "<|im_start|>assistant\n<think>\nTwo cities.\n</think>\n\nLet me look.\n"
        '<tool_call>{"name": "get_weather", "arguments": {"city": "Köln"}}</tool_call>\n'
        '<tool_call>{"name": "get_weather", "arguments": {"city":"Oslo"}}</tool_call><|im_end|>\n'
        "<|im_start|>user\n<tool_response>\nwet\n</tool_response>\n<tool_response>\ndry\n</tool_response><|im_end|>\n"
        '<|im_start|>assistant\n<tool_call>{"name": "now", "arguments": {}}</tool_call><|im_end|>\n'
        "<|im_start|>user\n<tool_response>\n12:00\n</tool_response><|im_end|>\n"
        "<|im_start|>assistant\n"
    )


def test_template_drops_reasoning_before_the_last_user_message() -> None:
    messages = [
        {"role": "user", "content": "1+1?"},
        {"role": "assistant", "content": "2", "reasoning_content": "Count."},
        {"role": "user", "content": "2+2?"},
        {"role": "assistant", "content": "4", "reasoning_content": "Count again."},
    ]
    assert render(messages) == (
        "<|im_start|>user\n1+1?<|im_end|>\n"
        "<|im_start|>assistant\n2<|im_end|>\n"
        "<|im_start|>user\n2+2?<|im_end|>\n"
        "<|im_start|>assistant\n<think>\nCount again.\n</think>\n\n4<|im_end|>\n"
    )


def test_template_numbers_documents_in_the_system_turn() -> None:
    documents = [{"title": "Rivers", "text": "The Rhine."}, {"title": "Hills", "text": "The Eifel."}]
    assert render([{"role": "user", "content": "Hi"}], documents=documents) == (
        "<|im_start|>system\n"
        "# Documents\n"
        "\n"
        "Use these documents where they help to answer, and cite them by number.\n"
        "\n"
        "[1] Rivers\nThe Rhine.\n"
        "\n"
        "[2] Hills\nThe Eifel.<|im_end|>\n"
        "<|im_start|>user\nHi<|im_end|>\n"
    )


def test_template_refuses_an_unknown_role_by_name() -> None:
    with pytest.raises(TemplateError, match='no turn for the role "narrator"'):
        render([{"role": "narrator", "content": "Meanwhile"}])
