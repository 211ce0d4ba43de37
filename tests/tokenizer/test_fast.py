"""The fast engines under threads that come and go. A crash would take the process along, so each runs in its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import render_core
from render_core.tokenizer.fast import kitoken_file

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
