"""Sampling parameters: the request over the model's generation defaults over neutral ones (spec 6.3, 4.5).

The object written holds every value that the engine would otherwise have to guess, in vLLM 0.33's order; what
equals the engine's own default and was not computed is left out, as vLLM leaves it out. `max_tokens` is always
written: an engine reads its absence as "fill the context" (spec 11 row 1).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from render_core.errors import RenderError
from render_core.families.effects import Effects
from render_core.protocol.chat import ChatRequest
from render_core.protocol.completion import CompletionRequest
from render_core.protocol.sampling_fields import SamplingFields
from render_core.protocol.structured import resolve_constraint

_NEUTRAL: Final[dict[str, float | int]] = {
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "repetition_penalty": 1.0,
    "temperature": 1.0,
    "top_p": 1.0,
    "top_k": 0,
    "min_p": 0.0,
}
_GENERATION_DEFAULTS: Final = (*_NEUTRAL, "max_new_tokens", "skip_special_tokens")

_MAX_SEQUENCES: Final = 16384
_SMALLEST_TEMPERATURE: Final = 0.01
_GREEDY_BELOW: Final = 1e-5
_LARGEST_BIAS: Final = 100.0
_STREAMED, _FINAL_ONLY = 1, 2


def generation_defaults(generation_config: Mapping[str, Any], override: Mapping[str, Any]) -> dict[str, Any]:
    """The sampling defaults of a model: generation_config.json, and the operator's override of it."""
    merged = {**{k: v for k, v in generation_config.items() if v is not None}, **override}
    return {name: merged[name] for name in _GENERATION_DEFAULTS if merged.get(name) is not None}


def output_tokens(
    request: ChatRequest | CompletionRequest,
    prompt_tokens: int,
    max_model_len: int,
    defaults: Mapping[str, Any],
    hard_limit: int | None,
) -> int:
    """How many tokens may be generated (spec 4.5).

    Args:
        prompt_tokens: length of the prompt after truncation.
        hard_limit: the operator's cap, which requests cannot raise.

    Raises:
        RenderError: the prompt leaves no room, or the request asks for less than one token.
    """
    if isinstance(request, CompletionRequest):
        if request.echo and request.max_tokens == 0:
            return 1
        asked = request.max_tokens
    else:
        asked = request.requested_max_tokens
    limits = (
        max_model_len - prompt_tokens,
        defaults.get("max_new_tokens") if asked is None else asked,
        hard_limit,
    )
    allowed = min(limit for limit in limits if limit is not None)
    if allowed < 1:
        cause = (
            "the prompt fills the context" if prompt_tokens >= max_model_len else "that is what was asked for"
        )
        raise RenderError(
            f"max_tokens must be at least 1, got {allowed}: {cause}. (parameter=max_tokens, value={allowed})",
            "max_tokens",
        )
    return int(allowed)


def sampling_parameters(
    request: ChatRequest | CompletionRequest,
    max_tokens: int,
    defaults: Mapping[str, Any],
    max_logprobs: int | None,
    effects: Effects | None = None,
) -> dict[str, Any]:
    """The object `sampling_params` of a GenerateRequest.

    Args:
        max_tokens: what output_tokens() allowed.
        max_logprobs: most log probabilities a request may ask for; None checks nothing, -1 allows any number.
        effects: what the model's parsers change; None where there are none, as in completions.

    Raises:
        RenderError: a value is out of its range.
    """
    values = _ranged_values(request, defaults)
    greedy = values["temperature"] < _GREEDY_BELOW
    count = 1 if request.n is None else request.n
    _check_count(count, greedy)
    if request.min_tokens < 0 or request.min_tokens > max_tokens:
        raise RenderError(
            f"min_tokens must be from 0 to max_tokens={max_tokens}, got {request.min_tokens}.", "min_tokens"
        )
    stop = [request.stop] if isinstance(request.stop, str) else list(request.stop or ())
    logprobs, prompt_logprobs = _log_probabilities(request, max_logprobs)
    held_back = (
        max((len(text) for text in stop), default=1) - 1 if not request.include_stop_str_in_output else 0
    )
    if effects is None:
        effects = Effects(
            structured_outputs=resolve_constraint(request.structured_outputs, request.response_format)
        )
    skip_special_tokens = _first_given(
        effects.skip_special_tokens,
        request.skip_special_tokens,
        bool(defaults.get("skip_special_tokens", True)),
    )
    spaces_between = _first_given(
        effects.spaces_between_special_tokens, request.spaces_between_special_tokens
    )
    optional: dict[str, Any] = {
        "n": count if count != 1 else None,
        "presence_penalty": values["presence_penalty"],
        "frequency_penalty": values["frequency_penalty"],
        "repetition_penalty": values["repetition_penalty"],
        "temperature": values["temperature"],
        "watermarking": request.watermarking,
        "top_p": None if greedy else values["top_p"],
        "top_k": None if greedy else values["top_k"] or None,
        "min_p": None if greedy else values["min_p"],
        "seed": None if request.seed == -1 else request.seed,
        "stop": _without_empty(stop, "stop"),
        "stop_token_ids": list(dict.fromkeys(request.stop_token_ids or ())),
        "ignore_eos": request.ignore_eos or None,
        "max_tokens": max_tokens,
        "min_tokens": request.min_tokens or None,
        "logprobs": logprobs,
        "prompt_logprobs": prompt_logprobs,
        "logprob_token_ids": request.logprob_token_ids or None,
        "skip_special_tokens": None if skip_special_tokens else False,
        "spaces_between_special_tokens": None if spaces_between else False,
        "include_stop_str_in_output": request.include_stop_str_in_output or None,
        "output_kind": _STREAMED if request.stream else _FINAL_ONLY,
        "stream_interval": request.stream_interval,
        "skip_clone": True,
        "output_text_buffer_length": held_back or None,
        "structured_outputs": effects.structured_outputs,
        "logit_bias": _logit_bias(request.logit_bias),
        "allowed_token_ids": request.allowed_token_ids,
        "extra_args": _extra_args(request.vllm_xargs),
        "bad_words": _without_empty(list(dict.fromkeys(request.bad_words)), "bad_words"),
        "skip_reading_prefix_cache": prompt_logprobs is not None,
        "thinking_token_budget": request.thinking_token_budget,
        "repetition_detection": _repetition_detection(request),
        "routed_experts_prompt_start": request.routed_experts_prompt_start or None,
    }
    return {name: value for name, value in optional.items() if value is not None}


def _first_given(*values: bool | None) -> bool:
    return next(value for value in values if value is not None)


def _ranged_values(request: SamplingFields, defaults: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, neutral in _NEUTRAL.items():
        asked = getattr(request, name)
        values[name] = defaults.get(name, neutral) if asked is None else asked
    for name in ("presence_penalty", "frequency_penalty"):
        _check_range(name, values[name], -2.0 <= values[name] <= 2.0, "in [-2, 2]")
    repetition = values["repetition_penalty"]
    _check_range(
        "repetition_penalty", repetition, 0.0 < repetition < math.inf, "finite and greater than zero"
    )
    _check_range("temperature", values["temperature"], 0.0 <= values["temperature"] <= 2.0, "in [0, 2]")
    _check_range("top_p", values["top_p"], 0.0 < values["top_p"] <= 1.0, "in (0, 1]")
    _check_range("top_k", values["top_k"], values["top_k"] >= -1, "0 or -1 (off), or at least 1")
    _check_range("min_p", values["min_p"], 0.0 <= values["min_p"] <= 1.0, "in [0, 1]")
    if 0 < values["temperature"] < _SMALLEST_TEMPERATURE:
        values["temperature"] = _SMALLEST_TEMPERATURE
    return values


def _check_range(name: str, value: float, holds: bool, range_text: str) -> None:
    if not holds:
        raise RenderError(
            f"{name} must be {range_text}, got {value}. (parameter={name}, value={value})", name
        )


def _check_count(count: int, greedy: bool) -> None:
    if not 1 <= count <= _MAX_SEQUENCES:
        raise RenderError(f"n must be from 1 to {_MAX_SEQUENCES}, got {count}.", "n")
    if greedy and count > 1:
        raise RenderError(f"n must be 1 when sampling is greedy, got {count}.", "n")


def _log_probabilities(
    request: ChatRequest | CompletionRequest, max_logprobs: int | None
) -> tuple[int | None, int | None]:
    """logprobs and prompt_logprobs; echo asks for as many of the prompt's as of the output's."""
    if isinstance(request, CompletionRequest):
        output = request.logprobs
        logprobs = None if request.logprob_token_ids else output
    else:
        output = request.top_logprobs
        logprobs = output if request.logprobs and not request.logprob_token_ids else None
    prompt_logprobs = output if request.prompt_logprobs is None and request.echo else request.prompt_logprobs
    if max_logprobs is not None and max_logprobs != -1:
        for name, value in (("logprobs", logprobs), ("prompt_logprobs", prompt_logprobs)):
            if value is not None and (value == -1 or value > max_logprobs):
                raise RenderError(f"{name} must be at most {max_logprobs}, got {value}.", name)
    return logprobs, prompt_logprobs


def _without_empty(texts: list[str], name: str) -> list[str]:
    if not all(texts):
        raise RenderError(f"{name} must not hold an empty string.", name)
    return texts


def _logit_bias(bias: Mapping[str, float] | None) -> dict[str, float] | None:
    if bias is None:
        return None
    try:
        return {
            str(int(token)): min(_LARGEST_BIAS, max(-_LARGEST_BIAS, value)) for token, value in bias.items()
        }
    except ValueError:
        raise RenderError("logit_bias must have token ids as keys.", "logit_bias") from None


def _extra_args(xargs: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if not xargs:
        return None
    for value in xargs.values():
        for item in value if isinstance(value, list) else (value,):
            if isinstance(item, int) and not -(2**63) <= item < 2**64:
                raise RenderError("vllm_xargs must hold integers of at most 64 bits.", "vllm_xargs")
    return dict(xargs)


def _repetition_detection(request: SamplingFields) -> dict[str, int] | None:
    return None if request.repetition_detection is None else request.repetition_detection.model_dump()
