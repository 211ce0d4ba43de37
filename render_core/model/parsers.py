"""The parsers of a model: named by the operator, brought along by a bundle, or chosen from the model's own files."""

from __future__ import annotations

from dataclasses import replace

from render_core.families.effects import ParserChoice, Parsers, build_parsers
from render_core.families.encoder import PromptEncoder
from render_core.families.interface import ParserModel
from render_core.families.selection import select_parsers
from render_core.model.options import AUTO_PARSER, NO_PARSER, ModelOptions
from render_core.model.parts import ModelParts


def with_chosen_parsers(
    options: ModelOptions, parts: ModelParts, encoder: PromptEncoder | None
) -> tuple[ModelOptions, str]:
    """The options with parser names instead of "auto" and "none", and a line for the operator that says why."""
    tool = options.tool_call_parser or parts.tool_call_parser
    reasoning = options.reasoning_parser or parts.reasoning_parser
    reason = "as configured"
    if AUTO_PARSER in (tool, reasoning):
        selection = select_parsers(
            parts.config,
            [template.source for template in parts.templates.values()],
            encoder=None if encoder is None else encoder.name,
            token_id=parts.tokenizer.token_id,
        )
        tool = selection.tool if tool == AUTO_PARSER else tool
        reasoning = selection.reasoning if reasoning == AUTO_PARSER else reasoning
        reason = f"chosen automatically, {selection.reason}"
    tool = None if tool == NO_PARSER else tool
    reasoning = None if reasoning == NO_PARSER else reasoning
    return replace(options, tool_call_parser=tool, reasoning_parser=reasoning), reason


def model_parsers(options: ModelOptions, parts: ModelParts) -> Parsers:
    """The parsers of a model.

    Raises:
        ConfigurationError: a parser does not fit the model's tokenizer, or two do not go together.
    """
    tokenizer = parts.tokenizer
    sources = [template.source for template in parts.templates.values()]
    choice = ParserChoice(
        tool=options.tool_call_parser if options.enable_auto_tool_choice else None,
        reasoning=options.reasoning_parser,
        strict_level=options.tool_strict_level,
        tags_enabled=options.enforce_strict_tool_calling,
    )
    model = ParserModel(
        token_id=tokenizer.token_id,
        encode=lambda text: tokenizer.engine.encode(text, False),
        decode=tokenizer.engine.decode,
        added_tokens=tokenizer.added_tokens.keys(),
        chat_template=sources[0] if len(sources) == 1 else None,
        config=parts.config,
        tokenizer_config=parts.tokenizer_config,
    )
    return build_parsers(choice, model)
