"""What an answer that refuses a request must look like."""

from __future__ import annotations

import json
from collections.abc import Container

CLIENT_ERRORS = range(400, 500)
ERRORS = range(400, 600)


def faults_of_refusal(
    status: int, content: bytes, statuses: Container[int] = CLIENT_ERRORS, secret: str | None = None
) -> list[str]:
    """What is wrong with an answer that should refuse; empty when nothing is.

    Args:
        statuses: those that are right.
        secret: text of the prompt, which the answer must not repeat.
    """
    if status not in statuses:
        return [f"status {status}: {content[:300]!r}"]
    found = ["the prompt is repeated"] if secret is not None and secret.encode() in content else []
    try:
        document = json.loads(content)
    except ValueError:
        return [*found, f"no JSON: {content[:300]!r}"]
    if not _is_envelope(document, status):
        found.append(f"no envelope: {content[:300]!r}")
    return found


def _is_envelope(document: object, status: int) -> bool:
    if not isinstance(document, dict) or list(document) != ["error"]:
        return False
    error = document["error"]
    if not isinstance(error, dict) or list(error) != ["message", "type", "param", "code"]:
        return False
    message, type_name, param, code = error.values()
    return (
        isinstance(message, str)
        and message != ""
        and isinstance(type_name, str)
        and type_name != ""
        and isinstance(param, str | None)
        and code == status
    )
