"""The requests of /tokenize (a text or a chat) and /detokenize (spec 1.4)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, model_validator

from render_core.protocol.chat import check_generation_prompt
from render_core.protocol.tools import Tool
from render_core.protocol.wire import INT64_MAX, WireDict, WireList, WireModel


class TokenizeTextRequest(WireModel):
    model: str | None = None
    prompt: str
    add_special_tokens: bool = True
    return_token_strs: bool | None = False


class TokenizeChatRequest(WireModel):
    model: str | None = None
    messages: list[Any]
    tools: WireList[Tool] | None = None
    add_generation_prompt: bool = True
    continue_final_message: bool = False
    add_special_tokens: bool = False
    chat_template: str | None = None
    chat_template_kwargs: dict[str, Any] | None = None
    mm_processor_kwargs: dict[str, Any] | None = None
    media_io_kwargs: WireDict[dict[str, Any]] | None = None
    return_token_strs: bool | None = False

    @model_validator(mode="before")
    @classmethod
    def _check_chat_rules(cls, document: Any) -> Any:
        check_generation_prompt(document)
        return document


class DetokenizeRequest(WireModel):
    model: str | None = None
    tokens: WireList[Annotated[int, Field(ge=0, le=INT64_MAX)]]
