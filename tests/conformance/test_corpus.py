"""Every public case of every model, through the HTTP app in process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.comparison import differences
from tests.conformance.served import served
from tests.corpus import SKIP_REASON, case_file_names, model_dir, needs_corpus, read_case_file

DECISIONS: dict[str, Any] = json.loads((Path(__file__).parent / "deviations.json").read_text())
CLOCK = "2026-11-29"


@needs_corpus
@pytest.mark.parametrize(
    "name", case_file_names() or [pytest.param("none", marks=pytest.mark.skip(SKIP_REASON))]
)
def test_public_cases_equal_the_python_peer(name: str) -> None:
    case_file = read_case_file(name)
    served_name = case_file.flags[case_file.flags.index("--served-model-name") + 1]
    pending = frozenset(DECISIONS["pending"])
    deviating = {entry["case"] for entry in DECISIONS["deviations"]}
    wrong = []
    with served(str(model_dir(case_file.model_dir)), case_file.flags, CLOCK) as client:
        for case in case_file.cases:
            response = client.post(case.endpoint, case.body, case.headers)
            if case.endpoint in DECISIONS["absent_endpoints"]:
                found = (
                    [] if response.status_code == 404 else [f"status {response.status_code}, expected 404"]
                )
            else:
                found = differences(case, response.status_code, response.json(), pending, served_name)
            if bool(found) != (case.id in deviating):
                wrong.append(
                    f"{case.id}: {'; '.join(found) or 'equals the peer, though listed as a deviation'}"
                )
    assert not wrong, f"{len(wrong)} of {len(case_file.cases)} cases\n" + "\n".join(wrong[:40])
