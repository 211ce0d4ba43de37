"""Encoding a request body without an HTTP app, and a tokenizer small enough to read ids back."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

from render_core.conversation.variables import merge_kwargs, reasoning_effort_kwargs
from render_core.families.encoder import Prompt, PromptEncoder
from render_core.families.encoders import build_encoder, named_family
from render_core.protocol.chat import ChatRequest
from render_core.protocol.tokenize import TokenizeChatRequest
from render_core.tokenizer.engine import Offset
from render_core.tokenizer.tokenizer import Tokenizer

NOW = datetime.datetime(2026, 11, 29)


def effective_kwargs(request: ChatRequest | TokenizeChatRequest) -> dict[str, Any]:
    """Template variables of a request to a server without defaults (spec 2.7)."""
    user_kwargs = request.chat_template_kwargs or {}
    fields: dict[str, Any] = {
        "add_generation_prompt": request.add_generation_prompt,
        "continue_final_message": request.continue_final_message,
    }
    if isinstance(request, ChatRequest):
        fields |= reasoning_effort_kwargs(request.reasoning_effort, user_kwargs)
    return merge_kwargs({}, merge_kwargs(user_kwargs, fields))


def encode_request(encoder: PromptEncoder, request: ChatRequest | TokenizeChatRequest) -> Prompt:
    return encoder.encode(request, effective_kwargs(request), NOW)


def encoder_of(family_name: str, tokenizer: Tokenizer) -> PromptEncoder:
    family = named_family(family_name)
    assert family is not None
    return build_encoder(family, {}, tokenizer)


def prompt_text(family_name: str, document: dict[str, Any]) -> str:
    """The prompt of a chat body as text; ids are read back with the small tokenizer."""
    tokenizer = small_tokenizer(HARMONY_TOKENS if family_name == "harmony" else INKLING_TOKENS)
    prompt = encode_request(encoder_of(family_name, tokenizer), ChatRequest.parse(document))
    if prompt.text is not None:
        return prompt.text
    assert prompt.ids is not None
    return tokenizer.engine.decode(prompt.ids)


class CharacterEngine:
    """One id for each character; a given special token has one as well."""

    name = "characters"

    def __init__(self, special_tokens: Sequence[str]) -> None:
        self._special = {token: 0x110000 + index for index, token in enumerate(special_tokens)}
        self._strings = {token_id: token for token, token_id in self._special.items()}
        self.encoded: list[str] = []

    def encode(self, text: str, add_special_tokens: bool) -> list[int]:
        self.encoded.append(text)
        _refuse_surrogates(text)
        return [self._special[text]] if text in self._special else list(map(ord, text))

    def encode_with_offsets(self, text: str, add_special_tokens: bool) -> tuple[list[int], list[Offset]]:
        raise NotImplementedError

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(self._string(token_id) for token_id in ids)

    def tokens(self, ids: Sequence[int]) -> list[str | None]:
        return [self._string(token_id) for token_id in ids]

    def token_id(self, token: str) -> int | None:
        return self._special.get(token)

    def _string(self, token_id: int) -> str:
        return self._strings.get(token_id) or chr(token_id)


def _refuse_surrogates(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise TypeError("no UTF-8 form") from None


INKLING_TOKENS = (
    "<|message_user|>",
    "<|message_model|>",
    "<|message_system|>",
    "<|message_tool|>",
    "<|content_text|>",
    "<|content_thinking|>",
    "<|content_xml|>",
    "<|content_invoke_tool_json|>",
    "<|content_model_end_sampling|>",
    "<|end_message|>",
)


HARMONY_TOKENS = ("<|start|>", "<|channel|>", "<|message|>", "<|end|>", "<|call|>")


def small_tokenizer(special_tokens: Sequence[str] = INKLING_TOKENS) -> Tokenizer:
    return Tokenizer(
        engine=CharacterEngine(special_tokens),
        class_name="TokenizersBackend",
        special_tokens={},
        added_tokens={},
        max_chars_per_token=64,
        max_token_id=0x110000 + len(special_tokens),
        prefix_ids=(),
        suffix_ids=(),
    )
