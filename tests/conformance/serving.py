"""A model behind a real socket: `render-core serve` in a process of its own, always ended."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Timer

import httpx

from tests.corpus import REPOSITORY

SECONDS = 240
"""For whatever must happen; nothing waits this long unless it is broken."""

GRACE_SECONDS = 10
"""For a server without running requests to end by itself."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server and a client of it."""

    client: httpx.Client
    process: subprocess.Popen[str]


@contextmanager
def serving(*arguments: str, answer_seconds: float = SECONDS) -> Iterator[Server]:
    """Serve under command line flags, on a free port of this machine that nobody else can reach."""
    ours = {
        name: value for name, value in os.environ.items() if not name.startswith(("RENDER_CORE_", "VLLM_"))
    }
    path = os.pathsep.join(filter(None, [str(REPOSITORY), ours.get("PYTHONPATH")]))
    process = subprocess.Popen(
        [sys.executable, "-m", "handlers.cli", "serve", "--host", "127.0.0.1", "--port", "0", *arguments],
        cwd=REPOSITORY,
        env={**ours, "PYTHONPATH": path},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        with httpx.Client(base_url=_address_of(process), timeout=answer_seconds) as client:
            yield Server(client, process)
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=GRACE_SECONDS)
        process.kill()
        process.communicate()


def _address_of(process: subprocess.Popen[str]) -> str:
    """The address that the process says it serves, once it does."""
    assert process.stderr is not None
    lines = []
    too_late = Timer(SECONDS, process.kill)
    too_late.start()
    try:
        for line in process.stderr:
            lines.append(line)
            if found := re.search(r"serves (http://\S+)", line):
                return found[1]
    finally:
        too_late.cancel()
    raise AssertionError("the server did not come up: " + "".join(lines))
