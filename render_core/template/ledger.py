"""An account of what one rendering has created and still holds."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from sys import getrefcount
from typing import Final

from render_core.template.budget import BudgetExceededError

_FIRST_RECKONING: Final = 1 << 18


def _referenced_elsewhere(held: dict[int, Sized], own_references: int) -> dict[int, Sized]:
    return {key: value for key, value in held.items() if getrefcount(value) > own_references}


def _own_references() -> int:
    """How many references this module's own bookkeeping keeps to a held value (CPython versions differ)."""
    return next(count for count in range(16) if not _referenced_elsewhere({0: [None]}, count))


_OWN_REFERENCES: Final = _own_references()


class Ledger:
    """Adds up the sizes of created values; when the sum grows, values that nobody else refers to are written off.

    Values must not change their length while they are held. Not for use by two threads.
    """

    __slots__ = ("_charged", "_held", "_largest", "_limit", "_overhead", "_reckon_at", "_refusal", "_used")

    def __init__(self, largest: int, limit: int, overhead: int, refusal: str) -> None:
        """
        Args:
            largest: the largest length of one value.
            limit: the largest sum.
            overhead: what each value counts on top of its length.
            refusal: text of the error when a limit is passed.
        """
        self._largest = largest
        self._limit = limit
        self._overhead = overhead
        self._refusal = refusal
        self._held: dict[int, Sized] = {}
        self._charged = 0
        self._used = 0
        self._reckon_at = min(limit, _FIRST_RECKONING)

    def charge(self, amount: int) -> None:
        """Count something that is never written off.

        Raises:
            BudgetExceededError
        """
        self._charged += amount
        self._used += amount
        if self._used > self._reckon_at:
            self._reckon()

    def hold(self, value: Sized) -> None:
        """Count a value for as long as it is alive; once, however often it is held.

        Raises:
            BudgetExceededError
        """
        key = id(value)
        if key in self._held:
            return
        size = len(value)
        if size > self._largest:
            raise BudgetExceededError(self._refusal)
        self._held[key] = value
        self._used += size + self._overhead
        if self._used > self._reckon_at:
            self._reckon()

    def hold_all(self, values: Iterable[Sized]) -> None:
        for value in values:
            self.hold(value)

    def close(self) -> None:
        """Let go of everything."""
        self._held.clear()

    def _reckon(self) -> None:
        self._held = _referenced_elsewhere(self._held, _OWN_REFERENCES)
        self._used = self._charged + sum(map(len, self._held.values())) + self._overhead * len(self._held)
        if self._used > self._limit:
            raise BudgetExceededError(self._refusal)
        self._reckon_at = min(self._limit, max(_FIRST_RECKONING, 2 * self._used))
