"""Which attributes a template may read: the rules of Jinja's immutable sandbox, decided once per type and name."""

from __future__ import annotations

from types import FunctionType, GeneratorType
from typing import Any, Final

from jinja2.sandbox import is_internal_attribute, modifies_known_mutable

_MAX_DECISIONS: Final = 10_000
_VIEWS: Final[tuple[type, ...]] = (type({}.keys()), type({}.values()), type({}.items()))

_decisions: dict[tuple[type, str], bool] = {}


def is_readable(obj: Any, name: str) -> bool:
    """Whether a template may read the attribute.

    Stricter than Jinja on what no chat template needs: nothing of functions and generators, only `fromkeys` of
    classes (`dict.update(message, ...)` would change the caller's data), and not what stands behind a dict view.
    """
    decision = _decisions.get((type(obj), name))
    if decision is None:
        decision = _decide(obj, name)
        if len(_decisions) >= _MAX_DECISIONS:
            _decisions.clear()
        _decisions[type(obj), name] = decision
    return decision


def _decide(obj: Any, name: str) -> bool:
    if name.startswith("_") or is_internal_attribute(obj, name) or modifies_known_mutable(obj, name):
        return False
    if isinstance(obj, type):
        return name == "fromkeys"
    if isinstance(obj, FunctionType | GeneratorType):
        return False
    return not (isinstance(obj, _VIEWS) and name == "mapping")
