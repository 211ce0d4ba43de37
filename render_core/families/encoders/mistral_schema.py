"""Whether a JSON schema is one by draft 7 of JSON Schema, as mistral-common asks of the parameters of a tool.

What is checked is the draft's meta-schema, with the formats that the jsonschema package checks without extras: that
patterns are regular expressions of Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

Check = Callable[[Any], bool]

_TYPE_NAMES: Final = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


def is_schema(value: Any) -> bool:
    """Whether a JSON value is a schema. Raises RecursionError when it nests too deeply."""
    if isinstance(value, bool):
        return True
    return isinstance(value, dict) and all(
        check(value[keyword]) for keyword, check in _KEYWORDS.items() if keyword in value
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and (isinstance(value, int) or value.is_integer())


def _is_positive(value: Any) -> bool:
    return _is_number(value) and not value <= 0


def _is_pattern(value: Any) -> bool:
    return isinstance(value, str) and _compiles(value)


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except (re.error, OverflowError):
        return False
    return True


def _is_schema_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(is_schema, value))


def _is_schema_or_list(value: Any) -> bool:
    return _is_schema_list(value) if isinstance(value, list) else is_schema(value)


def _is_text_set(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value)) and len(set(value)) == len(value)


def _is_schema_map(value: Any) -> bool:
    return isinstance(value, dict) and all(map(is_schema, value.values()))


def _is_pattern_map(value: Any) -> bool:
    return _is_schema_map(value) and all(map(_compiles, value))


def _is_dependency_map(value: Any) -> bool:
    return isinstance(value, dict) and all(is_schema(item) or _is_text_set(item) for item in value.values())


def _is_type(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and _is_text_set(value) and _TYPE_NAMES.issuperset(value)
    return isinstance(value, str) and value in _TYPE_NAMES


_CHECKS: Final[tuple[tuple[Check, str], ...]] = (
    (_is_text, "$id $schema $ref $comment title description format contentMediaType contentEncoding"),
    (_is_flag, "readOnly uniqueItems"),
    (_is_list, "examples enum"),
    (_is_number, "maximum exclusiveMaximum minimum exclusiveMinimum"),
    (_is_count, "maxLength minLength maxItems minItems maxProperties minProperties"),
    (_is_positive, "multipleOf"),
    (_is_pattern, "pattern"),
    (is_schema, "additionalItems contains additionalProperties propertyNames if then else not"),
    (_is_schema_list, "allOf anyOf oneOf"),
    (_is_schema_or_list, "items"),
    (_is_schema_map, "definitions properties"),
    (_is_pattern_map, "patternProperties"),
    (_is_dependency_map, "dependencies"),
    (_is_text_set, "required"),
    (_is_type, "type"),
)
_KEYWORDS: Final = {keyword: check for check, keywords in _CHECKS for keyword in keywords.split()}
