"""Every public chat, completion, /tokenize and /detokenize case of gpt-oss: status and what the answer is made of."""

from __future__ import annotations

import datetime
import hashlib
import struct
from functools import cache
from typing import Any

import pytest

from render_core import load_model
from render_core.errors import RenderError, UnknownModelError
from render_core.families.encoders.harmony import HarmonyEncoder, build
from render_core.model.model import Model
from render_core.protocol.body import decode_body
from render_core.protocol.chat import ChatRequest
from render_core.protocol.completion import CompletionRequest
from render_core.protocol.tokenize import DetokenizeRequest, TokenizeChatRequest, TokenizeTextRequest
from render_core.sampling import output_tokens, sampling_parameters
from render_core.tokenizer.lengths import LengthRules, encode_text, truncate_ids
from tests.corpus import Case, model_dir, needs_corpus, read_case_file

DAY = datetime.datetime(2026, 11, 29)
MAX_MODEL_LEN = {"gptoss": 4096, "gptoss_long": 262144}
# Refused before a body is read, or answered by code that other models share.
OTHER_ITEMS = ("bad_content_type_header", "c_suffix")
# Checked by every path of vLLM but Harmony's.
UNREAD_FIELDS = ("mm_processor_kwargs", "media_io_kwargs")


@cache
def loaded() -> tuple[Model, HarmonyEncoder]:
    model = load_model(str(model_dir("gptoss")))
    return model, build(model.config, model.tokenizer)


def answer(endpoint: str, document: Any, max_model_len: int) -> Any:
    model, encoder = loaded()
    if endpoint == "/v1/chat/completions/render":
        return chat_ids(model, encoder, document, max_model_len)
    if endpoint == "/v1/completions/render":
        return completion_ids(model, document, max_model_len)
    if endpoint == "/detokenize":
        return model.tokenizer.engine.decode(DetokenizeRequest.parse(document).tokens)
    if isinstance(document, dict) and "messages" in document and "prompt" not in document:
        chat = TokenizeChatRequest.parse(document)
        check_model(chat.model)
        return encoder.encode(chat, {}, DAY).ids
    text = TokenizeTextRequest.parse(document)
    check_model(text.model)
    return encode_text(
        model.tokenizer,
        text.prompt,
        add_special_tokens=text.add_special_tokens,
        with_offsets=False,
        rules=None,
    ).ids


def chat_ids(model: Model, encoder: HarmonyEncoder, document: Any, max_model_len: int) -> list[int]:
    """The way of a Harmony chat: no template to refuse, no truncation; the room for output counts with it."""
    if isinstance(document, dict):
        document = {name: value for name, value in document.items() if name not in UNREAD_FIELDS}
    request = ChatRequest.parse(document)
    check_model(request.model)
    if request.use_beam_search:
        raise RenderError("Beam search is not rendered.")
    reused = (request.kv_transfer_params or {}).get("prompt_token_ids")
    ids: list[int] = reused or encoder.encode(request, {}, DAY).ids or []
    kept = request.truncate_prompt_tokens
    counted = min(len(ids), len(ids) if kept is None else max_model_len if kept == -1 else kept)
    if counted > max_model_len:
        raise RenderError("The prompt is too long.")
    max_tokens = output_tokens(request, counted, max_model_len, model.sampling_defaults, None)
    sampling_parameters(request, max_tokens, model.sampling_defaults, None)
    return ids


def completion_ids(model: Model, document: Any, max_model_len: int) -> list[list[int]]:
    request = CompletionRequest.parse(document)
    check_model(request.model)
    if request.use_beam_search:
        raise RenderError("Beam search is not rendered.")
    rules = LengthRules(
        max_model_len,
        request.max_tokens or 0,
        truncate=request.truncate_prompt_tokens,
        side=request.truncation_side,
    )
    rules.check()
    given: Any = request.prompt
    prompts = [given] if isinstance(given, str) or (given and isinstance(given[0], int)) else list(given)
    found = []
    for prompt in prompts:
        if isinstance(prompt, str):
            ids = encode_text(
                model.tokenizer,
                prompt,
                add_special_tokens=request.add_special_tokens,
                with_offsets=False,
                rules=rules,
            ).ids
        else:
            ids = truncate_ids(prompt, rules)
        if not ids:
            raise RenderError("No token ids were rendered.")
        max_tokens = output_tokens(request, len(ids), max_model_len, model.sampling_defaults, None)
        sampling_parameters(request, max_tokens, model.sampling_defaults, None)
        found.append(ids)
    return found


def check_model(requested: str | None) -> None:
    if requested not in (None, "", "gptoss"):
        raise UnknownModelError("Unknown model.")


def got(case: Case, max_model_len: int) -> tuple[int, Any]:
    try:
        return 200, answer(case.endpoint, decode_body(case.body), max_model_len)
    except RenderError as error:
        return error.status, None


def wanted(case: Case) -> tuple[int, Any]:
    status, body = case.expected["status"], case.expected.get("body")
    if status != 200:
        return status, None
    if "token_ids_sha256" in case.expected:
        return 200, case.expected["token_ids_sha256"]
    if isinstance(body, list):
        return 200, [one["token_ids"] for one in body]
    assert isinstance(body, dict)
    return 200, next(body[name] for name in ("tokens", "token_ids", "prompt") if name in body)


def concerns_tokens(case: Case) -> bool:
    routes = ("/v1/chat/completions/render", "/v1/completions/render", "/tokenize", "/detokenize")
    return case.endpoint in routes and case.item not in OTHER_ITEMS


@needs_corpus
@pytest.mark.parametrize("name", sorted(MAX_MODEL_LEN))
def test_cases_have_the_status_and_ids_of_the_python_peer(name: str) -> None:
    cases = [case for case in read_case_file(name).cases if concerns_tokens(case)]
    wrong = []
    for case in cases:
        found, want = got(case, MAX_MODEL_LEN[name]), wanted(case)
        if isinstance(want[1], str) and isinstance(found[1], list):
            found = (found[0], hashlib.sha256(struct.pack(f"<{len(found[1])}I", *found[1])).hexdigest())
        if found != want:
            wrong.append(f"{case.id}: {str(found)[:150]}, expected {str(want)[:150]}")
    assert not wrong, f"{len(wrong)} of {len(cases)} cases\n" + "\n".join(wrong)
