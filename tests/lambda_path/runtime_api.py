"""A local Lambda Runtime API: what `awslambdaric` asks for work and answers to.

Paths and limits are those of the API's version 2018-06-01, with the two that SnapStart adds.
"""

from __future__ import annotations

import json
import queue
import threading
import time
import uuid
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MAX_PAYLOAD_BYTES = 6 * 1024 * 1024 + 100
"""Of an event and of an answer."""

PREFIX = "/2018-06-01/runtime/"
_ACCEPTED = b'{"status":"OK"}'


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an invocation: the function's answer, or an error of the function or of Lambda."""

    is_error: bool
    payload: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.payload)


@dataclass(frozen=True, slots=True)
class Invocation:
    """One event on its way. `outcome` gets exactly one item."""

    payload: bytes
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    outcome: queue.Queue[Outcome] = field(default_factory=queue.Queue)


def failure(kind: str, message: str) -> Outcome:
    """An error as Lambda words it."""
    return Outcome(True, json.dumps({"errorType": kind, "errorMessage": message}).encode())


class RuntimeApi:
    """The API for one runtime process, on a free port of this machine.

    Attributes:
        is_initialised: set when the runtime asks for its first event or its restore, or reports that it cannot.
        init_error, restore_error: what it reported.
        may_restore: set it to let a runtime that waits for its restore go on.
    """

    def __init__(self) -> None:
        self.is_initialised = threading.Event()
        self.may_restore = threading.Event()
        self.init_error: dict[str, Any] | None = None
        self.restore_error: dict[str, Any] | None = None
        self._waiting: queue.Queue[Invocation | None] = queue.Queue()
        self._running: dict[str, Invocation] = {}
        self._server = _Server(("127.0.0.1", 0), _Exchange)
        self._server.api = self
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        host, port = self._server.server_address[:2]
        return f"{host!s}:{port}"

    def submit(self, payload: bytes) -> Invocation:
        """Hand an event to the runtime; one above Lambda's limit never gets there."""
        invocation = Invocation(payload)
        if len(payload) > MAX_PAYLOAD_BYTES:
            message = f"{len(payload)} byte payload is too large for the RequestResponse invocation type"
            invocation.outcome.put(failure("RequestTooLargeException", message))
        else:
            self._waiting.put(invocation)
        return invocation

    def next_invocation(self) -> Invocation | None:
        """Blocks until there is one; None when the API was closed."""
        self.is_initialised.set()
        invocation = self._waiting.get()
        if invocation is not None:
            self._running[invocation.id] = invocation
        return invocation

    def finish(self, invocation_id: str, kind: str, payload: bytes) -> bool:
        """Take the runtime's `response` or `error`. Returns False for an answer that is too large."""
        invocation = self._running.pop(invocation_id)
        if kind == "response" and len(payload) > MAX_PAYLOAD_BYTES:
            message = (
                f"Response payload size exceeded maximum allowed payload size ({MAX_PAYLOAD_BYTES} bytes)."
            )
            invocation.outcome.put(failure("Function.ResponseSizeTooLarge", message))
            return False
        invocation.outcome.put(Outcome(kind == "error", payload))
        return True

    def close(self) -> None:
        self._waiting.put(None)
        self.may_restore.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    api: RuntimeApi

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A runtime that was killed leaves connections behind; that is no news."""


class _Exchange(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: pytest shows what matters."""

    def do_GET(self) -> None:
        api = self.server.api
        if self.path == f"{PREFIX}restore/next":
            api.is_initialised.set()
            api.may_restore.wait()
            self._answer(200)
        elif self.path == f"{PREFIX}invocation/next" and (invocation := api.next_invocation()):
            self._answer(
                200,
                invocation.payload,
                {
                    "Lambda-Runtime-Aws-Request-Id": invocation.id,
                    "Lambda-Runtime-Deadline-Ms": str(int((time.time() + 29) * 1000)),
                    "Lambda-Runtime-Invoked-Function-Arn": "arn:aws:lambda:xx-test-1:0:function:f:live",
                    "Lambda-Runtime-Trace-Id": "Root=1-00000000-000000000000000000000001;Sampled=1",
                },
            )
        else:
            self._answer(404)

    def do_POST(self) -> None:
        api, payload = self.server.api, self._body()
        match self.path.removeprefix(PREFIX).split("/"):
            case ["init", "error"]:
                api.init_error = json.loads(payload)
                api.is_initialised.set()
                self._answer(202, _ACCEPTED)
            case ["restore", "error"]:
                api.restore_error = json.loads(payload)
                self._answer(202, _ACCEPTED)
            case ["invocation", invocation_id, ("response" | "error") as kind]:
                taken = api.finish(invocation_id, kind, payload)
                self._answer(202 if taken else 413, _ACCEPTED if taken else b"{}")
            case _:
                self._answer(404)

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while length := int(self.rfile.readline().partition(b";")[0], 16):
            body += self.rfile.read(length)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _answer(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Type": "application/json"}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
