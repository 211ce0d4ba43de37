"""The answer: vLLM's GenerateRequest, as /inference/v1/generate takes it (spec 6.1)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import orjson

from render_core.errors import RenderError
from render_core.protocol.sampling_fields import SamplingFields
from render_core.tokenizer.lengths import Tokens
from render_core.tokenizer.packed_ids import PackedIds


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """One rendered prompt. Optional members are written as null, as the Python peer writes them."""

    request_id: str
    tokens: Tokens
    sampling_params: dict[str, Any]
    model: str
    request: SamplingFields
    kv_transfer_params: dict[str, Any] | None
    reasoning_ended: bool | None = None
    reasoning_parser_kwargs: dict[str, Any] | None = None
    parse_context: dict[str, Any] | None = None
    prompt_text: str | None = None

    def document(self) -> dict[str, Any]:
        """The JSON object, its keys in vLLM 0.33's order; prompt_text is ours and present only when asked for."""
        request = self.request
        stream = bool(request.stream)
        options = request.stream_options if stream else None
        written: dict[str, Any] = {
            "request_id": self.request_id,
            "token_ids": self.tokens.ids,
            "token_offsets": self.tokens.offsets,
            "features": None,
            "content_parts": None,
            "sampling_params": self.sampling_params,
            "model": self.model,
            "reasoning_ended": self.reasoning_ended,
            "reasoning_parser_kwargs": self.reasoning_parser_kwargs,
            "return_token_ids": request.return_token_ids,
            "output_mode": "tokens",
            "parse_context": self.parse_context,
            "stream": stream,
            "stream_options": None if options is None else options.model_dump(),
            "cache_salt": request.cache_salt,
            "priority": request.priority,
            "kv_transfer_params": self.kv_transfer_params,
            "ec_transfer_params": request.ec_transfer_params or None,
        }
        if self.prompt_text is not None:
            written["prompt_text"] = self.prompt_text
        return written


def encode_answer(document: Any) -> bytes:
    """Compact JSON. Integers beyond 64 bits, which orjson refuses, are written as json does.

    Raises:
        RenderError: a text of the request that travels on holds a lone surrogate, which has no UTF-8 form.
    """
    try:
        return orjson.dumps(document, default=_plain, option=orjson.OPT_SERIALIZE_NUMPY)
    except TypeError:
        pass
    try:
        return json.dumps(document, separators=(",", ":"), ensure_ascii=False, default=_listed).encode()
    except UnicodeEncodeError:
        raise RenderError("The request holds a lone surrogate, which no answer can carry.") from None


def _plain(value: Any) -> Any:
    """Packed ids as an array of numbers, which orjson can write."""
    if isinstance(value, PackedIds):
        return value.array
    raise TypeError


def _listed(value: Any) -> Any:
    return _plain(value).tolist()
