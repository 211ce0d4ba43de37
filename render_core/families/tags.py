"""The vocabulary of structural tags: formats as plain objects, every field written, in the order of xgrammar 0.2.

A format says what text an engine lets the model generate. Only building lives here; what a family's calls look
like is in the family's file.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from render_core.errors import RenderError

Format = dict[str, Any]

_CALL_LISTS: Final = frozenset({"triggered_tags", "token_triggered_tags", "tags_with_separator"})
_REQUIRED: Final = object()
# The fields of each kind of format beside `type`, with their defaults.
_FIELDS: Final[dict[str, dict[str, Any]]] = {
    "any_text": {"excludes": [], "max_tokens": None, "max_chars": None},
    "const_string": {"value": _REQUIRED},
    "json_schema": {
        "json_schema": _REQUIRED,
        "style": "json",
        "any_order": False,
        "max_whitespace_cnt": None,
        "excludes": [],
    },
    "grammar": {"grammar": _REQUIRED},
    "regex": {"pattern": _REQUIRED},
    "qwen_xml_parameter": {"json_schema": _REQUIRED},
    "or": {"elements": _REQUIRED},
    "sequence": {"elements": _REQUIRED},
    "tag": {"begin": _REQUIRED, "content": _REQUIRED, "end": _REQUIRED},
    "triggered_tags": {
        "triggers": _REQUIRED,
        "tags": _REQUIRED,
        "at_least_one": False,
        "stop_after_first": False,
        "excludes": [],
    },
    "token_triggered_tags": {
        "trigger_tokens": _REQUIRED,
        "tags": _REQUIRED,
        "exclude_tokens": [],
        "at_least_one": False,
        "stop_after_first": False,
    },
    "tags_with_separator": {
        "tags": _REQUIRED,
        "separator": _REQUIRED,
        "at_least_one": False,
        "stop_after_first": False,
    },
    "optional": {"content": _REQUIRED},
    "plus": {"content": _REQUIRED},
    "star": {"content": _REQUIRED},
    "token": {"token": _REQUIRED},
    "exclude_token": {"exclude_tokens": []},
    "any_tokens": {"exclude_tokens": [], "max_tokens": None},
    "repeat": {"min": _REQUIRED, "max": _REQUIRED, "content": _REQUIRED},
    "dispatch": {"rules": _REQUIRED, "loop": True, "excludes": []},
    "token_dispatch": {"rules": _REQUIRED, "loop": True, "exclude_tokens": []},
}


def any_text(excludes: Sequence[str] = ()) -> Format:
    """Any text that holds none of `excludes`."""
    return _format("any_text", excludes=list(excludes))


def const_string(value: str) -> Format:
    return _format("const_string", value=value)


def json_schema(schema: dict[str, Any] | bool, style: str = "json") -> Format:
    """A value under a JSON schema, written as JSON or in a family's XML style."""
    return _format("json_schema", json_schema=schema, style=style)


def grammar(ebnf: str) -> Format:
    return _format("grammar", grammar=ebnf)


def regex(pattern: str) -> Format:
    return _format("regex", pattern=pattern)


def one_of(formats: Sequence[Format]) -> Format:
    return _format("or", elements=list(formats))


def one_of_or_only(formats: Sequence[Format]) -> Format:
    """An alternative, without the frame around it when there is only one."""
    return formats[0] if len(formats) == 1 else one_of(formats)


def sequence(*formats: Format) -> Format:
    return _format("sequence", elements=list(formats))


def optional(content: Format) -> Format:
    return _format("optional", content=content)


def plus(content: Format) -> Format:
    return _format("plus", content=content)


def star(content: Format) -> Format:
    return _format("star", content=content)


def tag(begin: str, content: Format, end: str | list[str]) -> Format:
    """Content between two texts; several `end` texts are alternatives."""
    return _format("tag", begin=begin, content=content, end=end)


def triggered_tags(
    trigger: str, tags: Sequence[Format], excludes: Sequence[str] = (), *, at_least_one: bool = False
) -> Format:
    """Free text in which the trigger must begin one of the tags."""
    return _format(
        "triggered_tags",
        triggers=[trigger],
        tags=list(tags),
        at_least_one=at_least_one,
        excludes=list(excludes),
    )


def repeated_tags(tags: Sequence[Format], separator: str = "", *, only_one: bool = False) -> Format:
    """One or more of the tags, and no other text."""
    return _format(
        "tags_with_separator",
        tags=list(tags),
        separator=separator,
        at_least_one=True,
        stop_after_first=only_one,
    )


def limited_to_one_call(format_: Format) -> Format:
    """The format with every list of calls ended after its first call."""
    limited = {name: _limited(value) if name in _NESTED else value for name, value in format_.items()}
    if limited["type"] in _CALL_LISTS:
        limited["stop_after_first"] = True
    return limited


def structural_tag_text(format_: Format) -> str:
    """The structural tag as the JSON text that sampling parameters carry.

    Raises:
        RenderError: a schema nests too deeply to be written.
    """
    try:
        return json.dumps({"type": "structural_tag", "format": format_})
    except RecursionError:
        raise RenderError("A JSON schema of the request nests too deeply.", "tools") from None


def completed(document: Any) -> Format:
    """A client's own format with every default written and unknown fields dropped.

    Raises:
        RenderError: it is no format that xgrammar 0.2 knows.
    """
    fields = _FIELDS.get(document.get("type", "")) if isinstance(document, dict) else None
    if fields is None:
        raise _invalid_format()
    written: Format = {"type": document["type"]}
    for name, default in fields.items():
        value = document.get(name, default)
        if value is _REQUIRED:
            raise _invalid_format()
        written[name] = _completed_field(name, value)
    return written


_NESTED: Final = ("content", "elements", "tags")


def _format(kind: str, **values: Any) -> Format:
    return {"type": kind, **{name: values.get(name, default) for name, default in _FIELDS[kind].items()}}


def _limited(value: Any) -> Any:
    if isinstance(value, list):
        return [limited_to_one_call(item) for item in value]
    return limited_to_one_call(value)


def _completed_field(name: str, value: Any) -> Any:
    if name == "content":
        return completed(value)
    if name in ("elements", "tags"):
        if not isinstance(value, list):
            raise _invalid_format()
        return [completed({"type": "tag", **item} if name == "tags" else item) for item in value]
    if name == "rules":
        return [[pattern, completed(content)] for pattern, content in value]
    if name in ("begin", "end") and isinstance(value, dict):
        return completed({"type": "token", **value})
    return value


def _invalid_format() -> RenderError:
    return RenderError("Invalid response_format structural_tag specification.", "response_format")
