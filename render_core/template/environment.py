"""The Jinja environment of chat templates: configured as transformers 5.20 does (spec 3), sandboxed and metered.

Templates are hostile input. Attributes go through `attributes`, calls through `calls` and `methods`, filters and
tests are metered; everything else that can grow is instrumented code.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast

from jinja2 import nodes, pass_context
from jinja2.exceptions import TemplateError
from jinja2.ext import Extension, LoopControlExtension
from jinja2.runtime import Context, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace, missing

from render_core.template.attributes import is_readable
from render_core.template.calls import call_object
from render_core.template.checks import metered_tests
from render_core.template.filters import metered_filters
from render_core.template.formatting import FormatMethod
from render_core.template.shortcuts import DICT_ATTRIBUTES
from render_core.template.weight import check_key

if TYPE_CHECKING:
    import datetime
    from collections.abc import Callable

    from jinja2.parser import Parser

    from render_core.template.meter import Meter
    from render_core.template.operations import Operations

_members: Final = object.__getattribute__
_STRFTIME_CHARS_PER_CHAR: Final = 256
_FORMAT_METHODS: Final = frozenset({"format", "format_map"})


class MeteredContext(Context):
    """The variables of one rendering, and what else belongs to it.

    Attributes:
        meter: the rendering's account.
        operations: what its code calls.
        now: the time that `strftime_now` formats.
    """

    meter: Meter
    operations: Operations
    now: datetime.datetime

    def derived(self, locals: dict[str, Any] | None = None) -> MeteredContext:
        context = super().derived(locals)
        assert isinstance(context, MeteredContext)
        context.meter, context.operations, context.now = self.meter, self.operations, self.now
        return context

    def super(self, name: str, current: Callable[..., Any]) -> Undefined:
        """There is no loader, so no block has a parent."""
        return self.environment.undefined(f"there is no parent block called {name!r}.", name="super")


class GenerationExtension(Extension):
    """`{% generation %}...{% endgeneration %}`: marks what the assistant wrote; rendered as it is."""

    tags = {"generation"}

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("render_body"), [], [], body).set_lineno(line)

    def render_body(self, caller: Callable[[], str]) -> str:
        return caller()


class MeteredEnvironment(ImmutableSandboxedEnvironment):
    """Raises BudgetExceededError from whatever would exceed the budget of the rendering it belongs to."""

    context_class = MeteredContext
    # The code generator writes these out as operations; here they keep Jinja from computing them while compiling.
    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "%", "**"})
    intercepted_unops = frozenset({"+", "-"})

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[GenerationExtension, LoopControlExtension],
            optimized=False,  # Jinja folds constants in time cubic to the depth of an expression
        )
        self.filters.update(metered_filters())
        self.tests.update(metered_tests())
        self.globals["raise_exception"] = _raise_exception
        self.globals["strftime_now"] = _strftime_now

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return is_readable(obj, attr)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """`obj.attribute`"""
        if type(obj) is dict and attribute not in DICT_ATTRIBUTES:
            try:
                return obj[attribute]
            except KeyError:
                return self.undefined(obj=obj, name=attribute)
        if type(obj) is Namespace and not attribute.startswith("_"):
            value = _members(obj, "_Namespace__attrs").get(attribute, missing)
            return self.undefined(obj=obj, name=attribute) if value is missing else value
        try:
            value = getattr(obj, attribute)
        except AttributeError:
            return self._item(obj, attribute)
        return self._attribute(obj, attribute, value)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """`obj[argument]`"""
        try:
            if type(obj) is dict and type(argument) is str:
                return obj[argument]
            if type(obj) is list and type(argument) is int:
                return obj[argument]
            check_key(argument)
            if type(obj) is not type:  # dict[...] would be a type that has all attributes of dict
                return obj[argument]
        except (TypeError, LookupError):
            pass
        if isinstance(argument, str):
            try:
                value = getattr(obj, str(argument))
            except AttributeError:
                pass
            else:
                return self._attribute(obj, argument, value)
        return self.undefined(obj=obj, name=argument)

    def _item(self, obj: Any, name: str) -> Any:
        try:
            if type(obj) is not type:
                return obj[name]
        except (TypeError, LookupError):
            pass
        return self.undefined(obj=obj, name=name)

    def _attribute(self, obj: Any, name: str, value: Any) -> Any:
        if name in _FORMAT_METHODS and isinstance(obj, str):
            return FormatMethod(obj, is_map=name == "format_map")
        return value if is_readable(obj, name) else self.unsafe_undefined(obj, name)

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805 - kwargs may be named so
        """`obj(...)`"""
        if kwargs:
            kwargs.pop("_loop_vars", None)
            kwargs.pop("_block_vars", None)
        return call_object(__self, cast(MeteredContext, __context), __obj, args, kwargs)


@cache
def environment() -> MeteredEnvironment:
    """The environment all chat templates are compiled in. Keeps no state of any rendering."""
    return MeteredEnvironment()


@pass_context
def _raise_exception(context: MeteredContext, message: Any) -> None:
    context.meter.text_size(message)
    raise TemplateError(message)


@pass_context
def _strftime_now(context: MeteredContext, format: str) -> str:
    if isinstance(format, str):
        context.meter.expect_text(_STRFTIME_CHARS_PER_CHAR * len(format))
    return context.now.strftime(format)
