"""A compiled chat template: what is known of it in advance, and its rendering."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, Final

from jinja2 import Template
from jinja2.runtime import Context

from render_core.template.budget import TemplateBudget
from render_core.template.content_format import ContentFormat, detect_content_format
from render_core.template.environment import MeteredContext, MeteredEnvironment, environment
from render_core.template.failures import TemplateFailure, TemplateRejectedError, failure_of
from render_core.template.instrumentation import MeteredCodeGenerator, plan
from render_core.template.meter import Meter
from render_core.template.operations import Operations

_MAX_SOURCE_CHARS: Final = 128 * 1024
_MAX_CODE_CHARS: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class CompiledTemplate:
    """A chat template, ready to render. May be shared between threads.

    Attributes:
        source: the template's text.
        variables: the names it takes from its variables.
        content_format: the form it wants message content in.
        mentions_developer: whether it names the developer role.
    """

    source: str
    variables: frozenset[str]
    content_format: ContentFormat
    mentions_developer: bool
    _template: Template = field(repr=False, compare=False)

    def render(
        self, variables: Mapping[str, Any], *, now: datetime.datetime, budget: TemplateBudget | None = None
    ) -> str:
        """The text for these variables, which are not changed.

        Args:
            variables: of the types that JSON has.
            now: local time, for `strftime_now`.
            budget: the limits; None for the default ones.

        Raises:
            TemplateRejectedError: the template raised an error.
            TemplateBudgetError: it passed a limit.
        """
        meter = Meter(budget or TemplateBudget())
        operations = Operations(meter)
        try:
            context = self._context(variables, meter, operations, now)
            return "".join(meter.stream(self._template.root_render_func(context)))
        except Exception as error:  # noqa: BLE001 - a template can raise anything
            failure = failure_of(error)
        finally:
            operations.close()
        raise failure  # outside of the handler, so that it does not keep the template's frames alive

    def _context(
        self, variables: Mapping[str, Any], meter: Meter, operations: Operations, now: datetime.datetime
    ) -> MeteredContext:
        context = self._template.new_context(dict(variables))
        assert isinstance(context, MeteredContext)
        context.meter, context.operations, context.now = meter, operations, now
        for blocks in context.blocks.values():
            blocks[:] = [_streamed(meter, block) for block in blocks]
        return context


def _streamed(meter: Meter, block: Callable[[Context], Iterator[str]]) -> Callable[[Context], Iterator[str]]:
    return lambda context: meter.stream(block(context))


def compile_template(source: str) -> CompiledTemplate:
    """Compile a chat template.

    Raises:
        TemplateRejectedError: it is no template, or too large or too deeply nested for one.
    """
    if len(source) > _MAX_SOURCE_CHARS:
        raise TemplateRejectedError(f"The chat template is longer than {_MAX_SOURCE_CHARS} characters.")
    try:
        return translate(environment(), source).load()
    except TemplateFailure:
        raise
    except Exception as error:  # noqa: BLE001 - besides Jinja's own errors: RecursionError, SyntaxError, MemoryError
        failure = failure_of(error)
    raise failure


@dataclass(frozen=True, slots=True)
class TemplateProgram:
    """What translating a template gives: enough to make it again without Jinja's parser.

    Attributes:
        code: Python source, for this package's environment and this version of Jinja.
    """

    source: str
    code: str
    variables: frozenset[str]
    content_format: ContentFormat

    def load(self, code: CodeType | None = None) -> CompiledTemplate:
        """The template. `code` is the compiled form of the program's code, where one was kept."""
        jinja = environment()
        compiled = code or compile(self.code, "<template>", "exec")
        return CompiledTemplate(
            source=self.source,
            variables=self.variables,
            content_format=self.content_format,
            mentions_developer='"developer"' in self.source or "'developer'" in self.source,
            _template=Template.from_code(jinja, compiled, jinja.make_globals(None)),
        )


def translate(jinja: MeteredEnvironment, source: str) -> TemplateProgram:
    """Translate a template to Python. Raises Jinja's own errors, and whatever deep nesting leads to."""
    tree = jinja.parse(source)
    generator = MeteredCodeGenerator(jinja, plan(tree))
    content_format = detect_content_format(tree)
    code = generator.generate(tree)
    if len(code) > _MAX_CODE_CHARS:
        raise TemplateRejectedError("The chat template is too large.")
    return TemplateProgram(source, code, frozenset(generator.undeclared), content_format)
