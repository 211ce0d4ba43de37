#!/usr/bin/env python3
"""Look at what `sam build` made: sizes, bytecode that Lambda will take, and that a second build gives the same bytes.

    scripts/check_artifacts.py .aws-sam/build --same DemoFunction=OTHER_BUILD --limit-mb 70

Prints a table. Exits 1 when something is wrong.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

PYTHON_3_13_MAGIC = (3571).to_bytes(2, "little") + b"\r\n"
UNCHECKED_HASH = (1).to_bytes(4, "little")
LARGEST_MB = 250
"""Of any function, unzipped: a limit of Lambda's."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--same", metavar="FUNCTION=DIR", help="another build of a function")
    parser.add_argument("--limit-mb", type=float, default=LARGEST_MB)
    given = parser.parse_args()
    artifacts = sorted(path for path in given.build.iterdir() if path.is_dir())
    wrong = [fault for artifact in artifacts for fault in faults(artifact)]
    print("| function | files | MB unzipped |\n|---|---|---|")
    for artifact in artifacts:
        sizes = [path.stat().st_size for path in files(artifact)]
        print(f"| {artifact.name} | {len(sizes)} | {sum(sizes) / 1e6:.1f} |")
        if sum(sizes) / 1e6 > given.limit_mb:
            wrong.append(f"{artifact.name} is above {given.limit_mb} MB")
    if given.same:
        name, _, other = given.same.partition("=")
        differing = contents(given.build / name).items() ^ contents(Path(other)).items()
        wrong += (f"{name}: {path} is not the same in two builds" for path in sorted(dict(differing)))
    for fault in wrong:
        print(fault, file=sys.stderr)
    return int(bool(wrong or not artifacts))


def faults(artifact: Path) -> Iterator[str]:
    """Bytecode that Lambda would pass over, sources without any, and what a function has no use for."""
    names = {path.name for path in artifact.iterdir()}
    for needless in sorted(names & {"bin", "boto3", "botocore", "huggingface_hub", "uvicorn", "pip"}):
        yield f"{artifact.name} holds {needless}"
    for path in files(artifact):
        place = f"{artifact.name}/{path.relative_to(artifact)}"
        if path.suffix == ".pyc" and path.read_bytes()[:8] != PYTHON_3_13_MAGIC + UNCHECKED_HASH:
            yield f"{place} is no bytecode of Python 3.13 that goes without its source's time"
        if path.suffix == ".py" and "bundle" not in path.relative_to(artifact).parts:
            bytecode = path.parent / "__pycache__" / f"{path.stem}.cpython-313.pyc"
            if not bytecode.is_file():
                yield f"{place} has no bytecode"


def files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def contents(folder: Path) -> dict[str, tuple[str, int]]:
    """The digest and the mode of each file."""
    return {
        str(path.relative_to(folder)): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mode)
        for path in files(folder)
    }


if __name__ == "__main__":
    sys.exit(main())
