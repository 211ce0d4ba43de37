"""Template variables of a request: precedence, filtering and the names that are spoken for (spec 2.7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from render_core.errors import RenderError

# Arguments of transformers' apply_chat_template. They never become template variables under these names.
_APPLY_ARGUMENTS: Final = frozenset(
    {
        "conversation",
        "tools",
        "documents",
        "chat_template",
        "add_generation_prompt",
        "continue_final_message",
        "tokenize",
        "sanitize_control_tokens",
        "padding",
        "truncation",
        "max_length",
        "return_tensors",
        "return_dict",
        "return_assistant_tokens_mask",
        "tokenizer_kwargs",
    }
)
# Names that vLLM passes itself: a request that sets one breaks its call.
_TAKEN_ARGUMENTS: Final = ("conversation", "model_config", "tokenizer")
# Arguments that only work when transformers tokenizes, which vLLM does itself.
_TOKENIZING_ARGUMENTS: Final = ("return_assistant_tokens_mask", "sanitize_control_tokens")


def merge_kwargs(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`over` wins, but its values None and "auto" count as unset."""
    return {**base, **{name: value for name, value in over.items() if not _is_unset(value)}}


def _is_unset(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value == "auto")


def reasoning_effort_kwargs(effort: str | None, user_kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The variables that a requested reasoning effort sets: itself, and whether to think unless the user said so."""
    if effort is None:
        return {}
    thinking = {} if "enable_thinking" in user_kwargs else {"enable_thinking": effort != "none"}
    return {"reasoning_effort": effort, **thinking}


def check_kwargs(kwargs: Mapping[str, Any]) -> None:
    """Raises RenderError for chat_template_kwargs that name an argument a request cannot set."""
    for name in _TAKEN_ARGUMENTS:
        if name in kwargs:
            raise RenderError(f"chat_template_kwargs must not hold {name!r}.", "chat_template_kwargs")
    for name in _TOKENIZING_ARGUMENTS:
        if kwargs.get(name):
            raise RenderError(f"chat_template_kwargs.{name} is not supported.", "chat_template_kwargs")


def template_variables(kwargs: Mapping[str, Any], mentioned: frozenset[str]) -> dict[str, Any]:
    """The kwargs that reach a template: those it mentions and that are no argument of apply_chat_template.

    Raises:
        RenderError: the kwargs hold `messages`, which are the request's own.
    """
    if "messages" in kwargs and "messages" in mentioned:
        raise RenderError("chat_template_kwargs must not hold 'messages'.", "chat_template_kwargs")
    return {
        name: value for name, value in kwargs.items() if name in mentioned and name not in _APPLY_ARGUMENTS
    }
