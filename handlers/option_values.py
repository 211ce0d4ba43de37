"""How the text of one option becomes a value. Each function raises ValueError with the reason."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

_BOOLEANS = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}
_INTEGER_UNITS = {
    **{unit: 1000**power for power, unit in enumerate("kmgt", 1)},
    **{unit: 1024**power for power, unit in enumerate("KMGT", 1)},
}
# These tell a template from the name of a file or of a template, as in vLLM's load_chat_template.
_TEMPLATE_CHARACTERS = "{}\n"


def text(value: str) -> str:
    """Any text that is not blank."""
    if not value.strip():
        raise ValueError("the value is blank")
    return value


def one_of(*choices: str) -> Callable[[str], str]:
    """One of `choices`, in any letter case."""

    def parse(value: str) -> str:
        if (lowered := value.strip().lower()) not in choices:
            raise ValueError(f"{value!r} is none of {', '.join(choices)}")
        return lowered

    return parse


def is_boolean(value: str) -> bool:
    """Whether `boolean` reads this text."""
    return value.strip().lower() in _BOOLEANS


def boolean(value: str) -> bool:
    """1/true/yes/on or 0/false/no/off."""
    if not is_boolean(value):
        raise ValueError(f"{value!r} is neither true nor false")
    return _BOOLEANS[value.strip().lower()]


def integer(lowest: int, highest: int | None = None) -> Callable[[str], int]:
    """A whole number between two bounds, with vLLM's suffixes: 1k is 1000, 1K is 1024, 25.6k is 25600."""

    def parse(value: str) -> int:
        number = _human_readable(value.strip())
        if number < lowest or (highest is not None and number > highest):
            bounds = f"at least {lowest}" if highest is None else f"between {lowest} and {highest}"
            raise ValueError(f"{number} is not {bounds}")
        return number

    return parse


def _human_readable(value: str) -> int:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([kmgtKMGT])", value)
    try:
        if match is None:
            return int(value)
        number, unit = match.groups()
        factor = _INTEGER_UNITS[unit]
        return int(float(number) * factor) if unit.islower() else int(number) * factor
    except ValueError:
        raise ValueError(f"{value!r} is no whole number (1000, 1k = 1000, 1K = 1024)") from None


def context_length(value: str) -> int | None:
    """A positive token count; -1 and `auto` mean: as the model's configuration says."""
    return None if value.strip().lower() in ("-1", "auto") else integer(1)(value)


def seconds(value: str) -> float:
    """A positive, finite number of seconds."""
    try:
        number = float(value)
    except ValueError:
        raise ValueError(f"{value!r} is no number") from None
    if not 0 < number < float("inf"):
        raise ValueError(f"{value} is not a positive number of seconds")
    return number


def json_object(value: str) -> dict[str, Any]:
    """A JSON object."""
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError) as reason:
        raise ValueError(f"no JSON: {reason}") from None
    if not isinstance(parsed, dict):
        raise ValueError("a JSON object is needed")
    return parsed


def readable_file(value: str) -> str:
    """The path of a file that can be read."""
    _read(Path(value))
    return value


def template_source(value: str) -> str:
    """A chat template: the text of a file, the template itself, or the name of one that the model has."""
    if _is_file(Path(value)):
        try:
            return _read(Path(value)).decode()
        except UnicodeDecodeError:
            raise ValueError(f"{value}: not UTF-8") from None
    is_template = any(character in value for character in _TEMPLATE_CHARACTERS)
    if not is_template and ("/" in value or value.endswith((".jinja", ".jinja2", ".j2"))):
        raise ValueError(f"{value}: no such file")
    return text(value)


def generation_config(value: str) -> str:
    """`auto`, `vllm`, or a directory that holds a generation_config.json."""
    if value not in ("auto", "vllm"):
        if not Path(value).is_dir():
            raise ValueError(f"{value!r} is neither auto, vllm nor a directory")
        _read(Path(value) / "generation_config.json")
    return value


def moment(value: str) -> datetime.datetime:
    """An ISO 8601 date (its midnight) or date and time. An offset is dropped: the time is used as written."""
    try:
        return datetime.datetime.fromisoformat(value.strip()).replace(tzinfo=None)
    except ValueError:
        raise ValueError(f"{value!r} is no ISO date or date and time") from None


def path_prefix(value: str) -> str:
    """A URL path prefix in the form `/prefix`; `/` is no prefix."""
    if not re.fullmatch(r"[A-Za-z0-9/._~!$&'()*+,;=:@-]*", value):
        raise ValueError(f"{value!r} is no plain URL path")
    return "".join(f"/{segment}" for segment in value.split("/") if segment)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a template as a file name: too long, or with a null character
        return False


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as reason:
        raise ValueError(f"{path}: {reason.strerror}") from None
