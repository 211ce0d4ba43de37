"""render-core: OpenAI requests to the token ids that vLLM would compute, without an engine.

Importing this package loads no tokenizer, no web framework and no AWS client; what a call needs is imported by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from render_core.errors import ConfigurationError, InvalidBodyError, RenderError, UnknownModelError

if TYPE_CHECKING:
    from render_core.model.model import Model, load_model
    from render_core.model.options import ModelOptions, validate_options
    from render_core.render import RequestContext, detokenize, render_chat, render_completion, tokenize

_HOMES = {
    "Model": "render_core.model.model",
    "load_model": "render_core.model.model",
    "ModelOptions": "render_core.model.options",
    "validate_options": "render_core.model.options",
    "RequestContext": "render_core.render",
    "detokenize": "render_core.render",
    "render_chat": "render_core.render",
    "render_completion": "render_core.render",
    "tokenize": "render_core.render",
}

__all__ = [
    "ConfigurationError",
    "InvalidBodyError",
    "Model",
    "ModelOptions",
    "RenderError",
    "RequestContext",
    "UnknownModelError",
    "detokenize",
    "load_model",
    "render_chat",
    "render_completion",
    "tokenize",
    "validate_options",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)
