"""The request of /v1/chat/completions/render (spec 2.1) and the chat part that /tokenize shares with it.

Messages are left as the client wrote them, the older name of reasoning aside: render_core.conversation reads them,
since key order is tokens.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, model_validator

from render_core.errors import RenderError
from render_core.protocol.sampling_fields import SamplingFields, number_field
from render_core.protocol.tools import (
    Tool,
    ToolChoice,
    check_constraint_beside_tools,
    check_tool_choice,
)
from render_core.protocol.wire import WireDict, WireList

ReasoningEffort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


class ChatRequest(SamplingFields):
    """A chat completion request."""

    messages: list[Any]
    logprobs: bool | None = False
    top_logprobs: Annotated[int, BeforeValidator(lambda value: 0 if value is None else value)] = 0
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    n: int | None = 1
    tools: WireList[Tool] | None = None
    tool_choice: ToolChoice = "none"
    parallel_tool_calls: bool | None = True
    reasoning_effort: ReasoningEffort | None = None
    include_reasoning: bool = True
    echo: bool = False
    add_generation_prompt: bool = True
    continue_final_message: bool = False
    add_special_tokens: bool = False
    documents: WireList[WireDict[str]] | None = None
    chat_template: str | None = None
    chat_template_kwargs: dict[str, Any] | None = None

    @model_validator(mode="before")
    @classmethod
    def _check_chat_rules(cls, document: Any) -> Any:
        _check_top_logprobs(document)
        check_generation_prompt(document)
        check_tool_choice(document)
        check_constraint_beside_tools(document)
        if document.get("tools") and "tool_choice" not in document:
            document = document | {"tool_choice": "auto"}
        if isinstance(messages := document.get("messages"), list):
            document = document | {"messages": [with_one_reasoning_name(message) for message in messages]}
        return document

    @property
    def requested_max_tokens(self) -> int | None:
        """The client's limit on generated tokens; max_completion_tokens wins over the older name."""
        return self.max_tokens if self.max_completion_tokens is None else self.max_completion_tokens


def with_one_reasoning_name(message: Any) -> Any:
    """A message as the client wrote it, but for `reasoning_content`, the older name of `reasoning`.

    The newer name wins when both are given. vLLM renames in chats only, not in /tokenize.
    """
    if not isinstance(message, dict) or "reasoning_content" not in message:
        return message
    renamed = {name: value for name, value in message.items() if name != "reasoning_content"}
    if renamed.get("reasoning") is None and message["reasoning_content"] is not None:
        renamed["reasoning"] = message["reasoning_content"]
    return renamed


def check_generation_prompt(document: dict[str, Any]) -> None:
    """Raises RenderError when the final message is to be continued and a new turn to be opened as well."""
    if document.get("continue_final_message") and document.get("add_generation_prompt"):
        raise RenderError(
            "continue_final_message and add_generation_prompt must not both be true.",
            "continue_final_message",
        )


def _check_top_logprobs(document: dict[str, Any]) -> None:
    top_logprobs = number_field(document, "top_logprobs")
    if top_logprobs is not None:
        if top_logprobs < 0 and top_logprobs != -1:
            raise RenderError("top_logprobs must be -1 or not negative.", "top_logprobs")
        if top_logprobs != 0 and not document.get("logprobs"):
            raise RenderError("top_logprobs needs logprobs to be true.", "top_logprobs")
    if document.get("logprob_token_ids") and not document.get("logprobs"):
        raise RenderError("logprob_token_ids needs logprobs to be true.", "logprob_token_ids")
