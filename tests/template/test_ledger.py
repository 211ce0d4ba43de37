"""Sums of what is alive."""

from __future__ import annotations

import pytest

from render_core.template.budget import BudgetExceededError
from render_core.template.ledger import Ledger


def ledger(limit: int = 100, overhead: int = 0) -> Ledger:
    return Ledger(largest=limit, limit=limit, overhead=overhead, refusal="too much")


def test_values_that_are_alive_add_up() -> None:
    account, alive = ledger(), []
    for _ in range(10):
        alive.append([0] * 10)
        account.hold(alive[-1])
    with pytest.raises(BudgetExceededError, match="too much"):
        account.hold([0])


def test_values_that_are_dropped_are_written_off() -> None:
    account = ledger()
    for _ in range(1000):
        account.hold([0] * 60)


def test_value_counts_once() -> None:
    account, value = ledger(), [0] * 60
    for _ in range(10):
        account.hold(value)


def test_value_counts_its_overhead() -> None:
    account, alive = ledger(overhead=30), [[], [], []]
    for value in alive:
        account.hold(value)
    with pytest.raises(BudgetExceededError):
        account.hold([0] * 11)


def test_single_value_may_be_too_long() -> None:
    with pytest.raises(BudgetExceededError):
        ledger().hold([0] * 101)


def test_charge_is_never_written_off() -> None:
    account = ledger()
    account.charge(99)
    account.charge(1)
    with pytest.raises(BudgetExceededError):
        account.charge(1)


def test_closed_ledger_keeps_nothing_alive() -> None:
    account = ledger()
    account.hold([0] * 60)
    account.close()
    account.hold([0] * 39)
