"""A request's own constraint as a structural tag's format, to be joined with tool calls or put into a channel."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from render_core.errors import RenderError
from render_core.families.tags import (
    Format,
    completed,
    const_string,
    grammar,
    json_schema,
    one_of,
    regex,
    tag,
    triggered_tags,
)
from render_core.families.xgrammar_limits import refuses_regex, refuses_schema

# How deep objects and arrays may nest: in a schema, and in a structural tag around one (vLLM 0.33).
_SCHEMA_DEPTH: Final = 64
_TAG_DEPTH: Final = 80

_COMMENT: Final = re.compile(r"(#|//).*$")


def constraint_format(constraint: Mapping[str, Any]) -> Format | None:
    """The format of a constraint; None when it sets nothing (`json_object: false`).

    Args:
        constraint: `sampling_params.structured_outputs`.

    Raises:
        RenderError: the constraint cannot be written as a format: malformed, nested too deeply, or a Lark grammar.
    """
    if constraint["json_object"]:
        return json_schema({"type": "object"})
    if constraint["json"] is not None:
        return json_schema(_schema(constraint["json"]))
    if constraint["regex"] is not None:
        return regex(constraint["regex"])
    if constraint["choice"] is not None:
        return one_of([const_string(choice) for choice in constraint["choice"]])
    if constraint["grammar"] is not None:
        if is_lark(constraint["grammar"]):
            raise RenderError(
                "A Lark grammar cannot be joined with other output; write it as EBNF.", "structured_outputs"
            )
        return grammar(constraint["grammar"])
    if constraint["structural_tag"] is not None:
        return _tag_format(constraint["structural_tag"])
    return None


def can_join(constraint: Mapping[str, Any]) -> bool:
    """Whether the constraint may stand beside tool calls in one structural tag: xgrammar has to support it.

    vLLM asks xgrammar itself. Here the features are checked that are known to be refused; a grammar or schema that
    is broken otherwise passes. Lark grammars, which xgrammar would rewrite, are not joined.
    """
    if constraint["regex"] is not None:
        return not refuses_regex(constraint["regex"])
    if constraint["choice"] is not None:
        return bool(constraint["choice"])
    if constraint["json"] is not None:
        try:
            schema = _schema(constraint["json"])
        except RenderError:
            return False
        return not refuses_schema(schema)
    if constraint["grammar"] is not None:
        return bool(constraint["grammar"]) and not is_lark(constraint["grammar"])
    return bool(constraint["json_object"] or constraint["structural_tag"])


def compiles_in_tag(constraint: Mapping[str, Any]) -> bool:
    """Whether xgrammar compiles a structural tag around the constraint.

    It refuses fewer JSON schemas there than alone. As in `can_join`, what is broken otherwise passes.
    """
    if constraint["regex"] is not None:
        return bool(constraint["regex"]) and not refuses_regex(constraint["regex"])
    if constraint["json"] is not None:
        return _schema(constraint["json"]) is not False
    is_empty: bool = constraint["choice"] == [] or constraint["grammar"] == ""
    return not is_empty


def is_lark(text: str) -> bool:
    """Whether a grammar is in Lark's syntax: no line, comments aside, defines a rule as EBNF does."""
    return bool(text) and not any("::=" in _COMMENT.sub("", line) for line in text.split("\n"))


def _schema(value: str | dict[str, Any]) -> dict[str, Any] | bool:
    schema: Any = value
    if isinstance(value, str):
        try:
            schema = json.loads(value)
        except (ValueError, RecursionError):
            raise RenderError("structured_outputs.json is no JSON.", "structured_outputs") from None
    if not isinstance(schema, dict | bool):
        raise RenderError("structured_outputs.json must be a JSON schema.", "structured_outputs")
    _check_depth(schema, _SCHEMA_DEPTH)
    return schema


def _tag_format(text: str) -> Format:
    """The format within a client's structural tag, of the present or the older form."""
    try:
        document = json.loads(text)
        _check_depth(document, _TAG_DEPTH)
        if "structures" not in document:
            return completed(document["format"])
        tags = [
            tag(structure["begin"], json_schema(structure["schema"]), structure["end"])
            for structure in document["structures"]
        ]
        return triggered_tags("", tags) | {"triggers": document["triggers"]}
    except (ValueError, KeyError, TypeError, RecursionError):
        raise RenderError("Invalid structural_tag specification.", "structured_outputs") from None


def _check_depth(document: Any, limit: int) -> None:
    level = [document]
    for _ in range(limit + 1):
        level = [
            child
            for node in level
            if isinstance(node, dict | list)
            for child in (node.values() if isinstance(node, dict) else node)
        ]
        if not level:
            return
    if any(isinstance(node, dict | list) for node in level):
        raise RenderError(f"The JSON schema nests objects and arrays deeper than {_SCHEMA_DEPTH} levels.")
