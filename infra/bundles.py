"""The bundles that functions carry, packed into infra/build/bundles by the Python and the libraries of a function.

A bundle holds bytecode and records the versions it was certified with, so the developer's own environment will not
do. `pack_all` starts the right one; run as a module, this packs in the environment it finds.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from infra.models import DeployedModel, Deployment, read_deployment
from render_core.errors import ConfigurationError
from render_core.model import manifest as manifests
from render_core.version import __version__

HERE: Final = Path(__file__).resolve().parent
REPOSITORY: Final = HERE.parent
MODELS: Final = HERE / "models.toml"
BUNDLES: Final = HERE / "build" / "bundles"
REQUIREMENTS: Final = HERE / "requirements.txt"
PYTHON: Final = "3.13"

_PACKING: Final = ("render_core/model", "render_core/template", "render_core/tokenizer")
_MAGIC: Final = importlib.util.MAGIC_NUMBER.hex()

Tell = Callable[[str], None]


def pack_all(deployment: Deployment) -> None:
    """Packs every bundle that is not up to date. Raises ConfigurationError when one cannot be made."""
    baked = (model.name for model in deployment.models if model.is_baked)
    command = [str(REPOSITORY / "scripts" / "as_function"), "-m", "infra.bundles", *baked]
    done = subprocess.run(command)  # noqa: S603
    if done.returncode:
        raise ConfigurationError("a bundle could not be packed; the lines above tell why")


def packed(model: DeployedModel, tell: Tell) -> Path:
    """The folder of an up to date bundle of the model, packed now if need be. Raises ConfigurationError."""
    from render_core.model.bundle import PackOptions, pack
    from render_core.model.files import read_model_files
    from render_core.model.model import DEMO_NAME, local_source

    target = BUNDLES / model.name
    if _is_fetched(model, target):
        return target
    source = model.source
    if source is not None and not _is_repository(source):
        source = str(REPOSITORY / source)
    root, revision = local_source(source, model.revision)
    if manifests.is_bundle(root):
        raise ConfigurationError(f"{model.source} is a bundle already; name what it was packed from")
    files = read_model_files(root)
    inputs = {file: manifests.sha256(content) for file, content in files.inputs.items()}
    name = DEMO_NAME if model.source is None else model.source if revision else Path(model.source).name
    if not _is_current(target, {"name": name, "revision": revision}, inputs):
        tell(f"{model.name}: packing a bundle, which certifies its tokenizer engines")
        shutil.rmtree(target, ignore_errors=True)
        pack(files, target, PackOptions(name, revision), tell=lambda line: tell(f"{model.name}: {line}"))
        _mark(target).write_text(_packing_code())
    return target


def _is_repository(source: str | None) -> bool:
    return source is not None and not (REPOSITORY / source).exists()


def _is_fetched(model: DeployedModel, target: Path) -> bool:
    """Whether there is a bundle of this very commit: then the Hub need not be asked."""
    document = _document(target)
    if model.revision is None or document is None:
        return False
    return _is_current(target, {"name": model.source, "revision": model.revision}, document["inputs"])


def _is_current(target: Path, source: dict[str, str | None], inputs: dict[str, str]) -> bool:
    """Whether there is a bundle of this source with these files, made by this code, this Python and these libraries."""
    document = _document(target)
    if document is None or not _mark(target).is_file():
        return False
    versions = {
        name: __version__ if name == "render-core" else version(name) for name in document["packed_with"]
    }
    magics = {template["bytecode_magic"] for template in document["templates"].values()}
    return (
        document["source"] == source
        and document["inputs"] == inputs
        and document["packed_with"] == versions
        and magics <= {_MAGIC}
        and _mark(target).read_text() == _packing_code()
    )


def _document(target: Path) -> Mapping[str, Any] | None:
    """The manifest of the bundle in a folder; None when there is none, or one of another format."""
    try:
        return manifests.read_manifest(target).document if manifests.is_bundle(target) else None
    except ConfigurationError:
        return None


def _mark(target: Path) -> Path:
    """The file beside a bundle that says which code packed it."""
    return target.with_suffix(".code")


def _packing_code() -> str:
    """A digest of the code that decides what a bundle holds. Its version alone does not change with every commit."""
    sources = (path for package in _PACKING for path in sorted((REPOSITORY / package).rglob("*.py")))
    return manifests.sha256(b"".join(path.read_bytes() for path in sources))


def main(names: Sequence[str]) -> int:
    """Packs the bundles of the named models. 0: done; 2: one cannot be made."""
    try:
        deployment = read_deployment(MODELS)
        for name in names:
            packed(deployment.model(name), tell=tell)
    except ConfigurationError as error:
        tell(" ".join(str(error).split()))
        return 2
    return 0


def tell(line: str) -> None:
    """Says a line to whoever runs a command."""
    print("render-core:", line, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
