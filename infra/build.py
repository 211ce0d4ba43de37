"""The artifact of one function, as `sam build` wants it: `python -m infra.build LOGICAL_ID DIRECTORY`.

The Makefile runs this in the Python and with the libraries of a function. The same input gives the same bytes.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from infra.bundles import MODELS, PYTHON, REPOSITORY, REQUIREMENTS, packed, tell
from infra.models import ARCHITECTURES, DeployedModel, read_deployment
from render_core.errors import ConfigurationError

AUTHORIZER: Final = "AuthorizerFunction"
PACKAGES: Final = ("handlers", "render_core")

_PLATFORMS: Final = {"arm64": "aarch64-manylinux_2_28", "x86_64": "x86_64-manylinux_2_28"}
# Commands, and what only type checkers and installers read.
_NEEDLESS: Final = ("bin", ".lock", "**/*.pyi", "**/py.typed", "**/__pycache__", "*.dist-info/RECORD")
_CACHES: Final = shutil.ignore_patterns("__pycache__")


def build_authorizer(target: Path) -> None:
    """Writes the authorizer's artifact: one module and its bytecode."""
    shutil.copyfile(REPOSITORY / "handlers" / "authorizer.py", target / "authorizer.py")
    _compile(target)


def build_model(model: DeployedModel, target: Path, architecture: str) -> None:
    """Writes the artifact of a model's function: libraries, our packages, their bytecode, and the bundle.

    Raises ConfigurationError when the bundle cannot be made.
    """
    _install(target, architecture)
    for package in PACKAGES:
        shutil.copytree(REPOSITORY / package, target / package, ignore=_CACHES)
    for pattern in _NEEDLESS:
        for path in list(target.glob(pattern)):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    _compile(target)
    if model.is_baked:
        shutil.copytree(packed(model, tell=tell), target / "bundle")


def _install(target: Path, architecture: str) -> None:
    """Wheels only: no compiler is asked, and this machine may be of another kind than the function's."""
    _run(
        *("uv", "pip", "install", "--quiet", "--target", str(target), "--only-binary", ":all:"),
        # Copies: a link to a file of the cache would change with it, and we change modes.
        *("--link-mode", "copy", "--no-deps"),
        *(
            "--python",
            sys.executable,
            "--python-version",
            PYTHON,
            "--python-platform",
            _PLATFORMS[architecture],
        ),
        *("--require-hashes", "--requirements", str(REQUIREMENTS)),
    )


def _compile(target: Path) -> None:
    """Bytecode that is valid whatever the time of its source, since SAM's archives give every file one of 1980.

    One process in sorted order and a fixed seed: sets in constants have the order of their hashes.
    """
    _run(
        *(sys.executable, "-m", "compileall", "-q", "-j", "1", "--invalidation-mode", "unchecked-hash"),
        *("-s", str(target), "-p", "/var/task", str(target)),
        PYTHONHASHSEED="0",
    )


def _run(*command: str, **environment: str) -> None:
    done = subprocess.run(command, env={**os.environ, **environment})  # noqa: S603
    if done.returncode:
        raise ConfigurationError(f"{' '.join(command[:3])} ended with {done.returncode}")


def _make_readable(target: Path) -> None:
    """The same modes whatever the umask: Lambda runs as another user, and modes are part of the archive."""
    for path in target.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


def main() -> int:
    """0: built; 2: something is wrong with the declaration or the machine."""
    parser = argparse.ArgumentParser(prog="infra.build", description=__doc__.splitlines()[0])
    parser.add_argument("function", help="logical id, as DemoFunction, or name of a model")
    parser.add_argument("target", type=Path, help="folder for the artifact, new or empty")
    parser.add_argument(
        "--architecture", choices=ARCHITECTURES, help="other than models.toml says, to try it here"
    )
    given = parser.parse_args()
    target = given.target.resolve()
    try:
        target.mkdir(parents=True, exist_ok=True)
        if any(target.iterdir()):
            raise ConfigurationError(f"{given.target} is not empty")
        if given.function == AUTHORIZER:
            build_authorizer(target)
        else:
            model = read_deployment(MODELS).model(given.function)
            build_model(model, target, given.architecture or model.architecture)
        _make_readable(target)
    except ConfigurationError as error:
        tell(" ".join(str(error).split()))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
