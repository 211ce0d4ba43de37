"""What an operator may decide about a model, as plain values; where they were written is not known here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from render_core.errors import ConfigurationError
from render_core.families.names import REASONING_PARSERS, TOOL_PARSERS


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """Options of one served model. Lengths are in tokens.

    Attributes:
        served_model_names: names that requests may use; the first is canonical. Empty: the source's own name.
        accept_any_model: render for every model name a request brings.
        chat_template: a template's text, or the name of one of the model's templates.
        max_model_len: context length; None derives it from config.json.
        allow_long_max_model_len: accept a context length above the derived one.
        max_logprobs: most log probabilities a request may ask for; None leaves that check to the engine, as
            vLLM's own renderer does; -1 allows any number.
        generation_config: "auto" reads the model's generation_config.json, "vllm" ignores it, anything else is
            the directory to read it from.
        enforce_strict_tool_calling: False leaves tool calls without structural tags.
        tokenizer_engine: of a bundle's certified engines use only this one; None: the best that is ready.
        template_seconds, template_max_chars: what rendering one chat template may cost.
        max_completion_prompts: most prompts of one completion request.
    """

    served_model_names: tuple[str, ...] = ()
    accept_any_model: bool = False
    revision: str | None = None
    chat_template: str | None = None
    chat_template_content_format: Literal["auto", "string", "openai"] = "auto"
    default_chat_template_kwargs: Mapping[str, Any] = field(default_factory=dict)
    trust_request_chat_template: bool = False
    exclude_tools_when_tool_choice_none: bool = False
    max_model_len: int | None = None
    allow_long_max_model_len: bool = False
    max_logprobs: int | None = None
    generation_config: str = "auto"
    override_generation_config: Mapping[str, Any] = field(default_factory=dict)
    tool_call_parser: str | None = None
    reasoning_parser: str | None = None
    enable_auto_tool_choice: bool = False
    tool_strict_level: str | None = None
    enforce_strict_tool_calling: bool = True
    tokenizer_mode: str = "auto"
    tokenizer_engine: Literal["tokenizers", "kitoken", "fastokens"] | None = None
    template_seconds: float = 10.0
    template_max_chars: int = 64 * 1024 * 1024
    max_completion_prompts: int = 1024


AUTO_PARSER, NO_PARSER = "auto", "none"

TOKENIZER_MODES = (
    "auto",
    "hf",
    "mistral",
    "deepseek_v32",
    "deepseek_v4",
    "deepseek_v41",
    "inkling",
    "kimi_k3",
)
TOOL_STRICT_LEVELS = ("auto", "function", "parameter")


def validate_options(options: ModelOptions) -> None:
    """Check options without looking at any file.

    Raises:
        ConfigurationError: a name is unknown, a number is out of range, or two options contradict each other.
    """
    _check_name("tool call parser", options.tool_call_parser, (AUTO_PARSER, NO_PARSER, *TOOL_PARSERS))
    _check_name("reasoning parser", options.reasoning_parser, (AUTO_PARSER, NO_PARSER, *REASONING_PARSERS))
    _check_name("tokenizer mode", options.tokenizer_mode, TOKENIZER_MODES)
    _check_name("tool strict level", options.tool_strict_level, TOOL_STRICT_LEVELS)
    _check_name(
        "chat template content format", options.chat_template_content_format, ("auto", "string", "openai")
    )
    if options.max_model_len is not None and options.max_model_len < 1:
        raise ConfigurationError(f"max_model_len must be at least 1, not {options.max_model_len}.")
    if options.max_logprobs is not None and options.max_logprobs < -1:
        raise ConfigurationError(f"max_logprobs must be -1 or not negative, not {options.max_logprobs}.")
    if options.template_seconds <= 0 or options.template_max_chars < 1:
        raise ConfigurationError("The time and size a chat template may cost must be positive.")
    if options.max_completion_prompts < 1:
        raise ConfigurationError("max_completion_prompts must be at least 1.")
    if any(not name for name in options.served_model_names):
        raise ConfigurationError("A served model name must not be empty.")


def check_auto_tool_choice(options: ModelOptions, brought_along: str | None = None) -> None:
    """Raises ConfigurationError when tool choice is to be automatic and neither options nor bundle name a parser."""
    if options.enable_auto_tool_choice and (options.tool_call_parser or brought_along) is None:
        raise ConfigurationError("Automatic tool choice needs a tool call parser (--tool-call-parser).")


def _check_name(kind: str, name: str | None, known: tuple[str, ...]) -> None:
    if name is not None and name not in known:
        raise ConfigurationError(f"Unknown {kind} {name!r}; known are: {', '.join(known)}.")
