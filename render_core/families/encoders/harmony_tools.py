"""The tools section of a Harmony prompt: JSON schemas as TypeScript types, as the harmony library writes them.

The library reads a schema as JSON in Rust: what a schema holds, how numbers print and how deep it may nest follow
from that, and a keyword of the wrong type counts as absent.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from render_core.errors import RenderError
from render_core.protocol.tools import Tool

# How deep the parameters of a tool may nest, within the 128 levels that the library's JSON reader allows.
_MAX_DEPTH: Final = 118
_INT64_MIN: Final = -(2**63)
_UINT64_MAX: Final = 2**64 - 1
_LARGEST_POWER: Final = 308  # of ten, as a 64-bit float
_LINE_END: Final = re.compile(r"\r?\n")
# The type names that TypeScript knows differently; a name that is neither here nor handled apart is "any".
_SIMPLE_TYPES: Final = {"number": "number", "integer": "number", "boolean": "boolean"}


def tools_section(tools: Iterable[Tool]) -> str:
    """The text `# Tools` and the namespace `functions` with one type a tool.

    Raises:
        RenderError: the parameters of a tool nest too deeply or hold what JSON cannot say.
    """
    lines = ["# Tools", "", "## functions", "", "namespace functions {", ""]
    for tool in tools:
        function = tool.function
        if function.description:
            lines += [f"// {line}" for line in _lines(function.description)]
        if function.parameters is None:
            signature = "()"
        else:
            _check_json(function.parameters)
            signature = f"(_: {_type(function.parameters, '')})"
        lines += [f"type {function.name} = {signature} => any;", ""]
    return "\n".join([*lines, "} // namespace functions"])


def _lines(text: str) -> list[str]:
    lines = _LINE_END.split(text)
    return lines if lines[-1] else lines[:-1]


def _check_json(parameters: Any) -> None:
    try:
        if _depth(parameters) > _MAX_DEPTH:
            raise RecursionError
        json.dumps(parameters, ensure_ascii=False, allow_nan=False).encode()
    except RecursionError:
        raise RenderError("The parameters of a tool nest too deeply.", "tools") from None
    except ValueError:  # a lone surrogate, NaN or Infinity
        raise RenderError("The parameters of a tool hold a value that JSON cannot say.", "tools") from None


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level := [item for item in level if isinstance(item, dict | list)]:
        depth += 1
        if depth > _MAX_DEPTH:
            break
        level = [inner for item in level for inner in (item.values() if isinstance(item, dict) else item)]
    return depth


def _type(schema: Any, indent: str) -> str:
    """The type of a schema. Its first line is not indented; the others are, by `indent`."""
    if not isinstance(schema, dict):
        return "any"
    variants = schema.get("oneOf")
    if isinstance(variants, list):
        return "".join(f"\n{indent} | {_variant(variant, indent)}" for variant in variants)
    kind = schema.get("type")
    if isinstance(kind, list):
        names = ["number" if name == "integer" else name for name in _strings(kind)]
        return " | ".join(names) if names else "any"
    if kind == "object":
        return _object_type(schema, indent)
    if kind == "string":
        return " | ".join(f'"{value}"' for value in _strings(schema.get("enum"))) or "string"
    if kind == "array":
        return f"{_type(schema['items'], indent)}[]" if "items" in schema else "Array<any>"
    return _SIMPLE_TYPES.get(kind, "any") if isinstance(kind, str) else "any"


def _variant(variant: Any, indent: str) -> str:
    """One alternative of a type that is no property's own: its default is JSON even when it is one of an enum."""
    description = _text(variant, "description")
    comments = [] if description is None else [description]
    if isinstance(variant, dict) and "default" in variant:
        default = variant["default"]
        plain = isinstance(default, str) and not _has_enum(variant)
        comments.append(f'default: "{default}"' if plain else f"default: {_json_text(default)}")
    return _nullable_type(variant, f"{indent}   ") + _trailing(comments)


def _object_type(schema: Mapping[str, Any], indent: str) -> str:
    required = frozenset(_strings(schema.get("required")))
    properties = schema.get("properties")
    members = properties.items() if isinstance(properties, dict) else ()
    description = _text(schema, "description")
    above = "" if description is None else f"{indent}// {description}\n"
    lines = [_property(name if name in required else f"{name}?", member, indent) for name, member in members]
    return f"{above}{{\n{''.join(lines)}{indent}}}"


def _property(name: str, schema: Any, indent: str) -> str:
    """The lines of one property. `name` has its question mark when the property is optional."""
    has_variants = isinstance(schema, dict) and "oneOf" in schema
    title, description = _text(schema, "title"), _text(schema, "description")
    comments = [] if title is None else [f" {title}", ""]
    if description is not None and not has_variants:
        comments.append(f" {description}")
    examples = schema.get("examples") if isinstance(schema, dict) else None
    if isinstance(examples, list) and examples:
        comments += [" Examples:", *(f' - "{example}"' for example in _strings(examples))]
    above = "".join(f"{indent}//{comment}\n" for comment in comments)
    if has_variants and isinstance(schema["oneOf"], list):
        return above + _property_of_variants(name, schema, indent)
    defaults = [] if has_variants else [*_defaults(schema)]
    return f"{above}{indent}{name}: {_nullable_type(schema, f'{indent}    ')},{_trailing(defaults)}\n"


def _property_of_variants(name: str, schema: Mapping[str, Any], indent: str) -> str:
    """A property that is one of several types. A description that it shares with its first type is told once."""
    variants = schema["oneOf"]
    description = _text(schema, "description")
    first = _text(variants[0], "description") if variants else None
    told_above = description is not None and description != first
    lines = [f"// {description}"] if told_above else []
    lines += [f"// {default}" for default in _defaults(schema)]
    lines.append(f"{name}:")
    for index, variant in enumerate(variants):
        own = None if told_above and index == 0 else _text(variant, "description")
        comments = [*_defaults(variant)] if own in (None, description) else [own, *_defaults(variant)]
        lines.append(f" | {_nullable_type(variant, f'{indent}   ')}{_trailing(comments)}")
    lines.append(",")
    return "".join(f"{indent}{line}\n" for line in lines)


def _nullable_type(schema: Any, indent: str) -> str:
    text = _type(schema, indent)
    nullable = isinstance(schema, dict) and schema.get("nullable") is True
    return f"{text} | null" if nullable and "null" not in text else text


def _defaults(schema: Any) -> Iterator[str]:
    """The default of a property or of one of its variants; a string stands bare when the schema has an enum."""
    if isinstance(schema, dict) and "default" in schema:
        default = schema["default"]
        if not isinstance(default, str):
            yield f"default: {_json_text(default)}"
        else:
            yield f"default: {default}" if _has_enum(schema) else f'default: "{default}"'


def _has_enum(schema: Mapping[str, Any]) -> bool:
    values = schema.get("enum")
    return isinstance(values, list) and bool(values)


def _text(schema: Any, name: str) -> str | None:
    """The value of a keyword when it is a string."""
    value = schema.get(name) if isinstance(schema, dict) else None
    return value if isinstance(value, str) else None


def _strings(values: Any) -> Iterator[str]:
    return (value for value in values if isinstance(value, str)) if isinstance(values, list) else iter(())


def _trailing(comments: list[str]) -> str:
    return f" // {' '.join(comments)}" if comments else ""


def _json_text(value: Any) -> str:
    """JSON as the library prints it: no blanks, and numbers as Rust writes them."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int) and _INT64_MIN <= value <= _UINT64_MAX:
        return str(value)
    if isinstance(value, int | float):
        return _float_text(_as_rust_reads(repr(value)))
    if isinstance(value, dict):
        return "{" + ",".join(f"{_json_text(name)}:{_json_text(item)}" for name, item in value.items()) + "}"
    return "[" + ",".join(map(_json_text, value)) + "]"


def _as_rust_reads(text: str) -> float:
    """The number that the library's JSON reader makes of a decimal text.

    It scales 64 bits of leading digits by one power of ten, so that the last digit of a very small or very large
    number can be another one than in the request.
    """
    mantissa, _, exponent_text = text.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits, exponent = whole + fraction, int(exponent_text or 0) - len(fraction)
    significand = 0
    for position, digit in enumerate(digits):
        longer = significand * 10 + int(digit)
        if longer > _UINT64_MAX:
            exponent += len(digits) - position
            break
        significand = longer
    number = float(significand)
    if exponent < -_LARGEST_POWER:
        number /= 10.0**_LARGEST_POWER
        exponent += _LARGEST_POWER
    if exponent > _LARGEST_POWER or math.isinf(scaled := _scaled(number, exponent)):
        raise RenderError("The parameters of a tool hold a number that is too large.", "tools")
    return -scaled if text.startswith("-") else scaled


def _scaled(number: float, exponent: int) -> float:
    power = float(f"1e{abs(exponent)}")
    return number * power if exponent >= 0 else number / power


def _float_text(number: float) -> str:
    """The shortest digits that give the number back. Rust turns to an exponent one digit later than Python."""
    mantissa, mark, exponent_text = repr(number).partition("e")
    if not mark:
        return mantissa
    exponent = int(exponent_text)
    if exponent == -5:
        sign = "-" if number < 0 else ""
        return f"{sign}0.0000{mantissa.lstrip('-').replace('.', '')}"
    return f"{mantissa}e{exponent:+d}"
