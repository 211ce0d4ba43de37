"""Which values are JSON schemas by draft 7, as the jsonschema package says."""

from __future__ import annotations

from typing import Any

import pytest

from render_core.families.encoders.mistral_schema import is_schema


@pytest.mark.parametrize(
    "schema",
    [
        {},
        True,
        {"type": "object", "properties": {"a": {"type": ["string", "null"]}, "b": False}, "required": ["a"]},
        {"minLength": 1.0, "multipleOf": 0.5, "maximum": -1, "uniqueItems": True},
        {"items": [{"type": "string"}], "additionalItems": False, "contains": {}},
        {"dependencies": {"a": ["b"], "c": {"not": {}}}, "patternProperties": {"^a": {}}},
        {"enum": [], "const": None, "default": None, "examples": []},
        {"$ref": "http://[::1", "$defs": {"a": 3}, "writeOnly": 1, "x": 1},
        {"if": True, "then": {}, "else": {}, "allOf": [{}]},
    ],
    ids=str,
)
def test_schema(schema: Any) -> None:
    assert is_schema(schema)


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        5,
        {"type": "int"},
        {"type": []},
        {"type": ["string", "string"]},
        {"type": None},
        {"title": None},
        {"required": True},
        {"required": ["a", "a"]},
        {"required": [1]},
        {"minLength": -1},
        {"minLength": 1.5},
        {"minLength": True},
        {"multipleOf": 0},
        {"maximum": "1"},
        {"readOnly": 1},
        {"pattern": "("},
        {"pattern": r"\p{L}"},
        {"patternProperties": {"(": {}}},
        {"properties": {"a": 5}},
        {"properties": []},
        {"definitions": {"a": 3}},
        {"items": []},
        {"allOf": []},
        {"anyOf": [5]},
        {"dependencies": {"a": ["b", "b"]}},
        {"enum": 5},
        {"examples": 5},
        {"not": 5},
    ],
    ids=str,
)
def test_no_schema(value: Any) -> None:
    assert not is_schema(value)
