"""A running function: the source tree or a built artifact, run by `awslambdaric` against the local Runtime API.

RENDER_CORE_LAMBDA_ARTIFACT names the folder of a build to run instead of the source tree, and
RENDER_CORE_LAMBDA_PYTHON a Python of the version it was built for that has awslambdaric; else this one is used.
"""

from __future__ import annotations

import importlib.util
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import pytest

from tests.corpus import REPOSITORY
from tests.lambda_path.runtime_api import Outcome, RuntimeApi, failure

T = TypeVar("T")

HANDLER = "handlers.lambda_function.handler"
ARTIFACT = os.environ.get("RENDER_CORE_LAMBDA_ARTIFACT")
PYTHON = os.environ.get("RENDER_CORE_LAMBDA_PYTHON")
CODE = os.path.abspath(ARTIFACT) if ARTIFACT else str(REPOSITORY)

SECONDS = 240
"""For whatever must happen; nothing waits this long unless it is broken."""

needs_runtime_client = pytest.mark.skipif(
    PYTHON is None and importlib.util.find_spec("awslambdaric") is None,
    reason="awslambdaric, the runtime client of Lambda, is not installed: it has no wheels for this system",
)


class Function:
    """One execution environment."""

    def __init__(self, api: RuntimeApi, process: subprocess.Popen[str]) -> None:
        self.api = api
        self.process = process
        self.log: list[str] = []
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()

    def invoke(self, event: Any) -> Any:
        """The function's answer to an event."""
        outcome = self.outcome(event)
        assert not outcome.is_error, outcome.payload[:2000]
        return outcome.document

    def outcome(self, event: Any) -> Outcome:
        """What becomes of an event. If the process dies over it, Lambda says so."""
        invocation = self.api.submit(json.dumps(event).encode())
        for _ in range(SECONDS * 10):
            try:
                return invocation.outcome.get(timeout=0.1)
            except queue.Empty:
                if self.process.poll() is not None:
                    return failure(
                        "Runtime.ExitError", f"Runtime exited with status {self.process.returncode}"
                    )
        raise AssertionError("no answer: " + "".join(self.log))

    def wait_until_initialised(self) -> dict[str, Any] | None:
        """What the runtime reported to be wrong, once it is ready or gave up."""
        for _ in range(SECONDS * 10):
            if self.api.is_initialised.wait(0.1):
                return self.api.init_error
            assert self.process.poll() is None, "the runtime died: " + "".join(self.log)
        raise AssertionError("the function did not start: " + "".join(self.log))

    def exit_status(self) -> int:
        """Waits for the process to end by itself."""
        return self.process.wait(SECONDS)

    def freeze(self) -> None:
        """As Lambda does between requests: no thread of the process runs."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def log_records(self) -> list[dict[str, Any]]:
        """The lines of requests that were read so far."""
        return [json.loads(line) for line in list(self.log) if line.startswith('{"_aws"')]

    def records(self, number: int) -> list[dict[str, Any]]:
        """The lines of requests, once there are so many."""
        return self._awaited(lambda records: records if len(records) >= number else None)

    def record_of(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first line that is wanted, once it is there."""
        return self._awaited(lambda records: next(filter(wanted, records), None))

    def _awaited(self, find: Callable[[list[dict[str, Any]]], T | None]) -> T:
        # A line is written before the answer is sent, but may be read after it.
        for _ in range(SECONDS * 10):
            if (found := find(self.log_records())) is not None:
                return found
            time.sleep(0.1)
        raise AssertionError("no such line: " + "".join(self.log))

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()
        self.api.close()

    def _read_log(self) -> None:
        assert self.process.stdout is not None
        self.log.extend(iter(self.process.stdout.readline, ""))


@contextmanager
def starting(
    settings: Mapping[str, str] | None = None, *, initialisation: str = "on-demand"
) -> Iterator[Function]:
    """A function that starts with these RENDER_CORE_* variables; it may not be ready yet, and is always ended."""
    api = RuntimeApi()
    environment = {
        "AWS_LAMBDA_RUNTIME_API": api.address,
        "AWS_LAMBDA_FUNCTION_NAME": "render-test",
        "AWS_LAMBDA_INITIALIZATION_TYPE": initialisation,
        "AWS_LAMBDA_LOG_FORMAT": "JSON",
        "AWS_LAMBDA_LOG_LEVEL": "INFO",
        "AWS_EXECUTION_ENV": "AWS_Lambda_python3.13",
        "LAMBDA_TASK_ROOT": CODE,
        "_HANDLER": HANDLER,
        "TZ": ":UTC",
        "LANG": "en_US.UTF-8",
        "PATH": os.environ["PATH"],
        "PYTHONPATH": CODE,
        "PYTHONDONTWRITEBYTECODE": "1",
        "HF_HUB_OFFLINE": "1",  # a model that is missing is not looked for elsewhere
        **(settings or {}),
    }
    process = subprocess.Popen(
        [PYTHON or sys.executable, "-m", "awslambdaric", HANDLER],
        cwd=CODE,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    function = Function(api, process)
    try:
        yield function
    finally:
        function.end()


@contextmanager
def running(settings: Mapping[str, str] | None = None) -> Iterator[Function]:
    """A function that is ready for its first event."""
    with starting(settings) as function:
        assert function.wait_until_initialised() is None, function.api.init_error
        yield function
