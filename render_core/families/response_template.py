"""Parsers that follow the `response_template` of a checkpoint (`hf`, `beam`).

They read the output format from the tokenizer's metadata and derive grammars from it, with xgrammar. That is not
reproduced: the names are known, and refused when the model is loaded.
"""

from __future__ import annotations

from typing import Final

from render_core.errors import ConfigurationError
from render_core.families.interface import ParserModel, ReasoningParser, ToolParser
from render_core.families.recognition import Recognition

_REASON: Final = "parsers that follow a response_template are not offered; name the model family's own parser"


class ResponseTemplateToolParser(ToolParser):
    def __init__(self, model: ParserModel, tags_enabled: bool) -> None:
        raise ConfigurationError(_REASON)


class ResponseTemplateReasoning(ReasoningParser):
    def __init__(self, model: ParserModel) -> None:
        raise ConfigurationError(_REASON)


TOOL_PARSERS: Final = {"hf": ResponseTemplateToolParser, "beam": ResponseTemplateToolParser}
REASONING_PARSERS: Final = {"hf": ResponseTemplateReasoning, "beam": ResponseTemplateReasoning}
RECOGNITIONS: Final[tuple[Recognition, ...]] = ()
