#!/usr/bin/env python3
"""Pack many model directories and tabulate how each fast engine was certified.

    scripts/pack_models.py MODELS_DIR BUNDLES_DIR [NAME ...]

Models with the same tokenizer are packed once, under the first name. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from render_core.errors import ConfigurationError
from render_core.model import manifest as manifests
from render_core.model.bundle import PackOptions, pack
from render_core.model.files import read_model_files
from render_core.model.preparation import prepare


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", type=Path)
    parser.add_argument("bundles", type=Path)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    names = given.names or sorted(path.name for path in given.models.iterdir() if path.is_dir())
    known: dict[str, str] = {}
    twins: dict[str, list[str]] = {}
    for name in names:
        try:
            files = read_model_files(given.models / name)
        except ConfigurationError as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        prepared = prepare(files).tokenizer
        digest = manifests.sha256(prepared.serialized)
        if digest in known:
            twins[known[digest]].append(name)
            continue
        known[digest] = name
        twins[name] = []
        target = given.bundles / name
        if not manifests.is_bundle(target):
            started = time.monotonic()
            pack(
                files,
                target,
                PackOptions(name),
                tell=lambda line, name=name: print(f"{name}: {line}", file=sys.stderr),
            )
            print(f"{name}: {time.monotonic() - started:.0f} s", file=sys.stderr)
    print("| tokenizer | also of | kitoken | fastokens | cuts |\n|---|---|---|---|---|")
    for name, others in twins.items():
        facts = manifests.read_manifest(given.bundles / name).document["tokenizer"]
        engines = [told(facts["engines"][engine]) for engine in ("kitoken", "fastokens")]
        print(f"| {name} | {', '.join(others)} | {' | '.join(engines)} | {len(facts['cuts'])} |")
    return 0


def told(certificate: dict[str, Any]) -> str:
    """One cell of the table."""
    if not certificate["exact"]:
        return f"not used: {certificate['reason']}".replace("|", "\\|")
    guard = {name: items for name, items in certificate["guard"].items() if items}
    guarded = ", ".join(f"{len(items)} {name.replace('_', ' ')}" for name, items in guard.items())
    return f"exact on {certificate['texts']} texts" + (f", guarded: {guarded}" if guard else "")


if __name__ == "__main__":
    sys.exit(main())
