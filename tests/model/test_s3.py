"""Bundles from S3: whole, checked and fetched once, or a clear error and nothing left behind."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws
from moto.server import ThreadedMotoServer

from render_core.errors import ConfigurationError
from render_core.model import manifest as manifests
from render_core.model import s3
from render_core.model.s3 import Location, fetch_bundle

BUCKET, PREFIX = "models", "bundles/demo"
ADDRESS = f"s3://{BUCKET}/{PREFIX}"
FILES = {
    "config.json": b"{}",
    "templates/0/chat_template.jinja": b"{{ 1 }}",
    "tokenizer.json": bytes(range(256)) * 50_000,
}


@pytest.fixture(autouse=True)
def account(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")


@pytest.fixture
def client() -> Iterator[Any]:
    with mock_aws():
        client = boto3.client("s3")
        client.create_bucket(Bucket=BUCKET)
        upload(client)
        yield client


def upload(client: Any, files: dict[str, bytes] = FILES) -> None:
    entries = {name: manifests.file_entry(content) for name, content in files.items()}
    document = {"format": manifests.FORMAT, "format_version": manifests.FORMAT_VERSION, "files": entries}
    for name, content in {**files, manifests.NAME: manifests.encode_manifest(document)}.items():
        client.put_object(Bucket=BUCKET, Key=f"{PREFIX}/{name}", Body=content)


def refused(cache: Path, message: str, **options: Any) -> None:
    """Fetching fails with one clear line, and leaves no folder behind."""
    with pytest.raises(ConfigurationError, match=message) as caught:
        fetch_bundle(ADDRESS, cache, **options)
    assert "\n" not in str(caught.value)
    assert not cache.exists() or list(cache.iterdir()) == []


def test_a_bundle_is_fetched_whole_and_only_once(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = fetch_bundle(ADDRESS, tmp_path)
    assert {name: (root / name).read_bytes() for name in FILES} == FILES
    monkeypatch.setattr(s3, "_fetch_files", lambda *_: pytest.fail("it was there already"))
    assert fetch_bundle(ADDRESS, tmp_path) == root


def test_a_new_manifest_is_a_new_folder(client: Any, tmp_path: Path) -> None:
    first = fetch_bundle(ADDRESS, tmp_path)
    upload(client, FILES | {"config.json": b'{"a": 1}'})
    second = fetch_bundle(ADDRESS, tmp_path)
    assert first != second
    assert (second / "config.json").read_bytes() == b'{"a": 1}'


def test_a_file_that_does_not_fit_its_checksum_is_refused(client: Any, tmp_path: Path) -> None:
    client.put_object(Bucket=BUCKET, Key=f"{PREFIX}/tokenizer.json", Body=FILES["tokenizer.json"][::-1])
    refused(tmp_path / "cache", "tokenizer.json does not fit the checksum")


def test_a_file_that_is_cut_short_is_refused(client: Any, tmp_path: Path) -> None:
    client.put_object(Bucket=BUCKET, Key=f"{PREFIX}/tokenizer.json", Body=FILES["tokenizer.json"][:1000])
    refused(tmp_path / "cache", "tokenizer.json")


def test_a_missing_file_bucket_or_manifest_is_named(client: Any, tmp_path: Path) -> None:
    client.delete_object(Bucket=BUCKET, Key=f"{PREFIX}/config.json")
    refused(tmp_path / "cache", "config.json: there is no such object")
    client.delete_object(Bucket=BUCKET, Key=f"{PREFIX}/manifest.json")
    refused(tmp_path / "cache", "manifest.json: there is no such object")
    with pytest.raises(ConfigurationError, match="there is no such bucket"):
        fetch_bundle("s3://absent/prefix", tmp_path)


def test_denied_access_tells_what_the_role_needs(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Denied:
        def get_object(self, **_: Any) -> None:
            raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "GetObject")

    monkeypatch.setattr(s3, "_client", Denied)
    refused(tmp_path / "cache", "access denied; the role needs s3:GetObject")


def test_a_full_disk_leaves_nothing_behind(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Path, content: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    refused(tmp_path / "cache", "cannot be stored: .*No space left")


def test_a_bundle_above_the_limit_is_refused_before_it_is_fetched(client: Any, tmp_path: Path) -> None:
    refused(tmp_path / "cache", "at most 1000 are allowed", max_bytes=1000)


def test_a_manifest_that_names_a_file_outside_the_bundle_is_refused(client: Any, tmp_path: Path) -> None:
    upload(client, {"../escaped": b"x"})
    refused(tmp_path / "cache", "names a file outside its bundle")


@pytest.mark.parametrize("address", ["s3://", "s3://bucket", "s3://bucket/"])
def test_an_address_without_bucket_or_prefix_is_refused(address: str) -> None:
    with pytest.raises(ConfigurationError, match="must have the form"):
        Location.parse(address)


def _fetch(cache: str) -> str:
    return str(fetch_bundle(ADDRESS, Path(cache)))


def test_two_processes_at_once_get_the_same_whole_bundle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    try:
        host, port = server.get_host_and_port()
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://{host}:{port}")
        client = boto3.client("s3")
        client.create_bucket(Bucket=BUCKET)
        upload(client)
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            roots = pool.map(_fetch, [str(tmp_path)] * 4)
    finally:
        server.stop()
    assert len(set(roots)) == 1
    assert {name: (Path(roots[0]) / name).read_bytes() for name in FILES} == FILES
    assert [path.name for path in tmp_path.iterdir()] == [Path(roots[0]).name]


def test_a_cached_bundle_is_checked_again_when_it_is_loaded(client: Any, tmp_path: Path) -> None:
    root = fetch_bundle(ADDRESS, tmp_path)
    (root / "config.json").write_bytes(b"[]")
    with pytest.raises(ConfigurationError, match="was altered"):
        manifests.read_manifest(root).check_files()
    assert json.loads((root / manifests.NAME).read_text())["format"] == manifests.FORMAT
