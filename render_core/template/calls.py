"""Calls made by a template: what may be called, and what is checked before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import BuiltinMethodType, MethodType
from typing import TYPE_CHECKING, Any, Final

from jinja2.exceptions import SecurityError
from jinja2.ext import Extension
from jinja2.runtime import Macro
from jinja2.utils import Cycler, Joiner, Namespace, generate_lorem_ipsum
from markupsafe import Markup

from render_core.template.formatting import FormatMethod, call_format
from render_core.template.meter import Meter
from render_core.template.methods import call_method
from render_core.template.weight import check_key

if TYPE_CHECKING:
    from render_core.template.environment import MeteredContext, MeteredEnvironment

Arguments = tuple[Any, ...]

_STEPS_PER_LOREM_WORD: Final = 5000


def call_object(
    environment: MeteredEnvironment,
    context: MeteredContext,
    obj: Any,
    args: Arguments,
    kwargs: dict[str, Any],
) -> Any:
    """Call an object on a template's behalf.

    Raises:
        SecurityError: it may not be called.
        BudgetExceededError: the call would cost too much.
    """
    kind = type(obj)
    if kind is BuiltinMethodType:
        return call_method(context.meter, obj, args, kwargs)
    if kind is Macro:
        return obj(context.eval_ctx, *args, **kwargs)
    if kind is FormatMethod:
        return call_format(environment, context.meter, obj, args, kwargs)
    if kind is MethodType:
        owner = obj.__self__
        if isinstance(owner, Extension):
            return obj(*args, **kwargs)
        if isinstance(owner, Markup):
            return call_method(context.meter, obj, args, kwargs)
        context.meter.weigh(args)  # loop.changed compares them
    elif kind is type:
        args = _new_object_arguments(context.meter, obj, args)
    elif obj is generate_lorem_ipsum:
        _expect_lorem(context.meter, args, kwargs)
    if not environment.is_safe_callable(obj):
        raise SecurityError(f"{obj!r} is not safely callable")
    return context.meter.keep(context.call(obj, *args, **kwargs))


def _new_object_arguments(meter: Meter, cls: type, args: Arguments) -> Arguments:
    if cls not in (dict, Namespace, Cycler, Joiner):
        raise SecurityError(f"{cls!r} is not safely callable")
    if (
        cls in (dict, Namespace)
        and args
        and isinstance(args[0], Iterable)
        and not isinstance(args[0], Mapping)
    ):
        pairs = [meter.listed(pair) for pair in meter.listed(args[0])]
        for pair in pairs:
            if isinstance(pair, list | tuple) and pair:
                check_key(pair[0])
        return (pairs, *args[1:])
    return args


def _expect_lorem(meter: Meter, args: Arguments, kwargs: Mapping[str, Any]) -> None:
    options = dict(zip(("n", "html", "min", "max"), args, strict=False)) | dict(kwargs)
    paragraphs, words = options.get("n", 5), options.get("max", 100)
    if isinstance(paragraphs, int) and isinstance(words, int):
        meter.expect_items(paragraphs * words)
        meter.work(_STEPS_PER_LOREM_WORD * paragraphs * words)
