"""Bundles from S3 into a local folder: complete and checked, or not at all.

Every object is fetched in parallel ranges into a temporary folder beside the target, checked against the
manifest, and the folder is moved into place in one step. A second start finds the folder and fetches nothing
while the manifest's ETag is the same. boto3 is imported here and nowhere else.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from render_core.errors import ConfigurationError
from render_core.model import manifest as manifests

SCHEME: Final = "s3://"
_RANGE_BYTES: Final = 4 * 1024 * 1024
_WORKERS: Final = 8
_MAX_BUNDLE_BYTES: Final = 400 * 1024 * 1024
_ETAG_NAME: Final = ".etag"


@dataclass(frozen=True, slots=True)
class Location:
    """A bundle in S3."""

    bucket: str
    prefix: str

    @classmethod
    def parse(cls, address: str) -> Location:
        """Read `s3://bucket/prefix`. Raises ConfigurationError when it names no bucket or no prefix."""
        bucket, _, prefix = address.removeprefix(SCHEME).partition("/")
        if not bucket or not prefix.strip("/"):
            raise ConfigurationError(f"{address!r} must have the form s3://bucket/prefix.")
        return cls(bucket, prefix.strip("/"))

    def key(self, name: str) -> str:
        return f"{self.prefix}/{name}"

    def __str__(self) -> str:
        return f"{SCHEME}{self.bucket}/{self.prefix}"


def fetch_bundle(address: str, cache: Path | None = None, max_bytes: int = _MAX_BUNDLE_BYTES) -> Path:
    """The local folder of a bundle in S3, fetched unless it is there already.

    Args:
        address: `s3://bucket/prefix`.
        cache: folder to keep bundles in; by default the system's temporary folder.
        max_bytes: the most a bundle may weigh.

    Raises:
        ConfigurationError: an object is missing, access is denied, a checksum does not fit, the disk is full, or
            the bundle is too large. Nothing half-written stays behind.
    """
    location = Location.parse(address)
    folder = cache or Path(tempfile.gettempdir()) / "render-core-bundles"
    client = _client()
    body, etag = _get_manifest(client, location)
    target = folder / manifests.sha256(f"{location}#{etag}".encode())[:32]
    if (target / _ETAG_NAME).is_file():
        return target
    files = _listed_files(body, location, max_bytes)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix="partial-", dir=folder))
    except OSError as error:
        raise ConfigurationError(f"The bundle {location} cannot be stored: {error}") from None
    try:
        _fetch_files(client, location, files, partial)
        (partial / manifests.NAME).write_bytes(body)
        (partial / _ETAG_NAME).write_text(etag)
        _move_into_place(partial, target)
    except OSError as error:
        raise ConfigurationError(f"The bundle {location} cannot be stored: {error}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return target


def _client() -> Any:
    import boto3
    from botocore.config import Config

    return boto3.client("s3", config=Config(retries={"mode": "standard"}, max_pool_connections=_WORKERS))


def _get_manifest(client: Any, location: Location) -> tuple[bytes, str]:
    answer = _get(client, location, manifests.NAME)
    body: bytes = answer["Body"].read()
    return body, str(answer["ETag"]).strip('"')


def _listed_files(body: bytes, location: Location, max_bytes: int) -> dict[str, dict[str, Any]]:
    try:
        files = dict(json.loads(body)["files"])
        total = sum(int(entry["bytes"]) for entry in files.values())
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ConfigurationError(
            f"{location}/{manifests.NAME} is no manifest of a render-core bundle."
        ) from None
    if any(Path(name).is_absolute() or ".." in Path(name).parts for name in files):
        raise ConfigurationError(f"{location}/{manifests.NAME} names a file outside its bundle.")
    if total > max_bytes:
        raise ConfigurationError(
            f"The bundle {location} weighs {total} bytes; at most {max_bytes} are allowed."
        )
    return files


def _fetch_files(client: Any, location: Location, files: dict[str, dict[str, Any]], folder: Path) -> None:
    with ThreadPoolExecutor(_WORKERS) as pool:
        contents = {
            name: [
                pool.submit(
                    _get_range, client, location, name, start, min(start + _RANGE_BYTES, entry["bytes"])
                )
                for start in range(0, entry["bytes"], _RANGE_BYTES)
            ]
            for name, entry in files.items()
        }
        for name, parts in contents.items():
            content = b"".join(part.result() for part in parts)
            if len(content) != files[name]["bytes"] or manifests.sha256(content) != files[name]["sha256"]:
                raise ConfigurationError(f"{location}/{name} does not fit the checksum in its manifest.")
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def _get_range(client: Any, location: Location, name: str, start: int, end: int) -> bytes:
    answer = _get(client, location, name, Range=f"bytes={start}-{end - 1}")
    try:
        content: bytes = answer["Body"].read()
    except Exception as error:  # noqa: BLE001 (botocore wraps several libraries' broken transfers)
        raise ConfigurationError(
            f"{location}/{name} broke off while it was read: {type(error).__name__}"
        ) from None
    if len(content) != end - start:
        raise ConfigurationError(f"{location}/{name} is shorter than its manifest says.")
    return content


def _get(client: Any, location: Location, name: str, **parameters: str) -> Any:
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        return client.get_object(Bucket=location.bucket, Key=location.key(name), **parameters)
    except ClientError as error:
        raise ConfigurationError(
            f"{location}/{name}: {_reason(dict(error.response.get('Error', {})))}"
        ) from None
    except BotoCoreError as error:
        raise ConfigurationError(f"{location}/{name} cannot be fetched: {error}") from None


def _reason(error: dict[str, Any]) -> str:
    code = str(error.get("Code"))
    known = {
        "NoSuchKey": "there is no such object",
        "404": "there is no such object",
        "NoSuchBucket": "there is no such bucket",
        "AccessDenied": "access denied; the role needs s3:GetObject on it",
        "403": "access denied; the role needs s3:GetObject on it",
        "InvalidRange": "the object is shorter than its manifest says",
    }
    return known.get(code, f"{code}: {error.get('Message', 'no reason given')}")


def _move_into_place(partial: Path, target: Path) -> None:
    """Rename the complete folder to its name. Another process may have been first: then its folder is as good."""
    try:
        os.rename(partial, target)
    except OSError:
        if not (target / _ETAG_NAME).is_file():
            raise
