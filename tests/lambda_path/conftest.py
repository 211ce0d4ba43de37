"""A function that serves the demo model, the same model in process, and a bundle with a hot engine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from render_core.model.bundle import PackOptions, pack
from render_core.model.files import read_model_files
from render_core.model.manifest import read_manifest
from tests.conformance.served import InProcess, served
from tests.corpus import REPOSITORY
from tests.lambda_path.function import Function, running

CONTEXT_LENGTH = "200000"
CLOCK = "2026-11-29"
PREFIX = "/demo"


@pytest.fixture(scope="session")
def function() -> Iterator[Function]:
    settings = {
        "RENDER_CORE_MAX_MODEL_LEN": CONTEXT_LENGTH,
        "RENDER_CORE_ALLOW_LONG_MAX_MODEL_LEN": "true",
        "RENDER_CORE_CLOCK": CLOCK,
        "RENDER_CORE_ROOT_PATH": PREFIX,
    }
    with running(settings) as started:
        yield started


@pytest.fixture(scope="session")
def in_process() -> Iterator[InProcess]:
    flags = ["--max-model-len", CONTEXT_LENGTH, "--allow-long-max-model-len"]
    with served(None, flags, CLOCK) as client:
        yield client


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that RENDER_CORE_BUNDLES holds and that takes its time to load hot; else the demo model, packed here."""
    packed = Path(os.environ.get("RENDER_CORE_BUNDLES") or os.devnull).glob("*/manifest.json")
    for manifest in sorted(packed, key=lambda path: path.parent.name != "qwen3"):
        if read_manifest(manifest.parent).document["tokenizer"]["engines"]["fastokens"]["exact"]:
            return manifest.parent
    target = tmp_path_factory.mktemp("lambda") / "bundle"
    pack(read_model_files(REPOSITORY / "render_core" / "demo_model"), target, PackOptions("demo"))
    return target
