"""Content parts of a message to what the template gets: one string, or a list of text parts (spec 2.3, 2.4)."""

from __future__ import annotations

from typing import Any, Final

from render_core.conversation.wire_form import Form, is_prompt_cache_breakpoint
from render_core.errors import InvalidBodyError, RenderError
from render_core.template.content_format import ContentFormat

Content = str | list[Any]

BILLING_HEADER: Final = "x-anthropic-billing-header"

_TEXT_FIELD: Final = {
    "text": "text",
    "input_text": "text",
    "output_text": "text",
    "refusal": "refusal",
    "thinking": "thinking",
}
_ROLE_PART_TYPES: Final = {"assistant": ("text", "refusal")}
_SKIPPED_WHEN_NULL: Final = ("text", "refusal")
_MEDIA_TYPES: Final = frozenset(
    {
        "image_url",
        "input_image",
        "image_embeds",
        "image_pil",
        "audio_url",
        "audio_embeds",
        "input_audio",
        "video_url",
        "video_embeds",
        "prompt_embeds",
    }
)
# Fields of a part that belong to some part type of the API; others travel on to the template.
_KNOWN_FIELDS: Final = _MEDIA_TYPES - {"input_image", "prompt_embeds"} | frozenset(
    {
        "type",
        "text",
        "refusal",
        "thinking",
        "closed",
        "name",
        "data",
        "uuid",
        "file",
        "prompt_cache_breakpoint",
    }
)


def has_media(messages: list[Any]) -> bool:
    """Whether any message holds more than text; ids that a client reuses cannot stand for such a prompt."""
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        for part in content if isinstance(content, list) else ():
            if isinstance(part, dict) and (
                not _MEDIA_TYPES.isdisjoint(part)
                or part.get("type", "text") not in (*_TEXT_FIELD, "tool_reference")
            ):
                return True
    return False


def template_content(
    role: str, content: Any, form: Form, content_format: ContentFormat, path: str, model_name: str
) -> Content:
    """Read the content of a message.

    A string counts as one text part; absent and null content as no part. Text parts are joined with a newline for
    templates that print content, and stay `{"type": "text", "text": ...}` for templates that loop over it. What a
    tool returned is always one string, unless it holds tool references.

    Raises:
        InvalidBodyError: a part does not have the shape its message's form demands.
        RenderError: a part holds an image, audio or video, or is of a type nobody knows.
    """
    if isinstance(content, str):
        if role != "system" or not content.startswith(BILLING_HEADER):
            return (
                content
                if content_format == "string" or role == "tool"
                else [{"type": "text", "text": content}]
            )
        parts: list[Any] = [content]
    else:
        parts = [] if content is None else content
        if form == "role":
            _check_role_parts(role, parts, path)
    if role == "system":
        parts = _without_billing_header(parts)
    read = [_read_part(part, path, model_name) for part in parts]
    kept = [part for part in read if part is not None]
    if content_format == "openai":
        if role != "tool" or any(part["type"] != "text" for part in kept):
            return kept
        return _joined([part["text"] for part in kept], path)
    texts = [part["text"] if part["type"] == "text" else part["name"] for part in kept]
    return _joined([text for text in texts if text], path)  # an empty part leaves no newline behind


def _joined(texts: list[Any], path: str) -> str:
    if not all(isinstance(text, str) for text in texts):
        raise InvalidBodyError(f"{path}.content holds a part whose text is no string.", f"{path}.content")
    return "\n".join(texts)


def _check_role_parts(role: str, parts: Any, path: str) -> None:
    allowed = _ROLE_PART_TYPES.get(role, ("text",))
    for index, part in enumerate(parts):
        where = f"{path}.content.{index}"
        if not isinstance(part, dict):
            raise InvalidBodyError(f"{where} must be an object.", where)
        kind: Any = part.get("type")
        if kind in allowed:
            field = _TEXT_FIELD[kind]
            mark_ok = "prompt_cache_breakpoint" not in part or is_prompt_cache_breakpoint(
                part["prompt_cache_breakpoint"]
            )
            if not isinstance(part.get(field), str) or not mark_ok:
                raise InvalidBodyError(f"{where}.{field} must be a string.", f"{where}.{field}")
        elif role != "user" or kind not in ("image_url", "input_audio", "file"):
            raise InvalidBodyError(f"{where}.type is not accepted for this role.", f"{where}.type")


def _read_part(part: Any, path: str, model_name: str) -> dict[str, Any] | None:
    """One part as a template part, or None where a null text is to be skipped."""
    if isinstance(part, str):
        return {"type": "text", "text": part}
    kind: Any = part.get("type")
    if kind is None or (part.get("uuid") is not None and isinstance(kind, str)):
        if not _MEDIA_TYPES.isdisjoint(part):
            raise _text_only(model_name)
        if "tool_reference" not in part:
            raise RenderError(f"{path}.content holds a part without a type.", "type")
        kind = "tool_reference"
    if not isinstance(kind, str):
        raise RenderError(f"{path}.content holds a part whose type is no string.", "type")
    if kind in _MEDIA_TYPES:
        raise _text_only(model_name)
    if kind == "tool_reference":
        return {"type": "tool_reference", "name": part.get("name")}
    if kind not in _TEXT_FIELD:
        raise RenderError(f"{path}.content holds a part of an unsupported type.", "type")
    text = part.get(_TEXT_FIELD[kind])
    if text is None and kind in _SKIPPED_WHEN_NULL:
        return None
    extra = {name: value for name, value in part.items() if name not in _KNOWN_FIELDS}
    return {"type": "text", "text": text, **extra}


def _text_only(model_name: str) -> RenderError:
    return RenderError(f"{model_name} is not a multimodal model: content must be text.", None)


def _without_billing_header(parts: list[Any]) -> list[Any]:
    """System parts without the per-request attribution line that a coding agent puts first (spec 11, row 19)."""
    kept: list[Any] = []
    for part in parts:
        text = part.get("text") if isinstance(part, dict) and part.get("type") == "text" else part
        if not isinstance(text, str) or not text.startswith(BILLING_HEADER):
            kept.append(part)
        elif rest := text.partition("\n")[2]:
            kept.append(rest if isinstance(part, str) else part | {"text": rest})
    return kept
