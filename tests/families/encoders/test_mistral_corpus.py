"""Every public chat, completion, /tokenize and /detokenize case of a tekken model, and the fuzz strings."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from render_core.errors import RenderError
from render_core.families.encoders.mistral import MistralEncoder, build
from render_core.protocol.body import decode_body
from render_core.protocol.chat import ChatRequest
from render_core.protocol.completion import CompletionRequest
from render_core.protocol.tokenize import DetokenizeRequest, TokenizeChatRequest, TokenizeTextRequest
from render_core.sampling import output_tokens, sampling_parameters
from render_core.tokenizer.lengths import LengthRules, encode_text, truncate_ids
from render_core.tokenizer.tekken import HEADER_KEY, read_tekken
from render_core.tokenizer.tekken_engine import TekkenEngine
from render_core.tokenizer.tokenizer import Tokenizer
from tests.corpus import Case, model_dir, needs_corpus, read_case_file, read_records
from tests.families.encoders.chats import NOW, effective_kwargs

NAME = "mistral_tekken"
MAX_MODEL_LEN = 4096


@cache
def loaded(path: str | None = None) -> tuple[Tokenizer, MistralEncoder]:
    folder = model_dir(NAME) if path is None else model_dir(path)
    tekken = read_tekken((folder / "tekken.json").read_bytes())
    tokenizer = tekken.prepared.tokenizer(TekkenEngine(tekken.prepared.serialized))
    return tokenizer, build({HEADER_KEY: tekken.header}, tokenizer)


def answer(endpoint: str, document: Any, max_model_len: int) -> Any:
    tokenizer, encoder = loaded()
    if endpoint == "/v1/chat/completions/render":
        return chat_ids(encoder, document, max_model_len)
    if endpoint == "/v1/completions/render":
        return completion_ids(tokenizer, document, max_model_len)
    if endpoint == "/detokenize":
        return tokenizer.engine.decode(DetokenizeRequest.parse(document).tokens)
    if isinstance(document, dict) and "messages" in document and "prompt" not in document:
        chat = TokenizeChatRequest.parse(document)
        return encoder.encode(chat, effective_kwargs(chat), NOW).ids, None
    text = TokenizeTextRequest.parse(document)
    ids = encode_text(
        tokenizer, text.prompt, add_special_tokens=text.add_special_tokens, with_offsets=False, rules=None
    ).ids
    return ids, tokenizer.engine.tokens(ids) if text.return_token_strs else None


def chat_ids(encoder: MistralEncoder, document: Any, max_model_len: int) -> list[int]:
    request = ChatRequest.parse(document)
    rules = LengthRules(
        max_model_len,
        request.requested_max_tokens,
        truncate=request.truncate_prompt_tokens,
        side=request.truncation_side,
    )
    rules.check()
    ids = truncate_ids(encoder.encode(request, effective_kwargs(request), NOW).ids or [], rules)
    if not ids:
        raise RenderError("No token ids were rendered.")
    sampling_parameters(request, output_tokens(request, len(ids), max_model_len, {}, None), {}, None)
    return ids


def completion_ids(tokenizer: Tokenizer, document: Any, max_model_len: int) -> list[list[int]]:
    request = CompletionRequest.parse(document)
    rules = LengthRules(
        max_model_len,
        request.max_tokens or 0,
        truncate=request.truncate_prompt_tokens,
        side=request.truncation_side,
    )
    rules.check()
    given: Any = request.prompt
    found = []
    for prompt in [given] if isinstance(given, str) or (given and isinstance(given[0], int)) else given:
        if isinstance(prompt, str):
            special = request.add_special_tokens
            ids = encode_text(
                tokenizer, prompt, add_special_tokens=special, with_offsets=False, rules=rules
            ).ids
        else:
            ids = truncate_ids(prompt, rules)
        if not ids:
            raise RenderError("No token ids were rendered.")
        sampling_parameters(request, output_tokens(request, len(ids), max_model_len, {}, None), {}, None)
        found.append(ids)
    return found


def got(case: Case) -> tuple[int, Any]:
    try:
        return 200, answer(case.endpoint, decode_body(case.body), MAX_MODEL_LEN)
    except RenderError as error:
        return error.status, None


def wanted(case: Case) -> tuple[int, Any]:
    status, body = case.expected["status"], case.expected["body"]
    if status != 200:
        return status, None
    if isinstance(body, list):
        return 200, [one["token_ids"] for one in body]
    if case.endpoint == "/tokenize":
        return 200, (body["tokens"], body["token_strs"])
    return 200, body["prompt" if case.endpoint == "/detokenize" else "token_ids"]


@needs_corpus
def test_cases_have_the_status_and_ids_of_the_python_peer() -> None:
    routes = ("/v1/chat/completions/render", "/v1/completions/render", "/tokenize", "/detokenize")
    cases = [case for case in read_case_file(NAME).cases if case.endpoint in routes]
    wrong = [
        f"{case.id}: {str(found)[:150]}, expected {str(want)[:150]}"
        for case in cases
        if (found := got(case)) != (want := wanted(case))
    ]
    assert not wrong, f"{len(wrong)} of {len(cases)} cases\n" + "\n".join(wrong)


@needs_corpus
def test_fuzz_strings_have_the_ids_of_the_python_peer() -> None:
    tokenizer, _ = loaded()
    wrong = [
        json.dumps(record["text"])[:200]
        for record in read_records(NAME, "cases-fuzz")
        if tokenizer.engine.encode(record["text"], True) != record["python"]
    ]
    assert not wrong, "\n".join(wrong[:10])
