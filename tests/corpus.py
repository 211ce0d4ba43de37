"""The golden corpus: where it is, its model directories, and its cases as requests and expected answers."""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("RENDER_CORE_CORPUS") or REPOSITORY.parent / "shared" / "corpus").resolve()
SKIP_REASON = "the golden corpus is absent: set RENDER_CORE_CORPUS to its folder"
IS_PRESENT = (CORPUS / "cases-public").is_dir()

needs_corpus = pytest.mark.skipif(not IS_PRESENT, reason=SKIP_REASON)


@dataclass(frozen=True, slots=True)
class Case:
    """One recorded request and what the Python peer answered."""

    id: str
    item: str
    endpoint: str
    body: bytes
    headers: dict[str, str]
    clock: str | None
    expected: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CaseFile:
    """The cases of one file: one model under one set of flags."""

    name: str
    model_dir: str
    flags: tuple[str, ...]
    cases: tuple[Case, ...]


def case_file_names(folder: str = "cases-public") -> list[str]:
    """Names of the case files, sorted; empty when the corpus is absent."""
    return sorted(path.name.removesuffix(".jsonl.gz") for path in (CORPUS / folder).glob("*.jsonl.gz"))


def read_records(name: str, folder: str = "cases-public") -> Iterator[dict[str, Any]]:
    with gzip.open(CORPUS / folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def read_case_file(name: str) -> CaseFile:
    records = list(read_records(name))
    server = records[0]["server"]
    model_dir = server.get("model_dir") or _served_name(server["python"])
    flags = [flag.replace("corpus/models/", f"{model_root()}/") for flag in server["python"]]
    return CaseFile(name, model_dir, tuple(flags), tuple(map(_case, records)))


@cache
def model_root() -> Path:
    """The folder of all unpacked model directories, unpacked once and kept between runs."""
    root = Path(
        os.environ.get("RENDER_CORE_MODELS") or REPOSITORY / ".pytest_cache" / "corpus-models"
    ).resolve()
    if not (root / ".complete").exists():
        root.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, str(CORPUS / "unpack.py"), str(root)], check=True)
        (root / ".complete").touch()
    return root


def model_dir(name: str) -> Path:
    return model_root() / name


def _served_name(flags: list[str]) -> str:
    return flags[flags.index("--served-model-name") + 1]


def _case(record: dict[str, Any]) -> Case:
    return Case(
        id=record["id"],
        item=record["item"],
        endpoint=record["endpoint"],
        body=_body(record),
        headers=record.get("headers") or {},
        clock=record.get("clock"),
        expected=record["python"],
    )


def _body(record: dict[str, Any]) -> bytes:
    if "raw" in record:
        raw: str = record["raw"]
        return raw.encode()
    request = record["request"]
    if request is None:
        generator = record["generator"]
        long = _long_generator().gen(generator["seed"], generator["target_chars"], generator["tools"])
        request = {"model": _served_name(record["server"]["python"]), **long}
    return json.dumps(request, ensure_ascii=False).encode()


@cache
def _long_generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("longgen", CORPUS / "longgen.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
