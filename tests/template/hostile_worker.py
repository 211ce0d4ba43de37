"""A process of its own for hostile templates: renders what it is asked for on stdin, reports on stdout.

One JSON line per template: the failure, the CPU seconds it took, and by how much the process's peak memory grew. Each
template is compiled and rendered in a new thread, as it would be in a server.
"""

from __future__ import annotations

import json
import resource
import sys
import threading
import time
from typing import Any

from render_core.template.budget import TemplateBudget
from render_core.template.compiled import compile_template
from render_core.template.failures import TemplateFailure
from tests.template.hostile_templates import HOSTILE_SOURCES, HOSTILE_TEMPLATES
from tests.template.reference import NOW

BUDGET = TemplateBudget(seconds=0.5, max_chars=1 << 20, max_items=1 << 16)
VARIABLES: dict[str, Any] = {"a": 1, "b": [1], "messages": [{"role": "user", "content": "the secret"}]}
SOURCES = HOSTILE_TEMPLATES | HOSTILE_SOURCES


def _peak_kilobytes() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 1024 if sys.platform == "darwin" else peak


def _attempt(name: str) -> dict[str, Any]:
    started, peak = time.thread_time(), _peak_kilobytes()
    try:
        text = compile_template(SOURCES[name]).render(VARIABLES, now=NOW, budget=BUDGET)
        failure, message = None, text[:100]
    except TemplateFailure as error:
        failure, message = type(error).__name__, error.message
    return {
        "failure": failure,
        "message": message,
        "cpu_seconds": time.thread_time() - started,
        "kilobytes": _peak_kilobytes() - peak,
    }


def _report(name: str) -> None:
    print(json.dumps(_attempt(name)), flush=True)


def main() -> None:
    for line in sys.stdin:
        thread = threading.Thread(target=_report, args=(line.strip(),))
        thread.start()
        thread.join()


if __name__ == "__main__":
    main()
