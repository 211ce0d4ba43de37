"""The request fields that chat and text completions share, and the rules they obey before any rendering."""

from __future__ import annotations

import math
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from render_core.errors import RenderError
from render_core.protocol.structured import AnyResponseFormat, StructuredOutputs
from render_core.protocol.wire import INT64_MAX, INT64_MIN, WireDict, WireList, WireModel

_MAX_CACHE_SALT_LENGTH: Final = 128
_CACHE_SALT_FORBIDDEN: Final = frozenset("@/\\\x00")
_MAX_STOP_STRINGS: Final = 4


class StreamOptions(BaseModel):
    model_config = ConfigDict(extra="ignore", defer_build=True)

    include_usage: bool | None = False
    continuous_usage_stats: bool | None = False


class RepetitionDetection(BaseModel):
    """Ends generation when the output repeats itself. Sizes are in tokens."""

    model_config = ConfigDict(extra="ignore", defer_build=True)

    max_pattern_size: int = 0
    min_pattern_size: int = 0
    min_count: int = 0

    @model_validator(mode="after")
    def _check_sizes(self) -> RepetitionDetection:
        if not 0 <= self.min_pattern_size <= self.max_pattern_size:
            raise RenderError(
                "repetition_detection needs 0 <= min_pattern_size <= max_pattern_size.",
                "repetition_detection",
            )
        if self.max_pattern_size > 0 and self.min_count < 2:
            raise RenderError(
                "repetition_detection needs min_count >= 2 when max_pattern_size is set.",
                "repetition_detection",
            )
        return self


def _thinking_token_budget(value: Any) -> Any:
    if value is None:
        return None
    if type(value) is not int or value < -1:
        raise RenderError(
            "thinking_token_budget must be -1 or a non-negative integer.", "thinking_token_budget"
        )
    return None if value == -1 else value


class SamplingFields(WireModel):
    """Fields of both render endpoints, spec 2.1 and 5. Types are validated leniently ("0.5" is a float)."""

    model: str | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    repetition_penalty: float | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    logit_bias: WireDict[float] | None = None
    seed: int | None = Field(default=None, ge=INT64_MIN, le=INT64_MAX)
    stop: str | Annotated[list[str], Field(max_length=_MAX_STOP_STRINGS, fail_fast=True)] | None = []
    stop_token_ids: WireList[int] | None = []
    include_stop_str_in_output: bool = False
    ignore_eos: bool = False
    min_tokens: int = 0
    skip_special_tokens: bool | None = None
    spaces_between_special_tokens: bool = True
    bad_words: WireList[str] = []
    allowed_token_ids: WireList[int] | None = None
    logprob_token_ids: WireList[int] | None = None
    prompt_logprobs: int | None = None
    watermarking: bool | None = None
    length_penalty: float = 1.0
    use_beam_search: bool = False
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    stream_interval: Annotated[int, Field(ge=1)] | None = None
    response_format: AnyResponseFormat | None = None
    structured_outputs: StructuredOutputs | None = None
    thinking_token_budget: Annotated[int | None, BeforeValidator(_thinking_token_budget)] = None
    truncate_prompt_tokens: Annotated[int, Field(ge=-1, le=INT64_MAX)] | None = None
    truncation_side: Literal["left", "right"] | None = None
    priority: int = Field(default=0, ge=INT64_MIN, le=INT64_MAX)
    request_id: str | None = None
    session_id: str | None = None
    user: str | None = None
    cache_salt: str | None = None
    kv_transfer_params: dict[str, Any] | None = None
    ec_transfer_params: dict[str, Any] | None = None
    vllm_xargs: WireDict[str | int | float | WireList[str | int | float]] | None = None
    return_token_ids: bool | None = None
    return_tokens_as_token_ids: bool | None = None
    return_token_offsets: bool | None = False
    return_prompt_text: bool | None = None
    return_weight_versions: bool = False
    return_mm_kwargs: bool | None = None
    mm_payload: Literal["tensors", "none"] = "tensors"
    mm_processor_kwargs: dict[str, Any] | None = None
    media_io_kwargs: WireDict[dict[str, Any]] | None = None
    routed_experts_prompt_start: int = Field(default=0, ge=0)
    repetition_detection: RepetitionDetection | None = None

    @model_validator(mode="before")
    @classmethod
    def _check_raw_fields(cls, document: Any) -> Any:
        """Rules that look at what the client wrote, before types are coerced (spec 2.2)."""
        check_cache_salt(document.get("cache_salt"))
        if document.get("request_id", "") is None:
            raise RenderError("request_id must be a string when given.", "request_id")
        if document.get("stream_options") and not document.get("stream"):
            raise RenderError("stream_options may only be given when stream is true.", "stream_options")
        check_prompt_logprobs(document)
        structured = document.get("structured_outputs")
        if isinstance(structured, dict):
            given = [name for name in ("json", "regex", "choice") if structured.get(name) is not None]
            if len(given) > 1:
                raise RenderError(
                    f"structured_outputs takes one kind of constraint; given were {', '.join(given)}.",
                    "structured_outputs",
                )
        return document


def check_cache_salt(cache_salt: Any) -> None:
    """Raises RenderError unless the salt is absent or 1 to 128 characters without `@`, `/`, `\\` and NUL."""
    if cache_salt is None:
        return
    if not isinstance(cache_salt, str) or not cache_salt:
        raise RenderError("cache_salt must be a non-empty string when given.", "cache_salt")
    if len(cache_salt) > _MAX_CACHE_SALT_LENGTH or not _CACHE_SALT_FORBIDDEN.isdisjoint(cache_salt):
        raise RenderError(
            f"cache_salt must have at most {_MAX_CACHE_SALT_LENGTH} characters, none of them '@', '/', '\\' or NUL.",
            "cache_salt",
        )


def check_prompt_logprobs(document: dict[str, Any]) -> None:
    """Raises RenderError for prompt_logprobs that are no number, below -1, or wanted from a stream."""
    value = number_field(document, "prompt_logprobs")
    if value is None:
        return
    if document.get("stream") and (value > 0 or value == -1):
        raise RenderError("prompt_logprobs are not available when stream is true.", "prompt_logprobs")
    if value < 0 and value != -1:
        raise RenderError("prompt_logprobs must be -1 or not negative.", "prompt_logprobs")


def number_field(document: dict[str, Any], name: str) -> int | float | None:
    """A field that counts log probabilities: strings are refused here, although a lenient integer would take them."""
    value = document.get(name)
    if value is None:
        return None
    if not isinstance(value, int | float) or (isinstance(value, float) and math.isnan(value)):
        raise RenderError(f"{name} must be an integer.", name)
    return value
