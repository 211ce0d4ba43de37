"""What a family offers whose prompts come from code instead of a chat template."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from render_core.protocol.chat import ChatRequest
from render_core.protocol.tokenize import TokenizeChatRequest


@dataclass(frozen=True, slots=True)
class Prompt:
    """An encoded prompt: text that is still to be tokenized, or token ids that the encoder made itself.

    Attributes:
        is_whole: no truncation applies to the ids, as vLLM cuts no Harmony prompt.
    """

    text: str | None = None
    ids: list[int] | None = None
    is_whole: bool = False


class PromptEncoder(Protocol):
    """Builds prompts for one family. One instance a model, built when the model is loaded, safe for threads."""

    @property
    def name(self) -> str:
        """The name by which --tokenizer-mode selects it."""
        ...

    def encode(
        self, request: ChatRequest | TokenizeChatRequest, kwargs: Mapping[str, Any], now: datetime.datetime
    ) -> Prompt:
        """The prompt of a chat.

        Args:
            request: the validated request; its messages are as the client wrote them.
            kwargs: effective chat_template_kwargs (spec 2.7), the request's own fields included.
            now: the date that prompts may show.

        Raises:
            RenderError: the family cannot express the conversation.
        """
        ...


@runtime_checkable
class SuffixEncoder(Protocol):
    """An encoder that also makes fill-in-the-middle prompts."""

    def completion_with_suffix(self, prompt: str, suffix: str) -> str:
        """The prompt of a text completion that is to go over into `suffix`."""
        ...
