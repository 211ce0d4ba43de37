#!/usr/bin/env python3
"""From process start to the first 200 for a 72K-token prompt: time and peak memory of several renderers in one run.

    bench/cold_start.py --server render-core='render-core serve BUNDLE --port {port}' \
        --server rust='vllm-rs render MODEL --port {port}' \
        --lambda render-core-lambda='RENDER_CORE_MODEL=BUNDLE python -m awslambdaric handlers.lambda_function.handler'

A --server is asked over HTTP until it answers. A --lambda command is run as the Lambda runtime runs it, against a
Runtime API in this process, with a REST API event. Runs alternate, so that noise hits all alike. Prints a Markdown
table; the ratio is to the first one given.
"""

from __future__ import annotations

import argparse
import http.client
import http.server
import json
import os
import shlex
import socket
import statistics
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import agent_bodies

PATH = "/v1/chat/completions/render"
GIVE_UP_SECONDS = 120


@dataclass
class Renderer:
    """One way to start a renderer, and what was measured of it."""

    name: str
    command: str
    is_lambda: bool
    seconds: list[float] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)
    tokens: int = 0

    def start(self, port: int) -> subprocess.Popen[bytes]:
        words = shlex.split(self.command.replace("{port}", str(port)))
        environment = dict(os.environ)
        while "=" in words[0]:
            name, _, value = words.pop(0).partition("=")
            environment[name] = value
        if self.is_lambda:
            environment |= {
                "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{port}",
                "AWS_LAMBDA_FUNCTION_NAME": self.name,
            }
        return subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class RuntimeApi(http.server.ThreadingHTTPServer):
    """The part of Lambda's Runtime API that one invocation needs: one event out, one answer in."""

    def __init__(self, event: dict[str, Any]) -> None:
        super().__init__(("127.0.0.1", 0), _RuntimeApiHandler)
        self.event = json.dumps(event).encode()
        self.asked = False
        self.answer: dict[str, Any] = {}
        self.answered = threading.Event()


class _RuntimeApiHandler(http.server.BaseHTTPRequestHandler):
    server: RuntimeApi
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.server.asked:  # one invocation is all there is: wait until the process is ended
            time.sleep(GIVE_UP_SECONDS)
        self.server.asked = True
        self.send_response(200)
        self.send_header("Lambda-Runtime-Aws-Request-Id", "1")
        self.send_header("Lambda-Runtime-Deadline-Ms", str(int(time.time() * 1000) + 60_000))
        self.send_header("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:local:0:function:bench")
        self.send_header("Lambda-Runtime-Trace-Id", "Root=1-00000000-000000000000000000000000;Sampled=0")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(self.server.event)))
        self.end_headers()
        self.wfile.write(self.server.event)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.answer = json.loads(body)
        self.server.answered.set()
        self.send_response(202)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def rest_event(body: bytes) -> dict[str, Any]:
    """An API Gateway REST event for a chat render."""
    return {
        "resource": "/{proxy+}",
        "path": PATH,
        "httpMethod": "POST",
        "headers": {"content-type": "application/json", "host": "localhost"},
        "multiValueHeaders": {"content-type": ["application/json"], "host": ["localhost"]},
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
        "pathParameters": {"proxy": PATH[1:]},
        "requestContext": {
            "httpMethod": "POST",
            "path": PATH,
            "stage": "prod",
            "identity": {},
            "requestId": "1",
        },
        "body": body.decode(),
        "isBase64Encoded": False,
    }


def run_once(renderer: Renderer, body: bytes) -> None:
    if renderer.is_lambda:
        _run_lambda(renderer, body)
    else:
        _run_server(renderer, body)


def _run_server(renderer: Renderer, body: bytes) -> None:
    port = _free_port()
    started = time.perf_counter()
    process = renderer.start(port)
    try:
        content = _ask_until_answered(process, port, body)
        _record(renderer, process, time.perf_counter() - started, content)
    finally:
        process.kill()
        process.wait()


def _run_lambda(renderer: Renderer, body: bytes) -> None:
    api = RuntimeApi(rest_event(body))
    threading.Thread(target=api.serve_forever, daemon=True).start()
    started = time.perf_counter()
    process = renderer.start(api.server_address[1])
    try:
        if not api.answered.wait(GIVE_UP_SECONDS) or api.answer.get("statusCode") != 200:
            raise SystemExit(f"{renderer.name} answered {str(api.answer)[:300]}")
        _record(renderer, process, time.perf_counter() - started, api.answer["body"])
    finally:
        process.kill()
        process.wait()
        threading.Thread(target=api.shutdown, daemon=True).start()


def _record(
    renderer: Renderer, process: subprocess.Popen[bytes], seconds: float, content: str | bytes
) -> None:
    renderer.seconds.append(seconds)
    renderer.cpu_seconds.append(_cpu_seconds(process.pid))
    renderer.megabytes.append(_peak_megabytes(process.pid))
    renderer.tokens = len(json.loads(content)["token_ids"])


def _ask_until_answered(process: subprocess.Popen[bytes], port: int, body: bytes) -> bytes:
    deadline = time.monotonic() + GIVE_UP_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise SystemExit(f"the server ended with {process.returncode}")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            connection.request("POST", PATH, body, {"content-type": "application/json"})
            answer = connection.getresponse()
            content = answer.read()
            if answer.status != 200:
                raise SystemExit(f"the server answered {answer.status}: {content[:300]!r}")
            return content
        except (ConnectionError, TimeoutError):
            time.sleep(0.002)
        finally:
            connection.close()
    raise SystemExit("the server did not answer")


def _cpu_seconds(pid: int) -> float:
    """User and system time of a process so far, which other work on the machine does not change much."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():  # not Linux
        return float("nan")
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _peak_megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status")
    if not status.exists():  # not Linux
        return float("nan")
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--lambda", dest="lambdas", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--tokens", type=int, default=72_000)
    given = parser.parse_args()
    renderers = [Renderer(*text.split("=", 1), is_lambda=False) for text in given.server]
    renderers += [Renderer(*text.split("=", 1), is_lambda=True) for text in given.lambdas]
    body = agent_bodies.distinct(1, given.tokens)[0]
    for renderer in renderers:
        run_once(renderer, body)  # fills the page cache
        renderer.seconds.clear()
        renderer.megabytes.clear()
        renderer.cpu_seconds.clear()
    for _ in range(given.runs):
        for renderer in renderers:
            run_once(renderer, body)
    print("| renderer | prompt tokens | median s | min s | ratio of medians | CPU s | peak MB |")
    print("|---|---|---|---|---|---|---|")
    base = statistics.median(renderers[0].seconds)
    for renderer in renderers:
        median = statistics.median(renderer.seconds)
        print(
            f"| {renderer.name} | {renderer.tokens} | {median:.3f} | {min(renderer.seconds):.3f} "
            f"| {median / base:.2f} | {statistics.median(renderer.cpu_seconds):.2f} "
            f"| {statistics.median(renderer.megabytes):.0f} |"
        )


if __name__ == "__main__":
    main()
