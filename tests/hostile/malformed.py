"""Malformed requests for every POST route, the same ones each time.

What is malformed is decided here, from render-behaviour.md (sections 2, 5 and 9), and never by asking the service.
Every request carries SECRET where a prompt would stand, so that an answer or a log line that repeats it can be told.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from tests.hostile.good_requests import (
    CHAT,
    COMPLETION,
    DETOKENIZE,
    GOOD_REQUESTS,
    SECRET,
    TOKENIZE,
    good_chat,
    good_completion,
    good_everywhere,
    good_tokenize_chat,
    text_body,
    user_message,
)
from tests.hostile.oversized import too_deep, too_large
from tests.hostile.wrong_values import (
    CHAT_FAULTS,
    COMPLETION_FAULTS,
    DETOKENIZE_FAULTS,
    TOKENIZE_CHAT_FAULTS,
    TOKENIZE_TEXT_FAULTS,
    wrong_documents,
)

SEED: Final = 20261129


@dataclass(frozen=True, slots=True)
class Malformed:
    """One request that must be refused. Its body is made when it is asked for: some have many megabytes."""

    name: str
    path: str
    make_body: Callable[[], bytes]
    content_type: str | None = "application/json"


def malformed_requests() -> list[Malformed]:
    """All of them, in a fixed order."""
    return [
        *_wrong_values(),
        *_wrong_numbers(),
        *_broken_rules(),
        *_broken_messages(),
        *_lone_surrogates(),
        *_truncated(),
        *_broken_bytes(),
        *_no_objects(),
        *_duplicate_keys(),
        *_wrong_content_types(),
        *(Malformed(*each) for each in (*too_deep(), *too_large())),
    ]


def _wrong_values() -> Iterator[Malformed]:
    """One wrong value at every path of a valid request."""
    chance = random.Random(SEED)
    tables = {
        "good_chat": CHAT_FAULTS,
        "good_completion": COMPLETION_FAULTS,
        "good_tokenize_text": TOKENIZE_TEXT_FAULTS,
        "good_tokenize_chat": TOKENIZE_CHAT_FAULTS,
        "good_detokenize": DETOKENIZE_FAULTS,
    }
    for path, make in GOOD_REQUESTS:
        for name, document in wrong_documents(make, tables[make.__name__]):
            # A chat to tokenize is read by the code that reads chats to render, which gets them all.
            if make is not good_tokenize_chat or chance.random() < 0.2:
                yield Malformed(f"{make.__name__}: {name}", path, _body_of(document))


def _wrong_numbers() -> Iterator[Malformed]:
    """Numbers out of range, not finite, or too long to be read."""
    spellings = {
        "temperature": ["NaN", "Infinity", "-Infinity", "1e999", "-0.5", "2.5"],
        "top_p": ["NaN", "Infinity", "0", "1.5", "-1e999"],
        "min_p": ["NaN", "-Infinity", "-0.1", "1.1"],
        "presence_penalty": ["NaN", "Infinity", "-2.1"],
        "frequency_penalty": ["NaN", "2.1", "1e999"],
        "repetition_penalty": ["NaN", "Infinity", "0", "-1", "1e999"],
        "top_k": ["NaN", "Infinity", "-2", "1e999"],
        "seed": ["NaN", "1e999", str(2**63), str(-(2**63) - 1), "9" * 4000],
        "n": ["0", "-1", "16385", "NaN", "9" * 4000],
        "max_tokens": ["NaN", "Infinity", "0", "-1", "9" * 30, "9" * 4000, "1e999"],
        "min_tokens": ["-1", "NaN", "9" * 30, "9" * 4000],
        "priority": [str(2**63), "NaN", "9" * 4000],
        "prompt_logprobs": ["-2", "NaN", "-Infinity", '"2"'],
        "truncate_prompt_tokens": ["0", str(2**63), "NaN", "9" * 4000],
        "stop_token_ids": ["[NaN]", "[1e999]"],
    }
    digits = "9" * 5000
    for path, prompt in ((CHAT, f'"messages": [{user_message()}]'), (COMPLETION, f'"prompt": "{SECRET}"')):
        for field, values in spellings.items():
            for value in values:
                shown = value if len(value) < 40 else f"{len(value)} digits"
                body = f'{{{prompt}, "{field}": {value}}}'
                yield Malformed(f"{path} {field} is {shown}", path, _constant(body))
        for field in ("seed", "temperature", "unknown"):
            body = f'{{{prompt}, "{field}": {digits}}}'
            yield Malformed(f"{path} {field} has 5000 digits", path, _constant(body))
    for field in ("logprobs", "prompt_logprobs"):
        for value in ("NaN", "Infinity", "-2", "1e999", '"2"'):
            body = f'{{"prompt": "{SECRET}", "{field}": {value}}}'
            yield Malformed(f"completion {field} is {value}", COMPLETION, _constant(body))
    for value in (digits, "NaN", "1e999", "-1", "1.5", "2.5e0"):
        body = f'{{"tokens": [1, {value}], "note": "{SECRET}"}}'
        yield Malformed(f"detokenize id is {value[:20]}", DETOKENIZE, _constant(body))
        body = f'{{"prompt": [1, {value}], "user": "{SECRET}"}}'
        yield Malformed(f"prompt id is {value[:20]}", COMPLETION, _constant(body))


def _broken_rules() -> Iterator[Malformed]:
    """Requests whose fields have the right types and contradict each other (section 2.2)."""
    chat: dict[str, dict[str, Any]] = {
        "no tools": {"tools": [], "tool_choice": "none"},
        "tool choice without tools": {"tools": None},
        "unknown tool choice": {"tool_choice": "always"},
        "tool choice of a tool that is not there": {
            "tool_choice": {"type": "function", "function": {"name": SECRET}}
        },
        "both ends of the prompt": {"continue_final_message": True, "add_generation_prompt": True},
        "stream options without stream": {"stream": False},
        "prompt logprobs of a stream": {"prompt_logprobs": 1},
        "two kinds of constraint": {"structured_outputs": {"regex": SECRET}},
        "schema format without schema": {"response_format": {"type": "json_schema"}},
        "chat template of the request": {"chat_template": f"{{{{ messages }}}} {SECRET}"},
        "empty chat template": {"chat_template": ""},
        "chat template in the kwargs": {"chat_template_kwargs": {"chat_template": SECRET}},
        "messages in the kwargs": {"chat_template_kwargs": {"messages": [SECRET]}},
        "conversation in the kwargs": {"chat_template_kwargs": {"conversation": [SECRET]}},
        "tools in the kwargs are no objects": {"chat_template_kwargs": {"tools": SECRET}},
        "more output than context": {"max_completion_tokens": 10**6},
        "more truncation than context": {"truncate_prompt_tokens": 10**6},
        "minimum above maximum": {"min_tokens": 200},
        "several greedy answers": {"n": 2, "temperature": 0},
        "reused ids are text": {"kv_transfer_params": {"prompt_token_ids": SECRET}},
        "reused ids are negative": {"kv_transfer_params": {"prompt_token_ids": [1, -1]}},
        "reused ids are unknown": {"kv_transfer_params": {"prompt_token_ids": [10**9]}},
        "reused ids are mixed": {"kv_transfer_params": {"prompt_token_ids": [1, SECRET]}},
    }
    for name, fields in chat.items():
        yield Malformed(f"chat: {name}", CHAT, _body_of(good_chat() | fields))
    completion: dict[str, dict[str, Any]] = {
        "suffix": {"suffix": SECRET},
        "prompt embeddings": {"prompt_embeds": SECRET},
        "too many prompts": {"prompt": [SECRET] * 1025},
        "token ids to score without logprobs": {"logprobs": None, "logprob_token_ids": [1]},
        "no output": {"max_tokens": 0},
        "two constraints at once": {"structured_outputs": {"json": {}, "choice": [SECRET]}},
        "no constraint": {"structured_outputs": {"disable_any_whitespace": True}},
    }
    for name, fields in completion.items():
        yield Malformed(f"completion: {name}", COMPLETION, _body_of(good_completion() | fields))
    for path, make in GOOD_REQUESTS:
        if path != DETOKENIZE:
            required = "messages" if "messages" in make() else "prompt"
            body = {name: value for name, value in make().items() if name != required} | {"note": SECRET}
            yield Malformed(f"{make.__name__}: {required} is missing", path, _body_of(body))
    yield Malformed("good_detokenize: tokens are missing", DETOKENIZE, _body_of({"note": SECRET}))
    yield Malformed(
        "tokenize: both ends of the prompt",
        TOKENIZE,
        _body_of(good_tokenize_chat() | {"continue_final_message": True}),
    )


def _broken_messages() -> Iterator[Malformed]:
    """Messages that no role, known or not, may have."""
    part = {"type": "text", "text": SECRET}
    messages: dict[str, Any] = {
        "no role": {"content": SECRET},
        "user without shape": {"role": "user", "content": {"text": SECRET}},
        "media in a system message": {"role": "system", "content": [part, {"type": "image_url"}]},
        "image": {"role": "user", "content": [part, {"type": "image_url", "image_url": {"url": SECRET}}]},
        "image without address": {"role": "user", "content": [part, {"type": "image_url"}]},
        "audio": {
            "role": "user",
            "content": [part, {"type": "input_audio", "input_audio": {"data": SECRET}}],
        },
        "video": {"role": "user", "content": [part, {"type": "video_url", "video_url": {"url": SECRET}}]},
        "unknown part": {"role": "user", "content": [part, {"type": "hologram", "hologram": SECRET}]},
        "part with two layers": {"role": "user", "content": [[part]]},
        "function without a name": {"role": "function", "content": [SECRET, 17]},
        "tool call of type custom": {
            "role": "assistant",
            "tool_calls": [{"id": "1", "type": "custom", "custom": {"name": "f", "input": SECRET}}],
        },
        "tool call without arguments": {
            "role": "assistant",
            "content": SECRET,
            "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f"}}],
        },
        "tool call with an object for arguments": {
            "role": "assistant",
            "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "f", "arguments": {SECRET: 1}}}
            ],
        },
    }
    for role in ("narrator", "", "ipython", "\x00", "💡"):
        shown = ascii(role)
        messages |= {
            f"role {shown} with a number": {"role": role, "content": [part, 17]},
            f"role {shown} with null": {"role": role, "content": [part, None]},
            f"role {shown} with an object for content": {"role": role, "content": {"text": SECRET}},
            f"role {shown} with a part of an unknown type": {
                "role": role,
                "content": [{"type": "hologram", "hologram": SECRET}],
            },
            f"role {shown} with a part of no type": {"role": role, "content": [{"text": SECRET}]},
            f"role {shown} with a part whose type is a number": {
                "role": role,
                "content": [{"type": 17, "text": SECRET}],
            },
            f"role {shown} with a part whose text is a list": {
                "role": role,
                "content": [{"type": "text", "text": [SECRET]}],
            },
            f"role {shown} with an image": {
                "role": role,
                "content": [{"type": "image_url", "image_url": {"url": SECRET}}],
            },
            f"role {shown} with a tool call that is text": {
                "role": role,
                "content": SECRET,
                "tool_calls": [SECRET],
            },
            f"role {shown} with a name that is a list": {"role": role, "content": SECRET, "name": [SECRET]},
        }
    for name, message in messages.items():
        for path in (CHAT, TOKENIZE):
            body = {"messages": [{"role": "user", "content": SECRET}, message]}
            yield Malformed(f"{path} {name}", path, _body_of(body))


def _lone_surrogates() -> Iterator[Malformed]:
    """Half characters, as JSON escapes, where they would have to become tokens or text."""
    for half in (r"\ud800", r"\udfff", r"\udc00\ud800", r"x\ud83dx"):
        text = f'"{SECRET} {half}"'
        arguments = json.dumps(f'{{"a": {text}}}')
        call = f'{{"id": "1", "type": "function", "function": {{"name": "f", "arguments": {arguments}}}}}'
        bodies = {
            "prompt": (COMPLETION, f'{{"prompt": {text}}}'),
            "second prompt": (COMPLETION, f'{{"prompt": ["{SECRET}", {text}]}}'),
            "stop": (COMPLETION, f'{{"prompt": "{SECRET}", "stop": [{text}]}}'),
            "request_id": (COMPLETION, f'{{"prompt": "{SECRET}", "request_id": {text}}}'),
            "model": (COMPLETION, f'{{"prompt": "{SECRET}", "model": "{half}"}}'),
            "tokenize prompt": (TOKENIZE, f'{{"prompt": {text}}}'),
            "user message": (CHAT, f'{{"messages": [{{"role": "user", "content": {text}}}]}}'),
            "tokenize user message": (TOKENIZE, f'{{"messages": [{{"role": "user", "content": {text}}}]}}'),
            "text part": (
                CHAT,
                f'{{"messages": [{{"role": "user", "content": [{{"type": "text", "text": {text}}}]}}]}}',
            ),
            "tool call arguments": (
                CHAT,
                f'{{"messages": [{user_message()}, {{"role": "assistant", "tool_calls": [{call}]}}]}}',
            ),
            "tool description": (
                CHAT,
                f'{{"messages": [{user_message()}], "tool_choice": "none", "tools": '
                f'[{{"type": "function", "function": {{"name": "f", "description": {text}}}}}]}}',
            ),
            "document": (
                CHAT,
                f'{{"messages": [{user_message()}], "documents": [{{"title": "a", "text": {text}}}]}}',
            ),
            "role": (
                CHAT,
                f'{{"messages": [{user_message()}, {{"role": "user{half}", "content": "{SECRET}"}}]}}',
            ),
        }
        for place, (path, body) in bodies.items():
            yield Malformed(f"{half} in {place}", path, _constant(body))


def _truncated() -> Iterator[Malformed]:
    """Valid bodies that end too early, at places chosen by the seed."""
    chance = random.Random(SEED)
    for path, make in GOOD_REQUESTS:
        body = json.dumps(make(), ensure_ascii=False).encode()
        first = body.index(SECRET.encode()) + len(SECRET) if path != DETOKENIZE else 2
        for end in sorted(chance.sample(range(first, len(body)), min(25, len(body) - first))):
            yield Malformed(f"{make.__name__} ends at byte {end} of {len(body)}", path, _constant(body[:end]))


def _broken_bytes() -> Iterator[Malformed]:
    """Bytes that are no UTF-8 or no JSON."""
    secret = SECRET.encode()
    broken_utf8 = {
        "a byte that never occurs": b"\xff",
        "a continuation byte alone": b"\x80",
        "a lead byte alone": b"\xc3",
        "a lead byte before a letter": b"\xc3(",
        "an overlong slash": b"\xc0\xaf",
        "an overlong NUL": b"\xe0\x80\x80",
        "a surrogate": b"\xed\xa0\x80",
        "a code point above the last": b"\xf4\x90\x80\x80",
        "a cut emoji": b"\xf0\x9f\x98",
        "Latin-1": "für".encode("latin-1"),
    }
    good = good_everywhere().encode()
    members = good[1:-1]
    broken_json = {
        "NUL in a string": b'{%b, "a": "\0"}' % members,
        "line feed in a string": b'{%b, "a": "\n"}' % members,
        "NUL before the body": b"\0" + good,
        "NUL after the body": good + b"\0",
        "NUL between members": b'{%b, \0"a": 1}' % members,
        "unknown escape": rb'{%b, "a": "\x"}' % members,
        "cut unicode escape": rb'{%b, "a": "\u12"}' % members,
        "trailing comma": b"{%b,}" % members,
        "missing comma": b'{%b "a": 1}' % members,
        "missing colon": b'{%b, "a" 1}' % members,
        "single quotes": good.replace(b'"', b"'"),
        "bare key": b"{%b, a: 1}" % members,
        "number as key": b"{%b, 1: 1}" % members,
        "comment": b"{%b /* and */}" % members,
        "Python literal": b'{%b, "a": True}' % members,
        "JavaScript literal": b'{%b, "a": undefined}' % members,
        "leading zero": b'{%b, "a": 01}' % members,
        "plus sign": b'{%b, "a": +1}' % members,
        "hexadecimal": b'{%b, "a": 0x1}' % members,
        "point without digits": b'{%b, "a": 1.}' % members,
        "number of 5000 digits": b'{%b, "a": %b}' % (members, b"9" * 5000),
        "text after the body": good + secret,
        "two bodies": good + good,
        "lines of JSON": good + b"\n" + good + b"\n",
        "brackets that do not match": b"[%b}" % members,
        "form": b"prompt=%b&n=1" % secret,
        "YAML": b"prompt: %b\nn: 1\n" % secret,
        "XML": b"<prompt>%b</prompt>" % secret,
    }
    for path, field in _TEXT_FIELDS:
        for name, piece in broken_utf8.items():
            body = text_body(field, b'"%b %b"' % (secret, piece))
            yield Malformed(f"{path} with {name}", path, _constant(body))
    for path in (CHAT, COMPLETION, TOKENIZE, DETOKENIZE):
        for name, body in broken_json.items():
            yield Malformed(f"{path} {name}", path, _constant(body))
    for path in (CHAT, COMPLETION, TOKENIZE, DETOKENIZE):
        for encoding in ("utf-16", "utf-16-le", "utf-32", "cp037"):
            yield Malformed(f"{path} in {encoding}", path, _constant(good_everywhere().encode(encoding)))


def _no_objects() -> Iterator[Malformed]:
    """Bodies that are no JSON object."""
    bodies = {
        "nothing": b"",
        "a blank": b" ",
        "white space": b" \t\r\n" * 1000,
        "a megabyte of blanks": b" " * 1_000_000,
        "NULs": b"\0" * 100,
        "null": b"null",
        "true": b"true",
        "a number": b"17",
        "NaN": b"NaN",
        "a string": json.dumps(SECRET).encode(),
        "a list": json.dumps([SECRET]).encode(),
        "a list of requests": json.dumps([{"prompt": SECRET, "messages": []}]).encode(),
        "an empty list": b"[]",
        "an empty object": b"{}",
        "a byte order mark": b"\xef\xbb\xbf",
        "a quotation mark": b'"',
        "a bracket": b"[",
        "a brace": b"{",
    }
    for path in (CHAT, COMPLETION, TOKENIZE, DETOKENIZE):
        for name, body in bodies.items():
            yield Malformed(f"{path} {name}", path, _constant(body))


def _duplicate_keys() -> Iterator[Malformed]:
    """The last value of a key counts, and here it is the wrong one."""
    bodies = [
        (COMPLETION, f'{{"prompt": "{SECRET}", "prompt": 17}}'),
        (COMPLETION, f'{{"prompt": "{SECRET}", "prompt": null}}'),
        (COMPLETION, f'{{"prompt": "{SECRET}", "temperature": 1, "temperature": "warm"}}'),
        (COMPLETION, f'{{"prompt": "{SECRET}", "n": 1, "n": 1, "n": 0}}'),
        (TOKENIZE, f'{{"prompt": "{SECRET}", "prompt": ["{SECRET}"]}}'),
        (DETOKENIZE, f'{{"tokens": [1], "tokens": ["{SECRET}"]}}'),
        (CHAT, f'{{"messages": [{user_message()}], "messages": []}}'),
        (CHAT, f'{{"messages": [{user_message()}], "messages": "{SECRET}"}}'),
        (CHAT, f'{{"messages": [{{"role": "user", "content": "{SECRET}", "content": 17}}]}}'),
        (CHAT, f'{{"messages": [{{"role": "user", "role": null, "content": "{SECRET}"}}]}}'),
        (CHAT, f'{{"messages": [{user_message()}], "tools": null, "tools": []}}'),
    ]
    for path, body in bodies:
        yield Malformed(f"duplicate key: {body}", path, _constant(body))


def _wrong_content_types() -> Iterator[Malformed]:
    """Valid requests that do not say that they are JSON."""
    content_types = (
        None,
        "",
        "text/plain",
        "text/json",
        "application/vnd.api+json",
        "application/jsonl",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=json",
        "application/octet-stream",
        "*/*",
        "application",
        f"text/{SECRET}",
    )
    for path, make in GOOD_REQUESTS:
        for content_type in content_types:
            name = f"{make.__name__} as {content_type if content_type is not None else 'nothing'}"
            yield Malformed(name, path, _body_of(make()), content_type)


# A route and the field in which it takes text.
_TEXT_FIELDS: Final = ((CHAT, "content"), (COMPLETION, "prompt"), (TOKENIZE, "prompt"))


def _body_of(document: Any) -> Callable[[], bytes]:
    body = json.dumps(document).encode()
    return lambda: body


def _constant(body: str | bytes) -> Callable[[], bytes]:
    whole = body.encode() if isinstance(body, str) else body
    return lambda: whole
