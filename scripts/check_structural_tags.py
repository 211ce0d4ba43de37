"""Check the structural tags of every family with xgrammar, the library that engines read them with.

xgrammar depends on torch, which weighs gigabytes and which grammars do not need: it is installed alone here, into an
environment of its own, and tests/families/test_structural_tags.py runs there.

    uv run scripts/check_structural_tags.py
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
ENVIRONMENT = REPOSITORY / ".pytest_cache" / "structural-tags-env"
XGRAMMAR = "xgrammar==0.2.8"  # of vLLM 0.33
TESTS = ("tests/families/test_structural_tags.py", "tests/families/test_cohere.py")
OTHERS = ("apache-tvm-ffi", "numpy", "orjson", "pydantic", "pytest", "typing-extensions")


def main() -> int:
    python = ENVIRONMENT / "bin" / "python"
    environment = {**os.environ, "VIRTUAL_ENV": str(ENVIRONMENT), "PYTHONPATH": str(REPOSITORY)}
    if not python.exists():
        subprocess.run(["uv", "venv", "--quiet", str(ENVIRONMENT)], check=True)
    for packages in (["--no-deps", XGRAMMAR], list(OTHERS)):
        subprocess.run(["uv", "pip", "install", "--quiet", *packages], check=True, env=environment)
    command = [str(python), "-m", "pytest", "-p", "no:cacheprovider", *TESTS, *sys.argv[1:]]
    return subprocess.run(command, check=False, cwd=REPOSITORY, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
