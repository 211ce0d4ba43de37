"""continue_final_message: the last message stays open, for the model to go on writing it (spec 2.5)."""

from __future__ import annotations

from typing import Any, Final

from render_core.errors import RenderError

# transformers' own mark: a template that looks at lengths or trims blanks must see the same text.
_MARK: Final = "CONTINUE_FINAL_MESSAGE_TAG "


def mark_final_message(
    messages: list[dict[str, Any]], template_source: str
) -> tuple[list[dict[str, Any]], str]:
    """Append the mark to the last message.

    Returns:
        The messages, with a marked copy in the last place, and the text that is to be continued.

    Raises:
        RenderError: the last message has no text, or the template shows no content.
    """
    if "content" not in template_source:
        raise RenderError(
            "The chat template shows no content that could be continued.", "continue_final_message"
        )
    final = messages[-1]
    content = final["content"]
    if isinstance(content, str):
        marked: Any = content + _MARK
        text = content
    else:
        marked = list(content)
        for index in range(len(marked) - 1, -1, -1):
            if isinstance(marked[index], dict) and "text" in marked[index]:
                text = marked[index]["text"]
                marked[index] = marked[index] | {"text": text + _MARK}
                break
        else:
            raise RenderError("The final message holds no text to continue.", "continue_final_message")
    return [*messages[:-1], {**final, "content": marked}], text


def cut_at_mark(prompt: str, text: str) -> str:
    """The rendered prompt up to the mark. Blanks before it go when the template trimmed the mark's own blank.

    Raises:
        RenderError: the template changed or dropped the final message.
    """
    bare = _MARK.strip()
    position = prompt.rfind(bare)
    if position < 0 or text.strip() not in prompt:
        raise RenderError(
            "The chat template does not show the final message whole.", "continue_final_message"
        )
    kept = prompt[:position]
    return kept if prompt.startswith(_MARK, position) else kept.rstrip()
