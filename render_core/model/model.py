"""A loaded model: one immutable object that every request is rendered with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from render_core.errors import RenderError, UnknownModelError
from render_core.families.effects import Parsers
from render_core.families.encoder import PromptEncoder
from render_core.families.encoders import build_encoder, chosen_family
from render_core.model.files import ModelFiles, read_generation_config, read_model_files
from render_core.model.limits import context_length, text_part
from render_core.model.manifest import is_bundle
from render_core.model.options import ModelOptions, check_auto_tool_choice, validate_options
from render_core.model.parsers import model_parsers, with_chosen_parsers
from render_core.model.parts import ModelParts
from render_core.model.preparation import prepare
from render_core.sampling import generation_defaults
from render_core.template.budget import TemplateBudget
from render_core.template.choice import TemplateSet, compile_named, template_set
from render_core.tokenizer.cascade import CascadeEngine
from render_core.tokenizer.quick import QuickEngine
from render_core.tokenizer.tokenizer import Tokenizer, build_tokenizer

DEMO_NAME: Final = "render-core-demo"
_PATIENCE_SECONDS: Final = 2.0
"""How long the hot tokenizer waits for the request that a process was started for."""

_QUICK_TEMPLATE_SECONDS: Final = 0.01
"""Many times what a template takes for a short conversation."""

_DEMO_ROOT: Final = Path(__file__).resolve().parent.parent / "demo_model"


@dataclass(frozen=True, slots=True)
class Model:
    """A model ready to render for.

    Attributes:
        served_names: names that requests may use; the first is canonical.
        root: where it was loaded from, as the operator wrote it.
        revision: the commit of a repository's snapshot; None for a directory.
        is_demo: whether this is the embedded demo model.
        max_model_len: context length in tokens.
        vocabulary_size: the model's or the tokenizer's number of ids, whichever is larger.
        parsers: what the model's parsers change in a rendered request.
        parser_reason: why these parsers, for the start log.
        encoder: makes the prompts of a family that has no chat template; None for a model with templates.
        sampling_defaults: from generation_config.json and its override.
        quick: the same model, for renderings that must not take long: they raise NotQuickError, or a RenderError, where
            this model might take longer. None when it could do nothing quickly.
        output_limit: cap on generated tokens that no request can raise; None for none.
    """

    served_names: tuple[str, ...]
    root: str
    revision: str | None
    is_demo: bool
    options: ModelOptions
    config: Mapping[str, Any]
    max_model_len: int
    vocabulary_size: int
    tokenizer: Tokenizer
    templates: TemplateSet
    template_budget: TemplateBudget
    parsers: Parsers
    parser_reason: str
    encoder: PromptEncoder | None
    sampling_defaults: Mapping[str, Any]
    output_limit: int | None
    quick: Model | None = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The canonical served name."""
        return self.served_names[0]

    @property
    def tool_call_parser(self) -> str | None:
        """The parser that tool_choice relies on; without automatic tool choice vLLM loads none."""
        return self.options.tool_call_parser if self.options.enable_auto_tool_choice else None

    @property
    def is_harmony(self) -> bool:
        """Whether prompts are Harmony conversations (gpt-oss), which templates and truncation do not touch."""
        return self.parsers.is_harmony

    @property
    def has_own_tools(self) -> bool:
        """Whether the tokenizer's own library reads tool calls, so that tool_choice needs no parser (Mistral)."""
        return self.encoder is not None and self.encoder.name == "mistral"

    def answering_name(self, requested: str | None) -> str:
        """The name to answer with: the requested one, or the canonical one when none was given.

        Raises:
            UnknownModelError: the requested model is not served here.
        """
        if not requested:
            return self.name
        if requested in self.served_names or self.options.accept_any_model:
            return requested
        raise UnknownModelError(
            f"The model `{_shortened(requested)}` does not exist. Served are: {', '.join(self.served_names)}.",
            "model",
        )

    def check_token_ids(self, ids: list[int], param: str) -> None:
        """Raises RenderError when an id is outside the vocabulary."""
        if max(ids) >= self.vocabulary_size:
            raise RenderError(f"{param} holds an id outside the vocabulary of {self.vocabulary_size}.", param)

    def wait_until_ready(self) -> None:
        """Return when the model can answer; what could not be loaded is raised here and not to a request."""
        if isinstance(self.tokenizer.engine, CascadeEngine):
            self.tokenizer.engine.wait_until_ready()

    @property
    def tokenizer_tier(self) -> Literal["hot", "cold", "reference"]:
        """Which tokenizer engine answers now; a model that is no bundle has only the reference engine."""
        engine = self.tokenizer.engine
        return engine.tier if isinstance(engine, CascadeEngine) else "reference"

    def load_hot_tokenizer(self, *, wait: bool) -> None:
        """Load the hot tokenizer engine, if there is one: behind a first request, or before returning.

        Waiting is for a process whose memory is about to be kept as a snapshot.
        """
        engine = self.tokenizer.engine
        if isinstance(engine, CascadeEngine):
            if wait:
                engine.load_hot()
            else:
                engine.load_hot_in_background(_PATIENCE_SECONDS)

    def describe(self) -> list[str]:
        """Lines for the start log: what was loaded and what was decided."""
        templates = ", ".join(sorted(self.templates.named)) or "none"
        default = self.templates.override or self.templates.named.get("default")
        content_format = self.templates.format_of(default) if default else "unknown"
        lines = [
            f"model {self.root}" + (f" at revision {self.revision}" if self.revision else ""),
            f"served as {', '.join(self.served_names)}"
            + (" and any name" if self.options.accept_any_model else ""),
            f"context length {self.max_model_len} tokens, vocabulary {self.vocabulary_size} ids",
            f"tokenizer class {self.tokenizer.class_name}, engine {self.tokenizer.engine.name}",
            f"chat templates: {templates}; content format {content_format}"
            if self.encoder is None
            else f"prompts are encoded by {self.encoder.name}",
            f"parsers: tool calls {self.tool_call_parser or 'none'}, reasoning "
            f"{self.options.reasoning_parser or 'none'}; {self.parser_reason}",
            f"sampling defaults {dict(self.sampling_defaults)}",
        ]
        if self.tokenizer.engine.name == "tokenizers" and self.encoder is None and not self.is_demo:
            lines.append(
                "no bundle: long prompts take the slow tokenizer; `render-core pack` finds a fast one"
            )
        if self.is_demo:
            lines.insert(0, "DEMO MODEL: embedded, for trying the service; its token ids fit no real model")
        return lines


def load_model(source: str | None, options: ModelOptions | None = None) -> Model:
    """Load a model.

    Args:
        source: a directory in Hugging Face form, a bundle, `s3://bucket/prefix` of a bundle, a repository id, or
            None for the embedded demo model.
        options: what the operator decided; defaults to nothing.

    Raises:
        ConfigurationError: an option is wrong, or the model cannot be had or used.
    """
    options = options or ModelOptions()
    validate_options(options)
    root, revision = local_source(source, options.revision)
    if is_bundle(root):
        from render_core.model.bundle import read_bundle

        parts = read_bundle(root, options.tokenizer_engine)
        check_auto_tool_choice(options, parts.tool_call_parser)
    else:
        check_auto_tool_choice(options)
        parts = _directory_parts(
            read_model_files(root, options.generation_config, options.tokenizer_mode), revision
        )
    return _assemble(source, parts, options)


def local_source(source: str | None, revision: str | None) -> tuple[Path, str | None]:
    """The folder of a source, fetched if it is not local, and the revision of a repository's snapshot.

    Raises:
        ConfigurationError: the source cannot be had.
    """
    if source is None:
        return _DEMO_ROOT, None
    if source.startswith("s3://"):
        from render_core.model.s3 import fetch_bundle

        return fetch_bundle(source), None
    if Path(source).exists():
        return Path(source), None
    from render_core.model import hub

    snapshot = hub.fetch_snapshot(source, revision)
    return snapshot.root, snapshot.revision


def _directory_parts(files: ModelFiles, revision: str | None) -> ModelParts:
    preparation = prepare(files)
    return ModelParts(
        config=preparation.config,
        generation_config=files.generation_config,
        tokenizer_config=files.tokenizer_config,
        tokenizer=build_tokenizer(preparation.tokenizer),
        templates=compile_named(files.templates),
        revision=revision,
    )


def _assemble(source: str | None, parts: ModelParts, options: ModelOptions) -> Model:
    content_format = (
        None if options.chat_template_content_format == "auto" else options.chat_template_content_format
    )
    defaults = generation_defaults(_generation_config(parts, options), options.override_generation_config)
    limit_source = (
        options.override_generation_config if options.generation_config in ("auto", "vllm") else defaults
    )
    root = DEMO_NAME if source is None else source
    options = replace(
        options,
        tool_call_parser=options.tool_call_parser or parts.tool_call_parser,
        reasoning_parser=options.reasoning_parser or parts.reasoning_parser,
    )
    encoder = _encoder(parts, options)
    options, parser_reason = with_chosen_parsers(options, parts, encoder)
    model = Model(
        served_names=options.served_model_names or parts.served_names or (root,),
        root=root,
        revision=parts.revision,
        is_demo=source is None,
        options=options,
        config=parts.config,
        max_model_len=context_length(parts.config, options.max_model_len, options.allow_long_max_model_len),
        vocabulary_size=max(
            int(text_part(parts.config).get("vocab_size") or 0), parts.tokenizer.max_token_id + 1
        ),
        tokenizer=parts.tokenizer,
        templates=template_set(parts.templates, options.chat_template, content_format),
        template_budget=TemplateBudget(
            seconds=options.template_seconds, max_chars=options.template_max_chars
        ),
        parsers=model_parsers(options, parts),
        parser_reason=parser_reason,
        encoder=encoder,
        sampling_defaults=defaults,
        output_limit=limit_source.get("max_new_tokens"),
    )
    return replace(model, quick=_quick(model, parts))


def _quick(model: Model, parts: ModelParts) -> Model | None:
    engine = model.tokenizer.engine
    if model.encoder is not None or not isinstance(engine, CascadeEngine):
        return None
    tokenizer = replace(model.tokenizer, engine=QuickEngine(engine))
    return replace(
        model,
        tokenizer=tokenizer,
        template_budget=replace(model.template_budget, seconds=_QUICK_TEMPLATE_SECONDS),
        parsers=model_parsers(model.options, replace(parts, tokenizer=tokenizer)),
    )


def _generation_config(parts: ModelParts, options: ModelOptions) -> Mapping[str, Any]:
    if options.generation_config == "vllm":
        return {}
    if options.generation_config == "auto":
        return parts.generation_config
    return read_generation_config(Path(options.generation_config))


def _encoder(parts: ModelParts, options: ModelOptions) -> PromptEncoder | None:
    family = chosen_family(options.tokenizer_mode, parts.config)
    return None if family is None else build_encoder(family, parts.config, parts.tokenizer)


def _shortened(name: str) -> str:
    return name if len(name) <= 128 else name[:128] + "..."
