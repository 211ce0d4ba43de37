#!/usr/bin/env python3
"""The Lambda path against the server path: event to answer at several prompt sizes, initialisation, and what it costs.

    bench/lambda_path.py BUNDLE --python FUNCTION_PYTHON

Lambda's own runtime client runs the function against a local Runtime API; `render-core serve` answers the same
bodies over HTTP. Requests alternate, so that noise hits both alike. Milliseconds scale with the machine; ratios and
CPU time are what to look at. Linux only.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "bench")]

import agent_bodies  # noqa: E402
import lambda_cost  # noqa: E402

from tests.lambda_path.events import rest_api  # noqa: E402
from tests.lambda_path.runtime_api import RuntimeApi  # noqa: E402

PATH = "/v1/chat/completions/render"
HANDLER = "handlers.lambda_function.handler"


@dataclass
class Function:
    """The function in the runtime client."""

    process: subprocess.Popen[str]
    api: RuntimeApi
    init_seconds: float
    log: list[str] = field(default_factory=list)

    def invoke(self, event: Any) -> bytes:
        outcome = self.api.submit(json.dumps(event).encode()).outcome.get(timeout=120)
        if outcome.is_error:
            raise SystemExit(f"the function failed: {outcome.payload[:500]!r}")
        return outcome.payload

    def render(self, body: bytes) -> int:
        """Bytes of the answer."""
        payload = self.invoke(rest_api("POST", PATH, body))
        if b'"statusCode":200' not in payload[:40]:
            raise SystemExit(f"the function answered {payload[:500]!r}")
        return len(payload)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.api.close()


@dataclass
class Server:
    """`render-core serve`."""

    process: subprocess.Popen[str]
    connection: http.client.HTTPConnection

    def render(self, body: bytes) -> int:
        """Bytes of the answer."""
        self.connection.request("POST", PATH, body, {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise SystemExit(f"the server answered {answer.status}: {content[:500]!r}")
        return len(content)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


@dataclass
class Timings:
    """Wall and CPU milliseconds of the requests of one size on one path, and bytes of their answers."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    answered: list[int] = field(default_factory=list)

    def measure(self, pid: int, render: Callable[[], int]) -> None:
        cpu, wall = cpu_seconds(pid), time.perf_counter()
        self.answered.append(render())
        self.wall.append((time.perf_counter() - wall) * 1000)
        self.cpu.append((cpu_seconds(pid) - cpu) * 1000)


def start_function(model: str, python: str) -> Function:
    api = RuntimeApi()
    began = time.perf_counter()
    process = subprocess.Popen(
        [python, "-m", "awslambdaric", HANDLER],
        cwd=REPOSITORY,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(REPOSITORY),
            "AWS_LAMBDA_RUNTIME_API": api.address,
            "AWS_LAMBDA_FUNCTION_NAME": "bench",
            "AWS_EXECUTION_ENV": "AWS_Lambda_python3.13",
            "RENDER_CORE_MODEL": model,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    api.is_initialised.wait(120)
    function = Function(process, api, time.perf_counter() - began)
    if api.init_error:
        raise SystemExit(f"the function did not start: {api.init_error['errorMessage']}")
    threading.Thread(target=lambda: function.log.extend(process.stdout or ()), daemon=True).start()
    return function


def start_server(model: str) -> Server:
    process = subprocess.Popen(
        [sys.executable, "-m", "handlers.cli", "serve", model, "--host", "127.0.0.1", "--port", "0"],
        cwd=REPOSITORY,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(r"serves http://(\S+):(\d+)", line):
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return Server(process, http.client.HTTPConnection(found[1], int(found[2]), timeout=120))
    raise SystemExit("the server did not start")


def cpu_seconds(pid: int) -> float:
    """CPU time of all threads that live."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


def peak_megabytes(pid: int) -> int:
    found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) // 1024 if found else 0


def measure_starts(model: str, python: str, number: int) -> tuple[list[float], list[float], list[float]]:
    """Wall and CPU milliseconds of initialisations, and of the first 72K-token answer after each."""
    walls, cpus, firsts = [], [], []
    (body,) = agent_bodies.distinct(1, 72_000, seed=7)
    for _ in range(number):
        function = start_function(model, python)
        try:
            walls.append(function.init_seconds * 1000)
            cpus.append(cpu_seconds(function.process.pid) * 1000)
            began = time.perf_counter()
            function.render(body)
            firsts.append((time.perf_counter() - began) * 1000)
        finally:
            function.close()
    return walls, cpus, firsts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="a bundle or a model directory")
    parser.add_argument("--tokens", type=int, nargs="+", default=[2_000, 72_000, 182_000])
    parser.add_argument("--requests", type=int, default=15, help="of each size on each path")
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument(
        "--python",
        default=sys.executable,
        help="for the function: one that has what infra/requirements.txt pins",
    )
    given = parser.parse_args()

    # Made first: it takes so long that the server would close an idle connection meanwhile.
    bodies = {tokens: agent_bodies.distinct(given.requests, tokens) for tokens in given.tokens}
    walls, cpus, firsts = measure_starts(given.model, given.python, given.starts)
    print("| initialisation, median of", given.starts, "| ms |\n|---|---|")
    print(f"| wall, process start to ready | {statistics.median(walls):.0f} |")
    print(f"| CPU | {statistics.median(cpus):.0f} |")
    print(f"| first 72K-token answer after it, wall | {statistics.median(firsts):.0f} |\n")

    sizes = []
    print(
        "| prompt tokens | Lambda wall ms, median (min) | server wall ms, median (min) | ratio of medians "
        "| Lambda CPU ms | server CPU ms | ratio of CPU |\n" + "|---" * 7 + "|"
    )
    with ExitStack() as stack:
        function, server = start_function(given.model, given.python), start_server(given.model)
        stack.callback(function.close)
        stack.callback(server.close)
        function.invoke({})  # a ping waits for the hot engine
        time.sleep(5)  # the server's loads in the background
        for tokens in given.tokens:
            lambda_path, server_path = Timings(), Timings()
            logged = len(function.log)
            for body in bodies[tokens]:
                lambda_path.measure(function.process.pid, lambda body=body: function.render(body))
                server_path.measure(server.process.pid, lambda body=body: server.render(body))
            time.sleep(0.5)  # for the last line
            lines = function.log[logged:]
            size = lambda_cost.Measured(
                tokens=round(statistics.median(json.loads(line)["PromptTokens"] for line in lines)),
                lambda_cpu_ms=statistics.median(lambda_path.cpu),
                server_cpu_ms=statistics.median(server_path.cpu),
                log_bytes=round(statistics.mean(map(len, lines))),
                answer_bytes=round(statistics.median(server_path.answered)),
            )
            sizes.append(size)
            medians = statistics.median(lambda_path.wall), statistics.median(server_path.wall)
            print(
                f"| {size.tokens:,} | {medians[0]:.1f} ({min(lambda_path.wall):.1f}) "
                f"| {medians[1]:.1f} ({min(server_path.wall):.1f}) | {medians[0] / medians[1]:.2f} "
                f"| {size.lambda_cpu_ms:.1f} | {size.server_cpu_ms:.1f} "
                f"| {size.lambda_cpu_ms / size.server_cpu_ms:.2f} |",
                flush=True,
            )
        print(f"\nPeak memory of the function: {peak_megabytes(function.process.pid)} MB\n")
    print(*lambda_cost.price_table(sizes), "", sep="\n")
    print(*lambda_cost.start_table(statistics.median(cpus)), "", sep="\n")
    print(*lambda_cost.transfer_table(sizes), "", sep="\n")
    print(*lambda_cost.pods_table(sizes), sep="\n")


if __name__ == "__main__":
    main()
