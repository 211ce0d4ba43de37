"""Model directories with tekken.json: when it is the tokenizer, and that a bundle of one answers alike."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest

from render_core import (
    ConfigurationError,
    ModelOptions,
    RequestContext,
    load_model,
    render_chat,
    render_completion,
)
from render_core.model import bundle as bundles
from render_core.model.bundle import PackOptions, pack
from render_core.model.files import read_model_files
from render_core.tokenizer.certification import certify
from tests.families.encoders.small_tekken import document, serialized

CONTEXT = RequestContext(None, "0" * 16, datetime.datetime(2026, 11, 29))
CHAT = json.dumps({"messages": [{"role": "user", "content": "hello [INST] é"}]}).encode()
SURROGATE = b'{"prompt": "hello \\ud800"}'


def directory(root: Path, *others: str) -> Path:
    root.mkdir()
    (root / "config.json").write_text(json.dumps({"model_type": "mistral", "max_position_embeddings": 512}))
    (root / "tekken.json").write_bytes(serialized(document(11)))
    for name in others:
        (root / name).write_text("{}")
    return root


def test_it_is_the_tokenizer_when_there_is_no_other(tmp_path: Path) -> None:
    model = load_model(str(directory(tmp_path / "m")))
    assert model.encoder is not None
    assert model.encoder.name == "mistral"
    ids = json.loads(render_chat(model, CHAT, CONTEXT))["token_ids"]
    assert ids[:2] == [1, 3]  # <s>[INST]
    assert ids.count(3) == 1  # what a user writes is no special token


@pytest.mark.parametrize(
    ("others", "mode", "is_tekken"),
    [
        ((), "auto", True),
        (("tokenizer.json",), "auto", False),
        (("tokenizer.json", "consolidated-00001.safetensors"), "auto", True),
        (("tokenizer.json",), "mistral", True),
        (("tokenizer.json", "consolidated.safetensors"), "hf", False),
    ],
)
def test_which_file_is_read(tmp_path: Path, others: tuple[str, ...], mode: str, is_tekken: bool) -> None:
    assert read_model_files(directory(tmp_path / "m", *others), tokenizer_mode=mode).is_tekken is is_tekken


def test_another_mode_misses_tokenizer_json(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"tokenizer\.json is missing"):
        load_model(str(directory(tmp_path / "m")), ModelOptions(tokenizer_mode="hf"))


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"config": {"version": "v99"}}'])
def test_a_broken_file_is_refused(tmp_path: Path, content: bytes) -> None:
    root = directory(tmp_path / "m")
    (root / "tekken.json").write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"tekken\.json"):
        load_model(str(root))


def test_a_bundle_renders_what_its_directory_renders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def quick(reference: Any, engine: Any, added_tokens: Any, vocabulary: Any) -> Any:
        return certify(reference, engine, added_tokens, vocabulary, fuzz_count=50, below=0x300)

    monkeypatch.setattr(bundles, "certify", quick)
    root = directory(tmp_path / "m")
    pack(read_model_files(root), tmp_path / "bundle", PackOptions("m"))
    plain, packed = load_model(str(root)), load_model(str(tmp_path / "bundle"))
    packed.load_hot_tokenizer(wait=True)
    for render, body in ((render_chat, CHAT), (render_completion, SURROGATE)):
        answers = [json.loads(render(model, body, CONTEXT)) for model in (plain, packed)]
        ids = [(a[0] if isinstance(a, list) else a)["token_ids"] for a in answers]
        assert ids[0] == ids[1]
