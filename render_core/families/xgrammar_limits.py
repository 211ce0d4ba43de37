"""What xgrammar 0.2 refuses in JSON schemas and regular expressions, as vLLM 0.33 asks before it joins constraints."""

from __future__ import annotations

import re
from typing import Any, Final

_STRING_FORMATS: Final = tuple(
    "email date time date-time duration ipv4 ipv6 hostname uuid uri uri-reference uri-template json-pointer "
    "relative-json-pointer".split()
)
_ARRAY_KEYWORDS: Final = ("uniqueItems", "contains", "minContains", "maxContains")

# Lookaround and group flags (a named group `(?<name>` is fine), back references, property classes, word boundaries.
_REFUSED_REGEX: Final = re.compile(r"\(\?(?!:|<[^=!])|\\[1-9kpPbB]|\x00")


def refuses_regex(pattern: str) -> bool:
    """Whether a regular expression uses what xgrammar cannot convert."""
    return _REFUSED_REGEX.search(pattern.replace("\\\\", "")) is not None


def refuses_schema(schema: Any) -> bool:
    """Whether a JSON schema, anywhere within it, uses a keyword that xgrammar ignores or mixes up."""
    if schema is False:
        return True
    pending = [schema]
    while pending:
        node = pending.pop()
        if not isinstance(node, dict):
            continue
        if _refuses_node(node):
            return True
        for value in node.values():
            pending.extend(value if isinstance(value, list) else [value])
    return False


def _refuses_node(node: dict[str, Any]) -> bool:
    types = _types(node)
    return bool(
        ("multipleOf" in node and types & {"integer", "number"})
        or ("array" in types and any(keyword in node for keyword in _ARRAY_KEYWORDS))
        or ("string" in types and _refuses_string(node))
        or ("object" in types and _refuses_object(node))
        or (isinstance(node.get("allOf"), list) and len(node["allOf"]) > 1)
    )


def _refuses_string(node: dict[str, Any]) -> bool:
    return ("format" in node and node["format"] not in _STRING_FORMATS) or _is_bounded_pattern(node)


def _refuses_object(node: dict[str, Any]) -> bool:
    names, patterns = node.get("propertyNames"), node.get("patternProperties")
    if "propertyNames" in node and (
        (isinstance(names, dict) and _is_bounded_pattern(names))
        or "patternProperties" in node
        or "properties" in node
        or node.get("unevaluatedProperties", True) is not True
    ):
        return True
    return isinstance(patterns, dict) and ("properties" in node or len(patterns) > 1)


def _is_bounded_pattern(node: dict[str, Any]) -> bool:
    return ("pattern" in node or "format" in node) and ("minLength" in node or "maxLength" in node)


def _types(node: dict[str, Any]) -> set[str]:
    declared = node.get("type")
    if isinstance(declared, str):
        return {declared}
    return {entry for entry in declared if isinstance(entry, str)} if isinstance(declared, list) else set()
