"""Tools as TypeScript in Harmony prompts: numbers, comments and what cannot be shown."""

from __future__ import annotations

import math
from typing import Any

import pytest

from render_core.errors import RenderError
from render_core.families.encoders.harmony_tools import tools_section
from render_core.protocol.tools import Tool


def shown(parameters: dict[str, Any] | None, description: str | None = None) -> str:
    """What stands between the namespace's braces."""
    tool = Tool.model_validate(
        {"function": {"name": "f", "description": description, "parameters": parameters}}
    )
    text = tools_section([tool])
    return text.removeprefix("# Tools\n\n## functions\n\nnamespace functions {\n\n").removesuffix(
        "\n\n} // namespace functions"
    )


def property_line(schema: Any) -> str:
    text = shown({"type": "object", "properties": {"p": schema}})
    return text.removeprefix("type f = (_: {\n").removesuffix("\n}) => any;")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (0.0001, "0.0001"),
        (1e-5, "0.00001"),
        (-1.25e-5, "-0.0000125"),
        (1e-6, "1e-6"),
        (1.5e-7, "1.5e-7"),
        (1e15, "1000000000000000.0"),
        (1e16, "1e+16"),
        (5e-324, "5e-324"),
        (2**64 - 1, "18446744073709551615"),
        (2**64, "1.8446744073709552e+19"),
        (-(2**63) - 1, "-9.223372036854776e+18"),
        (8.474337369372327e-237, "8.474337369372326e-237"),
        (True, "true"),
        (None, "null"),
        ('é"\n', '"é"\n"'),
        ([1, "a\x01"], '[1,"a\\u0001"]'),
        ({"b": {}, "a": [None]}, '{"b":{},"a":[null]}'),
    ],
)
def test_default_is_shown_as_rust_writes_it(value: Any, text: str) -> None:
    assert property_line({"type": "x", "default": value}) == f"p?: any, // default: {text}"


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (True, "any"),
        ([{"title": "x"}], "any"),
        ({"type": ["integer", "null", 5]}, "number | null"),
        ({"type": [5]}, "any"),
        ({"type": [""]}, ""),
        ({"type": "string", "enum": [1]}, "string"),
        ({"type": "string", "enum": ["a", 1, 'b"']}, '"a" | "b""'),
        ({"type": "array", "items": {"type": "integer"}}, "number[]"),
        ({"type": "array"}, "Array<any>"),
        ({"type": "null"}, "any"),
        ({"type": "string", "nullable": True}, "string | null"),
        ({"type": "string", "nullable": 1}, "string"),
        ({"type": ["null"], "nullable": True}, "null"),
        ({"anyOf": [{"type": "string"}]}, "any"),
    ],
    ids=str,
)
def test_type_of_a_property(schema: Any, text: str) -> None:
    assert property_line(schema) == f"p?: {text},"


def test_comments_of_a_property_stand_above_it() -> None:
    schema = {"type": "string", "title": "T", "description": "D", "examples": ["a", 1]}
    assert property_line(schema) == '// T\n//\n// D\n// Examples:\n// - "a"\np?: string,'


def test_description_of_a_tool_is_split_at_line_feeds() -> None:
    assert shown(None, "a\r\nb\n\nc\rd\n") == "// a\n// b\n// \n// c\rd\ntype f = () => any;"


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels - 1):
        schema = {"type": "array", "items": schema}
    return schema


def test_schema_as_deep_as_the_library_reads_is_shown() -> None:
    assert shown(nested(118)) == f"type f = (_: string{'[]' * 117}) => any;"


@pytest.mark.parametrize(
    "parameters",
    [
        nested(119),
        {"type": "object", "properties": {"a": {"default": math.nan}}},
        {"type": "object", "properties": {"a": {"default": 10**400}}},
        {"type": "object", "unused": "\ud83d"},
        {"type": "object", "unused": math.inf},
    ],
    ids=["deep", "not a number", "large number", "surrogate", "infinity"],
)
def test_parameters_that_json_cannot_say_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(RenderError) as caught:
        shown(parameters)
    assert caught.value.param == "tools"
