"""When a bundle is packed and when the one that is there will do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from infra import bundles
from infra.models import DeployedModel
from render_core.errors import ConfigurationError
from render_core.model import bundle
from render_core.model import manifest as manifests

Pack = Callable[[DeployedModel], list[str]]


@pytest.fixture
def pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pack:
    """Packs into a folder of its own without certifying engines, and gives the lines that were told."""
    monkeypatch.setattr(bundles, "BUNDLES", tmp_path / "bundles")
    monkeypatch.setattr(bundle, "_certified_engines", lambda *_: ({}, None))

    def packed(model: DeployedModel) -> list[str]:
        told: list[str] = []
        assert manifests.is_bundle(bundles.packed(model, told.append))
        return told

    return packed


def test_bundle_is_packed_once(pack: Pack) -> None:
    assert pack(DeployedModel(name="demo")) == [
        "demo: packing a bundle, which certifies its tokenizer engines"
    ]
    assert pack(DeployedModel(name="demo")) == []


def test_models_have_bundles_of_their_own(pack: Pack) -> None:
    assert [len(pack(DeployedModel(name=name))) for name in ("demo", "demo-2", "demo")] == [1, 1, 0]


@pytest.mark.parametrize("what", ["_MAGIC", "__version__", "_PACKING"])
def test_bundle_of_other_code_is_packed_again(pack: Pack, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    pack(DeployedModel(name="demo"))
    monkeypatch.setattr(bundles, what, ("render_core/model",) if what == "_PACKING" else "other")
    assert len(pack(DeployedModel(name="demo"))) == 1


def test_bundle_of_another_format_is_packed_again(pack: Pack) -> None:
    pack(DeployedModel(name="demo"))
    manifest = bundles.BUNDLES / "demo" / manifests.NAME
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"format_version": 1}))
    assert len(pack(DeployedModel(name="demo"))) == 1


def test_bundle_of_other_files_is_packed_again(pack: Pack, tmp_path: Path) -> None:
    source = tmp_path / "model"
    source.mkdir()
    demo = bundles.REPOSITORY / "render_core" / "demo_model"
    for file in demo.iterdir():
        (source / file.name).write_bytes(file.read_bytes())
    model = DeployedModel(name="own", source=str(source))
    assert [len(pack(model)), len(pack(model))] == [1, 0]
    (source / "generation_config.json").write_text('{"temperature": 0.5}')
    assert [len(pack(model)), len(pack(model))] == [1, 0]


def test_bundle_of_a_fixed_commit_asks_nobody(
    pack: Pack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from render_core.model import model as models

    asked: list[str | None] = []
    demo = bundles.REPOSITORY / "render_core" / "demo_model"

    def snapshot(source: str | None, revision: str | None) -> tuple[Path, str | None]:
        asked.append(source)
        return demo, revision

    monkeypatch.setattr(models, "local_source", snapshot)
    for revision in ("c0ffee", "c0ffee", "facade"):
        pack(DeployedModel(name="hub", source="some/model", revision=revision))
    assert asked == ["some/model", "some/model"]
    document = manifests.read_manifest(tmp_path / "bundles" / "hub").document
    assert document["source"] == {"name": "some/model", "revision": "facade"}


def test_bundle_as_a_source_is_refused(pack: Pack, tmp_path: Path) -> None:
    pack(DeployedModel(name="demo"))
    model = DeployedModel(name="again", source=str(tmp_path / "bundles" / "demo"))
    with pytest.raises(ConfigurationError, match="is a bundle already"):
        pack(model)
