"""The command line: exit codes, one line for a mistake, and what `render` prints."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from handlers.cli import main
from handlers.settings import OPTIONS

REPOSITORY = Path(__file__).parents[2]
GOOD = {"messages": [{"role": "user", "content": "Grüß Gott"}]}


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Done]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Runs the command with arguments, a standard input, and no settings in the environment but those given."""
    for name in os.environ:
        if name.startswith(("RENDER_CORE_", "VLLM_")):
            monkeypatch.delenv(name)

    def command(*arguments: str, stdin: str = "", **variables: str) -> Done:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        try:
            status = main(arguments)
        except SystemExit as left:  # --help and --version
            status = int(left.code or 0)
        written = capsysbinary.readouterr()
        return Done(status, written.out.decode(), written.err.decode())

    return command


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "a command is needed: serve, render, pack, inspect or infra (--help tells more)"),
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
def test_mistakes_end_with_2_and_one_line(run: Run, arguments: list[str], complaint: str) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"render-core: {complaint}\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["serve", "--tool-call-parser", "no_such_parser"],
        ["serve", "/no/such/directory"],
        ["serve", "--ssl-certfile", str(REPOSITORY / "pyproject.toml")],
        ["serve", "--enable-auto-tool-choice", "--reasoning-parser", "no_such_parser"],
        ["render", "-", "--tool-call-parser", "no_such_parser"],
    ],
)
def test_mistakes_that_others_find_end_with_2_and_one_line(run: Run, arguments: list[str]) -> None:
    done = run(*arguments, stdin="{}")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"render-core: .+\n", done.stderr)


def test_mistakes_in_the_environment_end_with_2(run: Run) -> None:
    done = run("serve", RENDER_CORE_PORT="http")
    complaint = "render-core: RENDER_CORE_PORT: 'http' is no whole number (1000, 1k = 1000, 1K = 1024)\n"
    assert (done.returncode, done.stderr) == (2, complaint)


def test_version(run: Run) -> None:
    assert run("--version").stdout.startswith("render-core ")


def test_help_names_every_flag_and_variable(run: Run) -> None:
    shown = run("serve", "--help", COLUMNS="10000").stdout
    assert [each.flag for each in OPTIONS if f" {each.flag} " not in shown] == []
    assert [each.environment_name for each in OPTIONS if each.environment_name not in shown] == []


def test_render_prints_the_request_with_one_field_a_line(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "request.json"
    file.write_text(json.dumps(GOOD))
    done = run("render", str(file))
    assert done.returncode == 0
    assert "demo" in done.stderr
    rendered = json.loads(done.stdout)
    assert rendered["token_ids"]
    assert done.stdout.count("\n") == len(rendered) + 2


def test_render_prints_the_prompt_text_byte_for_byte(run: Run) -> None:
    done = run("render", "-", "--text", stdin=json.dumps(GOOD))
    rendered = json.loads(run("render", "-", stdin=json.dumps({**GOOD, "return_prompt_text": True})).stdout)
    assert done.stdout == rendered["prompt_text"]
    assert "Grüß Gott" in done.stdout


def test_render_prints_the_token_ids_of_each_prompt(run: Run) -> None:
    request = json.dumps({"prompt": ["one", "two"]})
    lines = run("render", "-", "--tokens", stdin=request).stdout.splitlines()
    rendered = json.loads(
        "[" + run("render", "-", "--completion", stdin=request).stdout.replace("\n}\n{", "\n},{") + "]"
    )
    assert [json.loads(line) for line in lines] == [each["token_ids"] for each in rendered]


@pytest.mark.parametrize("request_text", ["{", "[]", "", '{"messages": []}'])
def test_request_that_cannot_be_rendered_ends_with_1(run: Run, request_text: str) -> None:
    done = run("render", "-", "--text", stdin=request_text)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.search(r"^render-core: .*\(400\): .+\n\Z", done.stderr, re.MULTILINE)


def test_exit_code_of_the_process() -> None:
    command = [sys.executable, "-m", "handlers.cli", "serve", "--port", "99999"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "render-core: --port: 99999 is not between 0 and 65535\n"
