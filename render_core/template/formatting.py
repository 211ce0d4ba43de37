"""Formatted text: `%` and str.format, with sizes known before the text is made."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from jinja2.exceptions import SecurityError
from jinja2.sandbox import SandboxedEscapeFormatter, SandboxedFormatter
from markupsafe import Markup

from render_core.template.meter import Meter

if TYPE_CHECKING:
    from jinja2 import Environment

_DIGITS: Final = re.compile(r"\d+")
_FLAGS: Final = "#0- +"
_MAX_WIDTH_DIGITS: Final = 12
_CHAR_STEPS_PER_FIELD_CHAR: Final = 256


def expect_printf(meter: Meter, template: str | bytes, values: Any) -> None:
    """Refuse `template % values` if its text would be too long.

    Raises:
        BudgetExceededError
    """
    text = template if isinstance(template, str) else template.decode("latin-1")
    keys, widths, stars = _conversions(text)
    size = len(text) + widths
    arguments = values if isinstance(values, tuple) else (values,)
    if not keys:
        size += sum(meter.text_size(argument) for argument in arguments)
    elif isinstance(template, bytes):
        size += len(keys) * meter.text_size(values)
    elif isinstance(values, Mapping):
        size += sum(meter.text_size(values[key]) for key in keys if key in values)
    if stars:
        size += sum(abs(argument) for argument in arguments if isinstance(argument, int))
    meter.expect_text(size)


def _conversions(text: str) -> tuple[list[str], int, bool]:
    """Mapping keys, the sum of all widths and precisions, and whether one is taken from the arguments."""
    keys: list[str] = []
    widths, stars, position = 0, False, 0
    while (position := text.find("%", position) + 1) > 0:
        if text.startswith("(", position):
            start, depth = position + 1, 1
            position = start
            while depth and position < len(text):
                depth += {"(": 1, ")": -1}.get(text[position], 0)
                position += 1
            keys.append(text[start : position - 1])
        while position < len(text) and text[position] in _FLAGS:
            position += 1
        for _ in ("width", "precision"):
            if digits := _DIGITS.match(text, position):
                widths += _number(digits.group())
                position = digits.end()
            elif text.startswith("*", position):
                stars = True
                position += 1
            if not text.startswith(".", position):
                break
            position += 1
        position += 1  # the conversion type, which may itself be a percent sign
    return keys, widths, stars


def _number(digits: str) -> int:
    return int(digits) if len(digits) <= _MAX_WIDTH_DIGITS else 10**_MAX_WIDTH_DIGITS


class FormatMethod:
    """What a template gets for `text.format` and `text.format_map`. Only the environment can call it."""

    __slots__ = ("_is_map", "_text")

    def __init__(self, text: str, is_map: bool) -> None:
        self._text = text
        self._is_map = is_map

    def __call__(self, *args: Any, **kwargs: Any) -> str:
        raise SecurityError("a format method can only be called by the template itself")


def call_format(
    environment: Environment,
    meter: Meter,
    method: FormatMethod,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> str:
    """What Jinja's sandbox makes of such a call.

    Raises:
        BudgetExceededError
    """
    text: str = method._text
    values: Mapping[str, Any] = kwargs
    if method._is_map:
        if kwargs:
            raise TypeError("format_map() takes no keyword arguments")
        if len(args) != 1:
            raise TypeError(f"format_map() takes exactly one argument ({len(args)} given)")
        values, args = args[0], ()
    formatter: SandboxedFormatter
    if isinstance(text, Markup):
        formatter = _MeteredEscapeFormatter(environment, meter, len(text), escape=text.escape)
    else:
        formatter = _MeteredFormatter(environment, meter, len(text))
    formatted = type(text)(formatter.vformat(text, args, values))
    meter.keep(formatted)
    return formatted


class _MeteredFormatter(SandboxedFormatter):
    def __init__(self, environment: Environment, meter: Meter, chars: int, **kwargs: Any) -> None:
        super().__init__(environment, **kwargs)
        self._meter = meter
        self._chars = chars

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, str]:
        self._meter.work(_CHAR_STEPS_PER_FIELD_CHAR * len(field_name))
        return super().get_field(field_name, args, kwargs)

    def convert_field(self, value: Any, conversion: Any) -> Any:
        if conversion is not None:
            self._meter.text_size(value)
        return super().convert_field(value, conversion)

    def format_field(self, value: Any, format_spec: str) -> Any:
        self._meter.tick()
        widths = sum(map(_number, _DIGITS.findall(format_spec)))
        self._chars += self._meter.text_size(value) + widths
        self._meter.expect_text(self._chars)
        return super().format_field(value, format_spec)


class _MeteredEscapeFormatter(_MeteredFormatter, SandboxedEscapeFormatter):
    pass
