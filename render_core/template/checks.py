"""Jinja's tests (`is ...`) under a meter: those that read, compare or format what they are given."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from jinja2 import Undefined, pass_context
from jinja2.tests import TESTS
from jinja2.utils import _PassArg

from render_core.template.formatting import expect_printf
from render_core.template.meter import Meter
from render_core.template.weight import check_key

Function = Callable[..., Any]
Guard = Callable[[Meter, Any, tuple[Any, ...]], None]

_SIMPLE: Final = frozenset({str, int, float, bool, type(None), Undefined})
_COMPARISONS: Final = "!= < <= == > >= eq equalto ge greaterthan gt in le lessthan lt ne".split()


def metered_tests() -> dict[str, Function]:
    """Every test of a chat template by name."""
    tests: dict[str, Any] = dict(TESTS)
    return {name: _metered(test, _GUARDS[name]) if name in _GUARDS else test for name, test in tests.items()}


def _metered(function: Function, guard: Guard) -> Function:
    takes_environment = _PassArg.from_obj(function) is _PassArg.environment

    @pass_context
    @wraps(function, assigned=("__name__", "__doc__"))
    def metered(context: Any, value: Any, /, *args: Any, **kwargs: Any) -> Any:
        guard(context.meter, value, (*args, *kwargs.values()))
        if takes_environment:
            return function(context.environment, value, *args, **kwargs)
        return function(value, *args, **kwargs)

    return metered


def _compare(meter: Meter, value: Any, others: tuple[Any, ...]) -> None:
    """Either may be the container that the other is looked for in."""
    operands = (value, *others)
    if all(type(operand) in _SIMPLE for operand in operands):
        meter.work(sum(len(operand) for operand in operands if type(operand) is str))
        return
    cost = meter.weigh(value).printed
    for operand in operands:
        meter.weigh(operand)
        check_key(operand)
    meter.work(cost * max(map(_count, others), default=1))


def _count(value: Any) -> int:
    return len(value) if isinstance(value, list | tuple) else 1


def _printf(meter: Meter, value: Any, others: tuple[Any, ...]) -> None:
    """A text takes these tests for formatting."""
    if isinstance(value, str | bytes):
        expect_printf(meter, value, others[0] if others else 2)


def _text(meter: Meter, value: Any, others: tuple[Any, ...]) -> None:
    meter.work(meter.text_size(value))


def _name(meter: Meter, value: Any, others: tuple[Any, ...]) -> None:
    check_key(value)


_GUARDS: Final[dict[str, Guard]] = {
    **dict.fromkeys(_COMPARISONS, _compare),
    **dict.fromkeys(("divisibleby", "even", "odd"), _printf),
    **dict.fromkeys(("lower", "upper"), _text),
    **dict.fromkeys(("filter", "test"), _name),
}
