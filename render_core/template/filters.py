"""Jinja's filters under a meter: the same results and errors, refused where the result would be too large."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, Final

from jinja2 import pass_context
from jinja2.filters import FILTERS
from jinja2.runtime import Context
from jinja2.utils import _PassArg

from render_core.template.filter_guards import GUARDS, LAZY_FILTERS, PLAIN_FILTERS, Arguments, Guard
from render_core.template.meter import Meter

Function = Callable[..., Any]


def _plain_encoder() -> Callable[[Any], str]:
    """json.dumps(..., ensure_ascii=False) of values without cycles, its encoder made once instead of at every call."""
    make: Any = json.encoder.c_make_encoder  # type: ignore[attr-defined]
    plain = json.JSONEncoder(ensure_ascii=False)
    if make is None:
        return plain.encode
    write = make(None, plain.default, json.encoder.encode_basestring, None, ": ", ", ", False, False, True)
    return lambda value: "".join(write(value, 0))


_encoded: Final = _plain_encoder()


def metered_filters() -> dict[str, Function]:
    """Every filter of a chat template by name."""
    filters: dict[str, Function] = {}
    for name, function in FILTERS.items():
        if name in PLAIN_FILTERS:
            filters[name] = function
        elif name != "tojson":
            filters[name] = (_lazy if name in LAZY_FILTERS else _eager)(function, GUARDS[name])
    filters["tojson"] = _tojson
    return filters


def _leading(function: Function) -> Callable[[Any], Arguments]:
    """What Jinja passes to the function before its value."""
    match _PassArg.from_obj(function):
        case _PassArg.context:
            return lambda context: (context,)
        case _PassArg.eval_context:
            return lambda context: (context.eval_ctx,)
        case _PassArg.environment:
            return lambda context: (context.environment,)
    return lambda context: ()


def _eager(function: Function, guard: Guard) -> Function:
    leading = _leading(function)

    @pass_context
    @wraps(function)
    def metered(context: Any, value: Any, /, *args: Any, **kwargs: Any) -> Any:
        meter: Meter = context.meter
        guarded = guard(meter, value, args, kwargs)
        result = function(*leading(context), guarded, *args, **kwargs)
        return result if result is value else meter.keep(result)

    return metered


def _lazy(function: Function, guard: Guard) -> Function:
    leading = _leading(function)

    @pass_context
    @wraps(function)
    def metered(context: Any, value: Any, /, *args: Any, **kwargs: Any) -> Iterator[Any]:
        meter: Meter = context.meter
        guarded = guard(meter, value, args, kwargs)
        return meter.lazily(function(*leading(context), guarded, *args, **kwargs), value)

    return metered


@pass_context
def _tojson(
    context: Context,
    x: Any,
    ensure_ascii: Any = False,
    indent: Any = None,
    separators: Any = None,
    sort_keys: Any = False,
) -> str:
    """transformers' own `tojson`: json.dumps and no HTML escapes. Its first argument is not Jinja's `indent`."""
    meter: Meter = context.meter  # type: ignore[attr-defined]
    if ensure_ascii is False and indent is None and separators is None and sort_keys is False:
        meter.text_size(x)
        text = _encoded(x)
    else:
        _expect_layout(meter, x, indent, separators)
        text = json.dumps(
            x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
        )
    meter.keep(text)
    return text


def _expect_layout(meter: Meter, value: Any, indent: Any, separators: Any) -> None:
    weight = meter.weigh(value)
    per_node = 0
    if isinstance(indent, int):
        per_node = max(0, indent) * weight.depth
    elif isinstance(indent, str):
        per_node = len(indent) * weight.depth
    if isinstance(separators, list | tuple):
        per_node += sum(len(separator) for separator in separators if isinstance(separator, str))
    meter.expect_text(weight.printed + per_node * weight.nodes)
