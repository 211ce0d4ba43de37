"""DeepSeek V4.1 prompts (spec 10.3): what vLLM 0.33 writes for --tokenizer-mode deepseek_v41."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from render_core.errors import RenderError
from render_core.families.encoder import Prompt, PromptEncoder
from render_core.families.encoders.deepseek_turns import (
    Block,
    BlockKind,
    Release,
    Turn,
    fill_in_the_middle,
    thinking_wanted,
    with_tools,
    write_turns,
)
from render_core.families.encoders.dsml import SYSTEM, ToolMarkup, special_token
from render_core.families.encoders.reading import (
    EncodedRequest,
    Message,
    offered_tools,
    refuse_taken_kwargs,
    wire_messages,
)
from render_core.tokenizer.tokenizer import Tokenizer

_RELEASE: Final = Release(
    markup=ToolMarkup(block=" calls", call=" invoke", parameter=" parameter"),
    system_token=SYSTEM,
    late_system_asks=True,
    bare_results_ask=False,
)
_ROLES: Final = ("system", "developer", "user", "assistant", "tool")
_TEXT_PARTS: Final = ("text", "input_text", "output_text")
# The engine expands this token to an image's patches, so no text may hold it.
_IMAGE: Final = special_token("deepseek_image")

_EFFORTS: Final[dict[Any, int]] = {"low": 50, "high": 75, "xhigh": 75, "max": 100}
_MOST_EFFORT: Final = 100
_DEFAULT_EFFORT: Final = "high"


@dataclass(frozen=True, slots=True)
class DeepseekV41Encoder:
    """Writes V4.1 turns. The flags add_generation_prompt and continue_final_message do nothing."""

    name: str = "deepseek_v41"

    def encode(self, request: EncodedRequest, kwargs: Mapping[str, Any], now: datetime.datetime) -> Prompt:
        """The prompt text of a chat; that of no messages is a prompt as well.

        Thinking is on unless `thinking` or `enable_thinking` is given and neither is true, or the effort is "none".
        `reasoning_effort` may also be a whole number from 1 to 100 among the template variables.
        `drop_thinking` false keeps the reasoning of earlier exchanges.

        Raises:
            RenderError: a message is malformed, has a role, task or content part that the release does not know,
                or holds the image token; or the effort is none of those above.
        """
        refuse_taken_kwargs(kwargs)
        turns = [_turn(message) for message in wire_messages(request)]
        effort = kwargs.get("reasoning_effort")
        text = write_turns(
            with_tools(turns, offered_tools(request, kwargs)),
            _RELEASE,
            thinking=thinking_wanted(kwargs) and effort != "none",
            drop=bool(kwargs.get("drop_thinking", True)),
            effort=_effort_text(_DEFAULT_EFFORT if effort in (None, "none") else effort),
        )
        return Prompt(text=text)

    def completion_with_suffix(self, prompt: str, suffix: str) -> str:
        """The prompt of a text completion that is to end with `suffix`."""
        return fill_in_the_middle(prompt, suffix)


def build(config: Mapping[str, Any], tokenizer: Tokenizer) -> PromptEncoder:
    """Build the encoder. It needs neither the model's configuration nor its tokenizer."""
    return DeepseekV41Encoder()


def _effort_text(effort: Any) -> str:
    budget = _EFFORTS.get(effort) if isinstance(effort, str) else effort
    if type(budget) is not int or not 1 <= budget <= _MOST_EFFORT:  # a bool is no number here
        raise RenderError(
            "reasoning_effort must be low, high, xhigh or max, or a whole number from 1 to 100 in "
            "chat_template_kwargs.",
            "reasoning_effort",
        )
    return (
        f"Reasoning Effort: {budget} (range 1-100, the higher the value, the more thorough the reasoning)\n\n"
    )


def _turn(message: Message) -> Turn:
    role = message["role"]
    if role not in _ROLES:
        raise RenderError("messages holds a role that this model does not know.", "messages")
    # only /tokenize leaves the older name in place
    reasoning = message["reasoning"] if "reasoning" in message else message.get("reasoning_content")
    if isinstance(reasoning, str):
        _refuse_image_token(reasoning)
    text = _text(message.get("content"))
    if role == "tool":
        return Turn(role, blocks=[Block(text, "result", message.get("tool_call_id"))])
    blocks = [Block(text)] if role == "user" else []
    if role != "assistant" and (given := message.get("content_blocks")) is not None:
        blocks = _given_blocks(given, shown=role == "user")
    return Turn(
        role,
        text=text,
        blocks=blocks,
        reasoning=reasoning,
        tool_calls=message.get("tool_calls") or [],
        tools=message.get("tools"),
        task=message.get("task"),
        response_format=message.get("response_format"),
        left_open=bool(message.get("wo_eos")),
    )


def _text(content: Any) -> str:
    parts = (
        [{"type": "text", "text": content or ""}] if content is None or isinstance(content, str) else content
    )
    texts = [_part_text(part) for part in parts]
    for text in texts:
        _refuse_image_token(text)
    return "\n\n".join(texts)


def _part_text(part: Any) -> str:
    text = part.get("text", "") if isinstance(part, dict) and part.get("type") in _TEXT_PARTS else None
    if not isinstance(text, str):
        raise RenderError("messages holds a content part that is no text.", "messages")
    return text


def _refuse_image_token(text: str) -> None:
    if _IMAGE in text:
        raise RenderError(f"messages must not hold the token {_IMAGE}.", "messages")


def _given_blocks(given: Any, *, shown: bool) -> list[Block]:
    """A user's turn in the release's own form, which clients may send in place of `content`.

    Of a system or developer message these blocks are not shown, but they decide whether it asks anything.
    """
    if not isinstance(given, list) or not all(isinstance(block, dict) for block in given):
        raise RenderError("content_blocks must be a list of objects.", "messages")
    return [
        Block(_block_text(block) if shown else "", _kind(block), block.get("tool_use_id")) for block in given
    ]


def _kind(block: dict[str, Any]) -> BlockKind:
    kind = block.get("type")
    if kind == "tool_result":
        return "result"
    return (
        "said" if kind in ("text", "image", "image_url") else "other"
    )  # an image is not shown, but was said


def _block_text(block: dict[str, Any]) -> str:
    if block.get("type") != "tool_result":
        return _shown(block)
    content = block.get("content", "")
    if not isinstance(content, list):
        return f"{content}"
    if not all(isinstance(part, dict) for part in content):
        raise RenderError("A tool_result in content_blocks must hold objects.", "messages")
    return "\n\n".join(map(_shown, content))


def _shown(part: dict[str, Any]) -> str:
    if part.get("type") != "text":
        return f"[Unsupported {part.get('type')}]"
    text = part.get("text", "")
    if not isinstance(text, str):
        raise RenderError("A text in content_blocks must be a string.", "messages")
    return text
