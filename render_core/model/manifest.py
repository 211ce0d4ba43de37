"""The manifest of a bundle: what it holds, what it was made from, and what was measured."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from render_core.errors import ConfigurationError

FORMAT: Final = "render-core bundle"
FORMAT_VERSION: Final = 3
NAME: Final = "manifest.json"


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest that was read and found to be of this format.

    Attributes:
        root: the bundle's folder.
        document: the manifest as JSON values.
    """

    root: Path
    document: Mapping[str, Any]

    def path(self, name: str) -> Path:
        """The path of a file of the bundle."""
        return self.root / name

    def check_files(self) -> None:
        """Raises ConfigurationError when a file is missing or is not the one that was packed."""
        for name, entry in self.document["files"].items():
            try:
                content = self.path(name).read_bytes()
            except FileNotFoundError:
                raise ConfigurationError(f"The bundle {self.root} lacks its file {name}.") from None
            except OSError as error:
                raise ConfigurationError(f"{self.path(name)} cannot be read: {error}") from None
            if len(content) != entry["bytes"] or sha256(content) != entry["sha256"]:
                raise ConfigurationError(
                    f"The file {name} of the bundle {self.root} was altered after packing."
                )


def is_bundle(root: Path) -> bool:
    """Whether a folder claims to be a bundle."""
    return (root / NAME).is_file()


def read_manifest(root: Path) -> Manifest:
    """Read the manifest of a bundle. Looks at no other file.

    Raises:
        ConfigurationError: there is none, or it is of another format or version.
    """
    path = root / NAME
    if not path.is_file():
        raise ConfigurationError(
            f"{root} is no bundle: it has no {NAME}. `render-core pack` makes one of a model."
        )
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ConfigurationError(f"{path} is no manifest of a render-core bundle.")
    if document.get("format_version") != FORMAT_VERSION:
        raise ConfigurationError(
            f"{path} has format version {document.get('format_version')}; this version reads {FORMAT_VERSION}. "
            "Pack the model again."
        )
    return Manifest(root, document)


def sha256(content: bytes) -> str:
    """The SHA-256 of some bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def file_entry(content: bytes) -> dict[str, Any]:
    """What a manifest records of a file."""
    return {"sha256": sha256(content), "bytes": len(content)}


def encode_manifest(document: Mapping[str, Any]) -> bytes:
    """A manifest as bytes: the same document, the same bytes."""
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=True).encode() + b"\n"
