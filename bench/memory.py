#!/usr/bin/env python3
"""Whether memory grows: resident size of a server over many distinct prompts, and its peak by prompt size.

    bench/memory.py BUNDLE --requests 10000 --tokens 72000
    bench/memory.py BUNDLE --peaks 72000 182000 1000000

Prompts are agent conversations in which a common word is another one in every request, so that no text, and no word
cache, serves twice. Linux only: sizes are read from /proc.
"""

from __future__ import annotations

import argparse
import http.client
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import agent_bodies

PATH = "/v1/chat/completions/render"
PORT = 8177
_BASES = 12
_WORDS = (b"self", b"return", b"import")


class Server:
    """`render-core serve`, while the context lasts."""

    def __init__(self, source: str, *options: str) -> None:
        command = [sys.executable, "-m", "handlers.cli", "serve", source, "--port", str(PORT), *options]
        self._process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        self._connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=300)

    def __enter__(self) -> Server:
        for _ in range(600):
            try:
                self.ask("GET", "/health")
                return self
            except ConnectionError:
                self._connection.close()
                time.sleep(0.1)
        raise SystemExit("the server did not start")

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()

    def ask(self, method: str, path: str, body: bytes | None = None) -> None:
        self._connection.request(method, path, body, {"content-type": "application/json"})
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise SystemExit(f"the server answered {answer.status}: {content[:300]!r}")

    def megabytes(self, entry: str) -> float:
        """VmRSS, what is resident now, or VmHWM, the most that ever was."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith(entry)).split()[1]) / 1024


def changed(body: bytes, number: int) -> bytes:
    """The conversation with words of its own."""
    for word in _WORDS:
        body = body.replace(word, word[:2] + f"{number:x}".encode() + word[2:])
    return body


def growth(source: str, requests: int, tokens: int) -> None:
    bases = agent_bodies.distinct(_BASES, tokens)
    marks = sorted({500, *(requests * part // 10 for part in range(1, 11))})
    print("| requests | resident MB |\n|---|---|")
    with Server(source) as server:
        for number in range(1, requests + 1):
            server.ask("POST", PATH, changed(bases[number % _BASES], number))
            if number in marks:
                print(f"| {number:,} | {server.megabytes('VmRSS'):.0f} |", flush=True)


def peaks(source: str, sizes: list[int]) -> None:
    print("| prompt tokens | resident MB after | peak MB |\n|---|---|---|")
    for tokens in sizes:
        with Server(source, "--max-model-len", "2000000", "--allow-long-max-model-len") as server:
            for number, body in enumerate(agent_bodies.distinct(2, tokens)):
                server.ask("POST", PATH, changed(body, number))
            time.sleep(5)  # the hot tokenizer is loaded by then, and counts
            server.ask("POST", PATH, agent_bodies.distinct(1, tokens)[0])
            print(
                f"| {tokens:,} | {server.megabytes('VmRSS'):.0f} | {server.megabytes('VmHWM'):.0f} |",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source")
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--tokens", type=int, default=72_000)
    parser.add_argument("--peaks", type=int, nargs="+")
    given = parser.parse_args()
    if given.peaks:
        peaks(given.source, given.peaks)
    else:
        growth(given.source, given.requests, given.tokens)


if __name__ == "__main__":
    main()
