"""The base of every request model, and how a validation failure is told without repeating the input."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from itertools import islice
from typing import Annotated, Any, Final, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, WrapValidator

from render_core.errors import InvalidBodyError

INT64_MIN: Final = -(2**63)
INT64_MAX: Final = 2**63 - 1

_LISTED_FAILURES: Final = 8
_ENTRIES_AT_ONCE: Final = 256
_BUILDING: Final = threading.Lock()


def _validated_by_parts(value: Any, validate: Callable[[Any], Any]) -> Any:
    if not isinstance(value, dict) or len(value) <= _ENTRIES_AT_ONCE:
        return validate(value)
    entries = iter(value.items())
    result: dict[str, Any] = {}
    while part := dict(islice(entries, _ENTRIES_AT_ONCE)):
        result |= validate(part)
    return result


_Item = TypeVar("_Item")

# pydantic writes a report of every wrong entry, some 3 KB each: a body of wrong entries must not become gigabytes.
WireList = Annotated[list[_Item], Field(fail_fast=True)]
"""A list that is given up at its first wrong item."""
WireDict = Annotated[dict[str, _Item], WrapValidator(_validated_by_parts)]
"""An object that is given up soon after its first wrong value."""


class WireModel(BaseModel):
    """A request object. Unknown keys are ignored, as both peers do. Validators are built when first needed."""

    model_config = ConfigDict(extra="ignore", frozen=True, protected_namespaces=(), defer_build=True)

    @classmethod
    def parse(cls, document: Any) -> Self:
        """Validate a decoded body.

        Raises:
            InvalidBodyError: the shape is wrong; `param` is `body.` and the path of the first failure.
            RenderError: a rule that spans fields is broken.
        """
        if not isinstance(document, dict):
            raise InvalidBodyError("The request body must be a JSON object.", "body")
        if not cls.__pydantic_complete__:
            with _BUILDING:
                cls.model_rebuild()
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            raise invalid_shape(error) from None
        except RecursionError:
            raise InvalidBodyError("The request body nests arrays or objects too deeply.", "body") from None


def invalid_shape(error: ValidationError, prefix: str = "body") -> InvalidBodyError:
    """Tell a pydantic failure: count, paths and pydantic's own reasons, never the input."""
    failures = error.errors(include_input=False, include_context=False, include_url=False)
    names = _field_names()
    paths = [
        ".".join([prefix, *(str(step) for step in failure["loc"] if isinstance(step, int) or step in names)])
        for failure in failures
    ]
    lines = [
        f"{path}: {failure['msg']} ({failure['type']})"
        for path, failure in zip(paths[:_LISTED_FAILURES], failures, strict=False)
    ]
    if len(failures) > _LISTED_FAILURES:
        lines.append(f"and {len(failures) - _LISTED_FAILURES} more")
    plural = "" if len(failures) == 1 else "s"
    return InvalidBodyError(f"{len(failures)} validation error{plural}: " + "; ".join(lines), paths[0])


@cache
def _field_names() -> frozenset[str]:
    """Names that a path may show. Keys a client chose, as in chat_template_kwargs, may hold a part of a prompt."""
    pending: list[type[BaseModel]] = [BaseModel]
    names: set[str] = set()
    while pending:
        model = pending.pop()
        pending += model.__subclasses__()
        if model.__module__.startswith(__name__.rpartition(".")[0]):
            names |= {field.alias or name for name, field in model.model_fields.items()}
    return frozenset(names)
