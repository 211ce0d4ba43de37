"""Random Unicode through the HTTP app, held against an oracle that shares no code with it.

The oracle is plain Jinja2 over the model's own template, and `tokenizers` over the model's own tokenizer.json.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2
import jinja2.ext
import jinja2.sandbox
import pytest
import tokenizers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import render_core
from tests.conformance.served import InProcess, served
from tests.corpus import model_dir, needs_corpus

CHAT = "/v1/chat/completions/render"
COMPLETION = "/v1/completions/render"
TODAY = datetime.datetime(2026, 11, 29)
EXAMPLES = 40

# Families whose class in transformers takes tokenizer.json as it stands, with the form in which their templates want
# content (section 2.4) and whether their tokens are bytes (each then decodes to exactly what it covers).
FAMILIES = {
    "demo": ("string", True),
    "qwen3": ("string", True),
    "llama3_1": ("string", True),
    "deepseek_v3": ("string", True),
    "gemma3": ("openai", False),
    "mistral_small": ("openai", True),
}

same_every_time = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


class TemplateRefusedError(Exception):
    """The template calls raise_exception."""


@dataclass(frozen=True, slots=True)
class Family:
    """A model behind the app, and the oracle for it."""

    name: str
    client: InProcess = field(repr=False)
    tokenizer: tokenizers.Tokenizer = field(repr=False)
    template: jinja2.Template = field(repr=False)
    special_tokens: dict[str, str] = field(repr=False)
    added_tokens: list[str] = field(repr=False)
    content_format: str
    is_byte_level: bool

    def prompt(self, request: dict[str, Any]) -> str:
        """The prompt text of a chat request. Raises TemplateRefusedError."""
        return self.template.render(
            **self.special_tokens,
            messages=[self._message(message) for message in request["messages"]],
            tools=request.get("tools"),
            documents=None,
            add_generation_prompt=request.get("add_generation_prompt", True),
            **request.get("chat_template_kwargs", {}),
        )

    def _message(self, message: dict[str, Any]) -> dict[str, Any]:
        content = message["content"]
        texts = [content] if isinstance(content, str) else [part["text"] for part in content]
        if self.content_format == "openai" and message["role"] != "tool":
            shown: Any = [{"type": "text", "text": text} for text in texts]
        else:
            shown = "\n".join(text for text in texts if text)
        reasoning = message.get("reasoning")
        both_names = {} if reasoning is None else {"reasoning": reasoning, "reasoning_content": reasoning}
        return {"role": message["role"], "content": shown, **both_names}


def family_params() -> list[Any]:
    return [name if name == "demo" else pytest.param(name, marks=needs_corpus) for name in FAMILIES]


@pytest.fixture(scope="module", params=family_params())
def family(request: pytest.FixtureRequest) -> Iterator[Family]:
    name: str = request.param
    content_format, is_byte_level = FAMILIES[name]
    demo = Path(render_core.__file__).parent / "demo_model"
    root = demo if name == "demo" else model_dir(name)
    config = json.loads((root / "tokenizer_config.json").read_text())
    file = root / "chat_template.jinja"
    source = file.read_text() if file.is_file() else config["chat_template"]
    tokenizer = tokenizers.Tokenizer.from_file(str(root / "tokenizer.json"))
    with served(None if name == "demo" else str(root), clock=TODAY.date().isoformat()) as client:
        yield Family(
            name=name,
            client=client,
            tokenizer=tokenizer,
            template=plain_environment().from_string(source),
            special_tokens=special_tokens(config),
            added_tokens=sorted(token.content for token in tokenizer.get_added_tokens_decoder().values()),
            content_format=content_format,
            is_byte_level=is_byte_level,
        )


def plain_environment() -> jinja2.Environment:
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols]
    )

    def raise_exception(message: str) -> None:
        raise TemplateRefusedError(message)

    def tojson(value: Any, indent: int | None = None) -> str:
        return json.dumps(value, ensure_ascii=False, indent=indent)

    environment.filters["tojson"] = tojson
    environment.globals |= {"raise_exception": raise_exception, "strftime_now": TODAY.strftime}
    return environment


def special_tokens(config: dict[str, Any]) -> dict[str, str]:
    """The named special tokens of tokenizer_config.json, written as text or as objects."""
    named = {name: value for name, value in config.items() if name.endswith("_token")}
    texts = {name: value["content"] if isinstance(value, dict) else value for name, value in named.items()}
    return {name: text for name, text in texts.items() if isinstance(text, str)}


# ----------------------------------------------------------------------------------------------- strategies

_ALL_PLANES = st.characters(codec="utf-8")  # all but surrogates
_FRAGMENTS = st.one_of(
    st.text(_ALL_PLANES, max_size=20),
    st.text(st.characters(max_codepoint=0x7F), max_size=20),
    st.text(st.characters(categories=("Mn", "Mc", "Me")), min_size=1, max_size=4).map(
        lambda marks: "e" + marks
    ),
    st.text(st.characters(categories=("Cc", "Cf", "Zs", "Zl", "Zp")), min_size=1, max_size=6),
    st.text(st.characters(min_codepoint=0x10000), min_size=1, max_size=6),
    st.text("   \t\n\r\u00a0\u3000", min_size=1, max_size=12),
    st.text("0123456789٣五", min_size=1, max_size=12),
    st.sampled_from(
        ["가각힣", "각", "é", "e\u0301", "👩‍👩‍👧‍👦", "🇩🇪", "ﬁ", "İ", "ß", "\u202e", "\ufeff", "\ufffd"]
    ),
    st.sampled_from(["don't", "I'LL", "<think>", "</think>\n\n", "```json\n{}\n```", "{{ x }}", "{% y %}"]),
)


def texts(added_tokens: list[str]) -> st.SearchStrategy[str]:
    """Texts of all planes with the model's own added tokens in them, and with what only looks like these."""
    token = st.sampled_from(added_tokens)
    lookalike = st.one_of(
        token.map(lambda text: text[:-1]),
        token.map(lambda text: text[1:]),
        token.map(str.upper),
        token.map(lambda text: text.replace("|", "\uff5c")),
        token.map(lambda text: text[:2] + "\u200b" + text[2:]),
        token.map(lambda text: text.replace("<", "< ")),
    )
    return st.lists(st.one_of(_FRAGMENTS, _FRAGMENTS, token, lookalike), max_size=6).map("".join)


@st.composite
def chat_requests(draw: st.DrawFn, added_tokens: list[str]) -> dict[str, Any]:
    """Chats of one or several rounds, which every template takes, with content as a string or in parts."""
    text = texts(added_tokens)

    def content() -> Any:
        parts = st.lists(text.map(lambda words: {"type": "text", "text": words}), min_size=1, max_size=3)
        return draw(st.one_of(text, text, parts))

    messages = [{"role": "system", "content": content()}] if draw(st.booleans()) else []
    for _ in range(draw(st.integers(0, 2))):
        messages.append({"role": "user", "content": content()})
        messages.append({"role": "assistant", "content": content()})
        if draw(st.booleans()):
            messages[-1]["reasoning"] = draw(text)
    messages.append({"role": "user", "content": content()})
    request: dict[str, Any] = {"messages": messages}
    if draw(st.booleans()):
        function = {
            "name": draw(text),
            "description": draw(st.none() | text),
            "parameters": draw(st.dictionaries(text, st.one_of(text, st.integers(), st.none()), max_size=3)),
        }
        request |= {"tools": [{"type": "function", "function": function}], "tool_choice": "none"}
    if draw(st.booleans()):
        request["add_generation_prompt"] = draw(st.booleans())
    if draw(st.booleans()):
        request["chat_template_kwargs"] = {"enable_thinking": draw(st.booleans())}
    return request


# ----------------------------------------------------------------------------------------------- properties


@same_every_time
@given(st.data())
def test_chat_gives_the_text_and_ids_of_the_oracle(family: Family, data: st.DataObject) -> None:
    request = data.draw(chat_requests(family.added_tokens))
    add_special_tokens = data.draw(st.booleans())
    asked = {**request, "add_special_tokens": add_special_tokens, "return_prompt_text": True}
    response = family.client.post(CHAT, json.dumps(asked).encode())
    try:
        prompt = family.prompt(request)
    except TemplateRefusedError:
        assert response.status_code == 400
        return
    assert response.status_code == 200, response.text
    answer = response.json()
    assert answer["prompt_text"] == prompt
    assert answer["token_ids"] == family.tokenizer.encode(prompt, add_special_tokens=add_special_tokens).ids


@same_every_time
@given(st.data())
def test_completion_gives_the_ids_and_offsets_of_the_oracle(family: Family, data: st.DataObject) -> None:
    text = data.draw(texts(family.added_tokens).filter(bool))
    add_special_tokens = data.draw(st.booleans())
    encoding = family.tokenizer.encode(text, add_special_tokens=add_special_tokens)
    ids, offsets = render_completion(family, text, add_special_tokens)
    assert ids == encoding.ids
    assert offsets == encoding.offsets


@same_every_time
@given(st.data())
def test_offsets_cover_the_whole_text_in_order(family: Family, data: st.DataObject) -> None:
    text = as_the_tokenizer_sees_it(family, data.draw(texts(family.added_tokens).filter(bool)))
    _, offsets = render_completion(family, text, add_special_tokens=False)
    covered = 0
    for start, end in offsets:
        assert 0 <= start <= covered, "a gap, or a step back behind the text"
        assert start <= end <= len(text)
        covered = max(covered, end)
    assert covered == len(text)
    assert offsets == sorted(offsets)


@same_every_time
@given(st.data())
def test_offsets_index_the_characters_that_their_token_stands_for(
    family: Family, data: st.DataObject
) -> None:
    text = as_the_tokenizer_sees_it(family, data.draw(texts(family.added_tokens).filter(bool)))
    ids, offsets = render_completion(family, text, add_special_tokens=False)
    decoded = [family.tokenizer.decode([token_id], skip_special_tokens=False) for token_id in ids]
    covered = [text[start:end] for start, end in offsets]
    if not family.is_byte_level:
        covered = [piece.replace("▁", " ") for piece in covered]
    # Part of a character decodes to a replacement character; what it covers is the whole character.
    whole = [index for index, piece in enumerate(decoded) if "\ufffd" not in piece]
    assert [covered[index] for index in whole] == [decoded[index] for index in whole]


def render_completion(
    family: Family, text: str, add_special_tokens: bool
) -> tuple[list[int], list[tuple[int, int]]]:
    body = {"prompt": text, "add_special_tokens": add_special_tokens, "return_token_offsets": True}
    response = family.client.post(COMPLETION, json.dumps(body).encode())
    assert response.status_code == 200, response.text
    (answer,) = response.json()
    return answer["token_ids"], [tuple(offset) for offset in answer["token_offsets"]]


def as_the_tokenizer_sees_it(family: Family, text: str) -> str:
    """A text that normalization leaves alone, so that tokens and characters correspond."""
    normalizer = family.tokenizer.normalizer
    if normalizer is None or not family.is_byte_level:
        return text
    return str(normalizer.normalize_str(text))
