"""gpt-oss prompts in Harmony form (spec 10.4): the token ids that vLLM 0.33 makes with the harmony library.

The library's vocabulary is the model's own, so the model's tokenizer does the work; it is told apart only by reading
special tokens in texts, which are split here so that it cannot.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from render_core.errors import ConfigurationError, RenderError
from render_core.families.encoder import Prompt
from render_core.families.encoders.harmony_messages import HarmonyMessage, Instructions, read_messages
from render_core.families.encoders.harmony_tools import tools_section
from render_core.families.encoders.reading import EncodedRequest
from render_core.protocol.chat import ChatRequest
from render_core.protocol.tokenize import TokenizeChatRequest
from render_core.protocol.tools import Tool
from render_core.tokenizer.engine import Engine
from render_core.tokenizer.tokenizer import Tokenizer

_IDENTITY: Final = "You are ChatGPT, a large language model trained by OpenAI."
_CHANNELS: Final = (
    "# Valid channels: analysis, commentary, final. Channel must be included for every message."
)
_TOOLS_CHANNEL: Final = "\nCalls to these tools must go to the commentary channel: 'functions'."
_EFFORTS: Final = ("low", "medium", "high")
_DEFAULT_EFFORT: Final = "medium"

# Inside every special token the pre-tokenizer splits here whatever stands around it, so that cutting a text at this
# place changes no id and leaves no special token to be seen.
_CUT: Final = re.compile(r"(?<=<\|)(?=[a-z])")
_TOKENS: Final = ("<|start|>", "<|channel|>", "<|message|>", "<|end|>", "<|call|>")
_CACHED_HEADERS: Final = 512
_CACHED_LENGTH: Final = 400


class HarmonyEncoder:
    """Writes Harmony conversations.

    A chat's template, template variables, add_generation_prompt, continue_final_message and truncation do nothing.
    """

    name = "harmony"

    def __init__(self, engine: Engine, *, system_instructions: bool = False) -> None:
        """Look up the tokens.

        Args:
            engine: the tokenizer of a gpt-oss model.
            system_instructions: put instructions into the system message instead of a developer message
                (VLLM_GPT_OSS_HARMONY_SYSTEM_INSTRUCTIONS).

        Raises:
            ConfigurationError: the tokenizer lacks a token that Harmony writes.
        """
        self._engine = engine
        self._system_instructions = system_instructions
        self._start, self._channel, self._message, self._end, self._call = (
            _token_id(engine, token) for token in _TOKENS
        )
        self._cached_ids = lru_cache(_CACHED_HEADERS)(self._ordinary_ids)

    def encode(self, request: EncodedRequest, kwargs: Mapping[str, Any], now: datetime.datetime) -> Prompt:
        """The ids of a chat; those of no messages are a prompt as well.

        The tools are the request's own: whoever leaves them out for tool_choice "none" does so in `request`.

        Raises:
            RenderError: the effort is none of low, medium and high; a message is malformed or has a role that
                Harmony does not know; a tool cannot be shown; or a text has no UTF-8 form.
        """
        effort = request.reasoning_effort if isinstance(request, ChatRequest) else None
        if effort not in (None, *_EFFORTS):
            raise RenderError(
                f"reasoning_effort must be one of {', '.join(_EFFORTS)} for this model.", "reasoning_effort"
            )
        instructions, items = read_messages(
            request.messages, validated_twice=isinstance(request, TokenizeChatRequest)
        )
        day = f"{now:%Y-%m-%d}"
        prompt = [
            *self._preamble(instructions, request.tools or [], effort or _DEFAULT_EFFORT, day),
            *(self._written(item, bool(request.tools), day) for item in items),
        ]
        ids: list[int] = []
        try:
            for message in prompt:
                ids += self._message_ids(message)
        except TypeError:
            raise RenderError("The conversation holds a lone surrogate, which has no token.") from None
        return Prompt(ids=[*ids, self._start, *self._header_ids("assistant")], is_whole=True)

    def _preamble(
        self, instructions: str | None, tools: list[Tool], effort: str, day: str
    ) -> Iterable[HarmonyMessage]:
        told = self._system_instructions and instructions is not None
        yield _system_message(instructions if told else None, effort, day, has_tools=bool(tools))
        sections = []
        if instructions is not None and not told and (instructions or tools):
            sections.append(f"# Instructions\n\n{instructions}")
        if tools:
            sections.append(tools_section(tools))
        if sections:
            yield HarmonyMessage("developer", ("\n\n".join(sections),))

    def _written(self, item: HarmonyMessage | Instructions, has_tools: bool, day: str) -> HarmonyMessage:
        if isinstance(item, HarmonyMessage):
            return item
        if self._system_instructions:
            if item.role == "system":
                return _system_message(item.text, _DEFAULT_EFFORT, day, has_tools=has_tools)
            return HarmonyMessage("developer", ("",))
        return HarmonyMessage("developer", (f"# Instructions\n\n{item.text}",))

    def _message_ids(self, message: HarmonyMessage) -> list[int]:
        ids = [self._start, *self._header_ids(message.author)]
        if message.channel is not None:
            ids += [self._channel, *self._header_ids(message.channel)]
        ids.append(self._message)
        for text in message.texts:
            is_common = message.author == "system" and not self._system_instructions
            ids += self._header_ids(text) if is_common else self._ordinary_ids(text)
        ids.append(self._call if message.is_call else self._end)
        return ids

    def _header_ids(self, text: str) -> Sequence[int]:
        """Ids of what many requests share. They are kept, and not to be changed."""
        return self._cached_ids(text) if len(text) <= _CACHED_LENGTH else self._ordinary_ids(text)

    def _ordinary_ids(self, text: str) -> Sequence[int]:
        """Ids of a text in which no special token is read."""
        if "<|" not in text:
            return self._engine.encode(text, False)
        return [token_id for piece in _CUT.split(text) for token_id in self._engine.encode(piece, False)]


def _system_message(instructions: str | None, effort: str, day: str, *, has_tools: bool) -> HarmonyMessage:
    identity = _IDENTITY if instructions is None else f"{_IDENTITY}\n{instructions}"
    text = (
        f"{identity}\nKnowledge cutoff: 2024-06\nCurrent date: {day}\n\nReasoning: {effort}\n\n"
        f"{_CHANNELS}{_TOOLS_CHANNEL if has_tools else ''}"
    )
    return HarmonyMessage("system", (text,))


def _token_id(engine: Engine, token: str) -> int:
    ids = engine.encode(token, False)
    if len(ids) != 1:
        raise ConfigurationError(f"The tokenizer does not know {token}, which Harmony prompts need.")
    return ids[0]


def build(config: Mapping[str, Any], tokenizer: Tokenizer) -> HarmonyEncoder:
    """Build the encoder for a gpt-oss model.

    Raises:
        ConfigurationError: the tokenizer lacks a token that Harmony writes.
    """
    return HarmonyEncoder(tokenizer.engine)
