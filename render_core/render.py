"""The way of a request, top to bottom: validate, converse, template, tokenize, sample, answer.

Every function here takes a model and the bytes of one request body and returns the bytes of the answer. They are
pure: clock and randomness come with the RequestContext. All raise RenderError for a request that cannot be
answered, and are meant to run off the event loop.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any

from render_core.conversation.content import has_media
from render_core.conversation.conversation import Chat, converse
from render_core.conversation.messages import count_tool_calls
from render_core.conversation.variables import merge_kwargs, reasoning_effort_kwargs
from render_core.errors import RenderError
from render_core.families.effects import Effects
from render_core.families.encoder import Prompt, SuffixEncoder
from render_core.model.model import Model
from render_core.observation import UNOBSERVED, Observation
from render_core.protocol.body import decode_body
from render_core.protocol.chat import ChatRequest
from render_core.protocol.completion import CompletionRequest
from render_core.protocol.generate import GenerateRequest, encode_answer
from render_core.protocol.sampling_fields import SamplingFields
from render_core.protocol.tokenize import DetokenizeRequest, TokenizeChatRequest, TokenizeTextRequest
from render_core.protocol.tools import NamedToolChoice, Tool
from render_core.sampling import output_tokens, sampling_parameters
from render_core.tokenizer.lengths import LengthRules, Tokens, encode_text, truncate_ids


@dataclass(frozen=True, slots=True)
class RequestContext:
    """What a request brings besides its body.

    Attributes:
        header_request_id: the X-Request-Id header, if any.
        random_id: 16 hexadecimal digits, for a request that brings no id.
        now: the time that templates see.
        observation: where the rendering notes what it took.
    """

    header_request_id: str | None
    random_id: str
    now: datetime.datetime
    observation: Observation = UNOBSERVED


Answer = Callable[[Model, bytes, RequestContext], bytes]


def _refuses_deep_nesting(answer: Answer) -> Answer:
    """What the parser could read may still nest too deeply to be checked, rendered or written."""

    @wraps(answer)
    def answered(model: Model, body: bytes, context: RequestContext) -> bytes:
        try:
            return answer(model, body, context)
        except RecursionError:
            raise RenderError("The request nests arrays or objects too deeply.") from None

    return answered


@_refuses_deep_nesting
def render_chat(model: Model, body: bytes, context: RequestContext) -> bytes:
    """Answer /v1/chat/completions/render: one GenerateRequest."""
    context.observation.begin()
    request = ChatRequest.parse(decode_body(body))
    context.observation.finish("read")
    name = model.answering_name(request.model)
    _refuse_beam_search(request.use_beam_search)
    _check_tool_choice(model, request)
    if not model.is_harmony:
        _refuse_media_options(request)
    rules = _chat_length_rules(model, request)
    chat = _chat_of(model, request)
    kv_transfer_params, reused_ids = _reused_prompt(model, request)
    text = None
    if reused_ids is not None:
        tokens = Tokens(reused_ids)
    else:
        text, tokens = _prompt_of(model, request, chat, context, rules)
    context.observation.count_tokens(len(tokens.ids))
    defaults = model.sampling_defaults
    max_tokens = output_tokens(
        request, _counted(tokens, rules), model.max_model_len, defaults, model.output_limit
    )
    effects = model.parsers.effects(request, chat.kwargs, tokens.ids)
    answer = GenerateRequest(
        request_id=f"chatcmpl-{_base_id(request.request_id, context)}",
        tokens=tokens,
        sampling_params=sampling_parameters(
            request, max_tokens, defaults, model.options.max_logprobs, effects
        ),
        model=name,
        request=request,
        kv_transfer_params=kv_transfer_params,
        reasoning_ended=effects.reasoning_ended,
        reasoning_parser_kwargs=_reasoning_parser_kwargs(model, chat, effects),
        parse_context=_parse_context(model, request, chat, effects),
        prompt_text=text if request.return_prompt_text else None,
    )
    return _written(answer.document(), context)


@_refuses_deep_nesting
def render_completion(model: Model, body: bytes, context: RequestContext) -> bytes:
    """Answer /v1/completions/render: a list with one GenerateRequest for each prompt, in order."""
    context.observation.begin()
    request = CompletionRequest.parse(decode_body(body))
    context.observation.finish("read")
    name = model.answering_name(request.model)
    _refuse_beam_search(request.use_beam_search)
    _refuse_media_options(request)
    prompts = _prompts(request) if request.suffix is None else _prompts_with_suffix(model, request)
    if len(prompts) > model.options.max_completion_prompts:
        raise RenderError(
            f"prompt must hold at most {model.options.max_completion_prompts} prompts.", "prompt"
        )
    rules = LengthRules(
        max_model_len=model.max_model_len,
        max_output_tokens=request.max_tokens or 0,
        truncate=request.truncate_prompt_tokens,
        side=request.truncation_side,
    )
    rules.check()
    base_id = f"cmpl-{_base_id(request.request_id, context)}"
    defaults = model.sampling_defaults
    answers = []
    for index, prompt in enumerate(prompts):
        tokens = _completion_tokens(model, prompt, request, rules)
        context.observation.count_tokens(len(tokens.ids))
        context.observation.finish("tokenize")
        max_tokens = output_tokens(
            request, _counted(tokens, rules), model.max_model_len, defaults, model.output_limit
        )
        answer = GenerateRequest(
            request_id=base_id if len(prompts) == 1 else f"{base_id}-{index}",
            tokens=tokens,
            sampling_params=sampling_parameters(request, max_tokens, defaults, model.options.max_logprobs),
            model=name,
            request=request,
            kv_transfer_params=request.kv_transfer_params or None,
            prompt_text=prompt if request.return_prompt_text and isinstance(prompt, str) else None,
        )
        answers.append(answer.document())
        context.observation.finish("answer")
    return _written(answers, context)


@_refuses_deep_nesting
def tokenize(model: Model, body: bytes, context: RequestContext) -> bytes:
    """Answer /tokenize, for a text or a chat. Lengths are not checked."""
    context.observation.begin()
    document = decode_body(body)
    if isinstance(document, dict) and "messages" in document and "prompt" not in document:
        chat_request = TokenizeChatRequest.parse(document)
        context.observation.finish("read")
        model.answering_name(chat_request.model)
        if not model.is_harmony:
            _refuse_media_options(chat_request)
        _, tokens = _prompt_of(model, chat_request, _chat_of(model, chat_request), context, None)
        with_strings = chat_request.return_token_strs
    else:
        text_request = TokenizeTextRequest.parse(document)
        context.observation.finish("read")
        model.answering_name(text_request.model)
        tokens = encode_text(
            model.tokenizer,
            text_request.prompt,
            add_special_tokens=text_request.add_special_tokens,
            with_offsets=False,
            rules=None,
        )
        with_strings = text_request.return_token_strs
    strings = model.tokenizer.engine.tokens(tokens.ids) if with_strings else None
    context.observation.count_tokens(len(tokens.ids))
    context.observation.finish("tokenize")
    return _written(
        {
            "count": len(tokens.ids),
            "max_model_len": model.max_model_len,
            "tokens": tokens.ids,
            "token_strs": strings,
        },
        context,
    )


@_refuses_deep_nesting
def detokenize(model: Model, body: bytes, context: RequestContext) -> bytes:
    """Answer /detokenize: the text of token ids, special tokens included."""
    context.observation.begin()
    request = DetokenizeRequest.parse(decode_body(body))
    context.observation.finish("read")
    model.answering_name(request.model)
    text = model.tokenizer.engine.decode(request.tokens)
    context.observation.finish("tokenize")
    return _written({"prompt": text}, context)


def _written(document: Any, context: RequestContext) -> bytes:
    body = encode_answer(document)
    context.observation.finish("answer")
    return body


def _prompt_of(
    model: Model,
    request: ChatRequest | TokenizeChatRequest,
    chat: Chat,
    context: RequestContext,
    rules: LengthRules | None,
) -> tuple[str | None, Tokens]:
    """The prompt's text, where there is one, and its tokens."""
    if model.encoder is None:
        conversation = converse(chat, model.templates, model.tokenizer.special_tokens, model.name)
        prompt = Prompt(text=conversation.render(context.now, model.template_budget))
    else:
        shown = request if chat.tools is not None else request.model_copy(update={"tools": None})
        prompt = model.encoder.encode(shown, chat.kwargs, context.now)
    context.observation.finish("prompt")
    text = prompt.text
    if text is None:
        return None, _encoded_tokens(prompt, rules)
    tokens = encode_text(
        model.tokenizer,
        text,
        add_special_tokens=request.add_special_tokens,
        with_offsets=isinstance(request, ChatRequest) and _wants_offsets(model, request),
        rules=rules,
    )
    context.observation.finish("tokenize")
    if rules is not None:
        _check_not_empty(tokens)
    return text, tokens


def _encoded_tokens(prompt: Prompt, rules: LengthRules | None) -> Tokens:
    """The tokens of a prompt that its family's encoder made itself."""
    ids = prompt.ids or []
    if rules is None:
        return Tokens(ids)
    tokens = Tokens(ids if prompt.is_whole else truncate_ids(ids, rules))
    _check_not_empty(tokens)
    return tokens


def _completion_tokens(
    model: Model, prompt: str | list[int], request: CompletionRequest, rules: LengthRules
) -> Tokens:
    if isinstance(prompt, str):
        tokens = encode_text(
            model.tokenizer,
            prompt,
            add_special_tokens=request.add_special_tokens,
            with_offsets=_wants_offsets(model, request),
            rules=rules,
        )
    else:
        if any(token_id < 0 for token_id in prompt):
            raise RenderError("prompt must not hold negative token ids.", "prompt")
        tokens = Tokens(truncate_ids(prompt, rules))
    _check_not_empty(tokens)
    return tokens


def _prompts(request: CompletionRequest) -> list[str | list[int]]:
    prompt: Any = request.prompt
    if isinstance(prompt, str) or (prompt and isinstance(prompt[0], int)):
        return [prompt]
    return list(prompt)


def _wants_offsets(model: Model, request: ChatRequest | CompletionRequest) -> bool:
    """Whether to give offsets. vLLM has none with the tokenizers of code-encoded families."""
    return bool(request.return_token_offsets) and (model.encoder is None or model.is_harmony)


def _prompts_with_suffix(model: Model, request: CompletionRequest) -> list[str | list[int]]:
    """Fill-in-the-middle prompts, for a family that has them (spec 5)."""
    if request.echo or request.truncate_prompt_tokens is not None:
        raise RenderError("suffix does not go with echo or truncate_prompt_tokens.", "suffix")
    if not isinstance(model.encoder, SuffixEncoder):
        raise RenderError("suffix needs a model that renders fill-in-the-middle prompts.", "suffix")
    prompts: list[str | list[int]] = []
    for prompt in _prompts(request):
        if not isinstance(prompt, str):
            raise RenderError("suffix needs prompts given as text.", "suffix")
        prompts.append(model.encoder.completion_with_suffix(prompt, request.suffix or ""))
    return prompts


def _check_not_empty(tokens: Tokens) -> None:
    if not tokens.ids:
        raise RenderError("No token ids were rendered: the prompt is empty.")


def _refuse_beam_search(wanted: bool) -> None:
    if wanted:
        raise RenderError("Beam search is not supported by the render endpoints.", "use_beam_search")


def _refuse_media_options(request: SamplingFields | TokenizeChatRequest) -> None:
    for name in ("mm_processor_kwargs", "media_io_kwargs"):
        if getattr(request, name):
            raise RenderError(f"{name} is not accepted: this service renders text only.", name)


def _check_tool_choice(model: Model, request: ChatRequest) -> None:
    """Without a tool parser only requests that call no tool can be served (spec 2.6)."""
    choice = request.tool_choice
    if (
        model.tool_call_parser is not None
        or model.is_harmony
        or model.has_own_tools
        or choice in (None, "none")
    ):
        return
    if choice == "auto":
        raise RenderError(
            '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set.',
            "tool_choice",
        )
    kind = "A named function" if isinstance(choice, NamedToolChoice) else f'"{choice}"'
    raise RenderError(f"{kind} as tool_choice requires --tool-call-parser to be set.", "tool_choice")


def _chat_length_rules(model: Model, request: ChatRequest) -> LengthRules:
    rules = LengthRules(
        max_model_len=model.max_model_len,
        max_output_tokens=request.requested_max_tokens,
        output_param="max_tokens" if request.max_completion_tokens is None else "max_completion_tokens",
        truncate=request.truncate_prompt_tokens,
        side=request.truncation_side,
    )
    if not model.is_harmony:  # its prompts are rendered whatever these numbers say
        rules.check()
    return rules


def _chat_of(model: Model, request: ChatRequest | TokenizeChatRequest) -> Chat:
    """The chat part of a request with its effective template variables (spec 2.7)."""
    user_kwargs = request.chat_template_kwargs or {}
    ignores_templates = model.is_harmony
    if not (model.options.trust_request_chat_template or ignores_templates) and (
        request.chat_template is not None or user_kwargs.get("chat_template") is not None
    ):
        raise RenderError(
            "The request brings a chat template, and --trust-request-chat-template is not set.",
            "chat_template",
        )
    fields: dict[str, Any] = {
        "add_generation_prompt": request.add_generation_prompt,
        "continue_final_message": request.continue_final_message,
    }
    tools = request.tools
    if isinstance(request, ChatRequest):
        fields["documents"] = request.documents
        fields |= reasoning_effort_kwargs(request.reasoning_effort, user_kwargs)
        if request.tool_choice == "none" and model.options.exclude_tools_when_tool_choice_none:
            tools = None
    asked = merge_kwargs(user_kwargs, fields)
    return Chat(
        messages=request.messages,
        tools=None if tools is None else [tool.as_template_variable() for tool in tools],
        kwargs=merge_kwargs(model.options.default_chat_template_kwargs, asked),
        template=request.chat_template or None,
    )


def _reused_prompt(model: Model, request: ChatRequest) -> tuple[dict[str, Any] | None, list[int] | None]:
    """kv_transfer_params without the prompt ids a decode stage may bring along, and those ids (spec 2.10).

    Raises:
        RenderError: the ids are malformed or outside the vocabulary.
    """
    kv_transfer_params = dict(request.kv_transfer_params or {})
    ids = kv_transfer_params.pop("prompt_token_ids", None)
    kept = kv_transfer_params or None
    if ids is None or request.echo or has_media(request.messages):
        return kept, None
    param = "kv_transfer_params.prompt_token_ids"
    if not isinstance(ids, list) or not ids or any(type(i) is not int or i < 0 for i in ids):
        raise RenderError(f"{param} must be a non-empty list of non-negative integers.", param)
    model.check_token_ids(ids, param)
    if len(ids) > model.max_model_len:
        raise RenderError(
            f"{param} holds {len(ids)} ids, more than the context of {model.max_model_len}.", param
        )
    return kept, ids


def _counted(tokens: Tokens, rules: LengthRules) -> int:
    """The prompt length that the room for output is computed from: never more than truncation would have kept."""
    if rules.truncate is None:
        return len(tokens.ids)
    return min(len(tokens.ids), rules.max_model_len if rules.truncate == -1 else rules.truncate)


def _base_id(body_id: str | None, context: RequestContext) -> str:
    if context.header_request_id:
        return context.header_request_id
    return context.random_id if body_id is None else body_id


def _reasoning_parser_kwargs(model: Model, chat: Chat, effects: Effects) -> dict[str, Any] | None:
    if model.parsers.reasoning is None:
        return None
    return {"chat_template_kwargs": {**chat.kwargs, **effects.added_kwargs}}


def _parse_context(model: Model, request: ChatRequest, chat: Chat, effects: Effects) -> dict[str, Any]:
    """What is needed later to parse the generated tokens (spec 6.1)."""
    choice = request.tool_choice
    shown: str | Mapping[str, Any] | None = (
        choice.model_dump() if isinstance(choice, NamedToolChoice) else choice
    )
    return {
        "tools": None if request.tools is None else _parsed_tools(request.tools, effects),
        "tool_choice": shown,
        "parallel_tool_calls": request.parallel_tool_calls,
        "include_reasoning": request.include_reasoning,
        "chat_template_kwargs": {} if model.is_harmony else dict(chat.kwargs),
        "history_tool_call_cnt": count_tool_calls(request.messages),
    }


def _parsed_tools(tools: list[Tool], effects: Effects) -> list[dict[str, Any]]:
    """The tools as the parsers left them."""
    shown = [tool.as_template_variable() for tool in tools]
    if effects.hoisted_definitions:
        for tool in shown:
            parameters = tool["function"]["parameters"]
            if parameters is not None:
                tool["function"]["parameters"] = {k: v for k, v in parameters.items() if k != "$defs"}
    return shown
