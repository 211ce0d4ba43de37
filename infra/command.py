"""`render-core infra`: bundles packed and template.yaml brought up to date with infra/models.toml."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from typing import Final

from infra.bundles import pack_all
from infra.generation import with_generated_parts
from infra.models import read_deployment

REPOSITORY: Final = Path(__file__).resolve().parent.parent
MODELS: Final = REPOSITORY / "infra" / "models.toml"
TEMPLATE: Final = REPOSITORY / "template.yaml"


def run(given: Namespace) -> int:
    """Runs the command; with `check` it writes nothing and gives 1 when the template is stale.

    Raises ConfigurationError when the declaration is wrong or a bundle cannot be made.
    """
    deployment = read_deployment(MODELS)
    written = TEMPLATE.read_text(encoding="utf-8")
    wanted = with_generated_parts(written, deployment)
    if given.check:
        if written != wanted:
            _tell("template.yaml does not fit infra/models.toml: run `render-core infra` and commit it")
        return int(written != wanted)
    if written != wanted:
        TEMPLATE.write_text(wanted, encoding="utf-8")
        _tell("template.yaml brought up to date")
    if not given.template_only:
        pack_all(deployment)
    return 0


def _tell(line: str) -> None:
    print("render-core:", line, file=sys.stderr)
