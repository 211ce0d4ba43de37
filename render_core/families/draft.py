"""The part of a chat request that parsers change, while they change it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from render_core.protocol.chat import ChatRequest
from render_core.protocol.structured import AnyResponseFormat, StructuredOutputs, resolve_constraint


@dataclass(slots=True)
class Draft:
    """What a request asks of sampling, on its way through the parsers.

    Attributes:
        request: the request as it came; never changed.
        structured_outputs, response_format: the constraints as they stand.
        skip_special_tokens, spaces_between_special_tokens: False when a parser forced it, None when none did.
        is_joinable: tool calls may be offered beside the constraint that stands.
        hoisted_definitions: the tools' `$defs` went into a common schema, so that later reports of the tools
            lack them.
    """

    request: ChatRequest
    structured_outputs: StructuredOutputs | None
    response_format: AnyResponseFormat | None
    skip_special_tokens: bool | None = None
    spaces_between_special_tokens: bool | None = None
    is_joinable: bool = True
    hoisted_definitions: bool = False

    @classmethod
    def of(cls, request: ChatRequest) -> Draft:
        return cls(request, request.structured_outputs, request.response_format)

    def constraint(self) -> dict[str, Any] | None:
        """The constraint as sampling parameters carry it.

        Raises:
            RenderError: two constraints are set.
        """
        return resolve_constraint(self.structured_outputs, self.response_format)

    def constrain(self, **constraint: Any) -> None:
        """Put one constraint in the place of all others."""
        self.structured_outputs = StructuredOutputs().model_copy(update=constraint)
        self.response_format = None

    def keep_special_tokens(self, keep_spacing: bool = False) -> None:
        self.skip_special_tokens = False
        if keep_spacing:
            self.spaces_between_special_tokens = False
