"""DeepSeek V3.2 prompts (spec 10.3): what vLLM 0.33 writes for --tokenizer-mode deepseek_v32."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from render_core.errors import RenderError
from render_core.families.encoder import Prompt, PromptEncoder
from render_core.families.encoders.dsml import ASSISTANT, BOS, END_THINK, EOS, THINK, USER, ToolMarkup
from render_core.families.encoders.reading import (
    EncodedRequest,
    Message,
    json_text,
    normalised_messages,
    offered_tools,
    refuse_taken_kwargs,
    tool_functions,
)
from render_core.tokenizer.tokenizer import Tokenizer

_MARKUP: Final = ToolMarkup(block="function_calls", call="invoke", parameter="parameter")

_TOOLS_BEFORE: Final = f"""\
## Tools
You have access to a set of tools you can use to answer the user's question.
You can invoke functions by writing a "{_MARKUP.block_tag}" block like the following as part of your reply to the user:
{_MARKUP.example("FUNCTION_NAME")}
String and scalar parameters should be specified as is without any escaping or quotes, while lists and objects should \
use JSON format. The "string" attribute should be set to "true" for string type parameters and "false" for other \
types (numbers, booleans, arrays, objects).
If the thinking_mode is enabled, then after function results you should strongly consider outputting a thinking \
block. Here is an example:
{_MARKUP.elided}
<function_results>
...
</function_results>
{THINK}...thinking about results{END_THINK}
Here are the functions available in JSONSchema format:
<functions>
"""
_TOOLS_AFTER: Final = "\n</functions>\n"


@dataclass(frozen=True, slots=True)
class DeepseekV32Encoder:
    """Writes the conversation turn by turn. The flags add_generation_prompt and continue_final_message do nothing."""

    name: str = "deepseek_v32"

    def encode(self, request: EncodedRequest, kwargs: Mapping[str, Any], now: datetime.datetime) -> Prompt:
        """The prompt text of a chat. Thinking is off unless `thinking` or `enable_thinking` turns it on.

        Raises:
            RenderError: the conversation is empty or malformed, or a tool result answers no call; or, when thinking,
                a developer message is part of the past, or an assistant message after the last user's has neither
                reasoning nor tool calls.
        """
        refuse_taken_kwargs(kwargs)
        messages = normalised_messages(request, "string")
        if tools := offered_tools(request, kwargs):
            messages.insert(0, {"role": "system", "content": "", "tools": tools})
        if not messages:  # vLLM fails here with 500
            raise RenderError("messages must not be empty.", "messages")
        thinking = bool(kwargs.get("thinking") or kwargs.get("enable_thinking"))
        if thinking and messages[-1]["role"] == "user":
            _refuse_past_instructions(messages)
        script = _Script(messages, thinking, _last_user(messages), _callers(messages))
        return Prompt(text=BOS + "".join(script.turn(index) for index in range(len(messages))))


def build(config: Mapping[str, Any], tokenizer: Tokenizer) -> PromptEncoder:
    """Build the encoder. It needs neither the model's configuration nor its tokenizer."""
    return DeepseekV32Encoder()


def _last_user(messages: list[Message]) -> int:
    roles = [message["role"] for message in messages]
    return max((index for index, role in enumerate(roles) if role in ("user", "developer")), default=-1)


def _refuse_past_instructions(messages: list[Message]) -> None:
    """Raises RenderError for a developer message before the user's last one.

    vLLM means to leave it out while the model thinks, but loses count of the messages then and answers 400.
    """
    if any(message["role"] == "developer" for message in messages):
        raise RenderError(
            "A developer message cannot be shown before a user message while the model thinks.", "messages"
        )


def _callers(messages: list[Message]) -> list[int]:
    """For each message, the index of the last one before it that is no tool's; -1 where there is none."""
    callers = [-1]
    for index, message in enumerate(messages):
        callers.append(callers[-1] if message["role"] == "tool" else index)
    return callers[:-1]


@dataclass(frozen=True, slots=True)
class _Script:
    """A conversation and what every turn's text depends on."""

    messages: list[Message]
    thinking: bool
    last_user: int
    callers: list[int]

    def turn(self, index: int) -> str:
        message = self.messages[index]
        content: str = message["content"]
        match message["role"]:
            case "system":
                return content + _tools_text(message)
            case "user":
                return self._user_turn(index, content)
            case "developer":
                if not content:
                    raise RenderError("A developer message must not be empty.", "messages")
                return self._user_turn(index, f"{_tools_text(message)}\n\n# The user's message is: {content}")
            case "assistant":
                return self._assistant_turn(index, message)
            case "tool":
                return self._tool_turn(index, content)
        raise RenderError(f"messages[{index}] has a role that this model does not know.", "messages")

    def _user_turn(self, index: int, text: str) -> str:
        opened = THINK if self.thinking and index == self.last_user else END_THINK
        return f"{USER}{text}{ASSISTANT}{opened}"

    def _assistant_turn(self, index: int, message: Message) -> str:
        reasoning, tool_calls = message.get("reasoning"), message.get("tool_calls")
        thought = ""
        if self.thinking and index > self.last_user:
            if not reasoning and not tool_calls:
                raise RenderError(
                    f"messages[{index}] follows the last user message while the model thinks, so it needs reasoning "
                    "or tool calls.",
                    "messages",
                )
            thought = f"{reasoning or ''}{END_THINK}"
        calls = f"\n\n{_MARKUP.calls(tool_calls)}" if tool_calls else ""
        return f"{thought}{message['content']}{calls}{EOS}"

    def _tool_turn(self, index: int, content: str) -> str:
        calls, position = self._answered_calls(index)
        if position > len(calls):
            raise RenderError(
                f"messages[{index}] is the result of a tool call that was not made.", "messages"
            )
        before = "\n\n<function_results>" if position == 1 else ""
        after = ""
        if position == len(calls):
            opened = THINK if self.thinking and index >= self.last_user else END_THINK
            after = f"\n</function_results>\n\n{opened}"
        return f"{before}\n<result>{content}</result>{after}"

    def _answered_calls(self, index: int) -> tuple[list[Any], int]:
        """The calls that a run of tool messages answers, and the place of one of them in the run, from 1."""
        caller = self.callers[index]
        # vLLM looks for the caller of a leading tool message at the other end of the conversation: index -1
        if (caller < 0 and index > 0) or (caller >= 0 and self.messages[caller]["role"] != "assistant"):
            raise RenderError(f"messages[{index}] does not follow an assistant message.", "messages")
        return self.messages[caller].get("tool_calls") or [], index - caller


def _tools_text(message: Message) -> str:
    functions = tool_functions(message.get("tools"))
    if not functions:
        return ""
    schemas = "\n".join(map(json_text, functions))
    return f"\n\n{_TOOLS_BEFORE}{schemas}{_TOOLS_AFTER}"
