"""How an answer is held against the Python peer's: what is corrected, what is pending, what must be equal."""

from __future__ import annotations

import hashlib
import json
import re
import struct
from typing import Any

from tests.corpus import Case

PEER_DEFAULT_MAX_TOKENS = 16
_RANDOM_ID = re.compile(r"^(chatcmpl|cmpl)-[0-9a-f]{16}(-\d+)?$")


def differences(
    case: Case, status: int, answer: Any, pending: frozenset[str], default_model: str
) -> list[str]:
    """What differs from the peer, one line each; empty when the answer is right."""
    expected_status = case.expected["status"]
    if status != expected_status:
        message = answer.get("error", {}).get("message") if isinstance(answer, dict) else answer
        return [f"status {status}, expected {expected_status}: {message}"]
    if status != 200:
        return _envelope_faults(status, answer)
    if "token_ids_sha256" in case.expected:
        return _long_differences(case.expected, answer, pending, default_model)
    expected = case.expected["body"]
    if not case.endpoint.endswith("/render"):
        return [] if answer == expected else [f"answer {_short(answer)}, expected {_short(expected)}"]
    if isinstance(expected, list) != isinstance(answer, list):
        return ["an object instead of a list or the other way round"]
    if not isinstance(expected, list):
        return _render_differences(expected, answer, pending, default_model)
    if len(expected) != len(answer):
        return [f"{len(answer)} answers, expected {len(expected)}"]
    return [
        line
        for want, got in zip(expected, answer, strict=True)
        for line in _render_differences(want, got, pending, default_model)
    ]


def _envelope_faults(status: int, answer: Any) -> list[str]:
    error = answer.get("error") if isinstance(answer, dict) else None
    if (
        not isinstance(error, dict)
        or set(error) != {"message", "type", "param", "code"}
        or error["code"] != status
    ):
        return [f"no error envelope: {_short(answer)}"]
    return []


def _long_differences(
    expected: dict[str, Any], answer: dict[str, Any], pending: frozenset[str], default_model: str
) -> list[str]:
    ids = answer["token_ids"]
    digest = hashlib.sha256(struct.pack(f"<{len(ids)}I", *ids)).hexdigest()
    lines = (
        []
        if digest == expected["token_ids_sha256"]
        else [f"token_ids differ, {len(ids)} of {expected['n_tokens']}"]
    )
    recorded = expected["body_without_token_ids"]
    want = {
        name: ids if name == "token_ids" else recorded[name]
        for name in answer
        if name in {"token_ids", *recorded}
    }
    got = {name: answer[name] for name in want}
    return lines + _render_differences(want, got, pending, default_model)


def _render_differences(
    expected: dict[str, Any], answer: dict[str, Any], pending: frozenset[str], default_model: str
) -> list[str]:
    want, got = corrected(expected, pending, default_model), _without_pending(answer, pending)
    lines = []
    if list(got) != list(want):
        lines.append(f"keys {list(got)}, expected {list(want)}")
    for name in want:
        if name == "request_id":
            if not _same_id(want[name], got[name]):
                lines.append(f"request_id {got[name]}, expected {want[name]}")
        elif got.get(name) != want[name]:
            lines.append(f"{name}: {_difference(got.get(name), want[name])}")
    if list(got.get("sampling_params", ())) != list(want["sampling_params"]):
        lines.append(
            f"order of sampling_params {list(got['sampling_params'])}, expected {list(want['sampling_params'])}"
        )
    return lines


def corrected(expected: dict[str, Any], pending: frozenset[str], default_model: str) -> dict[str, Any]:
    """The peer's answer with the corrections of spec section 11 (rows 1, 22 and 23)."""
    right = _without_pending(expected, pending)
    sampling = right["sampling_params"]
    if "max_tokens" not in sampling:
        order = ("ignore_eos", "stop_token_ids")
        before = next(name for name in order if name in sampling)
        items = list(sampling.items())
        at = [name for name, _ in items].index(before) + 1
        right["sampling_params"] = dict([*items[:at], ("max_tokens", PEER_DEFAULT_MAX_TOKENS), *items[at:]])
    right["model"] = right["model"] or default_model
    for holder in (right["reasoning_parser_kwargs"], right.get("parse_context")):
        if holder is not None:
            holder["chat_template_kwargs"].pop("cohere_format", None)
    return right


def _without_pending(answer: dict[str, Any], pending: frozenset[str]) -> dict[str, Any]:
    copied: dict[str, Any] = json.loads(json.dumps(answer))
    copied.pop("prompt_text", None)  # our extra, which the peer does not know
    for holder in (copied, copied["sampling_params"]):
        for name in pending & holder.keys():
            del holder[name]
    return copied


def _same_id(want: str, got: str) -> bool:
    if "<request_id>" not in want:
        return want == got
    return _RANDOM_ID.match(got) is not None and want.endswith(
        got.split("-", 2)[2] if got.count("-") == 2 else ">"
    )


def _difference(got: Any, want: Any) -> str:
    if isinstance(got, list) and isinstance(want, list):
        at = next(
            (i for i, (a, b) in enumerate(zip(got, want, strict=False)) if a != b), min(len(got), len(want))
        )
        near = slice(at, at + 6)
        return f"{len(got)} items, expected {len(want)}; first difference at {at}: {got[near]} / {want[near]}"
    if isinstance(got, dict) and isinstance(want, dict):
        names = [name for name in {**got, **want} if got.get(name, "absent") != want.get(name, "absent")]
        return "; ".join(
            f"{n} is {_short(got.get(n, 'absent'))}, expected {_short(want.get(n, 'absent'))}" for n in names
        )
    return f"{_short(got)}, expected {_short(want)}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else text[:200] + "..."
