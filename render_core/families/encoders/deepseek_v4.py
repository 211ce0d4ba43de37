"""DeepSeek V4 prompts (spec 10.3): what vLLM 0.33 writes for --tokenizer-mode deepseek_v4."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from render_core.errors import RenderError
from render_core.families.encoder import Prompt, PromptEncoder
from render_core.families.encoders.deepseek_turns import (
    Block,
    Release,
    Turn,
    fill_in_the_middle,
    thinking_wanted,
    with_tools,
    write_turns,
)
from render_core.families.encoders.dsml import ToolMarkup
from render_core.families.encoders.reading import (
    EncodedRequest,
    Message,
    normalised_messages,
    offered_tools,
    refuse_taken_kwargs,
)
from render_core.tokenizer.tokenizer import Tokenizer

_RELEASE: Final = Release(
    markup=ToolMarkup(block="tool_calls", call="invoke", parameter="parameter"),
    system_token="",
    late_system_asks=False,
    bare_results_ask=True,
)

_HIGH_EFFORT: Final = """\
Reasoning Effort: Absolute maximum with no shortcuts permitted.
You MUST be very thorough in your thinking and comprehensively decompose the problem to resolve the root cause, \
rigorously stress-testing your logic against all potential paths, edge cases, and adversarial scenarios.
Explicitly write out your entire deliberation process, documenting every intermediate step, considered alternative, \
and rejected hypothesis to ensure absolutely no assumption is left unchecked.

"""
_MAX_EFFORT: Final = """\
Reasoning Effort: Beyond maximum — exhaustive, relentless, and uncompromising.
You MUST reason with the utmost depth and rigor, leaving absolutely nothing to chance: exhaustively decompose the \
problem into its most fundamental components, trace every causal chain to its root, and resolve the underlying cause \
rather than any surface symptom.
Do not stop reasoning until you have independently verified the solution from multiple angles and are certain that no \
assumption remains unchecked and no error remains undiscovered.

"""
# Any other effort, and none given, counts as high.
_EFFORTS: Final[dict[Any, str]] = {"minimal": "", "low": "", "medium": "", "max": _MAX_EFFORT}


@dataclass(frozen=True, slots=True)
class DeepseekV4Encoder:
    """Writes V4 turns. The flags add_generation_prompt and continue_final_message do nothing."""

    name: str = "deepseek_v4"

    def encode(self, request: EncodedRequest, kwargs: Mapping[str, Any], now: datetime.datetime) -> Prompt:
        """The prompt text of a chat; that of no messages is a prompt as well.

        Thinking is on unless `thinking` or `enable_thinking` is given and neither is true, or the effort is "none".
        `drop_thinking` false keeps the reasoning of earlier exchanges.

        Raises:
            RenderError: a message is malformed, or has a role or task that the release does not know.
        """
        refuse_taken_kwargs(kwargs)
        turns = [_turn(message) for message in normalised_messages(request, "openai")]
        effort = kwargs.get("reasoning_effort")
        text = write_turns(
            with_tools(turns, offered_tools(request, kwargs)),
            _RELEASE,
            thinking=thinking_wanted(kwargs) and effort != "none",
            drop=bool(kwargs.get("drop_thinking", True)),
            effort=_EFFORTS.get(effort, _HIGH_EFFORT) if isinstance(effort, str) else _HIGH_EFFORT,
        )
        return Prompt(text=text)

    def completion_with_suffix(self, prompt: str, suffix: str) -> str:
        """The prompt of a text completion that is to end with `suffix`."""
        return fill_in_the_middle(prompt, suffix)


def build(config: Mapping[str, Any], tokenizer: Tokenizer) -> PromptEncoder:
    """Build the encoder. It needs neither the model's configuration nor its tokenizer."""
    return DeepseekV4Encoder()


def _turn(message: Message) -> Turn:
    role, content = message["role"], message["content"]
    task = message.get("task")
    if role == "tool":
        return Turn(role, blocks=[Block(_result_text(content), "result", message.get("tool_call_id"))])
    text = _text(content)
    if role == "user":
        if text is None:
            raise RenderError("messages holds a content part that is no text.", "messages")
        return Turn(role, blocks=[Block(text)], task=task)
    return Turn(
        role,
        text=text,
        reasoning=message.get("reasoning"),
        tool_calls=message.get("tool_calls") or [],
        tools=message.get("tools"),
        task=task,
    )


def _text(parts: list[Any]) -> str | None:
    """The text of content parts, or None when there are others among them."""
    texts = [part["text"] for part in parts if part["type"] == "text" and isinstance(part["text"], str)]
    return "\n\n".join(texts) if len(texts) == len(parts) else None


def _result_text(content: str | list[Any]) -> str:
    """What a tool returned. It is a list only when it refers to tools, which this model is not shown."""
    if isinstance(content, str):
        return content
    texts = [part["text"] if part["type"] == "text" else f"[Unsupported {part['type']}]" for part in content]
    if not all(isinstance(text, str) for text in texts):
        raise RenderError("messages holds a content part whose text is no string.", "messages")
    return "\n\n".join(texts)
