"""The loop of `{% for %}` over a list, which is what chat templates loop over: Jinja's, at less of a price."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from jinja2.runtime import LoopContext, Undefined


class ListLoop(LoopContext):
    """Jinja's LoopContext for a list that does not change meanwhile: same members, same values.

    It does not hold the iterator that holds it: a loop that is left early is gone at once, with all it looped over.
    """

    _iterable: list[Any]
    _length: int

    def __init__(
        self, items: list[Any], undefined: type[Undefined], recurse: Any = None, depth0: int = 0
    ) -> None:
        self._iterable = items
        self._length = len(items)
        self._undefined = undefined
        self._recurse = recurse
        self.depth0 = depth0

    def __iter__(self) -> Iterator[tuple[Any, ListLoop]]:  # type: ignore[override]
        items, length = self._iterable, self._length
        # Where it is, the loop itself knows: whoever else iterates over it takes from the same elements.
        while (index := self.index0 + 1) < length:
            self.index0 = index
            yield items[index], self

    def __next__(self) -> tuple[Any, ListLoop]:
        for item_and_loop in self:
            return item_and_loop
        raise StopIteration

    @property
    def last(self) -> bool:
        return self.index0 + 1 == self._length

    @property
    def previtem(self) -> Any:
        return self._undefined("there is no previous item") if self.first else self._iterable[self.index0 - 1]

    @property
    def nextitem(self) -> Any:
        return self._undefined("there is no next item") if self.last else self._iterable[self.index0 + 1]


# Errors, and a loop that is printed, name the class.
ListLoop.__name__, ListLoop.__module__ = LoopContext.__name__, LoopContext.__module__


def loop_over(
    values: Iterable[Any], undefined: type[Undefined], recurse: Any = None, depth0: int = 0
) -> LoopContext:
    """The loop over any iterable, with Jinja's arguments."""
    kind = ListLoop if type(values) is list else LoopContext
    return kind(values, undefined, recurse, depth0)  # type: ignore[arg-type]
