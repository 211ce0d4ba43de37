"""The methods of Python's own types that a template may call, and what is checked before each call.

A method that is not listed cannot be called. `None` marks those whose cost and result are bounded by the object they
belong to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import BuiltinMethodType, MethodType
from typing import Any, Final

from jinja2.exceptions import SecurityError
from markupsafe import Markup

from render_core.template.meter import Meter
from render_core.template.weight import check_key

Arguments = tuple[Any, ...]
Guard = Callable[[Meter, Any, Arguments, Mapping[str, Any]], Arguments]

_TEXTS: Final = (str, bytes)
_SHORT_CHARS: Final = 4096
LINE_BREAKS: Final = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_BLANKS: Final = "".join(char for char in map(chr, range(0x3001)) if char.isspace())
_TEXT_ENCODINGS: Final = frozenset({"utf8", "ascii", "usascii", "latin1", "iso88591", "utf16", "utf32"})
_ENCODING_ERRORS: Final = frozenset({"strict", "ignore", "replace"})
_PARTS: Final = frozenset({"split", "rsplit", "splitlines", "partition", "rpartition"})


def call_method(
    meter: Meter, method: BuiltinMethodType | MethodType, args: Arguments, kwargs: Mapping[str, Any]
) -> Any:
    """Call a method of a str, list, dict, number and the like.

    Raises:
        BudgetExceededError: it would cost too much.
        SecurityError: the method may not be called.
    """
    owner, name = method.__self__, method.__name__
    if name not in _GUARDS:
        raise SecurityError(f"the method {name!r} is not safely callable")
    guard = _GUARDS[name]
    if guard is not None:
        args = guard(meter, owner, args, kwargs)
    if isinstance(owner, _TEXTS) and len(owner) > _SHORT_CHARS:
        meter.work(len(owner))
    result = method(*args, **kwargs)
    if result is owner:
        return result
    if name in _PARTS:
        meter.keep_parts(result)
        return result
    return meter.keep(result)


def _argument(args: Arguments, kwargs: Mapping[str, Any], index: int, name: str, default: Any = None) -> Any:
    return args[index] if len(args) > index else kwargs.get(name, default)


def _expect_width(meter: Meter, owner: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Arguments:
    if args and isinstance(args[0], int):
        meter.expect_text(args[0])
    return args


def _expect_tabs(meter: Meter, owner: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Arguments:
    size = _argument(args, kwargs, 0, "tabsize", 8)
    if isinstance(size, int):
        tab = "\t" if isinstance(owner, str) else b"\t"
        meter.expect_text(len(owner) + owner.count(tab) * size)
    return args


def expect_replacement(meter: Meter, text: str | bytes, old: Any, new: Any, count: Any) -> None:
    """Refuse a replacement that would make a text too long."""
    if isinstance(old, type(text)) and isinstance(new, type(text)) and len(new) > len(old):
        meter.work(len(text))
        hits = text.count(old)  # type: ignore[arg-type]
        if isinstance(count, int) and count >= 0:
            hits = min(hits, count)
        meter.expect_text(len(text) + hits * (len(new) - len(old)))


def _expect_replacement(meter: Meter, owner: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Arguments:
    if len(args) >= 2:
        expect_replacement(
            meter, _plain(owner), _plain(args[0]), _plain(args[1]), _argument(args, kwargs, 2, "count")
        )
    return args


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Markup) else value


def expect_join(meter: Meter, separator: str | bytes, parts: Any) -> Any:
    """Refuse a join that would make a text too long.

    Returns:
        The parts, no longer an iterator.
    """
    parts = meter.listed(parts)
    if hasattr(parts, "__len__"):
        chars = sum(len(part) for part in parts if isinstance(part, str | bytes))
        meter.expect_text(chars + len(separator) * len(parts))
    return parts


def _expect_join(meter: Meter, owner: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Arguments:
    return (expect_join(meter, owner, args[0]), *args[1:]) if args else args


def _expect_translation(meter: Meter, owner: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Arguments:
    table = args[0] if args else None
    if isinstance(table, dict | list | tuple):
        texts = table.values() if isinstance(table, dict) else table
        meter.expect_text(len(owner) * max((len(text) for text in texts if isinstance(text, str)), default=1))
    elif not isinstance(table, str | bytes | None):
        raise SecurityError("a translation table must be a dict or a sequence")
    return args


def _expect_pieces(meter: Meter, owner: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Arguments:
    """For `split` and `rsplit`; the latter may compare the whole separator at every position."""
    separator = _argument(args, kwargs, 0, "sep")
    length = len(separator) if isinstance(separator, _TEXTS) else 1
    meter.work(len(owner) * length)
    if not meter.allows_items(1 + len(owner) // max(length, 1)):
        meter.expect_items(
            1 + (owner.count(separator) if length and separator else count_any(_BLANKS, owner))
        )
    return args


def _expect_lines(meter: Meter, owner: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Arguments:
    if not meter.allows_items(1 + len(owner)):
        meter.expect_items(1 + count_any(LINE_BREAKS, owner))
    return args


def count_any(chars: str, text: str | bytes) -> int:
    """How many of these characters are in the text."""
    return sum(map((text if isinstance(text, str) else text.decode("latin-1")).count, chars))


def _expect_search(meter: Meter, owner: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Arguments:
    """For searches that may compare the whole needle at every position."""
    if isinstance(owner, _TEXTS) and args and isinstance(args[0], _TEXTS):
        meter.work(len(owner) * len(args[0]))
    return args


def _expect_affixes(meter: Meter, owner: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Arguments:
    if args and isinstance(args[0], tuple):
        meter.work(len(owner) * len(args[0]))
    return args


def _expect_comparisons(meter: Meter, owner: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Arguments:
    """For `count` and `index`: a search of a text, a comparison with each element of anything else."""
    if args and not isinstance(owner, str | bytes | range):
        meter.work(len(owner) * meter.weigh(args[0]).printed)
    return args


def _expect_key(meter: Meter, owner: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Arguments:
    for argument in args[:1]:
        check_key(argument)
    return args


def _expect_new_keys(meter: Meter, owner: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Arguments:
    """For `fromkeys`."""
    return (*_expect_keys(meter, owner, args[:1], kwargs), *args[1:])


def _expect_keys(meter: Meter, owner: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Arguments:
    """For methods that hash every element of their arguments."""
    listed = tuple(meter.listed(argument) for argument in args)
    for keys in listed:
        if isinstance(keys, list | tuple):
            for key in keys:
                check_key(key)
    return listed


def _expect_length(meter: Meter, owner: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Arguments:
    length = _argument(args, kwargs, 0, "length", 1)
    if isinstance(length, int):
        meter.expect_text(length)
    return args


def _expect_encoding(meter: Meter, owner: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Arguments:
    encoding = _argument(args, kwargs, 0, "encoding", "utf-8")
    errors = _argument(args, kwargs, 1, "errors", "strict")
    if isinstance(encoding, str) and re.sub("[-_ ]", "", encoding.lower()) not in _TEXT_ENCODINGS:
        raise SecurityError("the encoding is not safe to use")
    if isinstance(errors, str) and errors not in _ENCODING_ERRORS:
        raise SecurityError("the encoding error handler is not safe to use")
    return args


def _expect_tags(meter: Meter, owner: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Arguments:
    expect_striptags(meter, str(owner))
    return args


def expect_striptags(meter: Meter, text: str) -> None:
    """markupsafe cuts out one tag after the other, each time copying the text."""
    meter.work(len(text) * (1 + text.count("<")))


def _expect_escaped(meter: Meter, owner: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Arguments:
    meter.expect_text(6 * sum(map(meter.text_size, args)))
    return args


_GUARDS: Final[dict[str, Guard | None]] = {
    **dict.fromkeys(
        """
        capitalize casefold lower swapcase title upper
        isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper
        find partition removeprefix removesuffix unescape
        copy items keys values
        as_integer_ratio bit_count bit_length conjugate from_bytes fromhex hex is_integer
        """.split()
    ),
    **dict.fromkeys(("center", "ljust", "rjust", "zfill"), _expect_width),
    **dict.fromkeys(("split", "rsplit"), _expect_pieces),
    **dict.fromkeys(("rfind", "rindex", "rpartition", "strip", "lstrip", "rstrip"), _expect_search),
    **dict.fromkeys(("startswith", "endswith"), _expect_affixes),
    **dict.fromkeys(("count", "index"), _expect_comparisons),
    **dict.fromkeys(("encode", "decode"), _expect_encoding),
    **dict.fromkeys(
        """
        isdisjoint difference intersection issubset issuperset maketrans symmetric_difference union
        """.split(),
        _expect_keys,
    ),
    "escape": _expect_escaped,
    "expandtabs": _expect_tabs,
    "fromkeys": _expect_new_keys,
    "get": _expect_key,
    "join": _expect_join,
    "replace": _expect_replacement,
    "splitlines": _expect_lines,
    "striptags": _expect_tags,
    "to_bytes": _expect_length,
    "translate": _expect_translation,
}
