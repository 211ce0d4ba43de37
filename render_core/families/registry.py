"""Every family of parsers, by name. A family's module is imported when one of its parsers is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from render_core.errors import ConfigurationError

if TYPE_CHECKING:
    from render_core.families.interface import ReasoningParser, ToolParser


@dataclass(frozen=True, slots=True)
class Family:
    """One family: its module in this package, and the parser names it offers.

    The module holds TOOL_PARSERS and REASONING_PARSERS, classes by name, and RECOGNITIONS for automatic selection.
    """

    module: str
    tools: tuple[str, ...] = ()
    reasoning: tuple[str, ...] = ()

    def load(self) -> ModuleType:
        return import_module(f"{__package__}.{self.module}")


def _family(module: str, tools: str = "", reasoning: str = "") -> Family:
    return Family(module, tuple(tools.split()), tuple(reasoning.split()))


FAMILIES: Final = (
    _family("apertus", "apertus"),
    _family("cohere", "cohere_command3 cohere_command4", "cohere_command3 cohere_command4"),
    _family(
        "deepseek",
        "deepseek_v3 deepseek_v31 deepseek_v32 deepseek_v4 deepseek_v41",
        "deepseek_r1 deepseek_v3 deepseek_v4 deepseek_v41",
    ),
    _family("dots", "dots"),
    _family("ernie", "ernie45", "ernie45"),
    _family("gemma", "functiongemma gemma4", "gemma4"),
    _family("gigachat", "gigachat3"),
    _family("glm", "glm45 glm47", "glm45 glm47"),
    _family("gpt_oss", "openai", "openai_gptoss"),
    _family("granite", "granite granite-20b-fc granite4", "granite granite_thinking_parser"),
    _family("hermes", "hermes qwen3_json longcat"),
    _family("holo", reasoning="holo2"),
    _family("hunyuan", "hunyuan_a13b hy_v3 hy_v4", "hunyuan_a13b hy_v3 hy_v4"),
    _family("inkling", "inkling", "inkling"),
    _family("internlm", "internlm"),
    _family("jamba", "jamba"),
    _family("k2_horizon", "k2_horizon", "k2_horizon"),
    _family("kimi_k2", "kimi_k2", "kimi_k2"),
    _family("kimi_k3", "kimi_k3", "kimi_k3"),
    _family("lfm", "lfm2"),
    _family("ling", "ling3", "ling3"),
    _family("llama", "llama3_json llama4_json llama4_pythonic pythonic"),
    _family("mimo", "mimo", "mimo"),
    _family("minicpm", "minicpm5", "minicpmv"),
    _family("minimax", "minimax_m2 minimax_m3", "minimax_m2 minimax_m2_append_think minimax_m3"),
    _family("mistral", "mistral", "mistral"),
    _family("muse", "muse muse_glimmer musespark1x", "muse muse_glimmer musespark1x"),
    _family("nemotron", reasoning="nemotron_v3"),
    _family("olmo", "olmo3", "olmo3"),
    _family("phi", "phi4_mini_json"),
    _family("plamo", "plamo3", "plamo3"),
    _family("poolside", "poolside_v1", "poolside_v1"),
    _family("qwen", "qwen3_coder qwen3_xml", "qwen3"),
    _family("response_template", "beam hf", "beam hf"),
    _family("seed_oss", "seed_oss", "seed_oss"),
    _family("step", "step3 step3p5 step5", "step3 step3p5 step5"),
    _family("xlam", "xlam"),
)

# Families whose parsers do the whole work together: none of another family can stand beside them.
_CLOSED_FAMILIES: Final = frozenset({"cohere", "response_template"})
_HARMONY_FAMILY: Final = "gpt_oss"


def tool_parser_class(name: str) -> type[ToolParser]:
    """The class of a tool call parser.

    Raises:
        ConfigurationError: there is no parser of that name.
    """
    return _class("tool call parser", name, "tools", "TOOL_PARSERS")  # type: ignore[no-any-return]


def reasoning_parser_class(name: str) -> type[ReasoningParser]:
    """The class of a reasoning parser.

    Raises:
        ConfigurationError: there is no parser of that name.
    """
    return _class("reasoning parser", name, "reasoning", "REASONING_PARSERS")  # type: ignore[no-any-return]


def check_pair(tool: str | None, reasoning: str | None, is_harmony: bool) -> None:
    """Raises ConfigurationError when two parsers, or a parser and a Harmony model, do not go together."""
    modules = {
        family.module
        for family in FAMILIES
        if (tool is not None and tool in family.tools)
        or (reasoning is not None and reasoning in family.reasoning)
    }
    is_closed = is_harmony or not modules.isdisjoint(_CLOSED_FAMILIES)
    if len(modules | {_HARMONY_FAMILY} if is_harmony else modules) > 1 and is_closed:
        raise ConfigurationError(
            f"Tool call parser {tool} and reasoning parser {reasoning} do not go together with this model."
        )


def _class(kind: str, name: str, attribute: str, table: str) -> Any:
    known = sorted(n for family in FAMILIES for n in getattr(family, attribute))
    for family in FAMILIES:
        if name in getattr(family, attribute):
            return getattr(family.load(), table)[name]
    raise ConfigurationError(f"Unknown {kind} {name!r}; known are: {', '.join(known)}.")
