"""Request body bytes to JSON values, as Python's json module reads them (duplicate keys: the last wins)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

import orjson

from render_core.errors import InvalidBodyError

_WORD: Final = float(1 << 63)
_LONG_LIST: Final = 64


def read_fast(text: str | bytes) -> Any:
    """Parse JSON where the fast reader gives what Python's json module would.

    Raises:
        ValueError: it does not, or the text is no JSON.
    """
    value = orjson.loads(text)
    if _holds_large_float(value):
        # An integer beyond 64 bits is read so. Templates print it, so its digits are tokens.
        raise ValueError("a number that only the exact reader keeps")
    return value


def _holds_large_float(value: Any) -> bool:
    containers = [value] if isinstance(value, dict | list) else []
    if type(value) is float and not -_WORD < value < _WORD:
        return True
    while containers:
        container = containers.pop()
        values: Iterable[Any] = container
        if type(container) is dict:
            values = container.values()
        elif len(container) > _LONG_LIST and {*map(type, container)} <= {int, str}:
            continue
        for part in values:
            kind = type(part)
            if kind is dict or kind is list:
                containers.append(part)
            elif kind is float and not -_WORD < part < _WORD:
                return True
    return False


def decode_body(body: bytes) -> Any:
    """Parse a JSON body.

    Integers of any size stay exact. NaN, Infinity, escaped lone surrogates and a byte order mark are read as Python's
    json module reads them, as the Python peer does; what they are worth is decided by the field they stand in.

    Raises:
        InvalidBodyError: the body is empty, is no JSON, is no UTF-8, or nests too deeply to be read.
    """
    if not body.strip():
        raise InvalidBodyError("The request body is empty; a JSON object is required.", "body")
    try:
        return read_fast(body)
    except ValueError:
        pass  # the exact reader below either accepts it or says where it is wrong
    try:
        return json.loads(body.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise InvalidBodyError(
            f"The request body is not valid JSON: {error.msg} at character {error.pos}.", f"body.{error.pos}"
        ) from None
    except UnicodeDecodeError as error:
        raise InvalidBodyError(
            f"The request body is not valid UTF-8 at byte {error.start}.", "body"
        ) from None
    except RecursionError:
        raise InvalidBodyError("The request body nests arrays or objects too deeply.", "body") from None
    except ValueError:  # an integer of more digits than the interpreter converts
        raise InvalidBodyError("The request body holds a number that is too long.", "body") from None
