"""Every public chat of the code-encoded families: status and token ids, from the request body through the encoder."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from render_core import load_model
from render_core.errors import RenderError
from render_core.families.encoder import PromptEncoder
from render_core.model.model import Model
from render_core.protocol.body import decode_body
from render_core.protocol.chat import ChatRequest
from render_core.protocol.completion import CompletionRequest
from render_core.protocol.tokenize import TokenizeChatRequest
from render_core.sampling import output_tokens, sampling_parameters
from render_core.tokenizer.lengths import LengthRules, encode_text, truncate_ids
from tests.corpus import Case, model_dir, needs_corpus, read_case_file
from tests.families.encoders.chats import encode_request, encoder_of

FAMILIES = ("deepseek_v32", "deepseek_v4", "deepseek_v41", "inkling")
MAX_MODEL_LEN = 4096  # of the recorded servers
# Refused before an encoder is asked: by the HTTP layer, and by the check for options of media.
REFUSED_EARLIER = ("bad_content_type_header", "rq_mm_processor_kwargs")
# vLLM answers 500 here.
CORRECTED_STATUS = {"deepseek_v32/bad_empty_messages": 400}


def loaded(name: str) -> tuple[Model, PromptEncoder]:
    model = load_model(str(model_dir(name)))
    return model, encoder_of(name, model.tokenizer)


def chat_ids(model: Model, encoder: PromptEncoder, document: Any) -> list[int]:
    request = ChatRequest.parse(document)
    if request.use_beam_search:
        raise RenderError("Beam search is not rendered.")
    _check_model(model, request.model)
    rules = LengthRules(
        MAX_MODEL_LEN,
        request.requested_max_tokens,
        truncate=request.truncate_prompt_tokens,
        side=request.truncation_side,
    )
    rules.check()
    reused = (request.kv_transfer_params or {}).get("prompt_token_ids")
    ids = list(reused) if reused else _prompt_ids(model, encoder, request, rules)
    if not ids:
        raise RenderError("No token ids.")
    max_tokens = output_tokens(request, len(ids), MAX_MODEL_LEN, model.sampling_defaults, None)
    sampling_parameters(request, max_tokens, model.sampling_defaults, model.options.max_logprobs)
    return ids


def tokenized_ids(model: Model, encoder: PromptEncoder, document: Any) -> list[int]:
    request = TokenizeChatRequest.parse(document)
    return _prompt_ids(model, encoder, request, None)


def completed_ids(model: Model, encoder: Any, document: Any) -> list[int]:
    request = CompletionRequest.parse(document)
    assert isinstance(request.prompt, str)
    assert request.suffix is not None
    text = encoder.completion_with_suffix(request.prompt, request.suffix)
    return encode_text(
        model.tokenizer, text, add_special_tokens=request.add_special_tokens, with_offsets=False, rules=None
    ).ids


def _check_model(model: Model, requested: str | None) -> None:
    if requested and requested != model.root.rpartition("/")[2]:
        error = RenderError("Unknown model.")
        error.status = 404
        raise error


def _prompt_ids(
    model: Model,
    encoder: PromptEncoder,
    request: ChatRequest | TokenizeChatRequest,
    rules: LengthRules | None,
) -> list[int]:
    prompt = encode_request(encoder, request)
    if prompt.ids is not None:
        return prompt.ids if rules is None else truncate_ids(prompt.ids, rules)
    assert prompt.text is not None
    return encode_text(
        model.tokenizer,
        prompt.text,
        add_special_tokens=request.add_special_tokens,
        with_offsets=False,
        rules=rules,
    ).ids


IDS_OF: dict[str, Callable[[Model, Any, Any], list[int]]] = {
    "/v1/chat/completions/render": chat_ids,
    "/v1/completions/render": completed_ids,
    "/tokenize": tokenized_ids,
}


def answered(model: Model, encoder: PromptEncoder, case: Case) -> tuple[int, list[int] | None]:
    try:
        return 200, IDS_OF[case.endpoint](model, encoder, decode_body(case.body))
    except RenderError as error:
        return error.status, None


def recorded(case: Case) -> tuple[int, list[int] | None]:
    status, body = case.expected["status"], case.expected["body"]
    if status != 200:
        return CORRECTED_STATUS.get(case.id.rpartition("/")[0], status), None
    answer = body[0] if isinstance(body, list) else body
    return 200, answer["tokens"] if "tokens" in answer else answer["token_ids"]


def concerns_encoder(case: Case) -> bool:
    if case.item in REFUSED_EARLIER:
        return False
    if case.endpoint == "/tokenize":
        return "messages" in json.loads(case.body)
    if case.endpoint == "/v1/completions/render":
        return case.item == "c_suffix"
    return case.endpoint == "/v1/chat/completions/render"


@needs_corpus
@pytest.mark.parametrize("name", FAMILIES)
def test_chats_have_the_status_and_ids_of_the_python_peer(name: str) -> None:
    model, encoder = loaded(name)
    cases = [case for case in read_case_file(name).cases if concerns_encoder(case)]
    wrong = []
    for case in cases:
        got, want = answered(model, encoder, case), recorded(case)
        if got != want:
            wrong.append(f"{case.id}: {got[0]} and {got[1] and got[1][:9]}, expected {want[0]}, {want[1]}")
    assert not wrong, f"{len(wrong)} of {len(cases)} cases\n" + "\n".join(line[:400] for line in wrong)
