"""One rendering's meter: time, text and elements, checked against its budget as they are used.

A meter belongs to one rendering and is reached through its context. It knows nothing of the template language.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import islice
from types import GeneratorType
from typing import Any, Final
from weakref import WeakKeyDictionary

from jinja2 import Undefined

from render_core.template.budget import BudgetExceededError, TemplateBudget
from render_core.template.ledger import Ledger
from render_core.template.weight import Weight, printed_size, text_weight, weigh

# Texts up to this length are not counted: whatever keeps many of them is.
TINY_CHARS: Final = 128

_STEPS_BETWEEN_LOOKS: Final = 10_000
_STEPS_PER_ELEMENT: Final = 16
_CHAR_STEPS_PER_STEP: Final = 64
_CHAR_STEPS_PER_SECOND: Final = 1_000_000_000
_PIECES_PER_CHUNK: Final = 1024
_MAX_BUFFERED_PIECES: Final = 4096
_MAX_INT_BITS: Final = 1 << 15
_SMALL_INT_BITS: Final = 1024
_OBJECT_ITEMS: Final = 8
_MAX_LAZY_DEPTH: Final = 64
_ATOMS: Final = frozenset(
    {bool, float, type(None), range, Undefined, type({}.keys()), type({}.values()), type({}.items())}
)
_CONTAINERS: Final = frozenset({list, tuple, dict, set, frozenset})


class Meter:
    """Every method raises BudgetExceededError when a limit is passed.

    Attributes:
        keep_text: counts a text that the template has created.
    """

    __slots__ = (
        "_chars",
        "_deadline",
        "_items",
        "_lazy_depths",
        "_max_chars",
        "_max_items",
        "_seconds",
        "_steps",
        "keep_text",
    )

    def __init__(self, budget: TemplateBudget) -> None:
        self._seconds = budget.seconds
        self._max_chars = budget.max_chars
        self._max_items = budget.max_items
        self._deadline = time.monotonic() + budget.seconds
        self._steps = _STEPS_BETWEEN_LOOKS
        self._chars = Ledger(budget.max_chars, 2 * budget.max_chars, 0, self._too_much_text())
        self._items = Ledger(budget.max_items, budget.max_items, 4, self._too_many_items())
        self.keep_text: Callable[[str | bytes], None] = self._chars.hold
        self._lazy_depths: WeakKeyDictionary[Iterator[Any], int] = WeakKeyDictionary()

    def close(self) -> None:
        """Let go of what the rendering created."""
        self._chars.close()
        self._items.close()

    # Time.

    def tick(self, steps: int = 1, buffer: list[str] | None = None) -> bool:
        """Count steps of the template; true, so that it may stand in a condition.

        Args:
            steps: about how many expressions run until the next tick.
            buffer: pieces of text the steps write to; joined now and then, so that empty pieces do not add up.
        """
        self._steps -= steps
        if self._steps < 0:
            self._look_at_clock()
        if buffer is not None and len(buffer) > _MAX_BUFFERED_PIECES:
            buffer[:] = [self.join(buffer)]
        return True

    def work(self, char_steps: int) -> None:
        """Count an operation that reads so many characters in one go; refuse one that would outlast the budget."""
        self._steps -= char_steps // _CHAR_STEPS_PER_STEP
        if self._steps < 0:
            self._look_at_clock()
            if char_steps > _CHAR_STEPS_PER_SECOND * (self._deadline - time.monotonic()):
                raise BudgetExceededError(self._too_long())

    def _look_at_clock(self) -> None:
        if time.monotonic() > self._deadline:
            raise BudgetExceededError(self._too_long())
        self._steps = _STEPS_BETWEEN_LOOKS

    # Sizes, before the operation that would produce them.

    def expect_text(self, chars: int) -> None:
        """Refuse a text of this length before it exists."""
        if chars > self._max_chars:
            raise BudgetExceededError(self._too_much_text())

    def allows_items(self, count: int) -> bool:
        return count <= self._max_items

    def expect_items(self, count: int) -> None:
        """Refuse a container of this many elements before it exists."""
        if count > self._max_items:
            raise BudgetExceededError(self._too_many_items())

    def expect_bits(self, bits: int) -> None:
        """Refuse an integer of this many bits before it exists."""
        if bits > _MAX_INT_BITS:
            raise BudgetExceededError(
                f"The chat template computes an integer of more than {_MAX_INT_BITS} bits."
            )

    def weigh(self, value: Any) -> Weight:
        """Weigh a value all of which is about to be visited."""
        weight = weigh(value, self._max_items)
        self.work(weight.nodes * _CHAR_STEPS_PER_STEP + weight.chars)
        return weight

    def _printed_size(self, value: Any) -> int:
        nodes, chars = text_weight(value, self._max_items)
        self.work(nodes * _CHAR_STEPS_PER_STEP + chars)
        return printed_size(nodes, chars)

    def text_size(self, value: Any) -> int:
        """About the length of the value's text. Refuses a value whose text would be too long."""
        chars = len(value) if type(value) is str else self._printed_size(value)
        self.expect_text(chars)
        return chars

    # Values, once they exist.

    def keep(self, value: Any) -> Any:
        """Count a value that the template has created, and return it."""
        kind = type(value)
        if kind is str:
            if len(value) > TINY_CHARS:
                self.keep_text(value)
        elif kind in _CONTAINERS:
            self._items.hold(value)
        elif kind is int:
            if (bits := value.bit_length()) > _SMALL_INT_BITS:
                self.expect_bits(bits)
                self._chars.charge(bits // 8)
        elif kind not in _ATOMS:
            self._keep_other(value)
        return value

    def keep_parts(self, parts: list[str] | tuple[str, ...]) -> None:
        """Count texts that were cut out of another."""
        self._items.hold(parts)
        self._chars.hold_all(part for part in parts if len(part) > TINY_CHARS)

    def _keep_other(self, value: Any) -> None:
        if isinstance(value, str | bytes):
            self.keep_text(value)
        elif isinstance(value, list | tuple | dict):
            self._items.hold(value)
        else:
            self._items.charge(_OBJECT_ITEMS)

    # Pieces and elements that come one by one.

    def join(self, pieces: list[str]) -> str:
        """The pieces as one text."""
        if len(pieces) == 1:
            return pieces[0]
        chars = sum(map(len, pieces))
        self.expect_text(chars)
        text = "".join(pieces)
        if chars > TINY_CHARS:
            self._chars.hold(text)
        return text

    def stream(self, pieces: Iterator[str]) -> Iterator[str]:
        """The same text in fewer pieces, never more than `max_chars` of it."""
        chars = 0
        while chunk := list(islice(pieces, _PIECES_PER_CHUNK)):
            chars += sum(map(len, chunk))
            self.expect_text(chars)
            yield "".join(chunk)

    def listed(self, values: Any) -> Any:
        """Values that are about to be gone through at once: an iterator as a list, anything else as it is."""
        if isinstance(values, Iterator):
            values = list(islice(values, self._max_items + 1))
        try:
            count = len(values)
        except TypeError:
            return values
        self.expect_items(count)
        self.work(count * _CHAR_STEPS_PER_STEP)
        return values

    def lazily(self, values: GeneratorType[Any, None, None], source: Any) -> Iterator[Any]:
        """The same values, counted as they are asked for, from a generator that prints the same.

        Args:
            source: what the values are computed from. Chains of such iterators are limited, because CPython frees
                a long one by unchecked recursion in C.
        """
        depth = 1 + self._lazy_depths.get(source, 0) if isinstance(source, GeneratorType) else 1
        if depth > _MAX_LAZY_DEPTH:
            raise BudgetExceededError(f"The chat template chains more than {_MAX_LAZY_DEPTH} lazy filters.")
        counted = self._counted(values)
        assert isinstance(counted, GeneratorType)
        counted.__qualname__ = values.__qualname__
        self._lazy_depths[counted] = depth
        self._items.charge(_OBJECT_ITEMS)
        return counted

    def _counted(self, values: Iterator[Any]) -> Iterator[Any]:
        for count, value in enumerate(values):
            self.tick(_STEPS_PER_ELEMENT)
            self.expect_items(count)
            if type(value) is list:
                self._items.hold(value)
            yield value

    def _too_long(self) -> str:
        return f"The chat template takes longer than {self._seconds:g} seconds."

    def _too_much_text(self) -> str:
        return f"The chat template makes more than {self._max_chars} characters of text."

    def _too_many_items(self) -> str:
        return f"The chat template builds containers of more than {self._max_items} elements."
