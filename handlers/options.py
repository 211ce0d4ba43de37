"""What an option is: the names it goes by, and how a flag or an environment variable gives it a value.

Which options exist is said in `handlers.settings`; this module names none.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, NoReturn

from handlers.option_values import boolean, is_boolean
from render_core.errors import ConfigurationError

ENVIRONMENT_PREFIX = "RENDER_CORE_"

# Kubernetes sets these in pods beside a Service that is named `render-core`; they are no settings of ours.
_SERVICE_LINK = re.compile(r"RENDER_CORE_(SERVICE_(HOST|PORT\w*)|PORT_\d+_(TCP|UDP|SCTP)\w*)")
_OF_TESTS = frozenset(
    {
        "RENDER_CORE_CORPUS",
        "RENDER_CORE_MODELS",
        "RENDER_CORE_BUNDLES",
        "RENDER_CORE_LAMBDA_ARTIFACT",
        "RENDER_CORE_LAMBDA_PYTHON",
    }
)
_SERVICE_LINK_VALUE = re.compile(r"(tcp|udp|sctp)://")


@dataclass(frozen=True, slots=True)
class Option:
    """One option.

    `parse` makes a value of a text and raises ValueError with the reason. A switch may stand bare, have a
    value, or be turned off by its `off_flag`. `several` takes one or more values (commas in the environment).
    """

    name: str
    flag: str
    environment_name: str
    environment_fallback: str | None
    default: Any
    parse: Callable[[str], Any]
    help: str
    group: str
    is_switch: bool
    several: bool
    metavar: str

    @property
    def off_flag(self) -> str:
        """The flag that turns a switch off: `--disable-x` for `--enable-x`, else `--no-x`."""
        plain = self.flag.removeprefix("--")
        return (
            f"--disable-{plain.removeprefix('enable-')}" if plain.startswith("enable-") else f"--no-{plain}"
        )

    def read_flag(self, given: str | Sequence[str]) -> Any:
        """The value of what stood on the command line. Raises ConfigurationError."""
        if isinstance(given, str):
            return self._value(given, self.flag)
        return tuple(self._value(text, self.flag) for text in given)

    def read_environment(self, environ: Mapping[str, str]) -> Any:
        """The value in `environ`, else the default. Blank counts as unset. Raises ConfigurationError."""
        text = environ.get(self.environment_name, "").strip()
        if text and not _SERVICE_LINK_VALUE.match(text):
            if not self.several:
                return self._value(text, self.environment_name)
            parts = [part.strip() for part in text.split(",") if part.strip()]
            return tuple(self._value(part, self.environment_name) for part in parts)
        if self.environment_fallback and (text := environ.get(self.environment_fallback, "").strip()):
            value = self._value(text, self.environment_fallback)
            return (value,) if self.several else value
        return self.default

    def _value(self, text: str, source: str) -> Any:
        try:
            return self.parse(text)
        except ValueError as reason:
            raise ConfigurationError(f"{source}: {reason}") from None


def option(
    default: Any,
    parse: Callable[[str], Any],
    help: str,
    *,
    group: str,
    flag: str | None = None,
    environment_fallback: str | None = None,
    is_switch: bool = False,
    several: bool = False,
    secret: bool = False,
    metavar: str = "VALUE",
) -> Any:
    """Makes a dataclass field an option. Unless given, its flag follows from the field's name.

    A secret does not show in the representation of the settings.
    """
    metadata = {
        "parse": parse,
        "help": help,
        "group": group,
        "flag": flag,
        "environment_fallback": environment_fallback,
        "is_switch": is_switch,
        "several": several,
        "metavar": metavar,
    }
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), repr=not secret, metadata=metadata)
    return field(default=default, repr=not secret, metadata=metadata)


def switch(default: bool, help: str, *, group: str, environment_fallback: str | None = None) -> Any:
    """Makes a dataclass field an option that is on or off, with the off flag that vLLM would give it."""
    return option(
        default, boolean, help, group=group, environment_fallback=environment_fallback, is_switch=True
    )


def options_of(settings: type[Any]) -> tuple[Option, ...]:
    """The options that the fields of a dataclass declare, in their order."""
    return tuple(_declared_by(each) for each in fields(settings))


def _declared_by(each: Field[Any]) -> Option:
    declared = dict(each.metadata)
    flag = declared.pop("flag") or "--" + each.name.replace("_", "-")
    environment_name = ENVIRONMENT_PREFIX + flag[2:].replace("-", "_").upper()
    default = each.default if each.default_factory is MISSING else each.default_factory()
    return Option(name=each.name, flag=flag, environment_name=environment_name, default=default, **declared)


def unknown_variables(options: Iterable[Option], environ: Mapping[str, str]) -> list[str]:
    """Variables with our prefix that no option reads: mistakes that nobody would notice otherwise."""
    known = {each.environment_name for each in options} | _OF_TESTS
    ours = (name for name in environ if name.startswith(ENVIRONMENT_PREFIX))
    return sorted(name for name in ours if name not in known and not _SERVICE_LINK.fullmatch(name))


class ArgumentParser(argparse.ArgumentParser):
    """An argparse parser that raises ConfigurationError instead of leaving the process."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_abbrev=False, **kwargs)

    def error(self, message: str) -> NoReturn:
        """Raises ConfigurationError."""
        raise ConfigurationError(message)


def add_options(parser: argparse.ArgumentParser, options: Iterable[Option]) -> None:
    """Adds options to a parser, each in its help group. What is not given is absent from the namespace."""
    groups: dict[str, argparse._ArgumentGroup] = {}
    for each in options:
        if each.group not in groups:
            groups[each.group] = parser.add_argument_group(each.group)
        add = groups[each.group].add_argument
        names = ", ".join(filter(None, (each.environment_name, each.environment_fallback)))
        text = f"{each.help} [default: {shown_default(each)}] [env: {names}]".replace("%", "%%")
        shared: dict[str, Any] = {"dest": each.name, "default": argparse.SUPPRESS}
        if each.several:
            add(each.flag, nargs="+", action="extend", metavar=each.metavar, help=text, **shared)
        else:
            add(each.flag, metavar="BOOL" if each.is_switch else each.metavar, help=text, **shared)
        if each.is_switch:
            add(each.off_flag, action="store_const", const="false", help=f"{each.flag}=false", **shared)


def with_switch_values(arguments: Iterable[str], options: Iterable[Option]) -> list[str]:
    """Arguments with every switch written as `--switch=value`.

    The Python renderer of vLLM has bare switches, the Rust one takes an optional value; both are understood.
    """
    switches = {each.flag for each in options if each.is_switch}
    written: list[str] = []
    bare = False
    for argument in arguments:
        if bare and is_boolean(argument):
            written[-1] += f"={argument}"
            bare = False
            continue
        if bare:
            written[-1] += "=true"
        written.append(argument)
        bare = argument in switches
    if bare:
        written[-1] += "=true"
    return written


def shown_default(each: Option) -> str:
    """The default as help and documentation show it."""
    match each.default:
        case None | () | "":
            return "unset"
        case bool():
            return str(each.default).lower()
        case dict():
            return json.dumps(each.default)
        case _:
            return str(each.default)
