#!/usr/bin/env python3
"""Measure render servers against one another in one run: same distinct bodies, in turn, equal ids required.

    bench/side_by_side.py --server render-core=http://127.0.0.1:8000 --server rust=http://127.0.0.1:8001 \
        --tokens 2000 72000 --concurrency 1 8

Prints a Markdown table: median and p99 in milliseconds, requests per second, and the ratio of requests per
second to the first server. Machines are noisy: only ratios of one run mean something.
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import json
import statistics
import sys
import time
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import agent_bodies

PATH = "/v1/chat/completions/render"


@dataclass
class Measured:
    """What one server did with one kind of body."""

    seconds: list[float] = field(default_factory=list)
    wall: float = 0.0
    digests: dict[int, str] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        return len(self.seconds) / self.wall

    def percentile(self, share: float) -> float:
        return sorted(self.seconds)[round(share * (len(self.seconds) - 1))] * 1e3


def post(url: str, body: bytes) -> tuple[float, list[int]]:
    """One request on a connection of its own: seconds until the whole answer is read, and its token ids."""
    address = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=300)
    started = time.perf_counter()
    connection.request("POST", address.path.rstrip("/") + PATH, body, {"content-type": "application/json"})
    answer = connection.getresponse()
    content = answer.read()
    seconds = time.perf_counter() - started
    connection.close()
    if answer.status != 200:
        raise SystemExit(f"{url} answered {answer.status}: {content[:300]!r}")
    return seconds, json.loads(content)["token_ids"]


def measure(
    servers: dict[str, str], bodies: list[bytes], concurrency: int, rounds: int
) -> dict[str, Measured]:
    """Send every body once to every server, alternating between servers; the first body only warms up."""
    measured = {name: Measured() for name in servers}
    for url in servers.values():
        post(url, bodies[0])
    for turn in range(rounds):
        part = list(enumerate(bodies))[1 + turn :: rounds]
        for name, url in servers.items():
            with ThreadPoolExecutor(concurrency) as pool:
                started = time.perf_counter()
                answers = list(pool.map(lambda item, url=url: post(url, item[1]), part))
                measured[name].wall += time.perf_counter() - started
            for (index, _), (seconds, ids) in zip(part, answers, strict=True):
                measured[name].seconds.append(seconds)
                measured[name].digests[index] = hashlib.sha256(str(ids).encode()).hexdigest()
    first, *others = measured.values()
    for name, other in zip(list(servers)[1:], others, strict=True):
        if other.digests != first.digests:
            raise SystemExit(f"{name} gave other token ids than {next(iter(servers))}")
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", action="append", required=True, metavar="NAME=URL")
    parser.add_argument("--tokens", type=int, nargs="+", default=[2000, 72000])
    parser.add_argument("--concurrency", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--count", type=int, default=40, help="bodies of each size")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument(
        "--growing", action="store_true", help="turns of one conversation instead of distinct ones"
    )
    given = parser.parse_args()
    servers = dict(server.split("=", 1) for server in given.server)
    make = agent_bodies.growing if given.growing else agent_bodies.distinct
    print("| prompt tokens | concurrency | server | median ms | p99 ms | requests/s | ratio to the first |")
    print("|---|---|---|---|---|---|---|")
    for seed, tokens in enumerate(given.tokens):
        for concurrency in given.concurrency:
            bodies = make(given.count + 1, tokens, seed * 31 + concurrency)
            measured = measure(servers, bodies, concurrency, given.rounds)
            base = next(iter(measured.values())).rate
            for name, result in measured.items():
                median = statistics.median(result.seconds) * 1e3
                print(
                    f"| {tokens} | {concurrency} | {name} | {median:.2f} | {result.percentile(0.99):.2f} "
                    f"| {result.rate:.1f} | {result.rate / base:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
