"""Bundles: deterministic, whole or refused, and the same answers whichever engine answers."""

from __future__ import annotations

import datetime
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from render_core import ConfigurationError, ModelOptions, RequestContext, load_model, render_chat
from render_core.model import bundle as bundles
from render_core.model.bundle import PackOptions, pack
from render_core.model.files import read_model_files
from render_core.model.manifest import read_manifest
from render_core.model.model import DEMO_NAME, local_source
from render_core.tokenizer.certification import certify

CONTEXT = RequestContext(None, "0" * 16, datetime.datetime(2026, 11, 29))
BODY = json.dumps({"messages": [{"role": "user", "content": "Grüße, 日本語 and <think> 3.14"}]}).encode()


def demo_root() -> Path:
    return local_source(None, None)[0]


def pack_demo(target: Path) -> Path:
    pack(read_model_files(demo_root()), target, PackOptions(DEMO_NAME, served_names=("demo",)))
    return target


@pytest.fixture(autouse=True)
def quick_certification(monkeypatch: pytest.MonkeyPatch) -> None:
    """Packing sweeps all of Unicode; these tests are about bundles, and sweep a part of it."""

    def quick(reference: Any, engine: Any, added_tokens: Any, vocabulary: Any) -> Any:
        return certify(reference, engine, added_tokens, vocabulary, fuzz_count=50, below=0x300)

    monkeypatch.setattr(bundles, "certify", quick)


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return pack_demo(tmp_path / "bundle")


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_packing_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    assert contents(pack_demo(tmp_path / "a")) == contents(pack_demo(tmp_path / "b"))


def test_a_bundle_renders_what_its_source_renders_with_every_engine(bundle: Path) -> None:
    expected = json.loads(render_chat(load_model(None), BODY, CONTEXT))
    for engine in (None, "kitoken", "fastokens", "tokenizers"):
        model = load_model(str(bundle), ModelOptions(tokenizer_engine=engine))  # type: ignore[arg-type]
        assert json.loads(render_chat(model, BODY, CONTEXT)) == expected | {"model": "demo"}


def test_a_bundle_brings_its_names_and_parsers_along(tmp_path: Path) -> None:
    options = PackOptions(DEMO_NAME, served_names=("a", "b"), tool_call_parser="hermes")
    pack(read_model_files(demo_root()), tmp_path / "bundle", options)
    model = load_model(str(tmp_path / "bundle"), ModelOptions(enable_auto_tool_choice=True))
    assert (model.served_names, model.tool_call_parser) == (("a", "b"), "hermes")


def test_the_manifest_tells_sources_versions_and_certificates(bundle: Path) -> None:
    document = read_manifest(bundle).document
    assert document["source"] == {"name": DEMO_NAME, "revision": None}
    assert set(document["inputs"]) >= {"config.json", "tokenizer.json", "chat_template.jinja"}
    assert {name: c["exact"] for name, c in document["tokenizer"]["engines"].items()} == {
        "kitoken": True,
        "fastokens": True,
    }
    assert str(bundle) not in json.dumps(document)


@pytest.mark.parametrize(
    "name", ["tokenizer.json", "tokenizer.kitoken", "config.json", "templates/0/chat_template.bin"]
)
def test_a_bundle_with_an_altered_or_missing_file_does_not_load(bundle: Path, name: str) -> None:
    content = (bundle / name).read_bytes()
    (bundle / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(ConfigurationError, match="was altered after packing"):
        load_model(str(bundle))
    (bundle / name).unlink()
    with pytest.raises(ConfigurationError, match=f"lacks its file {name}"):
        load_model(str(bundle))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format_version": 2}, "format version 2; this version reads 3"),
        ({"format": "something"}, "is no manifest"),
        ({"tokenizer": {}}, "cannot be used"),
    ],
)
def test_a_manifest_of_another_kind_is_refused(bundle: Path, change: dict[str, Any], message: str) -> None:
    path = bundle / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ConfigurationError, match=message):
        load_model(str(bundle))


def test_an_engine_of_another_version_than_the_certified_one_is_not_used(bundle: Path) -> None:
    path = bundle / "manifest.json"
    document = json.loads(path.read_text())
    for certificate in document["tokenizer"]["engines"].values():
        certificate["version"] = "0.0.1"
    path.write_text(json.dumps(document))
    with pytest.raises(ConfigurationError, match="not certified"):
        load_model(str(bundle), ModelOptions(tokenizer_engine="kitoken"))
    model = load_model(str(bundle))
    model.load_hot_tokenizer(wait=True)
    render_chat(model, BODY, CONTEXT)
    assert model.tokenizer.engine.name == "tokenizers"


def test_a_template_for_another_python_is_compiled_from_its_kept_code(bundle: Path) -> None:
    path = bundle / "manifest.json"
    document = json.loads(path.read_text())
    document["templates"]["default"]["bytecode_magic"] = "00000000"
    path.write_text(json.dumps(document))
    expected = json.loads(render_chat(load_model(None), BODY, CONTEXT))
    assert (
        json.loads(render_chat(load_model(str(bundle)), BODY, CONTEXT))["token_ids"] == expected["token_ids"]
    )


def test_loading_a_bundle_parses_no_template(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from jinja2 import Environment

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a template was parsed")

    monkeypatch.setattr(Environment, "parse", refuse)
    assert json.loads(render_chat(load_model(str(bundle)), BODY, CONTEXT))["token_ids"]


def test_packing_into_a_folder_in_use_is_refused(bundle: Path) -> None:
    with pytest.raises(ConfigurationError, match="is not empty"):
        pack_demo(bundle)


def test_a_folder_cut_short_before_its_manifest_is_no_bundle(bundle: Path, tmp_path: Path) -> None:
    shutil.copytree(bundle, tmp_path / "partial")
    (tmp_path / "partial" / "manifest.json").unlink()
    with pytest.raises(ConfigurationError):
        read_manifest(tmp_path / "partial")
