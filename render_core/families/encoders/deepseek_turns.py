"""How DeepSeek V4 and V4.1 write a conversation: turns gathered from messages, then one text (spec 10.3).

Tool results are part of the user's turn. What a release reads from a message is in its own file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from render_core.errors import RenderError
from render_core.families.encoders.dsml import (
    ASSISTANT,
    BOS,
    END_THINK,
    EOS,
    THINK,
    USER,
    ToolMarkup,
    special_token,
)
from render_core.families.encoders.reading import json_text, tool_functions

_REMINDER: Final = special_token("latest_reminder")
_FIM_BEGIN: Final = special_token("fim▁begin")
_FIM_HOLE: Final = special_token("fim▁hole")
_FIM_END: Final = special_token("fim▁end")

_TASKS: Final = frozenset({"action", "query", "authority", "domain", "title", "read_url"})
# An answer may follow a turn before one of these: only there, and at the end, a turn is left open for it.
_ANSWER_ROLES: Final = ("assistant", "latest_reminder")
# What stays of the past when its reasoning is dropped: developer messages and unknown roles do not.
_KEPT_ROLES: Final = ("user", "system", "assistant", "latest_reminder", "direct_search_results")


BlockKind = Literal["said", "result", "other"]


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a user's turn: what the user said, what a tool returned, or anything else."""

    text: str
    kind: BlockKind = "said"
    call_id: Any = None


@dataclass(frozen=True, slots=True)
class Turn:
    """What one message contributes.

    Attributes:
        text: the content of all but a user's or tool's message; None when it holds what the release cannot show,
            which is refused only if the turn is shown.
        blocks: the content of a user's or tool's message; those of the messages that join the turn are appended.
            Other turns may have some, which are not shown.
        tools: those declared in this turn, unchecked; only system and developer turns show them.
        task: one of the internal tasks that the releases were trained for, or None.
        response_format: a schema that the turn asks the answer to follow.
        left_open: whether no end token follows an assistant's turn.
    """

    role: str
    text: str | None = ""
    blocks: list[Block] = field(default_factory=list)
    reasoning: Any = None
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    tools: Any = None
    task: Any = None
    response_format: Any = None
    left_open: bool = False


@dataclass(frozen=True, slots=True)
class Release:
    """What differs between the releases.

    Attributes:
        system_token: stands before system messages and before the line on reasoning effort; may be empty.
        late_system_asks: whether a system message after the first message is a turn that the model answers. If
            not, only one that ends the conversation or that an assistant message follows is.
        bare_results_ask: whether a user's turn of tool results alone begins a new exchange.
    """

    markup: ToolMarkup
    system_token: str
    late_system_asks: bool
    bare_results_ask: bool


def fill_in_the_middle(prompt: str, suffix: str) -> str:
    """The completion prompt whose answer belongs between two texts (spec 5, row `suffix`)."""
    return f"{_FIM_BEGIN}{prompt}{_FIM_HOLE}{suffix}{_FIM_END}"


def thinking_wanted(kwargs: Mapping[str, Any]) -> bool:
    """Whether the model is to think: yes, unless one of the two switches is given and neither is on."""
    if "thinking" not in kwargs and "enable_thinking" not in kwargs:
        return True
    return bool(kwargs.get("thinking") or kwargs.get("enable_thinking"))


def with_tools(turns: list[Turn], tools: list[Any]) -> list[Turn]:
    """The turns with the request's tools declared in the first system message, or in a new one in front."""
    if not tools:
        return turns
    at = next((index for index, turn in enumerate(turns) if turn.role == "system"), None)
    if at is None:
        return [Turn("system", tools=tools), *turns]
    return [*turns[:at], replace(turns[at], tools=tools), *turns[at + 1 :]]


def write_turns(turns: Iterable[Turn], release: Release, *, thinking: bool, drop: bool, effort: str) -> str:
    """The prompt text of a conversation.

    Args:
        turns: one for each message, in order; a tool's message has role "tool".
        thinking: whether the answer begins with reasoning.
        drop: whether the reasoning of earlier exchanges is left out. It never is when any turn declares tools.
        effort: the text on reasoning effort that begins a prompt with thinking.

    Raises:
        RenderError: a turn has an unknown role or task, or is a developer's without content.
    """
    gathered = _gathered(turns)
    _order_results(gathered)
    drop = drop and not any(turn.tools for turn in gathered)
    if thinking and drop:
        last_asking = _last_asking(gathered, release)
        gathered = [
            turn for index, turn in enumerate(gathered) if index >= last_asking or turn.role in _KEPT_ROLES
        ]
    script = _Script(
        gathered, release, effort if thinking else "", thinking, drop, _last_asking(gathered, release)
    )
    return BOS + "".join(script.turn(index) for index in range(len(gathered)))


def _gathered(turns: Iterable[Turn]) -> list[Turn]:
    """Join each user's or tool's message to a user's turn before it. A turn that has a task takes only tool results."""
    gathered: list[Turn] = []
    for turn in turns:
        last = gathered[-1] if gathered and gathered[-1].role == "user" else None
        if last is not None and (turn.role == "tool" or (turn.role == "user" and last.task is None)):
            last.blocks.extend(turn.blocks)
        elif turn.role == "tool":
            gathered.append(Turn("user", blocks=turn.blocks))
        else:
            gathered.append(turn)
    return gathered


def _order_results(turns: list[Turn]) -> None:
    """Put the tool results of each user's turn, among themselves, in the order in which they were asked for."""
    places: dict[Any, int] = {}
    for turn in turns:
        if turn.role == "assistant" and turn.tool_calls:
            ids = [call["id"] or call["function"].get("id") for call in turn.tool_calls]
            places = {
                call_id: place for place, call_id in enumerate(ids) if call_id and isinstance(call_id, str)
            }
        elif turn.role == "user" and places:
            at = [index for index, block in enumerate(turn.blocks) if block.kind == "result"]
            results = sorted((turn.blocks[index] for index in at), key=lambda block: _place(block, places))
            for index, block in zip(at, results, strict=True):
                turn.blocks[index] = block


def _place(block: Block, places: dict[Any, int]) -> int:
    return places.get(block.call_id, 0) if isinstance(block.call_id, str) else 0


def _last_asking(turns: list[Turn], release: Release) -> int:
    """The index of the last turn that asks the model something, or -1."""
    for index in range(len(turns) - 1, -1, -1):
        turn = turns[index]
        asks = turn.role in ("user", "developer")
        if release.late_system_asks and index > 0:
            asks = asks or turn.role == "system"
        bare_results = turn.blocks and not any(block.kind == "said" for block in turn.blocks)
        if asks and (release.bare_results_ask or not bare_results):
            return index
    return -1


@dataclass(frozen=True, slots=True)
class _Script:
    """The turns of a prompt and what every turn's text depends on."""

    turns: list[Turn]
    release: Release
    effort: str
    thinking: bool
    drop: bool
    last_asking: int

    def turn(self, index: int) -> str:
        turn = self.turns[index]
        return self._start(index, turn) + self._body(index, turn) + self._opening(index, turn)

    def _start(self, index: int, turn: Turn) -> str:
        """The effort stands in front of the first turn, as if a system message said it."""
        effort = self.effort if index == 0 else ""
        return (self.release.system_token if effort or turn.role == "system" else "") + effort

    def _body(self, index: int, turn: Turn) -> str:
        text = turn.text
        if text is None:
            raise RenderError("messages holds a content part that is no text.", "messages")
        functions = tool_functions(turn.tools)
        match turn.role:
            case "system":
                return text + self._declarations(turn, functions)
            case "developer":
                if not text:
                    raise RenderError("A developer message must not be empty.", "messages")
                return USER + text + self._declarations(turn, functions)
            case "user":
                return USER + ("\n\n".join(map(_block_text, turn.blocks)) if turn.blocks else text)
            case "latest_reminder":
                return _REMINDER + text
            case "assistant":
                return self._answer(index, turn, text)
        raise RenderError("messages holds a role that this model does not know.", "messages")

    def _answer(self, index: int, turn: Turn, text: str) -> str:
        thought = ""
        answers_task = index > 0 and self.turns[index - 1].task is not None
        if self.thinking and not answers_task and (not self.drop or index > self.last_asking):
            thought = f"{turn.reasoning or ''}{END_THINK}"
        calls = f"\n\n{self.release.markup.calls(turn.tool_calls)}" if turn.tool_calls else ""
        return f"{thought}{text}{calls}{'' if turn.left_open else EOS}"

    def _opening(self, index: int, turn: Turn) -> str:
        """What opens the answer to a turn; empty where another turn comes first or the turn asks nothing."""
        following = self.turns[index + 1].role if index + 1 < len(self.turns) else None
        if following is not None and following not in _ANSWER_ROLES:
            return ""
        if turn.task is not None:
            return self._task_opening(turn.task)
        asks = turn.role in ("user", "developer")
        if turn.role == "system":
            asks = index > 0 if self.release.late_system_asks else following in (None, "assistant")
        if not asks:
            return ""
        thinks = self.thinking and (not self.drop or index >= self.last_asking)
        return ASSISTANT + (THINK if thinks else END_THINK)

    def _task_opening(self, task: Any) -> str:
        if not isinstance(task, str) or task not in _TASKS:
            raise RenderError(f"task must be one of {', '.join(sorted(_TASKS))}.", "messages")
        if task != "action":
            return special_token(task)
        return ASSISTANT + (THINK if self.thinking else END_THINK) + special_token(task)

    def _declarations(self, turn: Turn, functions: list[Any]) -> str:
        text = f"\n\n{_tools_text(functions, self.release.markup)}" if functions else ""
        if turn.response_format:
            text += (
                "\n\n## Response Format:\n\nYou MUST strictly adhere to the following schema to reply:\n"
                + json_text(turn.response_format)
            )
        return text


def _block_text(block: Block) -> str:
    return f"<tool_result>{block.text}</tool_result>" if block.kind == "result" else block.text


def _tools_text(functions: list[Any], markup: ToolMarkup) -> str:
    schemas = "\n".join(map(json_text, functions))
    return f"""\
## Tools

You have access to a set of tools to help answer the user's question. You can invoke tools by writing a \
"{markup.block_tag}" block like the following:

{markup.example("TOOL_NAME")}

String parameters should be specified as is and set `string="true"`. For all other types (numbers, booleans, arrays, \
objects), pass the value in JSON format and set `string="false"`.

If thinking_mode is enabled (triggered by {THINK}), you MUST output your complete reasoning inside \
{THINK}...{END_THINK} BEFORE any tool calls or final response.

Otherwise, output directly after {END_THINK} with tool calls or final response.

### Available Tool Schemas

{schemas}

You MUST strictly follow the above defined tool name and parameter schemas to invoke tool calls.
"""
