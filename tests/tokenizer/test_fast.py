"""The fast engines under threads that come and go. A crash would take the process along, so each runs in its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import fastokens
import pytest

import render_core
from render_core.tokenizer.fast import Fastokens, encoder_to_certify, kitoken_file, loader

DEMO = Path(render_core.__file__).parent / "demo_model"

SCRIPT = """
import sys, threading
from pathlib import Path
from render_core.tokenizer.fast import loader

import random
random.seed(0)
text = " ".join("".join(random.choices("etaoinshrdlu", k=random.randint(1, 12))) for _ in range(80000))
box = []

def run(job):
    thread = threading.Thread(target=job)
    thread.start()
    thread.join()

run(lambda: box.append(loader(sys.argv[1])(Path(sys.argv[2]))))
encode = box[0]
for _ in range(3):
    run(lambda: box.append(encode(text)))
box.append(encode(text))
assert len(box) == 5 and all(ids == box[1] for ids in box[2:])
"""


@pytest.mark.parametrize("engine", ["kitoken", "fastokens"])
def test_an_engine_outlives_the_thread_that_loaded_it(engine: str, tmp_path: Path) -> None:
    serialized = (DEMO / "tokenizer.json").read_bytes()
    path = tmp_path / "tokenizer"
    path.write_bytes(kitoken_file(serialized) if engine == "kitoken" else serialized)
    done = subprocess.run([sys.executable, "-c", SCRIPT, engine, str(path)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_the_first_call_builds_is_built_while_loading(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the call that lets other threads run: the other would stall every request of a process for a while."""
    calls: list[str] = []

    class Tokenizer:
        def encode_batch_flat(self, texts: list[str], add_special_tokens: bool) -> tuple[bytes, bytes]:
            calls.append("encode_batch_flat")
            return b"", b""

        def encode(self, text: str, add_special_tokens: bool) -> None:
            calls.append("encode")

    monkeypatch.setattr(fastokens, "Tokenizer", SimpleNamespace(from_file=lambda path: Tokenizer()))
    Fastokens(DEMO / "tokenizer.json")
    assert calls == ["encode_batch_flat"]


def test_ways_to_encode_that_differ_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    encode = encoder_to_certify("fastokens", DEMO / "tokenizer.json")
    assert encode("Good morning") == loader("fastokens")(DEMO / "tokenizer.json")("Good morning")
    monkeypatch.setattr(Fastokens, "_packed", lambda self, text: b"\0\0\0\0")
    with pytest.raises(ValueError, match="differ"):
        encode("Good morning")
