"""`render-core infra`: bundles packed and template.yaml brought up to date with infra/models.toml."""

from __future__ import annotations

from argparse import Namespace
from typing import Final

from infra.bundles import MODELS, REPOSITORY, pack_all, tell
from infra.generation import with_generated_parts
from infra.models import read_deployment

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
            tell("template.yaml does not fit infra/models.toml: run `render-core infra` and commit it")
        return int(written != wanted)
    if written != wanted:
        TEMPLATE.write_text(wanted, encoding="utf-8")
        tell("template.yaml brought up to date")
    if not given.template_only:
        pack_all(deployment)
    return 0
