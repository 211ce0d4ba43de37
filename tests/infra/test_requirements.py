"""What a function gets: what the project needs but the server, at fixed versions with hashes, from no named host."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from infra.build import REPOSITORY

LOCKED = (REPOSITORY / "infra" / "requirements.txt").read_text()
PINS = dict(re.findall(r"^([a-z0-9-]+)==([0-9.]+) \\$", LOCKED, re.MULTILINE))
OF_A_SERVER = {"httptools", "numpy", "uvicorn", "uvloop"}


def names(lines: list[str]) -> set[str]:
    return {
        re.split(r"[<>=~\[; ]", line.strip())[0].lower() for line in lines if line.strip() and line[0] != "#"
    }


def project() -> list[str]:
    declared: list[str] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"][
        "dependencies"
    ]
    return declared


def test_function_needs_what_the_project_needs_but_no_server() -> None:
    wanted = names(Path(REPOSITORY / "infra" / "requirements.in").read_text().splitlines())
    assert wanted == names(project()) - OF_A_SERVER
    assert wanted <= set(PINS)


def test_pins_are_as_new_as_the_project_asks_for() -> None:
    for requirement in project():
        name, _, least = requirement.partition(">=")
        if name not in OF_A_SERVER:
            pinned = tuple(map(int, PINS[name].split(".")))
            assert pinned >= tuple(map(int, least.split("."))), name


def test_nothing_comes_along_that_a_function_has_no_use_for() -> None:
    assert set(PINS) & {"huggingface-hub", "hf-xet", "boto3", "botocore", *OF_A_SERVER} == set()


def test_every_pin_has_hashes_and_no_host_is_named() -> None:
    blocks = re.split(r"^(?=[a-z0-9-]+==)", LOCKED, flags=re.MULTILINE)[1:]
    assert len(blocks) == len(PINS)
    assert [block for block in blocks if "--hash=sha256:" not in block] == []
    assert "://" not in LOCKED
    assert "index" not in LOCKED
