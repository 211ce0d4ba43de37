"""What is checked before each of Jinja's filters runs, and which filters need no check.

A guard returns the value to give to the filter: the same one, or a list in place of an iterator that the filter would
use up anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from markupsafe import Markup

from render_core.template.budget import BudgetExceededError
from render_core.template.formatting import expect_printf
from render_core.template.meter import Meter
from render_core.template.methods import LINE_BREAKS, count_any, expect_replacement, expect_striptags
from render_core.template.weight import check_key

Arguments = tuple[Any, ...]
Guard = Callable[[Meter, Any, Arguments, Mapping[str, Any]], Any]

# They make nothing, or no more than one element of what they are given.
PLAIN_FILTERS: Final = frozenset(
    {"attr", "count", "d", "default", "filesizeformat", "first", "float", "last", "length", "random"}
)
# They give a generator.
LAZY_FILTERS: Final = frozenset(
    {"batch", "items", "map", "reject", "rejectattr", "select", "selectattr", "slice", "unique"}
)

_MAX_SLOW_CHARS: Final = 64 * 1024
_MAX_WORD_CHARS: Final = 4096
_MAX_ATTRIBUTE_PARTS: Final = 1000
_MAX_KEY_DEPTH: Final = 1000
_ESCAPED_CHARS_PER_CHAR: Final = 6
_PPRINT_STEPS_PER_NODE: Final = 10_000


def _argument(args: Arguments, kwargs: Mapping[str, Any], index: int, name: str, default: Any = None) -> Any:
    return args[index] if len(args) > index else kwargs.get(name, default)


def _nothing(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Any:
    return value


# Texts.


def _text(chars_per_char: int = 1, parts_per_char: int = 0) -> Guard:
    """For filters that make of each character at most so many, and at most so many elements on the way."""

    def guard(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Any:
        chars = meter.text_size(value)
        meter.work(chars)
        meter.expect_text(chars_per_char * chars)
        meter.expect_items(parts_per_char * chars)
        return value

    return guard


def _center(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Any:
    width = _argument(args, kwargs, 0, "width")
    if isinstance(width, int):
        meter.expect_text(width)
    meter.text_size(value)
    return value


def _trim(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Any:
    chars = _argument(args, kwargs, 0, "chars")
    meter.work(meter.text_size(value) * (len(chars) if isinstance(chars, str) else 1))
    return value


def _striptags(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Any:
    meter.expect_items(meter.text_size(value))
    expect_striptags(meter, str(value))
    return value


def _format(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Any:
    meter.text_size(value)
    expect_printf(meter, str(value), dict(kwargs) or args)
    return value


def _indent(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return list(value)  # the filter extends a list in place before it fails
    width = _argument(args, kwargs, 0, "width", 4)
    if isinstance(value, str) and isinstance(width, int | str):
        meter.work(len(value))
        chars = width if isinstance(width, int) else len(width)
        lines = 2 + count_any(LINE_BREAKS, value)
        meter.expect_items(lines)
        meter.expect_text(len(value) + lines * (1 + chars))
    return value


def _join(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Any:
    _check_attributes(args, kwargs)
    value = meter.listed(value)
    separator = meter.text_size(_argument(args, kwargs, 0, "d", ""))
    if _argument(args, kwargs, 1, "attribute") is not None or not isinstance(value, list | tuple):
        chars = meter.text_size(value)
    else:
        chars = sum(len(part) if type(part) is str else meter.text_size(part) for part in value)
    if hasattr(value, "__len__"):
        chars += separator * len(value)
    if isinstance(value, list | tuple) and any(isinstance(part, Markup) for part in value):
        chars *= _ESCAPED_CHARS_PER_CHAR
    meter.expect_text(chars)
    return value


def _replace(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Any:
    old, new = _argument(args, kwargs, 0, "old", ""), _argument(args, kwargs, 1, "new", "")
    for part in (value, old, new):
        meter.text_size(part)
    expect_replacement(meter, str(value), str(old), str(new), _argument(args, kwargs, 2, "count"))
    return value


def _pprint(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Any:
    """pprint makes the text of every part anew at every level."""
    weight = meter.weigh(value)
    meter.expect_text(weight.printed)
    meter.work((_PPRINT_STEPS_PER_NODE * weight.nodes + weight.chars) * weight.depth)
    return value


def _slow(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Any:
    """For filters that are quadratic in the length of a word, or worse."""
    chars = meter.text_size(value)
    words = value.split() if isinstance(value, str) and chars <= _MAX_SLOW_CHARS else ()
    if chars > _MAX_SLOW_CHARS or any(len(word) > _MAX_WORD_CHARS for word in words):
        raise BudgetExceededError(
            f"The chat template wraps or links a text of more than {_MAX_SLOW_CHARS} characters."
        )
    options = sum(map(meter.text_size, (*args, *kwargs.values())))
    meter.expect_text(chars * (_ESCAPED_CHARS_PER_CHAR + options))
    return value


# Numbers.


def _number(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Any:
    if isinstance(value, str | bytes):
        meter.work(len(value))
    return value


def _round(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Any:
    precision = _argument(args, kwargs, 0, "precision", 0)
    if isinstance(precision, int):
        meter.expect_bits(4 * abs(precision))
        if isinstance(value, str | bytes | list | tuple) and precision > 0:
            meter.expect_text(len(value) * 10**precision)  # Jinja multiplies before it rounds
    return value


# Containers.


def _elements(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Any:
    """For filters that go through all elements at once, but do not look into them."""
    return meter.listed(value)


def _compared(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Any:
    """For filters that compare elements with each other."""
    _check_attributes(args, kwargs)
    return _pairs(meter, meter.listed(value), args, kwargs)


def _pairs(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Any:
    """For `dictsort`, which takes no iterator."""
    weight = meter.weigh(value)
    meter.expect_text(weight.chars)
    meter.work((weight.chars + weight.nodes) * weight.nodes.bit_length())
    return value


def _sum(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Any:
    """Adding up lists copies, each time, what was added up before."""
    _check_attributes(args, kwargs)
    value = meter.listed(value)
    if isinstance(_argument(args, kwargs, 1, "start", 0), list | tuple):
        nodes = meter.weigh(value).nodes
        meter.work(nodes * nodes)
    return value


def _batch(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Any:
    line = _argument(args, kwargs, 0, "linecount")
    if isinstance(line, int) and _argument(args, kwargs, 1, "fill_with") is not None:
        meter.expect_items(line)
    return value


def _slice(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Any:
    slices = _argument(args, kwargs, 0, "slices")
    if isinstance(slices, int):
        meter.expect_items(slices)
    if hasattr(value, "__len__"):
        meter.listed(value)
    return value


def _chosen(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Any:
    """For filters that take the name of an attribute, or of another filter or test."""
    _check_attributes(args, kwargs)
    return value


def _unique(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Any:
    """Elements, or attributes of them, become members of a set."""
    _check_attributes(args, kwargs)
    return _hashable(meter, value)


def _hashable(meter: Meter, values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if meter.weigh(value).depth > _MAX_KEY_DEPTH:
            raise BudgetExceededError(f"The chat template nests a key more than {_MAX_KEY_DEPTH} deep.")
        yield value


def _check_attributes(args: Arguments, kwargs: Mapping[str, Any]) -> None:
    """Jinja splits attribute names into their parts."""
    for argument in (*args, *kwargs.values()):
        check_key(argument)
        if isinstance(argument, str) and argument.count(".") + argument.count(",") > _MAX_ATTRIBUTE_PARTS:
            raise BudgetExceededError(
                f"The chat template names an attribute of more than {_MAX_ATTRIBUTE_PARTS} parts."
            )


GUARDS: Final[dict[str, Guard]] = {
    "abs": _number,
    "batch": _batch,
    "capitalize": _text(3),
    "center": _center,
    "dictsort": _pairs,
    "e": _text(_ESCAPED_CHARS_PER_CHAR),
    "escape": _text(_ESCAPED_CHARS_PER_CHAR),
    "forceescape": _text(_ESCAPED_CHARS_PER_CHAR),
    "format": _format,
    "groupby": _compared,
    "indent": _indent,
    "int": _number,
    "items": _nothing,
    "join": _join,
    "list": _elements,
    "lower": _text(3),
    "map": _chosen,
    "max": _compared,
    "min": _compared,
    "pprint": _pprint,
    "reject": _chosen,
    "rejectattr": _chosen,
    "replace": _replace,
    "reverse": _nothing,
    "round": _round,
    "safe": _text(),
    "select": _chosen,
    "selectattr": _chosen,
    "slice": _slice,
    "sort": _compared,
    "string": _text(),
    "striptags": _striptags,
    "sum": _sum,
    "title": _text(3, parts_per_char=1),
    "trim": _trim,
    "truncate": _nothing,
    "unique": _unique,
    "upper": _text(3),
    "urlencode": _text(12, parts_per_char=1),
    "urlize": _slow,
    "wordcount": _text(parts_per_char=1),
    "wordwrap": _slow,
    "xmlattr": _text(_ESCAPED_CHARS_PER_CHAR),
}
