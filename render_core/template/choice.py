"""The chat templates of a model and the choice among them (spec 3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from render_core.errors import ConfigurationError, RenderError
from render_core.template.cache import TemplateCache
from render_core.template.compiled import CompiledTemplate, compile_template
from render_core.template.content_format import ContentFormat
from render_core.template.failures import TemplateRejectedError


@dataclass(frozen=True, slots=True)
class TemplateSet:
    """A model's templates by name, compiled, and the operator's choice.

    Attributes:
        named: the model's own templates.
        override: the operator's template, which wins over the model's own.
        content_format: the operator's choice of content format; None detects it from the template.
        requested: compiled templates of trusted requests.
    """

    named: Mapping[str, CompiledTemplate]
    override: CompiledTemplate | None
    content_format: ContentFormat | None
    requested: TemplateCache

    def choose(self, source: str | None, with_tools: bool) -> CompiledTemplate:
        """The template of a request.

        Args:
            source: a template of the request itself, or the name of one of the model's.
            with_tools: whether the request offers tools: then a template named "tool_use" is preferred.

        Raises:
            RenderError: there is no template to use, or the request's own does not compile.
        """
        if source is not None:
            return self._of_request(source)
        if self.override is not None:
            return self.override
        if with_tools and "tool_use" in self.named:
            return self.named["tool_use"]
        if "default" in self.named:
            return self.named["default"]
        if self.named:
            raise RenderError(
                f"The model has no default chat template; named ones are: {', '.join(sorted(self.named))}."
            )
        raise RenderError("The model has no chat template, and a default one no longer exists: provide one.")

    def format_of(self, template: CompiledTemplate) -> ContentFormat:
        """The content format to use with a template."""
        return self.content_format or template.content_format

    def _of_request(self, source: str) -> CompiledTemplate:
        if len(self.named) > 1 and source in self.named:
            return self.named[source]
        try:
            return self.requested.compiled(source)
        except TemplateRejectedError as error:
            raise RenderError(error.message, "chat_template") from None


def compile_named(sources: Mapping[str, str]) -> dict[str, CompiledTemplate]:
    """Compile a model's templates by name. Raises ConfigurationError when one does not compile."""
    return {name: _compiled(f"chat template {name!r}", source) for name, source in sources.items()}


def template_set(
    named: Mapping[str, CompiledTemplate], override: str | None, content_format: ContentFormat | None
) -> TemplateSet:
    """A model's templates with the operator's choices.

    Args:
        override: the operator's template text, or the name of one of `named`.

    Raises:
        ConfigurationError: the operator's template does not compile, or names one that does not exist.
    """
    chosen = None
    if override is not None:
        if override in named:
            chosen = named[override]
        elif any(mark in override for mark in "{}\n"):
            chosen = _compiled("given chat template", override)
        else:
            raise ConfigurationError(
                f"The chat template {override!r} is no file, no template and no name the model has."
            )
    return TemplateSet(named, chosen, content_format, TemplateCache())


def _compiled(what: str, source: str) -> CompiledTemplate:
    try:
        return compile_template(source)
    except TemplateRejectedError as error:
        raise ConfigurationError(f"The {what} does not compile: {error.message}") from None
