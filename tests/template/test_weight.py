"""Values are weighed as if every reference were followed."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from jinja2.utils import Namespace
from markupsafe import Markup

from render_core.template.budget import BudgetExceededError
from render_core.template.weight import check_key, text_weight, weigh


@pytest.mark.parametrize(
    ("value", "nodes", "depth"),
    [
        ("text", 1, 1),
        ([], 1, 1),
        ([1, "a", None], 4, 2),
        ({"a": [1], "b": {"c": 2}}, 8, 3),
        ((1, (2, (3,))), 6, 4),
        ({"a": 1}.items(), 4, 3),
        (Namespace(a=[1]), 5, 4),
    ],
)
def test_nodes_and_depth(value: Any, nodes: int, depth: int) -> None:
    weight = weigh(value, 100)
    assert (weight.nodes, weight.depth) == (nodes, depth)


@pytest.mark.parametrize("value", ["ab", Markup("ab"), ["a", "b"], {"a": "b"}])
def test_text_is_counted(value: Any) -> None:
    assert weigh(value, 100).chars == 2


@pytest.mark.parametrize(
    "value", [1, 1.5, None, True, 10**400, -5, b"ab", "ab", [1, "a"], {"a": [1.5, None]}]
)
def test_printed_size_is_an_upper_bound_of_plain_values(value: Any) -> None:
    assert weigh(value, 100).printed >= len(repr(value)) - 2


def test_shared_parts_count_each_time() -> None:
    shared: list[Any] = []
    for _ in range(10):
        shared = [shared, shared]
    assert weigh(shared, 10_000).nodes == 2**11 - 1
    with pytest.raises(BudgetExceededError, match="more than 1000 elements"):
        weigh(shared, 1000)


def test_value_in_itself_is_too_large() -> None:
    namespace = Namespace()
    namespace["a"] = [namespace]
    with pytest.raises(BudgetExceededError):
        weigh(namespace, 1000)


def test_deep_value_needs_no_recursion() -> None:
    deep: list[Any] = []
    for _ in range(50_000):
        deep = [deep]
    assert weigh(deep, 100_000).depth == 50_001


def test_long_keys_are_refused() -> None:
    key: tuple[Any, ...] = ()
    for _ in range(2000):
        key = (key,)
    for harmless in ("a", 1, None, ("a", 1), [key]):
        check_key(harmless)
    with pytest.raises(BudgetExceededError):
        check_key(key)


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"a": "b", "c": 1, "d": True, "e": ["x", "yz"], "f": []},
        {"a": None},
        {"a": {"b": "c"}},
        {"a": ["x", 1]},
        {1: "a"},
        {("x", "y"): "a"},
        {"a": 2**40, "b": -(2**70)},
        {str(number): "x" for number in range(40)},
        {"a": ["x"] * 40},
        [1, "a"],
        "text",
        7,
    ],
)
def test_the_weight_of_a_text_is_that_of_its_value(value: Any) -> None:
    nodes, chars = text_weight(value, 1000)
    exact = weigh(value, 1000)
    assert nodes == exact.nodes
    assert abs(chars - exact.chars) <= 12 * nodes  # of small numbers only the digits are not counted


def test_weighing_copies_no_text() -> None:
    text = "x" * 1_000_000
    tracemalloc.start()
    try:
        text_weight({"a": [text] * 20, text: 1}, 1000)
        weigh({"a": [text] * 20, text: [1]}, 1000)
        assert tracemalloc.get_traced_memory()[1] < len(text)
    finally:
        tracemalloc.stop()
