"""Tools and tool_choice of a chat request: what a client may write and what templates are shown."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict

from render_core.errors import RenderError


class FunctionDefinition(BaseModel):
    model_config = ConfigDict(extra="ignore", defer_build=True)

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None
    defer_loading: bool | None = None


class Tool(BaseModel):
    model_config = ConfigDict(extra="ignore", defer_build=True)

    type: Literal["function"] = "function"
    function: FunctionDefinition
    defer_loading: bool | None = None

    def as_template_variable(self) -> dict[str, Any]:
        """The dict a template sees. Key order is tokens: spec 2.6, whatever order the client wrote."""
        function: dict[str, Any] = {
            "name": self.function.name,
            "description": self.function.description,
            "parameters": self.function.parameters,
        }
        if self.function.strict is not None:
            function["strict"] = self.function.strict
        deferred = self.defer_loading if self.function.defer_loading is None else self.function.defer_loading
        if deferred is not None:
            function["defer_loading"] = deferred
        shown: dict[str, Any] = {"type": self.type, "function": function}
        if self.defer_loading is not None:  # vLLM writes it at both levels
            shown["defer_loading"] = self.defer_loading
        return shown


class NamedFunction(BaseModel):
    model_config = ConfigDict(extra="ignore", defer_build=True)

    name: str


class NamedToolChoice(BaseModel):
    model_config = ConfigDict(extra="ignore", defer_build=True)

    function: NamedFunction
    type: Literal["function"] = "function"


_LONE_CONSTRAINTS: Final = ("json", "regex", "choice")

ToolChoice = Literal["none", "auto", "required"] | NamedToolChoice | None


def check_tool_choice(document: dict[str, Any]) -> None:
    """The rules between `tools` and `tool_choice` (spec 2.2, 1 to 4), on the undecoded fields.

    Raises:
        RenderError: tools is an empty list, or tool_choice asks for a tool that is not there.
    """
    tools, choice = document.get("tools"), document.get("tool_choice")
    if tools == []:
        raise RenderError("tools must not be an empty list; leave the field out to offer no tool.", "tools")
    if choice is None or choice == "none":
        return
    if tools is None:
        raise RenderError("tool_choice needs tools to be given.", "tool_choice")
    if isinstance(choice, dict):
        _check_named_choice(choice, tools)
    elif choice not in ("auto", "required"):
        raise RenderError(
            'tool_choice must be "none", "auto", "required" or a named function.', "tool_choice"
        )


def check_constraint_beside_tools(document: dict[str, Any]) -> None:
    """The rule between `structured_outputs` and `tool_choice`, on the undecoded fields.

    vLLM 0.33 lets a JSON schema, a regex or a choice stand beside "none", "auto" and "required" only: not beside a
    named function, and not beside a written null. `response_format` and the other constraints are free of the rule.

    Raises:
        RenderError: the two do not go together.
    """
    constraint = document.get("structured_outputs")
    if not isinstance(constraint, dict) or all(constraint.get(name) is None for name in _LONE_CONSTRAINTS):
        return
    if document.get("tool_choice", "none") not in ("none", "auto", "required"):
        raise RenderError(
            "structured_outputs with json, regex or choice does not go with a tool_choice that is null or names "
            "a function.",
            "structured_outputs",
        )


def _check_named_choice(choice: dict[str, Any], tools: Any) -> None:
    function = choice.get("function")
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(name, str) or not name:
        raise RenderError(
            "A named tool_choice has the form {type, function: {name}}.", "tool_choice.function.name"
        )
    offered = (
        [tool.get("function") for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    )
    if not any(isinstance(function, dict) and function.get("name") == name for function in offered):
        raise RenderError("tool_choice names a function that is not among the tools.", "tool_choice")
