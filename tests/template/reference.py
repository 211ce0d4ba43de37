"""Plain Jinja, sandboxed and configured as transformers 5.20 configures it for chat templates (spec 3): the oracle."""

from __future__ import annotations

import copy
import datetime
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import Environment, nodes
from jinja2.exceptions import TemplateError
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from render_core.template.compiled import compile_template
from render_core.template.failures import TemplateFailure, failure_of

NOW = datetime.datetime(2026, 3, 5, 7, 8, 9)
_ADDRESS = re.compile("0x[0-9a-f]+", re.IGNORECASE)


class _Generation(Extension):
    tags = {"generation"}

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller: Callable[[], str]) -> str:
        return caller()


def reference_environment(kind: type[Environment] = ImmutableSandboxedEnvironment) -> Environment:
    environment = kind(trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols])
    environment.filters["tojson"] = _tojson
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = lambda format: NOW.strftime(format)
    return environment


def reference_outcome(source: str, variables: Mapping[str, Any]) -> tuple[str, str]:
    """("text", the text) or ("failure", the message)."""
    try:
        template = reference_environment().from_string(source)
        return "text", _plain(template.render(copy.deepcopy(dict(variables))))
    except Exception as error:  # noqa: BLE001
        return "failure", _plain(failure_of(error).message)


def outcome(source: str, variables: Mapping[str, Any]) -> tuple[str, str]:
    """The same of the template under test, which must leave its variables alone."""
    before = copy.deepcopy(dict(variables))
    try:
        text = compile_template(source).render(variables, now=NOW)
    except TemplateFailure as failure:
        return "failure", _plain(failure.message)
    finally:
        assert variables == before
    return "text", _plain(text)


def _plain(text: str) -> str:
    return _ADDRESS.sub("ADDRESS", text)


def _tojson(
    x: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None, sort_keys: bool = False
) -> str:
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _raise_exception(message: Any) -> None:
    raise TemplateError(message)
