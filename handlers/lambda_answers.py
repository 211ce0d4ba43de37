"""The answers of the function as AWS wants them, and how large one may be."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from handlers.envelope import error_response

MAX_ANSWER_BYTES = 6_291_556
"""What Lambda takes of an answer, escaped body and headers included (lambda.md, 2).

The runtime client does not survive an answer above it: the caller gets a 502, and the next request a cold start.
"""

_WORST_GROWTH = 12
"""Bytes that one character takes at most: two `\\uXXXX`."""

_ROOM_FOR_HEADERS = 64 * 1024


def answer_of(response: Response, request_id: str | None = None) -> dict[str, Any]:
    """A response as a dictionary that every front understands."""
    headers = {name.decode(): value.decode() for name, value in response.raw_headers}
    if request_id is not None:
        headers["x-request-id"] = request_id
    return {
        "statusCode": response.status_code,
        "headers": headers,
        "body": bytes(response.body).decode(),
        "isBase64Encoded": False,
    }


def refusal_if_too_large(answer: Mapping[str, Any]) -> dict[str, Any] | None:
    """A 413 in place of an answer that Lambda would not take; None for one that it takes."""
    if len(answer["body"]) * _WORST_GROWTH + _ROOM_FOR_HEADERS <= MAX_ANSWER_BYTES:
        return None
    size = serialised_size(answer)
    if size <= MAX_ANSWER_BYTES:
        return None
    message = (
        f"The answer takes {size} bytes, {size - MAX_ANSWER_BYTES} more than the {MAX_ANSWER_BYTES} that AWS Lambda "
        "returns. Send fewer prompts or a shorter one, or ask for less beside the token ids."
    )
    response = error_response(413, "ResponseTooLargeError", message)
    return answer_of(response, answer["headers"].get("x-request-id"))


def serialised_size(answer: Mapping[str, Any]) -> int:
    """Bytes of an answer with a JSON body once the runtime client has made JSON of it.

    Counts instead of serialising: the body is JSON itself, so it holds no control characters. Where
    `handlers.lambda_marshaller` writes the answer instead, it is some spaces shorter.
    """
    body: str = answer["body"]
    to_ascii = _escapes_non_ascii(os.environ.get("AWS_EXECUTION_ENV", ""))
    frame = json.dumps({**answer, "body": ""}, ensure_ascii=to_ascii)
    size = len(frame.encode()) + body.count('"') + body.count("\\")
    if body.isascii():
        size += len(body)
    elif to_ascii:
        ascii_length = len(body.encode("ascii", "ignore"))
        size += ascii_length + 6 * (len(body.encode("utf-16-le")) // 2 - ascii_length)
    else:
        size += len(body.encode())
    return size + (5 * body.count("\x7f") if to_ascii else 0)


def _escapes_non_ascii(execution_environment: str) -> bool:
    """Whether the runtime client writes `\\u00e9` for `é`: it does outside the runtimes from Python 3.12 on."""
    known = re.fullmatch(r"AWS_Lambda_python3\.(\d+)", execution_environment)
    return known is None or int(known[1]) < 12
