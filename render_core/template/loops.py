"""The loop of `{% for %}` over a list, which is what chat templates loop over: Jinja's, at less of a price."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from jinja2.runtime import LoopContext, Undefined


class ListLoop(LoopContext):
    """Jinja's LoopContext for a list that does not change meanwhile: same members, same values."""

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
        self._iterator: Iterator[Any] = self._numbered()

    def _numbered(self) -> Iterator[tuple[Any, ListLoop]]:
        for index, item in enumerate(self._iterable):
            self.index0 = index
            yield item, self

    def __iter__(self) -> Iterator[tuple[Any, ListLoop]]:  # type: ignore[override]
        return self._iterator

    def __next__(self) -> tuple[Any, ListLoop]:
        item, loop = next(self._iterator)
        return item, loop

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
