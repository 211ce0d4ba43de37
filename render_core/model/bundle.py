"""Bundles: what a renderer needs of a model, prepared so that a cold start reads and computes as little as possible.

A bundle holds the model's configuration, the tokenizer as the engine uses it, the cold engine's own file, the
chat templates with their compiled code, and a manifest. The same input gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from render_core.errors import ConfigurationError
from render_core.model import manifest as manifests
from render_core.model.files import ModelFiles
from render_core.model.manifest import Manifest
from render_core.model.parts import ModelParts
from render_core.model.preparation import prepare
from render_core.template.compiled import CompiledTemplate
from render_core.template.precompiled import compile_ahead, load_compiled
from render_core.tokenizer.cascade import CascadeEngine, CertifiedEngine
from render_core.tokenizer.certification import Certificate, certify
from render_core.tokenizer.certification_texts import cut_texts
from render_core.tokenizer.cuts import holds, provable_cuts
from render_core.tokenizer.engine import Engine
from render_core.tokenizer.fast import encoder_to_certify, imports, kitoken_file, loader
from render_core.tokenizer.guard import Guard
from render_core.tokenizer.reference import ReferenceEngine
from render_core.tokenizer.tokenizer import Tokenizer, build_tokenizer, load_reference
from render_core.version import __version__

TOKENIZER: Final = "tokenizer.json"
CONFIG: Final = "config.json"
GENERATION_CONFIG: Final = "generation_config.json"
TOKENIZER_CONFIG: Final = "tokenizer_config.json"
COLD_FILE: Final = "tokenizer.kitoken"

_COLD, _HOT = "kitoken", "fastokens"
_ENGINE_FILES: Final = {_COLD: COLD_FILE, _HOT: TOKENIZER}


@dataclass(frozen=True, slots=True)
class PackOptions:
    """What an operator decides when packing.

    Attributes:
        source_name: what the model was packed from, as it should be told.
        served_names, tool_call_parser, reasoning_parser: defaults for whoever serves the bundle.
    """

    source_name: str
    revision: str | None = None
    served_names: tuple[str, ...] = ()
    tool_call_parser: str | None = None
    reasoning_parser: str | None = None


def pack(
    files: ModelFiles, target: Path, options: PackOptions, tell: Callable[[str], None] = lambda _: None
) -> Manifest:
    """Write a bundle.

    Args:
        target: its folder; must be empty or not exist.
        tell: is called with a line for each step, for a person to follow.

    Raises:
        ConfigurationError: the model cannot be used, or the folder cannot be written.
    """
    preparation = prepare(files)
    prepared = preparation.tokenizer
    contents: dict[str, bytes] = {
        CONFIG: _json(preparation.config),
        GENERATION_CONFIG: _json(files.generation_config),
        TOKENIZER_CONFIG: _json(_without(files.tokenizer_config, "chat_template", "added_tokens_decoder")),
    }
    contents[TOKENIZER] = prepared.serialized
    reference = ReferenceEngine(prepared.serialized)
    tokenizer = json.loads(prepared.serialized)
    engines, cold_file = _certified_engines(prepared.serialized, tokenizer, reference, tell)
    if cold_file is not None:
        contents[COLD_FILE] = cold_file
    templates: dict[str, Any] = {}
    for index, (name, source) in enumerate(sorted(files.templates.items())):
        ahead = compile_ahead(name, source)
        templates[name] = {**ahead.facts, "folder": f"templates/{index}"}
        contents |= {f"templates/{index}/{file}": content for file, content in ahead.files.items()}
    document = {
        "format": manifests.FORMAT,
        "format_version": manifests.FORMAT_VERSION,
        "source": {"name": options.source_name, "revision": options.revision},
        "inputs": {name: manifests.sha256(content) for name, content in files.inputs.items()},
        "files": {name: manifests.file_entry(content) for name, content in contents.items()},
        "packed_with": {
            "render-core": __version__,
            **{name: _version(name) for name in ("tokenizers", _COLD, _HOT, "jinja2")},
        },
        "tokenizer": {
            **_tokenizer_facts(build_tokenizer(prepared)),
            "engines": engines,
            "cuts": _cuts(tokenizer, reference, files.templates.values()),
        },
        "templates": templates,
        "served_names": list(options.served_names),
        "parsers": {"tool_call": options.tool_call_parser, "reasoning": options.reasoning_parser},
    }
    _write(target, contents, manifests.encode_manifest(document))
    return Manifest(target, document)


def read_bundle(root: Path, engine: str | None = None) -> ModelParts:
    """Load a bundle.

    Args:
        engine: only this fast engine ("kitoken" or "fastokens", loaded at once) or only the reference
            ("tokenizers"); None uses all that are certified, the hot one as soon as it is loaded.

    Raises:
        ConfigurationError: a file is missing, was altered, or is of another format version.
    """
    manifest = manifests.read_manifest(root)
    manifest.check_files()
    document = manifest.document
    try:
        parsers, source = document["parsers"], document["source"]
        return ModelParts(
            config=json.loads(manifest.path(CONFIG).read_bytes()),
            generation_config=json.loads(manifest.path(GENERATION_CONFIG).read_bytes()),
            tokenizer_config=json.loads(manifest.path(TOKENIZER_CONFIG).read_bytes()),
            tokenizer=_tokenizer(manifest, engine),
            templates=_templates(manifest),
            revision=source["revision"],
            served_names=tuple(document["served_names"]) or (source["name"],),
            tool_call_parser=parsers["tool_call"],
            reasoning_parser=parsers["reasoning"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigurationError(f"{root / manifests.NAME} cannot be used: {error!r}") from None


def _tokenizer_facts(tokenizer: Tokenizer) -> dict[str, Any]:
    return {
        "class": tokenizer.class_name,
        "special_tokens": dict(tokenizer.special_tokens),
        "added_tokens": dict(tokenizer.added_tokens),
        "max_chars_per_token": tokenizer.max_chars_per_token,
        "max_token_id": tokenizer.max_token_id,
        "prefix_ids": list(tokenizer.prefix_ids),
        "suffix_ids": list(tokenizer.suffix_ids),
    }


def _tokenizer(manifest: Manifest, engine: str | None) -> Tokenizer:
    facts = manifest.document["tokenizer"]
    prefix, suffix = tuple(facts["prefix_ids"]), tuple(facts["suffix_ids"])
    cold = _certified(manifest, _COLD) if engine in (None, _COLD) else None
    hot = _certified(manifest, _HOT) if engine in (None, _HOT) else None
    if engine in (_COLD, _HOT) and cold is None and hot is None:
        raise ConfigurationError(f"The engine {engine} is not certified for this bundle's tokenizer.")
    path, class_name = manifest.path(TOKENIZER), facts["class"]
    cascade = CascadeEngine(cold, hot, lambda: load_reference(class_name, path.read_bytes()), prefix, suffix)
    if engine == _HOT:
        cascade.load_hot()
    return Tokenizer(
        engine=cascade,
        class_name=class_name,
        special_tokens=facts["special_tokens"],
        added_tokens=facts["added_tokens"],
        max_chars_per_token=facts["max_chars_per_token"],
        max_token_id=facts["max_token_id"],
        prefix_ids=prefix,
        suffix_ids=suffix,
    )


def _certified(manifest: Manifest, engine: str) -> CertifiedEngine | None:
    """The engine, if it was certified for this tokenizer in the version that is installed here."""
    certificate = manifest.document["tokenizer"]["engines"].get(engine)
    if certificate is None or not certificate["exact"] or certificate["version"] != _version(engine):
        return None
    path = manifest.path(_ENGINE_FILES[engine])
    load = loader(engine, manifest.document["tokenizer"]["cuts"])
    guard = Guard.from_manifest(certificate["guard"])
    return CertifiedEngine(engine, partial(load, path), guard, imports(engine))


def _templates(manifest: Manifest) -> dict[str, CompiledTemplate]:
    return {
        name: load_compiled(name, facts, manifest.path(facts["folder"]))
        for name, facts in manifest.document["templates"].items()
    }


def _certified_engines(
    serialized: bytes, tokenizer: Mapping[str, Any], reference: Engine, tell: Callable[[str], None]
) -> tuple[dict[str, Any], bytes | None]:
    """Certificates by engine, and the cold engine's file if it may be used.

    Args:
        serialized, tokenizer: tokenizer.json, as bytes and as JSON values.
    """
    import tempfile

    added = [token["content"] for token in tokenizer.get("added_tokens") or ()]
    texts = _vocabulary_texts(tokenizer, reference)
    engines: dict[str, Any] = {}
    cold_file: bytes | None = None
    with tempfile.TemporaryDirectory() as folder:
        for engine in (_COLD, _HOT):
            tell(f"{engine}: certifying against the reference; this may take a minute or two")
            path = Path(folder) / _ENGINE_FILES[engine]
            try:
                path.write_bytes(kitoken_file(serialized) if engine == _COLD else serialized)
                encode = encoder_to_certify(engine, path)
            except Exception as error:  # noqa: BLE001 (an engine that cannot load it is not used)
                certificate = Certificate(False, Guard(), 0, 0, f"cannot load this tokenizer: {error}"[:200])
            else:
                certificate = certify(lambda text: reference.encode(text, False), encode, added, texts)
            tell(f"{engine}: {_verdict(certificate)}")
            engines[engine] = {**certificate.as_manifest(), "version": _version(engine)}
            if engine == _COLD and certificate.exact:
                cold_file = path.read_bytes()
    return engines, cold_file


def _cuts(tokenizer: Mapping[str, Any], reference: Engine, templates: Iterable[str]) -> list[str]:
    """Added tokens before which long texts may be cut, each tried."""
    return [
        token
        for token in provable_cuts(tokenizer, templates)
        if holds(token, cut_texts(token), lambda text: reference.encode(text, False))
    ]


def _vocabulary_texts(document: Mapping[str, Any], reference: Engine) -> list[str]:
    """The texts of a vocabulary's ids, if they are no part of a character, and SentencePiece's with their blanks."""
    vocabulary = document["model"]["vocab"]
    strings = list(vocabulary) if isinstance(vocabulary, dict) else [entry[0] for entry in vocabulary]
    ids = vocabulary.values() if isinstance(vocabulary, dict) else range(len(vocabulary))
    texts = {reference.decode([token_id]) for token_id in ids}
    texts |= {string.replace("\u2581", " ") for string in strings if "\u2581" in string}
    return sorted(text for text in texts if text and "\ufffd" not in text)


def _verdict(certificate: Certificate) -> str:
    if not certificate.exact:
        return f"not used: {certificate.reason}"
    guard = certificate.guard
    guarded = (
        f"{len(guard.characters)} code points and {len(guard.tokens) + len(guard.spaced_tokens)} added tokens"
    )
    return f"exact on {certificate.texts} texts; {guarded} go to the reference engine"


def _write(target: Path, contents: Mapping[str, bytes], manifest: bytes) -> None:
    """The manifest is written last: a folder without it is no bundle."""
    try:
        target.mkdir(parents=True, exist_ok=True)
        if any(target.iterdir()):
            raise ConfigurationError(f"{target} is not empty; a bundle is written into a folder of its own.")
        for name, content in contents.items():
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        (target / manifests.NAME).write_bytes(manifest)
    except OSError as error:
        raise ConfigurationError(f"The bundle {target} cannot be written: {error}") from None


def _without(document: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name not in names}


def _json(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
