"""template.yaml as CloudFormation gets it: AWS's own translator of SAM, run without an account."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class _NoManagedPolicies:
    """Stands for the list of AWS's policies that the translator would fetch; the template names none by name."""

    def load(self) -> dict[str, str]:
        return {}


def translated(template: Path, parameters: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The template without SAM's types, as JSON values.

    Args:
        parameters: values that differ from the defaults.

    Raises:
        samtranslator's InvalidDocumentException: SAM would refuse the template.
    """
    # The translator asks boto3 for a region, though it calls nobody.
    os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")
    logging.getLogger("samtranslator").setLevel(logging.ERROR)  # it misses settings that only AWS has
    from samtranslator.translator.transform import transform
    from samtranslator.yaml_helper import yaml_parse

    document = yaml_parse(template.read_text(encoding="utf-8"))
    for name, resource in document["Resources"].items():
        if resource["Type"] == "AWS::Serverless::Function":
            resource["Properties"]["CodeUri"] = f"s3://artifacts/{name}.zip"  # as `sam package` leaves it
    result: dict[str, Any] = transform(document, dict(parameters or {}), _NoManagedPolicies())
    return result
