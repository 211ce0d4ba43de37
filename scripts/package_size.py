#!/usr/bin/env python3
"""Install what a Lambda function needs for both architectures, add a bundle, and print the unzipped sizes.

    uv run scripts/package_size.py BUNDLE [--limit-mb 60]

Exits 1 above the limit. The Hugging Face client and the server, which a function does not need, are left out.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
PYTHON = "3.13"
PLATFORMS = {"x86-64": "x86_64-manylinux_2_28", "arm64": "aarch64-manylinux_2_28"}
WITH_DEPENDENCIES = ("fastapi", "jinja2", "mangum", "orjson", "pydantic")
WITHOUT_DEPENDENCIES = ("fastokens", "kitoken", "tokenizers")
BYTECODE_SHARE = 0.9
"""Precompiled bytecode weighs about nine tenths of its Python source."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--limit-mb", type=float, default=60)
    given = parser.parse_args()
    print("| architecture | packages MB | bundle MB | together MB |\n|---|---|---|---|")
    largest = 0.0
    for name, platform in PLATFORMS.items():
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder)
            install(target, platform, ["install", *WITH_DEPENDENCIES])
            install(target, platform, ["install", "--no-deps", *WITHOUT_DEPENDENCIES, str(REPOSITORY)])
            packages, bundle = megabytes(target), megabytes(given.bundle)
        print(f"| {name} | {packages:.1f} | {bundle:.1f} | {packages + bundle:.1f} |")
        largest = max(largest, packages + bundle)
    return 0 if largest <= given.limit_mb else 1


def install(target: Path, platform: str, words: list[str]) -> None:
    options = [
        "--target",
        str(target),
        "--python-platform",
        platform,
        "--python-version",
        PYTHON,
        "--only-binary",
        ":all:",
    ]
    if str(REPOSITORY) in words:
        options = [option for option in options if option not in ("--only-binary", ":all:")]
    subprocess.run(["uv", "pip", *words, *options, "--quiet"], check=True)


def megabytes(folder: Path) -> float:
    """The size of a folder's files, with bytecode estimated for Python sources."""
    size = 0.0
    for path in folder.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            size += path.stat().st_size * (BYTECODE_SHARE + 1 if path.suffix == ".py" else 1)
    return size / 1e6


if __name__ == "__main__":
    sys.exit(main())
