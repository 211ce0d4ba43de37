"""The hooks around a snapshot of the function's memory."""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Iterator

import pytest

from handlers import snapshot


@pytest.fixture
def unfrozen() -> Iterator[None]:
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("unfrozen")
def test_hooks_are_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    module = pytest.importorskip("snapshot_restore_py", reason="it comes with awslambdaric")
    monkeypatch.setattr(module, "_before_snapshot_registry", [])
    monkeypatch.setattr(module, "_after_restore_registry", [])
    calls: list[str] = []
    assert snapshot.register(lambda: calls.append("rehearsed"), lambda: calls.append("restored"))
    for registry in (module.get_before_snapshot(), module.get_after_restore()):
        ((hook, given, named),) = registry
        hook(*given, **named)
    assert calls == ["rehearsed", "restored"]


def test_nothing_is_registered_without_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "snapshot_restore_py", None)
    assert snapshot.register(lambda: None, lambda: None) is False


@pytest.mark.usefixtures("unfrozen")
def test_what_was_rehearsed_is_out_of_reach_of_collections() -> None:
    before = gc.get_freeze_count()
    snapshot.before_snapshot(lambda: None)
    assert gc.get_freeze_count() > before


def test_copies_draw_different_numbers_after_restore() -> None:
    state = random.getstate()
    drawn = []
    for _ in range(2):
        random.setstate(state)
        snapshot.after_restore(lambda: None)
        drawn.append(random.getrandbits(128))
    assert drawn[0] != drawn[1]
