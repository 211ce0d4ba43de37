"""The request of /v1/completions/render (spec 5)."""

from __future__ import annotations

from typing import Any

from pydantic import model_validator

from render_core.errors import RenderError
from render_core.protocol.sampling_fields import SamplingFields, number_field
from render_core.protocol.wire import WireList

DEFAULT_MAX_TOKENS = 16


class CompletionRequest(SamplingFields):
    """A text completion: one prompt or a list of them, as text or as token ids."""

    prompt: WireList[int] | WireList[WireList[int]] | str | WireList[str] | None = None
    suffix: str | None = None
    echo: bool | None = False
    logprobs: int | None = None
    max_tokens: int | None = DEFAULT_MAX_TOKENS
    n: int = 1
    best_of: int | None = None
    add_special_tokens: bool = True

    @model_validator(mode="before")
    @classmethod
    def _check_completion_rules(cls, document: Any) -> Any:
        if document.get("prompt_embeds"):
            raise RenderError(
                "prompt_embeds are not accepted: this service renders text only.", "prompt_embeds"
            )
        if document.get("prompt") in (None, ""):
            raise RenderError("Either prompt or prompt_embeds must be given and not be empty.", "prompt")
        if document["prompt"] == []:
            raise RenderError("prompt must hold at least one prompt.", "prompt")
        _check_logprobs(document)
        if document.get("max_tokens") is None:
            document = document | {"max_tokens": DEFAULT_MAX_TOKENS}
        return document


def _check_logprobs(document: dict[str, Any]) -> None:
    logprobs = number_field(document, "logprobs")
    if logprobs is not None and logprobs < 0 and logprobs != -1:
        raise RenderError("logprobs must be -1 or not negative.", "logprobs")
    if not document.get("logprob_token_ids"):
        return
    if logprobs is None:
        raise RenderError("logprob_token_ids needs logprobs to be set.", "logprob_token_ids")
    if document.get("echo") and document.get("max_tokens") == 0:
        raise RenderError("logprob_token_ids needs generated tokens; max_tokens is 0.", "logprob_token_ids")
