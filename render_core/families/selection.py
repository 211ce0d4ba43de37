"""Choosing the parsers of a model from its own files (`auto`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from render_core.families.interface import ReasoningParser, ToolParser
from render_core.families.recognition import Evidence, Recognition
from render_core.families.registry import FAMILIES, reasoning_parser_class, tool_parser_class


@dataclass(frozen=True, slots=True)
class Selection:
    """Parser names, None for none, and a line for the operator that says why."""

    tool: str | None
    reasoning: str | None
    reason: str


def select_parsers(
    config: Mapping[str, Any],
    template_sources: Iterable[str],
    *,
    encoder: str | None = None,
    token_id: Callable[[str], int | None] | None = None,
) -> Selection:
    """Choose parsers.

    Args:
        config: config.json.
        template_sources: the model's chat templates.
        encoder: the --tokenizer-mode name of the encoder that makes the model's prompts, if one does.
        token_id: looks up a vocabulary string; with it, a parser whose delimiters are missing is not chosen.
    """
    evidence = Evidence(encoder, tuple(config.get("architectures") or ()), "\n".join(template_sources))
    best: tuple[int, str, Recognition] | None = None
    for family in FAMILIES:
        for rule in family.load().RECOGNITIONS:
            found = rule.reason(evidence)
            if found is not None and (best is None or found[0] > best[0]):
                best = (*found, rule)
    if best is None:
        return Selection(None, None, "nothing in the model's files names a family with parsers")
    _, reason, rule = best
    if token_id is None:
        return Selection(rule.tool, rule.reasoning, reason)
    tool, no_tool = _usable(rule.tool, tool_parser_class, token_id)
    reasoning, no_reasoning = _usable(rule.reasoning, reasoning_parser_class, token_id)
    return Selection(tool, reasoning, reason + no_tool + no_reasoning)


def _usable(
    name: str | None,
    class_of: Callable[[str], type[ToolParser] | type[ReasoningParser]],
    token_id: Callable[[str], int | None],
) -> tuple[str | None, str]:
    """The name when the tokenizer has all delimiters of its parser; else None, and what to tell of it."""
    delimiters = () if name is None else class_of(name).delimiters
    missing = [text for text in delimiters if token_id(text) is None]
    return (None, f"; not {name}, since the tokenizer has no token {missing[0]!r}") if missing else (name, "")
