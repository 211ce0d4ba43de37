"""What CloudFormation's functions give for parameters: as much of them as template.yaml uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NO_VALUE = object()


class Values:
    """Parameters with their values, and the conditions that follow from them.

    A reference to a resource becomes its logical id.
    """

    def __init__(self, template: Mapping[str, Any], parameters: Mapping[str, str] | None = None) -> None:
        defaults = {name: str(each["Default"]) for name, each in template["Parameters"].items()}
        self._values = {
            "AWS::StackName": "stack",
            "AWS::Region": "eu-central-1",
            **defaults,
            **(parameters or {}),
        }
        self._conditions = template.get("Conditions", {})

    def of(self, value: Any) -> Any:
        """The value with every Ref and Fn::If resolved, and members without a value left out."""
        match value:
            case {"Ref": "AWS::NoValue"}:
                return NO_VALUE
            case {"Ref": str(name)}:
                return self._values.get(name, name)
            case {"Fn::If": [str(condition), yes, no]}:
                return self.of(yes if self.holds(condition) else no)
            case {"Condition": str(name)}:
                return self.holds(name)
            case {"Fn::Equals": [left, right]}:
                return str(self.of(left)) == str(self.of(right))
            case {"Fn::Not": [condition]}:
                return not self.of(condition)
            case dict():
                members = {name: self.of(member) for name, member in value.items()}
                return {name: member for name, member in members.items() if member is not NO_VALUE}
            case list():
                return [element for element in map(self.of, value) if element is not NO_VALUE]
            case _:
                return value

    def holds(self, condition: str) -> bool:
        """Whether a condition of the template is true."""
        return bool(self.of(self._conditions[condition]))
