"""What importing a module pulls in is part of its interface."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    "fastapi",
    "starlette",
    "uvicorn",
    "mangum",
    "boto3",
    "botocore",
    "tokenizers",
    "huggingface_hub",
    "transformers",
    "torch",
}


def modules_after(statement: str) -> set[str]:
    script = f"{statement}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "statement", ["import render_core", "import render_core.render", "import render_core.model.model"]
)
def test_the_core_imports_no_server_no_aws_and_no_tokenizer(statement: str) -> None:
    assert modules_after(statement) & HEAVY == set()


def test_the_package_itself_imports_neither_pydantic_nor_jinja() -> None:
    assert modules_after("import render_core") & {"pydantic", "jinja2", "orjson"} == set()
