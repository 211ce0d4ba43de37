"""response_format and structured_outputs: the constraint on generated text, as sampling parameters carry it."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from render_core.errors import RenderError
from render_core.protocol.wire import WireList

CONSTRAINTS: Final = ("json", "regex", "choice", "grammar", "json_object", "structural_tag")


class _OpenModel(BaseModel):
    """A response format keeps keys it does not know: a structural tag is passed on whole."""

    model_config = ConfigDict(extra="allow", protected_namespaces=(), defer_build=True)


class JsonSchemaFormat(_OpenModel):
    name: str
    description: str | None = None
    json_schema: dict[str, Any] | None = Field(default=None, alias="schema")
    strict: bool | None = None


class ResponseFormat(_OpenModel):
    type: Literal["text", "json_object", "json_schema"]
    json_schema: JsonSchemaFormat | None = None


class StructuralTagFormat(_OpenModel):
    type: Literal["structural_tag"]
    format: Any


class LegacyStructure(_OpenModel):
    begin: str
    structure_schema: dict[str, Any] | None = Field(default=None, alias="schema")
    end: str


class LegacyStructuralTagFormat(_OpenModel):
    type: Literal["structural_tag"]
    structures: WireList[LegacyStructure]
    triggers: WireList[str]


AnyResponseFormat = ResponseFormat | StructuralTagFormat | LegacyStructuralTagFormat


class StructuredOutputs(BaseModel):
    """One constraint and its options. Field order is the order in which vLLM 0.33 writes them."""

    model_config = ConfigDict(extra="ignore", protected_namespaces=(), defer_build=True)

    json_: Annotated[str | dict[str, Any] | None, Field(alias="json")] = None
    regex: str | None = None
    choice: WireList[str] | None = None
    grammar: str | None = None
    json_object: bool | None = None
    disable_any_whitespace: bool = False
    disable_additional_properties: bool = False
    whitespace_pattern: str | None = None
    structural_tag: str | None = None

    def as_sampling_parameter(self) -> dict[str, Any]:
        """The object `sampling_params.structured_outputs` (spec 2.9): every key written, one constraint set.

        Raises:
            RenderError: no constraint is set, or more than one.
        """
        written = self.model_dump(by_alias=True)
        constraints = [name for name in CONSTRAINTS if written[name] is not None]
        if len(constraints) != 1:
            found = "none was given" if not constraints else "given were " + ", ".join(constraints)
            raise RenderError(
                f"structured_outputs takes exactly one of {', '.join(CONSTRAINTS)}; {found}.",
                "structured_outputs",
            )
        return written | {"_backend": None, "_backend_was_auto": False}


def resolve_constraint(
    structured_outputs: StructuredOutputs | None, response_format: AnyResponseFormat | None
) -> dict[str, Any] | None:
    """The constraint of a request: `response_format` added to `structured_outputs`.

    Raises:
        RenderError: both set a constraint, or what is given sets none.
    """
    if structured_outputs is not None:
        structured_outputs.as_sampling_parameter()
    if response_format is None or response_format.type == "text":
        return None if structured_outputs is None else structured_outputs.as_sampling_parameter()
    base = structured_outputs or StructuredOutputs()
    return base.model_copy(update=_constraint_of(response_format)).as_sampling_parameter()


def _constraint_of(response_format: AnyResponseFormat) -> dict[str, Any]:
    if isinstance(response_format, ResponseFormat):
        if response_format.type == "json_object":
            return {"json_object": True}
        if response_format.json_schema is None:
            raise RenderError(
                "response_format of type json_schema needs the field json_schema.", "response_format"
            )
        return {"json_": response_format.json_schema.json_schema}
    return {"structural_tag": json.dumps(response_format.model_dump(by_alias=True))}
