"""Bundles answer as the Python peer does, whichever engine answers, and while one engine takes over from another.

Packs the tokenizers named here. With RENDER_CORE_BUNDLES set to a folder that scripts/pack_models.py filled, every
tokenizer in it is tested instead.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from render_core import ConfigurationError, ModelOptions, load_model
from render_core.model.bundle import PackOptions, pack
from render_core.model.files import read_model_files
from render_core.model.manifest import read_manifest
from render_core.tokenizer.cascade import CascadeEngine
from render_core.tokenizer.certification_texts import fuzz_texts
from render_core.tokenizer.cuts import Cuts
from render_core.tokenizer.fast import Fastokens, loader
from render_core.tokenizer.guard import Guard
from render_core.tokenizer.lengths import encode_text
from render_core.tokenizer.packed_ids import PackedIds
from render_core.tokenizer.tokenizer import load_reference
from tests.conformance.comparison import differences
from tests.conformance.served import served
from tests.conformance.test_corpus import CLOCK, DECISIONS
from tests.corpus import case_file_names, model_dir, needs_corpus, read_case_file, read_records

# One whose engines are guarded by added tokens, one that fastokens cannot load, one with guarded code points.
PACKED = ("phi4", "llama2", "qwen2_5")
ENGINES = ("kitoken", "fastokens")
DEVIATING = frozenset(entry["case"] for entry in DECISIONS["deviations"])
PREPACKED = os.environ.get("RENDER_CORE_BUNDLES")

Bundle = Callable[[str], Path]


def names() -> list[str]:
    return (
        sorted(path.parent.name for path in Path(PREPACKED).glob("*/manifest.json"))
        if PREPACKED
        else list(PACKED)
    )


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """The bundle of a corpus model, packed once with the full certification."""
    folder = Path(PREPACKED) if PREPACKED else tmp_path_factory.mktemp("bundles")

    def packed(name: str) -> Path:
        target = folder / name
        if not target.exists():
            pack(read_model_files(model_dir(name)), target, PackOptions(name))
        return target

    return packed


def certified_engines(root: Path) -> list[str]:
    engines = read_manifest(root).document["tokenizer"]["engines"]
    return [name for name in ENGINES if engines[name]["exact"]]


@needs_corpus
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", names())
def test_public_cases_are_right_with_one_engine_forced(bundle: Bundle, name: str, engine: str) -> None:
    root = bundle(name)
    if engine not in certified_engines(root):
        with pytest.raises(ConfigurationError, match="not certified"):
            load_model(str(root), ModelOptions(tokenizer_engine=engine))  # type: ignore[arg-type]
        return
    case_file = read_case_file(name)
    served_name = case_file.flags[case_file.flags.index("--served-model-name") + 1]
    flags = [*case_file.flags, "--tokenizer-engine", engine]
    with served(str(root), flags, CLOCK) as client:
        wrong = [
            f"{case.id}: {'; '.join(found)}"
            for case in case_file.cases
            if case.endpoint not in DECISIONS["absent_endpoints"]
            and case.id not in DEVIATING
            and (found := answer_differences(client, case, served_name))
        ]
    assert wrong == []


def answer_differences(client: Any, case: Any, served_name: str) -> list[str]:
    response = client.post(case.endpoint, case.body, case.headers)
    return differences(case, response.status_code, response.json(), frozenset(), served_name)


@needs_corpus
@pytest.mark.parametrize("name", [name for name in names() if name in case_file_names("cases-fuzz")])
def test_fuzz_strings_have_the_ids_of_the_peer_with_every_engine(bundle: Bundle, name: str) -> None:
    root = bundle(name)
    records = list(read_records(name, "cases-fuzz"))
    for engine in certified_engines(root):
        tokenizer = load_model(str(root), ModelOptions(tokenizer_engine=engine)).tokenizer  # type: ignore[arg-type]
        wrong = []
        for record in records:
            text = record["text"]
            tokens = encode_text(tokenizer, text, add_special_tokens=True, with_offsets=False, rules=None)
            if tokens.ids != record["python"]:
                wrong.append(json.dumps(text)[:200])
        assert wrong == [], engine


@needs_corpus
@pytest.mark.parametrize("name", names())
def test_long_texts_have_the_ids_of_the_reference_however_they_are_cut(bundle: Bundle, name: str) -> None:
    root = bundle(name)
    facts = read_manifest(root).document["tokenizer"]
    if "fastokens" not in certified_engines(root) or not facts["cuts"]:
        return
    trips = Guard.from_manifest(facts["engines"]["fastokens"]["guard"]).trips
    texts = [text for text in fuzz_texts(7, 2000, facts["cuts"]) if not trips(text)]
    text = "\n".join(texts)
    encode = loader("fastokens", facts["cuts"])(root / "tokenizer.json")
    assert isinstance(encode, Fastokens)
    assert len(Cuts(facts["cuts"]).pieces(text, 8)) == 8
    ids = encode(text)
    assert isinstance(ids, PackedIds)
    assert ids == load_reference(facts["class"], (root / "tokenizer.json").read_bytes()).encode(text, False)


@needs_corpus
@pytest.mark.parametrize("name", names())
def test_a_takeover_under_load_changes_no_answer(bundle: Bundle, name: str) -> None:
    root = bundle(name)
    engine = load_model(str(root)).tokenizer.engine
    assert isinstance(engine, CascadeEngine)
    texts = [r["text"] for r in read_records("qwen3", "cases-fuzz") if len(r["text"]) < 5000][:120]
    reference = load_model(str(root), ModelOptions(tokenizer_engine="tokenizers")).tokenizer.engine
    expected = [reference.encode(text, add_special_tokens=True) for text in texts]
    engine.wait_until_ready()
    certified = certified_engines(root)
    assert engine.name.startswith("kitoken" if "kitoken" in certified else "tokenizers")
    loading = engine.load_hot_in_background()
    with ThreadPoolExecutor(4) as pool:
        while True:
            was_loading = loading is not None and loading.is_alive()
            answers = list(pool.map(lambda text: engine.encode(text, add_special_tokens=True), texts))
            assert answers == expected
            if not was_loading:
                break
    assert engine.name.startswith(" over ".join(reversed(certified)) or "tokenizers")


@needs_corpus
@pytest.mark.parametrize(
    ("name", "engine", "condition"),
    [("phi4", "kitoken", "spaced_tokens"), ("qwen2_5", "kitoken", "characters")],
)
def test_certification_guards_what_a_library_is_known_to_get_wrong(
    bundle: Bundle, name: str, engine: str, condition: str
) -> None:
    certificate = read_manifest(bundle(name)).document["tokenizer"]["engines"][engine]
    assert certificate["exact"]
    assert certificate["guard"][condition] != []


@needs_corpus
def test_an_engine_that_cannot_read_a_tokenizer_is_not_certified_for_it(bundle: Bundle) -> None:
    assert certified_engines(bundle("llama2")) == ["kitoken"]
