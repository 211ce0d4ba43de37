"""DeepSeek R1, V3, V3.1, V3.2, V4 and V4.1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from render_core.errors import RenderError
from render_core.families.interface import (
    CallableTool,
    KeptTokens,
    MarkedReasoning,
    ParserModel,
    TaggedToolParser,
    ToolUse,
)
from render_core.families.recognition import Recognition
from render_core.families.tags import (
    Format,
    const_string,
    json_schema,
    repeated_tags,
    sequence,
    tag,
    triggered_tags,
)

THINK_TAGS: Final = ("<think>", "</think>")

_BAR: Final = "\uff5c"  # the fullwidth form of |
_DSML: Final = f"{_BAR}DSML{_BAR}"
_CALLS_BEGIN, _CALLS_END = f"<{_BAR}tool▁calls▁begin{_BAR}>", f"<{_BAR}tool▁calls▁end{_BAR}>"
_CALL_BEGIN, _CALL_END = f"<{_BAR}tool▁call▁begin{_BAR}>", f"<{_BAR}tool▁call▁end{_BAR}>"
_SEPARATOR: Final = f"<{_BAR}tool▁sep{_BAR}>"


class DeepSeekV3ToolParser(TaggedToolParser):
    """A section of calls between special tokens; arguments in a Markdown block of JSON."""

    delimiters = (_CALLS_BEGIN, _CALLS_END)
    name_begin: ClassVar[str] = f"{_CALL_BEGIN}function{_SEPARATOR}"
    name_end: ClassVar[str] = "\n```json\n"
    call_end: ClassVar[str] = f"\n```{_CALL_END}"
    between_calls: ClassVar[str] = "\n"

    def tag(self, tools: Sequence[CallableTool], use: ToolUse) -> Format:
        if use == "forced":
            return self._call(tools[0], _CALLS_BEGIN, _CALLS_END)
        calls = repeated_tags([self._call(tool) for tool in tools], self.between_calls)
        section = tag(_CALLS_BEGIN, calls, _CALLS_END)
        return triggered_tags(_CALLS_BEGIN, [section], THINK_TAGS) if use == "auto" else section

    def _call(self, tool: CallableTool, before: str = "", after: str = "") -> Format:
        return tag(
            f"{before}{self.name_begin}{tool.name}{self.name_end}",
            json_schema(tool.argument_schema),
            f"{self.call_end}{after}",
        )


class DeepSeekV31ToolParser(DeepSeekV3ToolParser):
    name_begin = _CALL_BEGIN
    name_end = _SEPARATOR
    call_end = _CALL_END
    between_calls = ""


class DeepSeekV32ToolParser(TaggedToolParser):
    """Calls in DSML, an XML of its own."""

    keeps_special_tokens = KeptTokens.ALWAYS
    calls: ClassVar[str] = "function_calls"
    invoke: ClassVar[str] = "invoke"
    style: ClassVar[str] = "deepseek_xml"

    def tag(self, tools: Sequence[CallableTool], use: ToolUse) -> Format:
        begin, end = f"<{_DSML}{self.calls}>", f"</{_DSML}{self.calls}>"
        calls = [
            tag(
                f'<{_DSML}{self.invoke} name="{tool.name}">\n',
                json_schema(tool.argument_schema, self.style),
                f"</{_DSML}{self.invoke}>\n",
            )
            for tool in tools
        ]
        if use == "auto":
            section = tag(f"{begin}\n", repeated_tags(calls), end)
            return triggered_tags(begin, [section], THINK_TAGS)
        content = calls[0] if use == "forced" else repeated_tags(calls)
        return sequence(const_string(f"\n\n{begin}\n"), content, const_string(end))


class DeepSeekV4ToolParser(DeepSeekV32ToolParser):
    calls = "tool_calls"


class DeepSeekV41ToolParser(DeepSeekV32ToolParser):
    calls = " calls"
    invoke = " invoke"
    style = "deepseek_v4_1_xml"


class DeepSeekR1Reasoning(MarkedReasoning):
    delimiters = THINK_TAGS


class DeepSeekV3Reasoning(MarkedReasoning):
    """R1's when thinking is asked for, none otherwise. The delimiters are only needed in the first case."""

    thinks_by_default: ClassVar[bool] = False

    def __init__(self, model: ParserModel) -> None:
        super().__init__(model)
        self.has_delimiters = all(model.token_id(text) is not None for text in THINK_TAGS)

    def thinks(self, kwargs: Mapping[str, Any]) -> bool:
        thinking, enabled = kwargs.get("thinking"), kwargs.get("enable_thinking")
        if thinking is None and enabled is None:
            return self.thinks_by_default
        return bool(thinking) or bool(enabled)

    def has_ended(self, kwargs: Mapping[str, Any], prompt_ids: Sequence[int]) -> bool | None:
        if self.thinks(kwargs) and not self.has_delimiters:
            raise RenderError("This model's tokenizer has no tokens for thinking.", "chat_template_kwargs")
        return super().has_ended(kwargs, prompt_ids)


class DeepSeekV4Reasoning(MarkedReasoning):
    ends = ("</think>", f"<{_DSML}tool_calls>")
    keeps_special_tokens = True
    opens_when_off = True

    def thinks(self, kwargs: Mapping[str, Any]) -> bool:
        asked = [bool(kwargs[name]) for name in ("thinking", "enable_thinking") if name in kwargs]
        return (any(asked) or not asked) and kwargs.get("reasoning_effort") != "none"


class DeepSeekV41Reasoning(DeepSeekV4Reasoning):
    ends = ("</think>", f"<{_DSML} calls>")


TOOL_PARSERS: Final = {
    "deepseek_v3": DeepSeekV3ToolParser,
    "deepseek_v31": DeepSeekV31ToolParser,
    "deepseek_v32": DeepSeekV32ToolParser,
    "deepseek_v4": DeepSeekV4ToolParser,
    "deepseek_v41": DeepSeekV41ToolParser,
}
REASONING_PARSERS: Final = {
    "deepseek_r1": DeepSeekR1Reasoning,
    "deepseek_v3": DeepSeekV3Reasoning,
    "deepseek_v4": DeepSeekV4Reasoning,
    "deepseek_v41": DeepSeekV41Reasoning,
}
RECOGNITIONS: Final = (
    Recognition(
        tool="deepseek_v32",
        reasoning="deepseek_v3",
        encoder="deepseek_v32",
        architectures=("DeepseekV32ForCausalLM",),
    ),
    Recognition(
        tool="deepseek_v4",
        reasoning="deepseek_v4",
        encoder="deepseek_v4",
        architectures=("DeepseekV4ForCausalLM", "DeepseekV4ForConditionalGeneration"),
    ),
    Recognition(
        tool="deepseek_v41",
        reasoning="deepseek_v41",
        encoder="deepseek_v41",
        architectures=("DeepseekV41ForCausalLM",),
    ),
    Recognition(
        tool="deepseek_v31",
        reasoning="deepseek_v3",
        template=(_CALLS_BEGIN, "</think>"),
        absent=("```json",),
    ),
    Recognition(tool="deepseek_v3", reasoning="deepseek_r1", template=(_CALLS_BEGIN, "```json", "</think>")),
    Recognition(tool="deepseek_v3", template=(_CALLS_BEGIN, "```json"), absent=("</think>",)),
)
