"""Which of two wire forms a message takes, and whether it is valid in it (spec 2.3).

vLLM validates every message against a union: the form of its role in OpenAI's API, or a custom form that allows
any role and any content part. The form with more recognised fields wins, nested fields included; on a tie the
role's own form does. The choice decides which content parts are accepted, and nothing else here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal

from render_core.errors import InvalidBodyError

Form = Literal["role", "custom"]
Check = Callable[[Any], bool]


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _optional_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _text_or_parts(value: Any) -> bool:
    return isinstance(value, str | list | dict)  # an object is iterable: its parts fail when they are read


def _optional_content(value: Any) -> bool:
    return value is None or _text_or_parts(value)


def _optional_audio(value: Any) -> bool:
    return value is None or (isinstance(value, dict) and _text(value.get("id")))


def _function_call(value: Any) -> bool:
    return isinstance(value, dict) and _text(value.get("arguments")) and _text(value.get("name"))


def _optional_function_call(value: Any) -> bool:
    return value is None or _function_call(value)


def _tool_calls_read_later(value: Any) -> bool:
    return isinstance(value, list)


def is_function_tool_call(value: Any) -> bool:
    """Whether a value is a tool call of OpenAI's API: id, type "function", a function with arguments as text."""
    return (
        isinstance(value, dict)
        and _text(value.get("id"))
        and value.get("type") == "function"
        and _function_call(value.get("function"))
    )


def _optional_tool_calls(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(map(is_function_tool_call, value)))


def _is_offered_tool(value: Any) -> bool:
    if (
        not isinstance(value, dict)
        or value.get("type") != "function"
        or not isinstance(value.get("function"), dict)
    ):
        return False
    function = value["function"]
    return (
        _text(function.get("name"))
        and ("description" not in function or _text(function["description"]))
        and ("parameters" not in function or isinstance(function["parameters"], dict))
        and isinstance(function.get("strict"), bool | None)
    )


def _optional_tools(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(map(_is_offered_tool, value)))


def _custom_content(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(part, str | dict) for part in value)
    )


def _custom_reasoning(value: Any) -> bool:
    return _optional_text(value) or (
        isinstance(value, dict) and value.get("type") == "prompt_embeds" and _text(value.get("data"))
    )


_SIMPLE: Final[dict[str, Check]] = {"content": _text_or_parts, "name": _text}

# role -> (required fields, the check of every known field); `role` itself is known to all
_ROLE_FORMS: Final[dict[str, tuple[frozenset[str], dict[str, Check]]]] = {
    "developer": (frozenset({"content"}), _SIMPLE),
    "system": (frozenset({"content"}), _SIMPLE),
    "user": (frozenset({"content"}), _SIMPLE),
    "assistant": (
        frozenset(),
        {
            "content": _optional_content,
            "name": _text,
            "audio": _optional_audio,
            "function_call": _optional_function_call,
            "refusal": _optional_text,
            "tool_calls": _tool_calls_read_later,
        },
    ),
    "tool": (frozenset({"content", "tool_call_id"}), {"content": _text_or_parts, "tool_call_id": _text}),
    "function": (frozenset({"content", "name"}), {"content": _optional_text, "name": _text}),
}

_CUSTOM_FORM: Final[dict[str, Check]] = {
    "content": _custom_content,
    "name": _text,
    "tool_call_id": _optional_text,
    "tool_calls": _optional_tool_calls,
    "reasoning": _custom_reasoning,
    "tools": _optional_tools,
    "task": _optional_text,
}

# The known fields of the content parts that need not say their type. A tool reference may say it.
_UNTYPED_PARTS: Final[tuple[dict[str, Check], ...]] = (
    {},
    {"image_pil": lambda value: value is None, "uuid": _optional_text},
    {"image_url": _optional_text, "uuid": _optional_text},
    {"video_url": _optional_text, "uuid": _optional_text},
    {"audio_url": _optional_text},
    {"type": lambda value: value == "tool_reference", "name": _text},
)


def wire_form(message: Any, path: str) -> Form:
    """Choose the form of one message.

    Args:
        message: the message, its tool calls a list if they were anything that can be one.
        path: where it stands in the body, for the error.

    Raises:
        InvalidBodyError: it is valid in neither form.
    """
    if not isinstance(message, dict):
        raise InvalidBodyError(f"{path} must be an object.", path)
    role = message.get("role")
    if not isinstance(role, str):
        raise InvalidBodyError(f"{path}.role must be a string.", f"{path}.role")
    required, checks = _ROLE_FORMS.get(role, (frozenset({""}), _CUSTOM_FORM))
    role_fault = _first_fault(message, required, checks)
    if role_fault is None and not isinstance(message.get("content"), list) and "tools" not in message:
        return "role"  # both forms read such a message alike
    custom_fault = _first_fault(message, frozenset(), _CUSTOM_FORM)
    if role_fault is None:
        if custom_fault is not None or _role_score(message, checks) >= _custom_score(message):
            return "role"
        return "custom"
    if custom_fault is None:
        return "custom"
    fault = role_fault or custom_fault
    raise InvalidBodyError(
        f"{path}.{fault} is missing or has the wrong type for role and form.", f"{path}.{fault}"
    )


def _first_fault(message: dict[str, Any], required: frozenset[str], checks: dict[str, Check]) -> str | None:
    for name in required:
        if name not in message:
            return name
    for name, value in message.items():
        check = checks.get(name)
        if check is not None and not check(value):
            return name
    return None


def _role_score(message: dict[str, Any], checks: dict[str, Check]) -> int:
    score = sum(name in checks for name in message)
    if "audio" in checks and message.get("audio") is not None:
        score += 1
    if "function_call" in checks and message.get("function_call") is not None:
        score += 2
    return score


def _custom_score(message: dict[str, Any]) -> int:
    score = sum(name in _CUSTOM_FORM for name in message)
    content = message.get("content")
    if isinstance(content, list):
        score += sum(map(_part_score, content))
    score += 5 * len(message.get("tool_calls") or ())
    for tool in message.get("tools") or ():
        score += 2 + sum(name in tool["function"] for name in ("name", "description", "parameters", "strict"))
    return score


def _part_score(part: Any) -> int:
    """How many fields of a content part the custom form recognises."""
    if not isinstance(part, dict):
        return 0
    kind = part.get("type")
    if kind == "text" and _text(part.get("text")):
        return _text_part_score(part)
    if kind == "refusal" and _text(part.get("refusal")):
        return 2
    if kind == "thinking" and _text(part.get("thinking")) and isinstance(part.get("closed", False), bool):
        return 2 + ("closed" in part)
    return max(
        sum(name in part for name in checks)
        for checks in _UNTYPED_PARTS
        if all(check(part[name]) for name, check in checks.items() if name in part)
    )


def _text_part_score(part: dict[str, Any]) -> int:
    if "prompt_cache_breakpoint" not in part:
        return 2
    mark = part["prompt_cache_breakpoint"]
    if not is_prompt_cache_breakpoint(mark):
        return 0
    return 3 + sum(name in mark for name in ("mode", "ttl"))


def is_prompt_cache_breakpoint(mark: Any) -> bool:
    """Whether a value is OpenAI's mark of a reusable prefix: mode "explicit" and, if given, a known lifetime."""
    return (
        isinstance(mark, dict) and mark.get("mode") == "explicit" and mark.get("ttl", "30m") in ("30m", "12h")
    )
