"""How a chat template fails, as callers of this package see it."""

from __future__ import annotations

from typing import Final

from jinja2 import TemplateError, TemplateSyntaxError

from render_core.template.budget import BudgetExceededError

_MAX_MESSAGE_CHARS: Final = 2000


class TemplateFailure(Exception):  # noqa: N818 - the common name of two errors
    """A template did not give a text.

    Attributes:
        message: text for the client. A message written here names a limit and never quotes the conversation; a
            template's own error message is passed on, as far as its first characters.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message[:_MAX_MESSAGE_CHARS]


class TemplateRejectedError(TemplateFailure):
    """The template does not compile, refused the conversation, or failed on it."""


class TemplateBudgetError(TemplateFailure):
    """The template cost more than it may."""


def failure_of(error: BaseException) -> TemplateFailure:
    """The failure to report for an error raised while compiling or rendering.

    The text is chosen as vLLM 0.33 does: that of the first Jinja error along the chain of causes, else the
    error's own.
    """
    if isinstance(error, BudgetExceededError):
        return TemplateBudgetError(str(error))
    seen = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        if isinstance(link, TemplateSyntaxError):
            return TemplateRejectedError(str(link.message))
        if isinstance(link, TemplateError):
            return TemplateRejectedError(str(link))
        link = link.__cause__ or link.__context__
    return TemplateRejectedError(str(error))
