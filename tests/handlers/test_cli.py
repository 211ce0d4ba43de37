"""The command in a process of its own: exit codes, signals, ports and keys."""

from __future__ import annotations

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


def environment(**extra: str) -> dict[str, str]:
    ours = {
        name: value for name, value in os.environ.items() if not name.startswith(("RENDER_CORE_", "VLLM_"))
    }
    return {
        **ours,
        "PYTHONPATH": os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(REPOSITORY)])),
        **extra,
    }


def run(*arguments: str, stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "handlers.cli", *arguments],
        cwd=REPOSITORY,
        env=environment(**variables),
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
    )


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


def end(process: subprocess.Popen[str]) -> int:
    process.send_signal(signal.SIGTERM)
    return process.wait(SECONDS)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "a command is needed: serve, render, pack or inspect (--help tells more)"),
        (["serve", "--no-such"], "unrecognized arguments: --no-such"),
        (["serve", "--max-model-len", "-2"], "--max-model-len: -2 is not at least 1"),
        (
            ["serve", "--host", "0.0.0.0"],
            "--host 0.0.0.0 is open to other machines: give --api-key, or --insecure-no-auth",
        ),
        (
            ["serve", "--host", "::"],
            "--host :: is open to other machines: give --api-key, or --insecure-no-auth",
        ),
        (["render", "/no/such.json"], "/no/such.json: No such file or directory"),
    ],
)
def test_mistakes_end_with_2_and_one_line(arguments: list[str], complaint: str) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"render-core: {complaint}\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["serve", "--tool-call-parser", "no_such_parser"],
        ["serve", "/no/such/directory"],
        ["serve", "--ssl-certfile", "pyproject.toml"],
        ["serve", "--enable-auto-tool-choice", "--reasoning-parser", "no_such_parser"],
        ["render", "-", "--tool-call-parser", "no_such_parser"],
    ],
)
def test_mistakes_that_others_find_end_with_2_and_one_line(arguments: list[str]) -> None:
    done = run(*arguments, stdin="{}")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"render-core: .+\n", done.stderr)


def test_mistakes_in_the_environment_end_with_2() -> None:
    done = run("serve", RENDER_CORE_PORT="http")
    complaint = "render-core: RENDER_CORE_PORT: 'http' is no whole number (1000, 1k = 1000, 1K = 1024)\n"
    assert (done.returncode, done.stderr) == (2, complaint)


def test_version() -> None:
    assert run("--version").stdout.startswith("render-core ")


def test_help_names_every_flag_and_variable() -> None:
    from handlers.settings import OPTIONS

    shown = run("serve", "--help", COLUMNS="10000").stdout
    assert [each.flag for each in OPTIONS if f" {each.flag} " not in shown] == []
    assert [each.environment_name for each in OPTIONS if each.environment_name not in shown] == []


def test_render_prints_the_request_with_one_field_a_line(tmp_path: Path) -> None:
    file = tmp_path / "request.json"
    file.write_text(json.dumps(GOOD))
    done = run("render", str(file))
    assert done.returncode == 0
    assert "demo" in done.stderr
    rendered = json.loads(done.stdout)
    assert rendered["token_ids"]
    assert done.stdout.count("\n") == len(rendered) + 2


def test_render_prints_the_prompt_text_byte_for_byte() -> None:
    done = run("render", "-", "--text", stdin=json.dumps(GOOD))
    rendered = json.loads(run("render", "-", stdin=json.dumps({**GOOD, "return_prompt_text": True})).stdout)
    assert done.stdout == rendered["prompt_text"]
    assert "Grüß Gott" in done.stdout


def test_render_prints_the_token_ids_of_each_prompt() -> None:
    request = json.dumps({"prompt": ["one", "two"]})
    lines = run("render", "-", "--tokens", stdin=request).stdout.splitlines()
    rendered = json.loads(
        "[" + run("render", "-", "--completion", stdin=request).stdout.replace("\n}\n{", "\n},{") + "]"
    )
    assert [json.loads(line) for line in lines] == [each["token_ids"] for each in rendered]


@pytest.mark.parametrize("request_text", ["{", "[]", "", '{"messages": []}'])
def test_request_that_cannot_be_rendered_ends_with_1(request_text: str) -> None:
    done = run("render", "-", "--text", stdin=request_text)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.search(r"^render-core: .*\(400\): .+\n\Z", done.stderr, re.MULTILINE)


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
    assert end(process) == 0


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


def test_sigint_while_serving_ends_with_0_too(start: Start) -> None:
    process = start("--port", "0")
    address_of(process)
    process.send_signal(signal.SIGINT)
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
    done = run("serve", "--ssl-certfile", str(certificate[0]))
    assert done.returncode == 2
    assert done.stderr.startswith(f"render-core: --ssl-certfile {certificate[0]} with no --ssl-keyfile: ")
    assert done.stderr.count("\n") == 1
