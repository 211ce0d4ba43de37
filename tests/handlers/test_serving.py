"""`render-core serve` in processes of its own: ports, signals, certificates and keys."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from handlers.serving import bound_sockets, check_certificates, check_exposure, is_loopback
from handlers.settings import Settings
from render_core.errors import ConfigurationError

REPOSITORY = Path(__file__).parents[2]
SECONDS = 60
"""For whatever must happen; nothing waits this long unless it is broken."""

GOOD = {"messages": [{"role": "user", "content": "Grüß Gott"}]}
CHAT = "/v1/chat/completions/render"

SLOW_LOADING = """
import sys
import render_core
load = render_core.load_model
def load_when_told(*given):
    print("loading", flush=True)
    sys.stdin.readline()
    return load(*given)
render_core.load_model = load_when_told
from handlers.cli import main
sys.exit(main(sys.argv[1:]))
"""


def environment() -> dict[str, str]:
    """Ours, without settings."""
    ours = ("RENDER_CORE_", "VLLM_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, "PYTHONPATH": os.pathsep.join(filter(None, [kept.get("PYTHONPATH"), str(REPOSITORY)]))}


Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture(scope="module", autouse=True)
def _bytecode_is_kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Imports are most of what a process does here; only the first one compiles."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path_factory.mktemp("bytecode")))
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        yield


def begin(*arguments: str, program: tuple[str, ...] = ("-m", "handlers.cli")) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *program, "serve", *arguments],
        cwd=REPOSITORY,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate(timeout=SECONDS)


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts `render-core serve` with the arguments; ends it after the test."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str, **given: tuple[str, ...]) -> subprocess.Popen[str]:
        started.append(begin(*arguments, **given))
        return started[-1]

    yield start
    for process in started:
        kill(process)


@pytest.fixture(scope="module")
def guarded_address() -> Iterator[str]:
    """A server that has two keys and takes small bodies."""
    process = begin("--port", "0", "--api-key", "other", "k/1", "--max-body-size", "1k")
    yield address_of(process)
    kill(process)


def address_of(process: subprocess.Popen[str]) -> str:
    """The address that the process says it serves, once it does."""
    assert process.stderr is not None
    lines = []
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if select.select([process.stderr], [], [], deadline - time.monotonic())[0]:
            line = process.stderr.readline()
            lines.append(line)
            if found := re.search(r"serves (https?://\S+)", line):
                return found[1]
            if not line:
                break
    raise AssertionError("".join(lines))


def end(process: subprocess.Popen[str], number: signal.Signals = signal.SIGTERM) -> int:
    process.send_signal(number)
    return process.wait(SECONDS)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_port_is_bound_only_when_the_model_is_ready(start: Start) -> None:
    port = free_port()
    process = start("--port", str(port), program=("-c", SLOW_LOADING))
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == "loading\n"
    assert not is_open(port)
    process.stdin.write("\n")
    process.stdin.flush()
    address = address_of(process)
    assert address == f"http://127.0.0.1:{port}"
    assert httpx.get(f"{address}/health").status_code == 200
    assert end(process, signal.SIGINT) == 0


def test_sigterm_while_loading_ends_at_once(start: Start) -> None:
    process = start("--port", "0", program=("-c", SLOW_LOADING))
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == "loading\n"
    assert end(process) in (-signal.SIGTERM, 128 + signal.SIGTERM, 0)
    assert "Traceback" not in process.stderr.read()


def test_sigterm_while_serving_answers_what_has_begun(start: Start) -> None:
    process = start("--port", "0")
    port = int(address_of(process).rpartition(":")[2])
    body = json.dumps(GOOD).encode()
    lines = [
        f"POST {CHAT} HTTP/1.1",
        "Host: x",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    ]
    head = "".join(f"{line}\r\n" for line in [*lines, ""])
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection:
        connection.sendall(head.encode() + body[:10])
        assert httpx.get(f"http://127.0.0.1:{port}/health").status_code == 200
        process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + SECONDS
        while is_open(port) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert process.poll() is None
        connection.sendall(body[10:])
        answer = connection.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["token_ids"]
    assert process.wait(SECONDS) == 0


def test_port_in_use_ends_with_1_before_loading(start: Start) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        process = start("--port", str(port), program=("-c", SLOW_LOADING))
        out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, out) == (1, "")
    assert err == f"render-core: cannot bind 127.0.0.1 port {port}: Address already in use\n"


def test_demo_says_so_when_it_starts(start: Start) -> None:
    process = start("--port", "0")
    assert process.stderr is not None
    first = process.stderr.readline()
    assert "demo" in first.lower()
    address_of(process)


def test_refused_bodies_do_not_spoil_the_connection(guarded_address: str) -> None:
    large = {"content": b" " * 3_000_000, "headers": {"content-type": "application/json"}}
    with httpx.Client(base_url=guarded_address, timeout=SECONDS) as client:
        assert client.post(CHAT, **large).status_code == 401
        client.headers["authorization"] = "Bearer k/1"
        assert client.post(CHAT, **large).status_code == 413
        response = client.post(CHAT, json=GOOD)
    assert response.status_code == 200
    assert int(response.headers["content-length"]) == len(response.content)
    assert "server" not in response.headers


@pytest.mark.parametrize("userinfo", ["k%2F1:@", "anyone:k%2F1@"])
def test_basic_credentials_in_the_address(guarded_address: str, userinfo: str) -> None:
    assert httpx.get(guarded_address.replace("//", f"//{userinfo}") + "/v1/models").status_code == 200


def exchange(address: str, sent: bytes) -> tuple[int, dict[str, object], bool]:
    """Status, error and whether the connection was closed, for bytes sent as they are."""
    host, _, port = address.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=SECONDS) as connection:
        with contextlib.suppress(ConnectionError):  # it may be closed before all is sent
            connection.sendall(sent)
        received = b""
        with contextlib.suppress(ConnectionError):
            while chunk := connection.recv(65536):
                received += chunk
    head, _, body = received.partition(b"\r\n\r\n")
    assert b"content-type: application/json" in head
    return int(head.split()[1]), json.loads(body)["error"], b"connection: close" in head.lower()


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"FOO / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        (b"POST /tokenize HTTP/1.1\r\nHost: x\r\nContent-Length: nine\r\n\r\n", 400),
        (b"GET /" + b"a" * 2_000_000, 431),
        (b"GET / HTTP/1.1\r\nX-Long: " + b"a" * 2_000_000, 431),
        (b"GET / HTTP/1.1\r\n" + b"X-Many: a\r\n" * 200_000, 431),
    ],
    ids=["method", "length", "long line", "long header", "many headers"],
)
def test_what_is_no_request_gets_an_envelope(guarded_address: str, sent: bytes, status: int) -> None:
    answered, error, closed = exchange(guarded_address, sent)
    assert (answered, error["code"], closed) == (status, status, True)
    assert httpx.get(f"{guarded_address}/health").status_code == 200


def test_long_bodies_do_not_count_as_headers(start: Start) -> None:
    address = address_of(start("--port", "0"))
    with httpx.Client(base_url=address) as client:  # one connection
        for _ in range(3):
            body = {**GOOD, "user": "x" * 1_000_000}
            assert client.post(CHAT, json=body).status_code == 200


def test_workers_share_the_address_and_are_replaced(start: Start) -> None:
    port = free_port()
    process = start("--port", str(port), "--workers", "2")
    address = f"http://127.0.0.1:{port}"
    workers = [worker_of(process), worker_of(process)]
    assert httpx.post(address + CHAT, json=GOOD).status_code == 200
    os.kill(workers[0], signal.SIGKILL)
    assert worker_of(process) not in workers
    assert [httpx.post(address + CHAT, json=GOOD).status_code for _ in range(4)] == [200] * 4
    assert end(process) == 0
    assert not is_open(port)


def test_workers_that_cannot_start_end_the_service(start: Start, tmp_path: Path) -> None:
    process = start(str(tmp_path), "--port", "0", "--workers", "2")
    assert process.wait(SECONDS) != 0
    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()


def worker_of(process: subprocess.Popen[str]) -> int:
    """The next worker that says it is ready."""
    assert process.stderr is not None
    while line := process.stderr.readline():
        if found := re.search(r"worker (\d+) is ready", line):
            return int(found[1])
    raise AssertionError("the process has ended")


def test_no_credentials(guarded_address: str) -> None:
    assert httpx.get(guarded_address + "/v1/models").status_code == 401
    assert httpx.get(guarded_address + "/health").status_code == 200


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A self-signed certificate for 127.0.0.1 and its key."""
    if (openssl := shutil.which("openssl")) is None:
        pytest.skip("openssl makes the certificate")
    directory = tmp_path_factory.mktemp("tls")
    certificate, key = directory / "cert.pem", directory / "key.pem"
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    subprocess.run(
        [openssl, "req", "-x509", *kind, *subject, "-keyout", str(key), "-out", str(certificate)],
        check=True,
        capture_output=True,
        timeout=SECONDS,
    )
    return certificate, key


def test_https(start: Start, certificate: tuple[Path, Path]) -> None:
    process = start(
        "--port", "0", "--ssl-certfile", str(certificate[0]), "--ssl-keyfile", str(certificate[1])
    )
    address = address_of(process)
    assert address.startswith("https://127.0.0.1:")
    trust = ssl.create_default_context(cafile=str(certificate[0]))
    assert httpx.post(address + CHAT, json=GOOD, verify=trust).status_code == 200
    assert end(process) == 0


def test_https_with_required_client_certificate(
    start: Start, certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    both = tmp_path / "both.pem"
    both.write_bytes(certificate[0].read_bytes() + certificate[1].read_bytes())
    authorities = ["--ssl-ca-certs", str(certificate[0]), "--ssl-cert-reqs", "2"]
    address = address_of(start("--port", "0", "--ssl-certfile", str(both), *authorities))
    trust = ssl.create_default_context(cafile=str(certificate[0]))
    with pytest.raises(httpx.TransportError):
        httpx.get(address + "/health", verify=trust)
    trust.load_cert_chain(both)
    assert httpx.get(address + "/health", verify=trust).status_code == 200


def test_certificate_without_its_key_is_refused(certificate: tuple[Path, Path]) -> None:
    with pytest.raises(ConfigurationError) as caught:
        check_certificates(Settings(ssl_certfile=str(certificate[0])))
    assert str(caught.value).startswith(f"--ssl-certfile {certificate[0]} with no --ssl-keyfile: ")


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("localhost", True),
        ("LOCALHOST", True),
        ("0.0.0.0", False),
        ("::", False),
        ("::ffff:10.0.0.1", False),
        ("192.0.2.1", False),
        ("fe80::1%lo", False),
        ("localhost.example", False),
        ("127.0.0.1.example", False),
    ],
)
def test_loopback_is_told_from_the_rest(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


@pytest.mark.parametrize(
    "settings",
    [
        Settings(host="0.0.0.0", api_key=("k",)),
        Settings(host="0.0.0.0", insecure_no_auth=True),
        Settings(host="::1"),
    ],
)
def test_open_address_needs_a_key_or_consent(settings: Settings) -> None:
    check_exposure(settings)


def test_sockets_of_a_name_share_a_port() -> None:
    sockets = bound_sockets(Settings(host="localhost", port=0))
    ports = {each.getsockname()[1] for each in sockets}
    for each in sockets:
        each.close()
    assert len(ports) == 1


def test_unknown_host_is_a_mistake() -> None:
    with pytest.raises(ConfigurationError, match=r"^--host \S+: "):
        bound_sockets(Settings(host="a..b"))
