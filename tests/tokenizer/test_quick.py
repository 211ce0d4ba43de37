"""The tokenizer that must not wait answers as its cascade does, or refuses."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from render_core.tokenizer.cascade import CascadeEngine
from render_core.tokenizer.quick import NotQuickError, QuickEngine
from tests.tokenizer.test_cascade import BOS, EOS, cascade, certified


def test_it_answers_from_the_engine_that_is_ready() -> None:
    asked: list[str] = []
    engine = cascade(asked)
    engine.wait_until_ready()
    assert QuickEngine(engine).encode("ab", add_special_tokens=True) == [BOS, 97, 98, EOS]
    engine = cascade(asked, hot=certified("hot", asked))
    engine.load_hot()
    asked.clear()
    assert QuickEngine(engine).encode("ab", add_special_tokens=False) == [97, 98]
    assert asked == ["hot"]


@pytest.mark.parametrize(
    "use",
    [
        lambda quick: quick.encode("é", add_special_tokens=False),
        lambda quick: quick.encode_with_offsets("a", add_special_tokens=False),
        lambda quick: quick.decode([1]),
        lambda quick: quick.tokens([1]),
        lambda quick: quick.token_id("a"),
    ],
    ids=["guarded text", "offsets", "decode", "tokens", "token id"],
)
def test_it_refuses_what_would_load_the_reference(use: Callable[[QuickEngine], object]) -> None:
    asked: list[str] = []
    engine = cascade(asked)
    engine.wait_until_ready()
    with pytest.raises(NotQuickError):
        use(QuickEngine(engine))
    assert "reference" not in asked
    assert not engine.has_reference


def test_it_does_not_wait_for_an_engine_that_loads() -> None:
    engine = CascadeEngine(None, None, lambda: pytest.fail("loaded"), [], [])
    with pytest.raises(NotQuickError):
        QuickEngine(engine).encode("a", add_special_tokens=False)
