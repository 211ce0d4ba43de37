"""Every option of the service, once: the command line, the Lambda entry and the docs read it here."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from handlers import option_values as values
from handlers.options import (
    ArgumentParser,
    add_options,
    option,
    options_of,
    switch,
    unknown_variables,
    with_switch_values,
)
from render_core import ModelOptions
from render_core.errors import ConfigurationError

MODEL = "model"
TEMPLATE = "chat template"
LIMITS = "limits"
OUTPUT = "tools, reasoning and sampling"
HTTP = "HTTP"
TLS = "TLS"
RUNTIME = "runtime"
RENDERING_GROUPS = (MODEL, TEMPLATE, LIMITS, OUTPUT)
"""The groups that decide what is rendered; the others decide how it is served."""

_MEBIBYTE = 1024**2


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How this process renders and serves. Raises ConfigurationError when values contradict each other."""

    model: str | None = option(
        None,
        values.text,
        "Model directory, bundle, s3://bucket/prefix of a bundle, or repository id; unset: a small demo model.",
        group=MODEL,
        metavar="MODEL",
    )
    revision: str | None = option(None, values.text, "Branch, tag or commit on the Hub.", group=MODEL)
    served_model_name: tuple[str, ...] = option(
        (),
        values.text,
        "Names by which requests may ask for the model; the first is the canonical one.",
        group=MODEL,
        several=True,
        metavar="NAME",
    )
    accept_any_model: bool = switch(False, "Render whatever model name a request carries.", group=MODEL)
    tokenizer_mode: str = option("auto", values.text, "Kind of tokenizer or prompt encoder.", group=MODEL)
    tokenizer_engine: Literal["auto", "tokenizers", "kitoken", "fastokens"] = option(
        "auto",
        values.one_of("auto", "tokenizers", "kitoken", "fastokens"),
        "Of a bundle's certified tokenizer engines use only this one; auto: the best that is ready.",
        group=MODEL,
        metavar="ENGINE",
    )

    chat_template: str | None = option(
        None,
        values.template_source,
        "File with the chat template, the template itself, or the name of one of the model's templates.",
        group=TEMPLATE,
        metavar="TEMPLATE",
    )
    chat_template_content_format: Literal["auto", "string", "openai"] = option(
        "auto",
        values.one_of("auto", "string", "openai"),
        "Whether templates get message content as text (string) or as a list of parts (openai).",
        group=TEMPLATE,
        metavar="FORMAT",
    )
    default_chat_template_kwargs: Mapping[str, Any] = option(
        {},
        values.json_object,
        "Template variables that a request may override.",
        group=TEMPLATE,
        metavar="JSON",
    )
    trust_request_chat_template: bool = switch(
        False, "Let a request bring its own chat template.", group=TEMPLATE
    )
    chat_template_timeout: float = option(
        10.0, values.seconds, "Time that a template may take.", group=TEMPLATE, metavar="SECONDS"
    )
    chat_template_max_chars: int = option(
        64 * _MEBIBYTE, values.integer(1), "Length of the text that a template may build.", group=TEMPLATE
    )
    fixed_clock: datetime.datetime | None = option(  # noqa: RUF009 (it is a field)
        None,
        values.moment,
        "Date that templates see, instead of today's.",
        group=TEMPLATE,
        flag="--clock",
        metavar="DATE",
    )

    max_model_len: int | None = option(
        None,
        values.context_length,
        "Context length in tokens (1k is 1000, 1K is 1024); -1 or auto: as the model's configuration says.",
        group=LIMITS,
        metavar="TOKENS",
    )
    allow_long_max_model_len: bool = switch(
        False,
        "Accept a --max-model-len above what the model's configuration says.",
        group=LIMITS,
        environment_fallback="VLLM_ALLOW_LONG_MAX_MODEL_LEN",
    )
    max_logprobs: int | None = option(
        None,
        values.integer(-1),
        "Log probabilities that a request may ask for; -1: any number; unset: left to the engine.",
        group=LIMITS,
    )
    max_completion_prompts: int = option(
        1024, values.integer(1), "Prompts that one completion request may hold.", group=LIMITS
    )
    max_body_size: int = option(
        64 * _MEBIBYTE, values.integer(1), "Largest request body in bytes; above it: 413.", group=LIMITS
    )

    enable_auto_tool_choice: bool = switch(False, 'Allow the tool choice "auto".', group=OUTPUT)
    tool_call_parser: str | None = option(
        None, values.text, "Parser of the model's tool calls.", group=OUTPUT
    )
    reasoning_parser: str | None = option(None, values.text, "Parser of the model's reasoning.", group=OUTPUT)
    tool_strict_level: str | None = option(
        None,
        values.one_of("auto", "function", "parameter"),
        "The least that structural tags pin down in tool calls: auto, function or parameter.",
        group=OUTPUT,
        metavar="LEVEL",
    )
    enforce_strict_tool_calling: bool = switch(
        True,
        "Describe tool calls by structural tags where the parser has them.",
        group=OUTPUT,
        environment_fallback="VLLM_ENFORCE_STRICT_TOOL_CALLING",
    )
    exclude_tools_when_tool_choice_none: bool = switch(
        False, 'Leave tools out of the prompt when the tool choice is "none".', group=OUTPUT
    )
    generation_config: str = option(
        "auto",
        values.generation_config,
        "Sampling defaults: auto (the model's), vllm (none), or a directory with a generation_config.json.",
        group=OUTPUT,
        metavar="SOURCE",
    )
    override_generation_config: Mapping[str, Any] = option(
        {}, values.json_object, "Sampling defaults that win over those.", group=OUTPUT, metavar="JSON"
    )

    host: str = option("127.0.0.1", values.text, "Address to bind.", group=HTTP)
    port: int = option(8000, values.integer(0, 65535), "Port to bind; 0: any that is free.", group=HTTP)
    root_path: str = option(
        "", values.path_prefix, "Path prefix that requests may carry, as the stage /prod.", group=HTTP
    )
    api_key: tuple[str, ...] = option(
        (),
        values.text,
        "Keys that open the service, sent as Bearer, x-api-key or Basic.",
        group=HTTP,
        environment_fallback="VLLM_API_KEY",
        several=True,
        secret=True,
        metavar="KEY",
    )
    insecure_no_auth: bool = switch(
        False, "Bind an address that is not loopback even without an API key.", group=HTTP
    )
    compression: bool = switch(
        False, "Answer with gzip where the client accepts it; some routers accept it by mistake.", group=HTTP
    )
    enable_request_id_headers: bool = switch(True, "Answer with the header X-Request-Id.", group=HTTP)

    ssl_certfile: str | None = option(
        None, values.readable_file, "Certificate chain (PEM); turns TLS on.", group=TLS, metavar="FILE"
    )
    ssl_keyfile: str | None = option(
        None, values.readable_file, "Private key (PEM), if not in --ssl-certfile.", group=TLS, metavar="FILE"
    )
    ssl_ca_certs: str | None = option(
        None, values.readable_file, "Authorities of client certificates (PEM).", group=TLS, metavar="FILE"
    )
    ssl_cert_reqs: int = option(
        0, values.integer(0, 2), "Client certificates: 0 none, 1 optional, 2 required.", group=TLS
    )
    ssl_ciphers: str | None = option(None, values.text, "OpenSSL cipher list for TLS 1.2.", group=TLS)

    workers: int = option(
        1,
        values.integer(1, 64),
        "Processes that serve, each with the model; more than one uses more than one CPU.",
        group=RUNTIME,
    )
    renderer_num_workers: int | None = option(
        None, values.integer(1, 1024), "Threads that render; unset: one for each CPU.", group=RUNTIME
    )
    log_level: str = option(
        "info",
        values.one_of("debug", "info", "warning", "error", "critical"),
        "Least severity that is logged: debug, info, warning, error or critical.",
        group=RUNTIME,
        metavar="LEVEL",
    )
    access_log: bool = switch(False, "Log a line for every request, never its text.", group=RUNTIME)

    def __post_init__(self) -> None:
        if self.ssl_certfile is None:
            for flag, given in (
                ("--ssl-keyfile", self.ssl_keyfile),
                ("--ssl-ca-certs", self.ssl_ca_certs),
                ("--ssl-cert-reqs", self.ssl_cert_reqs),
                ("--ssl-ciphers", self.ssl_ciphers),
            ):
                if given:
                    raise ConfigurationError(f"{flag} needs --ssl-certfile")
        if self.ssl_cert_reqs and self.ssl_ca_certs is None:
            raise ConfigurationError(
                "--ssl-cert-reqs needs --ssl-ca-certs to check client certificates against"
            )

    @classmethod
    def from_args(cls, arguments: Sequence[str], environ: Mapping[str, str] | None = None) -> Settings:
        """The settings that `render-core serve` would use with these arguments. Raises ConfigurationError."""
        parser = ArgumentParser(prog="render-core serve", add_help=False)
        parser.add_argument("positional_model", nargs="?")
        add_options(parser, OPTIONS)
        given = vars(parser.parse_args(with_switch_values(arguments, OPTIONS)))
        return cls.from_flags(given, environ or {})

    @classmethod
    def from_flags(cls, given: Mapping[str, Any], environ: Mapping[str, str]) -> Settings:
        """What flags say (texts by option name, see `add_options`), else the environment, else defaults.

        `given` may also hold `positional_model`. Raises ConfigurationError.
        """
        flags = dict(given)
        positional = flags.pop("positional_model", None)
        if positional is not None and flags.setdefault("model", positional) != positional:
            raise ConfigurationError(f"two models are named: {positional} and --model {flags['model']}")
        if "model" not in flags:
            _check_no_model_was_swallowed(flags)
        if unknown := unknown_variables(OPTIONS, environ):
            raise ConfigurationError(f"{unknown[0]}: no such environment variable")
        return cls(
            **{
                each.name: each.read_flag(flags[each.name])
                if each.name in flags
                else each.read_environment(environ)
                for each in OPTIONS
            }
        )

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Settings:
        """The settings that environment variables alone give. Raises ConfigurationError."""
        return cls.from_flags({}, environ)

    def clock(self) -> datetime.datetime:
        """The local time that templates see, without a zone (as `datetime.now()` in transformers)."""
        return self.fixed_clock or datetime.datetime.now()

    def model_options(self) -> ModelOptions:
        """The part of the settings that decides what is rendered."""
        return ModelOptions(
            served_model_names=self.served_model_name,
            accept_any_model=self.accept_any_model,
            revision=self.revision,
            tokenizer_engine=None if self.tokenizer_engine == "auto" else self.tokenizer_engine,
            chat_template=self.chat_template,
            chat_template_content_format=self.chat_template_content_format,
            default_chat_template_kwargs=self.default_chat_template_kwargs,
            trust_request_chat_template=self.trust_request_chat_template,
            exclude_tools_when_tool_choice_none=self.exclude_tools_when_tool_choice_none,
            max_model_len=self.max_model_len,
            allow_long_max_model_len=self.allow_long_max_model_len,
            max_logprobs=self.max_logprobs,
            generation_config=self.generation_config,
            override_generation_config=self.override_generation_config,
            tool_call_parser=self.tool_call_parser,
            reasoning_parser=self.reasoning_parser,
            enable_auto_tool_choice=self.enable_auto_tool_choice,
            tool_strict_level=self.tool_strict_level,
            enforce_strict_tool_calling=self.enforce_strict_tool_calling,
            tokenizer_mode=self.tokenizer_mode,
            template_seconds=self.chat_template_timeout,
            template_max_chars=self.chat_template_max_chars,
            max_completion_prompts=self.max_completion_prompts,
        )


def _check_no_model_was_swallowed(flags: Mapping[str, Any]) -> None:
    """An option that takes several values takes a model that follows them for one more."""
    for each in OPTIONS:
        taken: Sequence[str] = (flags.get(each.name) or ()) if each.several else ()
        if len(taken) > 1 and Path(taken[-1]).is_dir():
            raise ConfigurationError(
                f"{taken[-1]} was taken for a value of {each.flag}: name the model first"
            )


OPTIONS = options_of(Settings)
