"""`render-core pack` and `render-core inspect`: bundles made, and shown to a person."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from handlers.settings import Settings
from render_core import validate_options


def pack_model(given: Namespace) -> int:
    """Packs a model directory or repository. Raises ConfigurationError when it cannot be packed."""
    flags = {
        name: value for name, value in vars(given).items() if name not in ("source", "output", "command")
    }
    settings = Settings.from_flags(flags, os.environ)
    validate_options(settings.model_options())
    from render_core.model.bundle import PackOptions, pack
    from render_core.model.files import read_model_files
    from render_core.model.model import local_source

    root, revision = local_source(given.source, settings.revision)
    options = PackOptions(
        source_name=Path(given.source).name if revision is None else given.source,
        revision=revision,
        served_names=settings.served_model_name,
        tool_call_parser=settings.tool_call_parser,
        reasoning_parser=settings.reasoning_parser,
    )
    manifest = pack(read_model_files(root), Path(given.output), options, tell=_tell)
    size = sum(entry["bytes"] for entry in manifest.document["files"].values())
    _tell(f"packed {given.source} into {given.output}: {len(manifest.document['files'])} files, {size} bytes")
    return 0


def inspect_bundle(given: Namespace) -> int:
    """Prints what a bundle holds, after checking its files. Raises ConfigurationError when it is not whole."""
    from render_core.model.manifest import read_manifest

    manifest = read_manifest(Path(given.bundle))
    manifest.check_files()
    for line in _told(manifest.document):
        print(line)
    return 0


def _tell(line: str) -> None:
    print("render-core:", line, file=sys.stderr)


def _told(document: Mapping[str, Any]) -> Iterator[str]:
    source, tokenizer = document["source"], document["tokenizer"]
    yield f"source       {source['name']}" + (f" at {source['revision']}" if source["revision"] else "")
    yield f"served as    {', '.join(document['served_names']) or source['name']}"
    parsers = document["parsers"]
    yield f"parsers      tool calls: {parsers['tool_call'] or 'none'}, reasoning: {parsers['reasoning'] or 'none'}"
    yield "packed with  " + ", ".join(
        f"{name} {version}" for name, version in document["packed_with"].items()
    )
    yield f"tokenizer    {tokenizer['class']}, special tokens {tokenizer['special_tokens']}"
    longest, last = tokenizer["max_chars_per_token"], tokenizer["max_token_id"]
    yield f"             longest token {longest} characters, last id {last}"
    for name, certificate in tokenizer["engines"].items():
        yield f"engine       {name} {certificate['version']}: {_verdict(certificate)}"
    for name, template in document["templates"].items():
        yield f"template     {name}: content format {template['content_format']}, variables {template['variables']}"
    for name, entry in document["files"].items():
        yield f"file         {name}: {entry['bytes']} bytes, sha256 {entry['sha256']}"
    for name, digest in document["inputs"].items():
        yield f"made from    {name}: sha256 {digest}"


def _verdict(certificate: Mapping[str, Any]) -> str:
    if not certificate["exact"]:
        return f"not used, {certificate['reason']}"
    guard = certificate["guard"]
    guarded = (
        ", ".join(f"{len(items)} {name.replace('_', ' ')}" for name, items in guard.items() if items)
        or "nothing"
    )
    return f"exact on {certificate['texts']} texts ({certificate['tables']}); guarded: {guarded}"
