"""How large a value is when all of it is visited: as printing, dumping, comparing or hashing it would."""

from __future__ import annotations

from collections.abc import Mapping, Set
from types import MethodType
from typing import Any, Final, NamedTuple

from jinja2.utils import Namespace

from render_core.template.budget import BudgetExceededError

_LEAF_CHARS: Final = 128
_MAX_KEY_NODES: Final = 1000
_FEW: Final = 32
_SMALL: Final = 1 << 31
_SMALL_CHARS: Final = 12
_ONLY_TEXT: Final = frozenset({str})
_ITERABLES: Final = frozenset(
    {list, tuple, set, frozenset, type({}.keys()), type({}.values()), type({}.items())}
)


class Weight(NamedTuple):
    """Attributes:
    nodes: values in it, itself included; a part that is shared counts as often as it is reached.
    chars: about how much text they hold.
    depth: how deep they are nested; 1 for a value without parts.
    """

    nodes: int
    chars: int
    depth: int

    @property
    def printed(self) -> int:
        """About the length of its text, as repr or JSON."""
        return printed_size(self.nodes, self.chars)


def printed_size(nodes: int, chars: int) -> int:
    """About the length of a value's text, as repr or JSON."""
    return chars + 4 * nodes


def weigh(value: Any, max_nodes: int) -> Weight:
    """Weigh a value without recursion, in time proportional to its nodes.

    Raises:
        BudgetExceededError: it has more than `max_nodes` nodes; so a value that contains itself always fails.
    """
    return Weight(*_weighed(value, max_nodes))


def text_weight(value: Any, max_nodes: int) -> tuple[int, int]:
    """The nodes and chars of `weigh`, for who needs no more. Raises as it does."""
    quick = _flat_weight(value) if type(value) is dict and len(value) < _FEW else None
    return quick or _weighed(value, max_nodes)[:2]


def _flat_weight(value: dict[Any, Any]) -> tuple[int, int] | None:
    """Nodes and chars of what arguments of tool calls most often are; None for anything deeper."""
    nodes, chars = 1 + 2 * len(value), 0
    for key, item in value.items():
        if type(key) is not str:
            return None
        chars += len(key)
        kind = type(item)
        if kind is str:
            chars += len(item)
        elif kind is int and -_SMALL < item < _SMALL:
            chars += _SMALL_CHARS
        elif kind is list and len(item) < _FEW and {*map(type, item)} <= _ONLY_TEXT:
            chars += sum(map(len, item))
            nodes += len(item)
        elif kind is not bool:
            return None
    return nodes, chars


def _weighed(value: Any, max_nodes: int) -> tuple[int, int, int]:
    nodes = chars = depth = 0
    level = [value]
    while level:
        depth += 1
        nodes += len(level)
        parts: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is str:
                chars += len(item)
            elif kind is int:
                chars += item.bit_length() // 3 + 2
            elif kind is dict:
                if {*map(type, item)} == _ONLY_TEXT:
                    chars += sum(map(len, item))
                    nodes += len(item)
                else:
                    parts.extend(item)
                parts.extend(item.values())
            elif kind in _ITERABLES:
                parts.extend(item)
            else:
                chars += _other(item, parts)
            if nodes + len(parts) > max_nodes:
                raise BudgetExceededError(
                    f"The chat template uses a value of more than {max_nodes} elements."
                )
        level = parts
    return Weight(nodes, chars, depth)


def check_key(key: Any) -> None:
    """Refuse a dict key that would be long to hash; CPython hashes nested tuples by unchecked recursion in C.

    Raises:
        BudgetExceededError
    """
    if isinstance(key, tuple):
        weigh(key, _MAX_KEY_NODES)


def _other(item: Any, parts: list[Any]) -> int:
    if isinstance(item, str):
        return len(item)
    if isinstance(item, bytes):
        return 4 * len(item)
    if isinstance(item, Namespace):
        parts.append(object.__getattribute__(item, "_Namespace__attrs"))
    elif isinstance(item, MethodType):
        parts.append(item.__self__)
    elif isinstance(item, Mapping):
        parts.extend(item)
        parts.extend(item.values())
    elif isinstance(item, list | tuple | Set):
        parts.extend(item)
    return _LEAF_CHARS
