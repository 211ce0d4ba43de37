"""The developer role for templates that do not know it (spec 2.3, spec 11 row 8)."""

from __future__ import annotations

from typing import Any

Message = dict[str, Any]


def developer_as_system(messages: list[Message]) -> list[Message]:
    """Rename developer messages to system, then merge all system messages into one at the front.

    The merge happens only when there is something to merge: more than one system message, or one that is not
    first. Texts are joined by an empty line, parts within one message by a newline; empty ones are left out.
    """
    renamed = [_renamed(message) if message["role"] == "developer" else message for message in messages]
    positions = [index for index, message in enumerate(renamed) if message["role"] == "system"]
    if positions in ([], [0]):
        return renamed
    texts = [_text_of(renamed[index]["content"]) for index in positions]
    merged: Message = {"role": "system", "content": "\n\n".join(text for text in texts if text)}
    return [merged, *(message for message in renamed if message["role"] != "system")]


def _renamed(message: Message) -> Message:
    return {name: "system" if name == "role" else value for name, value in message.items() if name != "tools"}


def _text_of(content: str | list[Any]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if "text" in part)
