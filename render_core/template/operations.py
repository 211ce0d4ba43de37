"""The operations of a template that make text, containers or numbers: what compiled code calls instead of Python's own.

Results and errors are those of the plain operation. Each method raises BudgetExceededError when a limit is passed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set, ValuesView
from functools import reduce
from typing import Any, Final

from jinja2.runtime import Macro, Undefined, markup_join
from markupsafe import Markup, escape

from render_core.template.formatting import expect_printf
from render_core.template.loops import ListLoop, loop_over
from render_core.template.meter import TINY_CHARS, Meter
from render_core.template.weight import check_key, weigh

_TEXTS: Final = (str, bytes)
_SEQUENCES: Final = (list, tuple)
_SHORT_CHARS: Final = 4096
_WORD: Final = 1 << 63
_SCALARS: Final = frozenset({bool, int, float, type(None), Undefined})
_ESCAPED_CHARS_PER_CHAR: Final = 6
_MAX_CHAINED_NODES: Final = 10_000


class Operations:
    """The operations of one rendering."""

    __slots__ = ("_keep", "_keep_text", "_macros", "_meter", "concat", "keep", "tick")

    text_class = str
    list_loop_class = ListLoop
    loop = staticmethod(loop_over)

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._macros: list[Macro] = []
        self._keep = self.keep = meter.keep
        self._keep_text = meter.keep_text
        self.tick = meter.tick
        self.concat = meter.join

    def close(self) -> None:
        """End the rendering: nothing it made stays alive in a cycle of macros and the frames they close over."""
        for macro in self._macros:
            macro._func = _ended
        self._macros.clear()
        self._meter.close()

    # Text.

    def text(self, value: Any) -> str:
        """str(value)"""
        if type(value) is str:
            return value
        if type(value) not in _SCALARS:
            self._meter.text_size(value)
        text: str = self._keep(str(value))
        return text

    def joined(self, values: Iterable[Any]) -> str:
        """The `~` operator."""
        return self._meter.join([self.text(value) for value in values])

    def joined_markup(self, values: tuple[Any, ...]) -> str:
        """The `~` operator where autoescape is on."""
        self._expect_escaped(*values)
        text: str = self._keep(markup_join(values))
        return text

    def escaped(self, value: Any) -> Markup:
        """Output where autoescape is on."""
        self._expect_escaped(value)
        text: Markup = self._keep(escape(value))
        return text

    def _expect_escaped(self, *values: Any) -> None:
        self._meter.expect_text(_ESCAPED_CHARS_PER_CHAR * sum(map(self._meter.text_size, values)))

    # Arithmetic.

    def add(self, left: Any, right: Any) -> Any:
        if type(left) is str and type(right) is str:
            text = left + right
            if len(text) > TINY_CHARS:
                self._keep_text(text)
            return text
        if type(left) is int and type(right) is int:
            return self._number(left + right)
        if isinstance(left, _SEQUENCES) and isinstance(right, _SEQUENCES):
            self._meter.expect_items(len(left) + len(right))
        return self._keep(left + right)

    def add_all(self, *operands: Any) -> Any:
        """A chain of `+`."""
        for operand in operands:
            if type(operand) is not str:
                return reduce(self.add, operands)
        self._meter.expect_text(sum(map(len, operands)))
        text = "".join(operands)
        if len(text) > TINY_CHARS:
            self._keep_text(text)
        return text

    def subtract(self, left: Any, right: Any) -> Any:
        if type(left) is int and type(right) is int:
            return self._number(left - right)
        if type(left) not in _SCALARS and isinstance(left, Set):
            right = self._meter.listed(right)
            for values in (left, right):
                for value in values if isinstance(values, Iterable) else ():
                    check_key(value)
        return self._keep(left - right)

    def _number(self, value: int) -> int:
        return value if -_WORD < value < _WORD else self._keep(value)

    def multiply(self, left: Any, right: Any) -> Any:
        count, other = (left, right) if isinstance(left, int) else (right, left)
        if isinstance(count, int):
            if isinstance(other, int):
                self._meter.expect_bits(count.bit_length() + other.bit_length() - 1)
            elif isinstance(other, _TEXTS):
                self._meter.expect_text(len(other) * count)
            elif isinstance(other, _SEQUENCES):
                self._meter.expect_items(len(other) * count)
        return self._keep(left * right)

    def divide(self, left: Any, right: Any) -> Any:
        return self._keep(left / right)

    def floor_divide(self, left: Any, right: Any) -> Any:
        return self._keep(left // right)

    def modulo(self, left: Any, right: Any) -> Any:
        if isinstance(left, _TEXTS):
            expect_printf(self._meter, left, right)
        return self._keep(left % right)

    def power(self, left: Any, right: Any) -> Any:
        if isinstance(left, int) and isinstance(right, int) and abs(left) > 1:
            self._meter.expect_bits((left.bit_length() - 1) * right)
        return self._keep(left**right)

    def positive(self, value: Any) -> Any:
        return self._keep(+value)

    def negative(self, value: Any) -> Any:
        return self._keep(-value)

    # Comparison. The other side of a comparison may be anything: it costs no more than the smaller one.

    def comparable(self, value: Any) -> Any:
        """One side of a comparison that is about to happen."""
        if type(value) is str:
            if len(value) > _SHORT_CHARS:
                self._meter.work(len(value))
        elif type(value) not in _SCALARS:
            self._meter.weigh(value)
        return value

    def modest(self, value: Any) -> Any:
        """An operand of a chained comparison, each of which may meet the next in any way."""
        self._meter.text_size(value)
        weigh(value, _MAX_CHAINED_NODES)
        return value

    def contains(self, value: Any, container: Any) -> bool:
        """The `in` operator."""
        if type(container) is str:
            if len(container) > _SHORT_CHARS:
                self._meter.work(len(container))
        elif isinstance(container, (*_TEXTS, range)):
            self._meter.work(len(container))
        elif isinstance(container, (*_SEQUENCES, ValuesView)):
            self._meter.work(len(container) * self._comparison_cost(value))
        elif isinstance(container, Iterator):
            cost = self._comparison_cost(value)
            return any(item is value or item == value for item in self._working(container, cost))
        else:
            check_key(value)
        return value in container

    def _working(self, values: Iterator[Any], cost: int) -> Iterator[Any]:
        for value in values:
            self._meter.work(cost)
            yield value

    def _comparison_cost(self, value: Any) -> int:
        return 1 if type(value) in _SCALARS else self._meter.weigh(value).printed

    # Parts of expressions.

    def key(self, value: Any) -> Any:
        """A key of a dict that is being written out."""
        check_key(value)
        return value

    def spread(self, values: Any) -> Any:
        """Arguments given as `*values`."""
        return self._meter.listed(values)

    def ticked(self, value: Any) -> Any:
        """The outcome of a loop's condition, for one element."""
        self.tick()
        return value

    def macro(self, *definition: Any) -> Macro:
        """A macro that is being defined."""
        macro = Macro(*definition)
        self._macros.append(macro)
        self._keep(macro)
        return macro


def _ended(*args: Any) -> str:
    raise RuntimeError("the rendering of this macro has ended")
