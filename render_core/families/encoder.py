"""What a family offers whose prompts come from code instead of a chat template."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from render_core.protocol.chat import ChatRequest
from render_core.protocol.tokenize import TokenizeChatRequest


@dataclass(frozen=True, slots=True)
class Prompt:
    """An encoded prompt: text that is still to be tokenized, or token ids that the encoder made itself."""

    text: str | None = None
    ids: list[int] | None = None


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
