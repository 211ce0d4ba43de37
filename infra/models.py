"""infra/models.toml, read and checked: which models are deployed and how."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from handlers.settings import OPTIONS, RENDERING_GROUPS, Settings
from render_core import validate_options
from render_core.errors import ConfigurationError

BUNDLE_ON_LAMBDA: Final = "/var/task/bundle"
ARCHITECTURES: Final = ("arm64", "x86_64")
GATEWAY_SECONDS: Final = 29
"""The longest that a REST API waits for a function."""

_NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LONGEST_NAME: Final = 32  # a function's name may have 64 characters, and the stack's name comes first
_RESERVED: Final = frozenset({"authorizer"})  # the function of that name is there already
_ENVIRONMENT_BYTES: Final = 4096

# Options with a key of their own, and those that name a file of the machine that reads models.toml.
_NO_OPTIONS: Final = frozenset(
    {"model", "revision", "served_model_name", "max_model_len", "tool_call_parser", "reasoning_parser"}
    | {"chat_template"}
)
_EXTRA_OPTIONS: Final = {
    each.name: each
    for each in OPTIONS
    if (each.group in RENDERING_GROUPS or each.name == "log_level") and each.name not in _NO_OPTIONS
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployedModel:
    """One model and its function. Raises ConfigurationError when a value is not possible.

    Attributes:
        name: path segment and end of the function's name.
        source: model directory, repository id, or s3://bucket/prefix of a bundle; None: the demo model.
        options: further options of `render-core serve`, by their names with underscores.
        memory: MB.
        timeout: seconds after which the gateway answers 504.
        provisioned_concurrency: environments that are always ready; 0: none.
        reserved_concurrency: at most so many at once, kept from other functions; None: no such limit.
        p99_milliseconds: the alarm's threshold.
    """

    name: str
    source: str | None = None
    revision: str | None = None
    served_names: tuple[str, ...] = ()
    tool_call_parser: str | None = None
    reasoning_parser: str | None = None
    max_model_len: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    memory: int = 1769
    timeout: int = 25
    architecture: str = "arm64"
    snap_start: bool = True
    provisioned_concurrency: int = 0
    reserved_concurrency: int | None = None
    p99_milliseconds: int = 2000

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or len(self.name) > _LONGEST_NAME:
            raise ConfigurationError(
                f"the name must be lowercase letters, digits and single hyphens, at most {_LONGEST_NAME}"
            )
        if self.name in _RESERVED:
            raise ConfigurationError("this name is taken by a part of the deployment")
        _check_range("memory", self.memory, 128, 10240)
        _check_range("timeout", self.timeout, 1, GATEWAY_SECONDS)
        _check_range("provisioned_concurrency", self.provisioned_concurrency, 0, 1000)
        _check_range("p99_milliseconds", self.p99_milliseconds, 1, 1000 * GATEWAY_SECONDS)
        if self.reserved_concurrency is not None:
            _check_range("reserved_concurrency", self.reserved_concurrency, 1, 10000)
            if self.provisioned_concurrency > self.reserved_concurrency:
                raise ConfigurationError("provisioned_concurrency is more than reserved_concurrency")
        if self.architecture not in ARCHITECTURES:
            raise ConfigurationError(f"architecture: {self.architecture!r} is none of {ARCHITECTURES}")
        if self.snap_start and self.provisioned_concurrency:
            raise ConfigurationError(
                "Lambda has no SnapStart with provisioned concurrency: set snap_start = false"
            )
        if self.revision is not None and (self.source is None or self.source.startswith("s3://")):
            raise ConfigurationError("revision: only a repository id has one")
        if self.source is not None and self.source.startswith("s3://"):
            _check_bucket_address(self.source)
        self._check_environment()

    @property
    def logical_id(self) -> str:
        """The stem of its resources' ids in the template, which may hold letters and digits only."""
        return "".join(part.capitalize() for part in self.name.split("-"))

    @property
    def is_baked(self) -> bool:
        """Whether its bundle is part of the function, and not fetched from S3 at start."""
        return self.source is None or not self.source.startswith("s3://")

    @property
    def environment(self) -> dict[str, str]:
        """The variables of its function."""
        given = {
            "model": BUNDLE_ON_LAMBDA if self.is_baked else self.source,
            "root_path": f"/{self.name}",
            "served_model_name": ",".join(self.served_names),
            "max_model_len": self.max_model_len,
            "tool_call_parser": self.tool_call_parser,
            "reasoning_parser": self.reasoning_parser,
            **self.options,
        }
        names = {each.name: each.environment_name for each in OPTIONS}
        return {names[name]: _as_text(value) for name, value in given.items() if value not in (None, "")}

    def _check_environment(self) -> None:
        if unknown := sorted(set(self.options) - set(_EXTRA_OPTIONS)):
            raise ConfigurationError(f"options: {unknown[0]} is none of {', '.join(sorted(_EXTRA_OPTIONS))}")
        if strange := [name for name in self.served_names if "," in name or name != name.strip() or not name]:
            raise ConfigurationError(f"served_names: {strange[0]!r} is blank, padded or holds a comma")
        validate_options(Settings.from_environment(self.environment).model_options())
        size = sum(len(f"{name}{value}".encode()) for name, value in self.environment.items())
        if size > _ENVIRONMENT_BYTES:
            raise ConfigurationError(
                f"the function's variables take {size} bytes; Lambda has {_ENVIRONMENT_BYTES}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """All of infra/models.toml.

    Attributes:
        key_cache_seconds: how long the gateway keeps the authorizer's answer to one Authorization header.
    """

    models: tuple[DeployedModel, ...]
    key_cache_seconds: int = 0

    def __post_init__(self) -> None:
        _check_range("[gateway] key_cache_seconds", self.key_cache_seconds, 0, 3600)
        if not self.models:
            raise ConfigurationError("no model is declared: a [models.NAME] table is needed")
        known: dict[str, str] = {}
        for model in self.models:
            if model.logical_id in known:
                raise ConfigurationError(
                    f"the models {known[model.logical_id]} and {model.name} are both {model.logical_id}"
                )
            known[model.logical_id] = model.name

    def model(self, name: str) -> DeployedModel:
        """The model of that name. Raises ConfigurationError if there is none."""
        for each in self.models:
            if name in (each.name, f"{each.logical_id}Function"):
                return each
        raise ConfigurationError(f"{name} is no model of models.toml")


def read_deployment(file: Path) -> Deployment:
    """The deployment that a TOML file declares. Raises ConfigurationError with the place of the mistake."""
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{file.name}: {error}") from None
    try:
        return _deployment(document)
    except ConfigurationError as error:
        raise ConfigurationError(f"{file.name}: {error}") from None


def _deployment(document: Mapping[str, Any]) -> Deployment:
    _check_keys("the file", document, {"gateway", "models"})
    gateway, models = document.get("gateway", {}), document.get("models", {})
    for name, table in (("gateway", gateway), ("models", models)):
        if not isinstance(table, dict):
            raise ConfigurationError(f"{name} must be a table")
    _check_keys("[gateway]", gateway, {"key_cache_seconds"})
    return Deployment(models=tuple(_model(name, table) for name, table in models.items()), **gateway)


def _model(name: str, table: Any) -> DeployedModel:
    try:
        if not isinstance(table, dict):
            raise ConfigurationError("a table is needed")
        known = {each.name: each for each in fields(DeployedModel) if each.name != "name"}
        _check_keys("the table", table, set(known))
        for key, value in table.items():
            _check_type(key, value, str(known[key].type))
        names = table.get("served_names", ())
        return DeployedModel(name=name, **{**table, "served_names": tuple(names)})
    except ConfigurationError as error:
        raise ConfigurationError(f"[models.{name}] {error}") from None


def _check_keys(place: str, table: Mapping[str, Any], known: set[str]) -> None:
    if unknown := sorted(set(table) - known):
        raise ConfigurationError(
            f"{place} has the key {unknown[0]}, which is none of {', '.join(sorted(known))}"
        )


def _check_type(key: str, value: Any, annotation: str) -> None:
    expected, words = {
        "str": (str, "a text"),
        "int": (int, "a whole number"),
        "bool": (bool, "true or false"),
        "tuple[str, ...]": (list, "a list of texts"),
        "Mapping[str, Any]": (dict, "a table"),
    }[annotation.removesuffix(" | None")]
    of_texts = expected is not list or all(isinstance(each, str) for each in value)
    if type(value) is not expected or not of_texts or value == "":
        raise ConfigurationError(f"{key} must be {words}")


def _check_range(key: str, value: Any, lowest: int, highest: int) -> None:
    if type(value) is not int or not lowest <= value <= highest:
        raise ConfigurationError(f"{key}: {value!r} is no whole number between {lowest} and {highest}")


def _check_bucket_address(address: str) -> None:
    if not re.fullmatch(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/[A-Za-z0-9!_.()/-]+", address):
        raise ConfigurationError(f"source: {address!r} must have the form s3://bucket/prefix")


def _as_text(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case dict():
            return json.dumps(value)
        case _:
            return str(value)
