#!/usr/bin/env python3
"""Run the golden corpus through the HTTP app in process and write docs/conformance.md.

    uv run scripts/conformance_report.py

Uses the conformance suite's own comparison, so that the numbers are the suite's.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY))

from tests.conformance.comparison import differences  # noqa: E402
from tests.conformance.served import served  # noqa: E402
from tests.conformance.test_corpus import CLOCK, DECISIONS  # noqa: E402
from tests.corpus import case_file_names, model_dir, read_case_file  # noqa: E402

HEAD = """# Conformance

Written by `uv run scripts/conformance_report.py`: every public case of the golden corpus through the HTTP app in
process, held against vLLM 0.33's Python renderer. *Equal* means: the same status and, for a 200, the same token ids,
sampling parameters with structured outputs, reasoning fields, parse context and order of keys, after the corrections
of the behaviour spec's section 11 (rows 1, 22 and 23). *Absent* are cases of endpoints that are not offered
(Messages, Responses, derender): they are answered 404.

| file | cases | absent | compared | rendered (200) | equal | % |
|---|---|---|---|---|---|---|
"""


@dataclass
class Tally:
    """What came of one file."""

    cases: int = 0
    absent: int = 0
    rendered: int = 0
    equal: int = 0

    @property
    def compared(self) -> int:
        return self.cases - self.absent

    def add(self, other: Tally) -> None:
        self.cases += other.cases
        self.absent += other.absent
        self.rendered += other.rendered
        self.equal += other.equal

    def row(self, name: str) -> str:
        share = f"{100 * self.equal / self.compared:.1f}" if self.compared else "-"
        return f"| {name} | {self.cases} | {self.absent} | {self.compared} | {self.rendered} | {self.equal} | {share} |"


def tally(name: str) -> tuple[Tally, list[str]]:
    """Numbers of one file, and the ids of cases that differ."""
    case_file = read_case_file(name)
    served_name = case_file.flags[case_file.flags.index("--served-model-name") + 1]
    result, different = Tally(), []
    with served(str(model_dir(case_file.model_dir)), case_file.flags, CLOCK) as client:
        for case in case_file.cases:
            result.cases += 1
            if case.endpoint in DECISIONS["absent_endpoints"]:
                result.absent += 1
                continue
            response = client.post(case.endpoint, case.body, case.headers)
            result.rendered += response.status_code == 200
            if differences(case, response.status_code, response.json(), frozenset(), served_name):
                different.append(case.id)
            else:
                result.equal += 1
    return result, different


def main() -> int:
    total, rows, different = Tally(), [], []
    for name in case_file_names():
        result, others = tally(name)
        total.add(result)
        rows.append(result.row(name))
        different += others
        print(rows[-1], flush=True)
    rows.append(total.row("**all**"))
    listed = {entry["case"]: entry["reason"] for entry in DECISIONS["deviations"]}
    lines = [f"- `{case}`: {listed.get(case, 'not listed: a defect')}" for case in different]
    text = HEAD + "\n".join(rows) + "\n\n## Cases that differ\n\n" + ("\n".join(lines) or "None.") + "\n"
    (REPOSITORY / "docs" / "conformance.md").write_text(text, encoding="utf-8")
    return 0 if set(different) <= set(listed) else 1


if __name__ == "__main__":
    sys.exit(main())
