"""What is wrong at which place of the requests in good_requests: explicit knowledge, from render-behaviour.md.

Values that vLLM's lenient validation takes ("0.5" for a float, 1 for true) are no faults. A place is the path of a node
with dots between its steps and a star for an index in a list; the body itself is the empty path.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tests.hostile.good_requests import SECRET

Path = tuple[str | int, ...]

_TEXTS: Final = (SECRET, [SECRET], {SECRET: SECRET})
_NUMBERS: Final = (17, True)

NO_TEXT: Final = (*_NUMBERS, [SECRET], {SECRET: SECRET})
NO_TEXT_OR_NULL: Final = (*NO_TEXT, None)
NO_INTEGER: Final = (SECRET, 1.5, [17], {SECRET: 17})
NO_FLOAT: Final = (SECRET, [0.5], {SECRET: 0.5})
NO_BOOLEAN: Final = (SECRET, 2, [True], {SECRET: True})
NO_OBJECT: Final = (SECRET, [SECRET], *_NUMBERS)
NO_LIST: Final = (SECRET, {SECRET: SECRET}, *_NUMBERS)
NO_CHOICE: Final = (*_TEXTS, *_NUMBERS)
ANYTHING: Final = ()
"""A node under which every value is valid, or where render-behaviour.md does not say which are."""

_NOT_NULL: Final = (None,)

COMMON_FAULTS: Final[dict[str, tuple[Any, ...]]] = {
    "": (SECRET, [SECRET], *_NUMBERS, None),
    "model": NO_TEXT,
    "frequency_penalty": NO_FLOAT,
    "presence_penalty": NO_FLOAT,
    "repetition_penalty": NO_FLOAT,
    "temperature": NO_FLOAT,
    "top_p": NO_FLOAT,
    "top_k": NO_INTEGER,
    "min_p": NO_FLOAT,
    "logit_bias": (*NO_OBJECT, {SECRET: 1.0}, {"5": [SECRET]}),
    "logit_bias.5": (*NO_FLOAT, None),
    "seed": NO_INTEGER,
    "n": NO_INTEGER,
    "stop": (*_NUMBERS, {SECRET: SECRET}, [17], [None], [SECRET] * 5, [SECRET, ""]),
    "stop.*": NO_TEXT_OR_NULL,
    "stop_token_ids": (*NO_LIST, [SECRET], [1.5], [None]),
    "stop_token_ids.*": (*NO_INTEGER, None),
    "include_stop_str_in_output": NO_BOOLEAN + _NOT_NULL,
    "ignore_eos": NO_BOOLEAN + _NOT_NULL,
    "min_tokens": NO_INTEGER + _NOT_NULL,
    "skip_special_tokens": NO_BOOLEAN,
    "spaces_between_special_tokens": NO_BOOLEAN + _NOT_NULL,
    "bad_words": (*NO_LIST, None, [17], [SECRET, ""]),
    "bad_words.*": NO_TEXT_OR_NULL,
    "allowed_token_ids": (*NO_LIST, [SECRET], [1.5]),
    "allowed_token_ids.*": (*NO_INTEGER, None),
    "stream": NO_BOOLEAN,
    "stream_options": NO_OBJECT,
    "stream_options.include_usage": NO_BOOLEAN,
    "stream_options.continuous_usage_stats": NO_BOOLEAN,
    "stream_interval": (*NO_INTEGER, 0, -1),
    "thinking_token_budget": (*NO_INTEGER, -2),
    "truncate_prompt_tokens": (*NO_INTEGER, -2),
    "truncation_side": NO_CHOICE,
    "priority": NO_INTEGER + _NOT_NULL,
    "request_id": NO_TEXT_OR_NULL,
    "user": NO_TEXT,
    "cache_salt": (*NO_TEXT, "", f"{SECRET}@", f"{SECRET}/", f"{SECRET}\\", f"{SECRET}\0", SECRET * 10),
    "kv_transfer_params": NO_OBJECT,
    "kv_transfer_params.remote": ANYTHING,
    "vllm_xargs": (*NO_OBJECT, {SECRET: None}, {SECRET: [None]}, {SECRET: {SECRET: 1}}),
    "vllm_xargs.weight": (None, {SECRET: SECRET}, [[SECRET]], 2**64),
    "return_token_ids": NO_BOOLEAN,
    "return_token_offsets": NO_BOOLEAN,
    "return_prompt_text": NO_BOOLEAN,
    "mm_payload": NO_CHOICE,
    "mm_processor_kwargs": (*NO_OBJECT, {SECRET: SECRET}),
    "routed_experts_prompt_start": (*NO_INTEGER, -1),
    "repetition_detection": NO_OBJECT,
    "repetition_detection.max_pattern_size": (*NO_INTEGER, None, 0),
    "repetition_detection.min_pattern_size": (*NO_INTEGER, None, -1, 100),
    "repetition_detection.min_count": (*NO_INTEGER, None, 1),
    "add_special_tokens": NO_BOOLEAN + _NOT_NULL,
    "use_beam_search": (*NO_BOOLEAN, True, None),
    "length_penalty": (*NO_FLOAT, None),
    "echo": NO_BOOLEAN,
}

MESSAGE_FAULTS: Final[dict[str, tuple[Any, ...]]] = {
    "messages": (*NO_LIST, None, [], [SECRET], [17], [None], [[SECRET]], [{SECRET: SECRET}]),
    "messages.*": (SECRET, [SECRET], *_NUMBERS, None, {SECRET: SECRET}),
    "messages.*.role": NO_TEXT_OR_NULL,
    "messages.*.name": NO_TEXT_OR_NULL,
    "messages.*.tool_call_id": NO_TEXT,
    "messages.*.content": (*_NUMBERS, [SECRET], [17], [None], [[SECRET]], {SECRET: SECRET}),
    # Bare strings are no faults here: they are valid in the custom form of a message, which other parts may select.
    "messages.*.content.*": ([SECRET], *_NUMBERS, None, {SECRET: SECRET}, {"text": SECRET}),
    "messages.*.content.*.type": (*_TEXTS, *_NUMBERS, None),
    "messages.*.content.*.text": NO_TEXT,
    "messages.*.content.*.refusal": NO_TEXT,
    "messages.*.tool_calls": (*_TEXTS, *_NUMBERS, [17], [None]),
    "messages.*.tool_calls.*": (SECRET, [SECRET], *_NUMBERS, None, {SECRET: SECRET}),
    "messages.*.tool_calls.*.id": NO_TEXT_OR_NULL,
    "messages.*.tool_calls.*.type": (*_TEXTS, *_NUMBERS, None),
    "messages.*.tool_calls.*.function": (SECRET, [SECRET], *_NUMBERS, None, {SECRET: SECRET}),
    "messages.*.tool_calls.*.function.name": NO_TEXT_OR_NULL,
    "messages.*.tool_calls.*.function.arguments": NO_TEXT_OR_NULL,
    "tools": (*NO_LIST, [], [SECRET], [17], [None], [{SECRET: SECRET}]),
    "tools.*": (SECRET, [SECRET], *_NUMBERS, None, {SECRET: SECRET}),
    "tools.*.type": (*_TEXTS, *_NUMBERS, None),
    "tools.*.function": (SECRET, [SECRET], *_NUMBERS, None, {SECRET: SECRET}),
    "tools.*.function.name": NO_TEXT_OR_NULL,
    "tools.*.function.description": NO_TEXT,
    "tools.*.function.parameters": NO_OBJECT,
    "tools.*.function.parameters.*": ANYTHING,
    "tools.*.function.strict": NO_BOOLEAN,
    "chat_template_kwargs": NO_OBJECT,
    "chat_template_kwargs.enable_thinking": ANYTHING,
    "add_generation_prompt": NO_BOOLEAN + _NOT_NULL,
    "continue_final_message": NO_BOOLEAN + _NOT_NULL,
}

CHAT_FAULTS: Final = {
    **COMMON_FAULTS,
    **MESSAGE_FAULTS,
    "tool_choice": (*_TEXTS, *_NUMBERS, {"type": "function"}),
    "tool_choice.type": (*_TEXTS, *_NUMBERS, None),
    "tool_choice.function": (*_TEXTS, *_NUMBERS, None),
    "tool_choice.function.name": (*NO_TEXT_OR_NULL, "", SECRET),
    "parallel_tool_calls": NO_BOOLEAN,
    "documents": (*NO_LIST, [SECRET], [17], [None], [{SECRET: 17}]),
    "documents.*": (*NO_OBJECT, None, {SECRET: None}),
    "documents.*.*": NO_TEXT_OR_NULL,
    "reasoning_effort": NO_CHOICE,
    "include_reasoning": NO_BOOLEAN + _NOT_NULL,
    "logprobs": (*NO_BOOLEAN, False, None),
    "top_logprobs": (*NO_INTEGER, -2),
    "max_completion_tokens": (*NO_INTEGER, 0, -1),
    "response_format": (*NO_OBJECT, {SECRET: SECRET}),
    "response_format.type": (*_TEXTS, *_NUMBERS, None, "structural_tag"),
    "response_format.json_schema": (*NO_OBJECT, None, {SECRET: SECRET}),
    "response_format.json_schema.name": NO_TEXT_OR_NULL,
    "response_format.json_schema.description": NO_TEXT,
    "response_format.json_schema.schema": NO_OBJECT,
    "response_format.json_schema.schema.*": ANYTHING,
}

COMPLETION_FAULTS: Final = {
    **COMMON_FAULTS,
    "prompt": (
        *(*_NUMBERS, None, {SECRET: SECRET}, "", [], [""], [[]], [SECRET, ""], [None], [1.5]),
        *(
            [SECRET, 17],
            [SECRET, [1]],
            [[1], 1],
            [[SECRET]],
            [[[1]]],
            [{SECRET: SECRET}],
            [1, -1],
            [[1], [-1]],
        ),
    ),
    "prompt.*": (17, 2.5, None, [SECRET], {SECRET: SECRET}),
    "logprobs": (*NO_INTEGER, -2),
    "best_of": ANYTHING,
    "structured_outputs": (*NO_OBJECT, {}, {SECRET: SECRET}, {"regex": SECRET, "choice": [SECRET]}),
    "structured_outputs.regex": NO_TEXT_OR_NULL,
    "structured_outputs.disable_any_whitespace": NO_BOOLEAN + _NOT_NULL,
    "n": NO_INTEGER + _NOT_NULL,
}

TOKENIZE_TEXT_FAULTS: Final = {
    "": COMMON_FAULTS[""],
    "model": NO_TEXT,
    "prompt": NO_TEXT_OR_NULL,
    "add_special_tokens": NO_BOOLEAN + _NOT_NULL,
    "return_token_strs": NO_BOOLEAN,
}

TOKENIZE_CHAT_FAULTS: Final = {
    **MESSAGE_FAULTS,
    "": COMMON_FAULTS[""],
    "model": NO_TEXT,
    "add_special_tokens": NO_BOOLEAN + _NOT_NULL,
    "return_token_strs": NO_BOOLEAN,
    "tools": tuple(fault for fault in MESSAGE_FAULTS["tools"] if fault != []),
}

DETOKENIZE_FAULTS: Final = {
    "": COMMON_FAULTS[""],
    "model": NO_TEXT,
    "tokens": (*NO_LIST, None, [SECRET], [None], [1.5], [[1]], [-1], [2**63], [1, 2, SECRET]),
    "tokens.*": (*NO_INTEGER, None, -1, 2**63),
    "note": ANYTHING,
}

# Where a pattern says too much or too little: tool calls make the assistant's message one of the custom form, in which
# bare strings are content; null is content of the assistant only.
_NO_FAULTS_AT: Final[dict[str, tuple[Any, ...]]] = {"messages.2.content": ([SECRET],)}
_MORE_FAULTS_AT: Final[dict[str, tuple[Any, ...]]] = {
    f"messages.{i}.content": _NOT_NULL for i in (0, 1, 3, 5)
}


def wrong_documents(
    make: Callable[[], Any], faults: Mapping[str, tuple[Any, ...]]
) -> Iterator[tuple[str, Any]]:
    """What `make` makes with one wrong value in it, at every path, and what is wrong in words."""
    for place in _paths(make()):
        dotted = ".".join(map(str, place))
        for value in faults[_pattern(place, faults)] + _MORE_FAULTS_AT.get(dotted, ()):
            if value not in _NO_FAULTS_AT.get(dotted, ()):
                yield f"{dotted or 'body'} is {_shown(value)}", _replaced(make(), place, value)


def _paths(node: Any, above: Path = ()) -> Iterator[Path]:
    yield above
    items: Any = ()
    if isinstance(node, dict):
        items = node.items()
    elif isinstance(node, list):
        items = enumerate(node)
    for step, child in items:
        yield from _paths(child, (*above, step))


def _pattern(place: Path, faults: Mapping[str, tuple[Any, ...]]) -> str:
    """The entry of a table that speaks of a place. What is below a free-form node is free-form as well."""
    exact = ".".join("*" if isinstance(step, int) else step for step in place)
    if exact in faults:
        return exact
    parent = exact.rpartition(".")[0]
    if f"{parent}.*" in faults:
        return f"{parent}.*"
    above = _pattern(place[:-1], faults)
    if faults[above] != ANYTHING:
        raise KeyError(f"no entry says what is wrong at {exact}")
    return above


def _replaced(document: Any, place: Path, value: Any) -> Any:
    if not place:
        return value
    holder = document
    for step in place[:-1]:
        holder = holder[step]
    holder[place[-1]] = value
    return document


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:60] + "..."
