"""DeepSeek's tokens and its markup of tool calls, as the releases from V3.2 on share them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from render_core.families.encoders.reading import json_text

_BAR: Final = "\uff5c"  # the fullwidth form of |


def special_token(name: str) -> str:
    """The spelling of one of DeepSeek's special tokens."""
    return f"<{_BAR}{name}{_BAR}>"


BOS: Final = special_token("begin▁of▁sentence")
EOS: Final = special_token("end▁of▁sentence")
SYSTEM: Final = special_token("System")
USER: Final = special_token("User")
ASSISTANT: Final = special_token("Assistant")
THINK: Final = "<think>"
END_THINK: Final = "</think>"
_MARK: Final = f"{_BAR}DSML{_BAR}"  # begins the name of every element


@dataclass(frozen=True, slots=True)
class ToolMarkup:
    """The names of the markup's elements, in which the releases differ."""

    block: str
    call: str
    parameter: str

    @property
    def block_tag(self) -> str:
        """The start tag of a block of calls."""
        return f"<{_MARK}{self.block}>"

    def calls(self, tool_calls: Iterable[dict[str, Any]]) -> str:
        """Tool calls as the assistant wrote them. Their arguments are objects, as the conversation holds them."""
        return self._block([self._call(call["function"]) for call in tool_calls])

    def example(self, name: str) -> str:
        """The sample block that explains the markup to the model; `name` stands for a tool's name."""
        parameter = self._parameter("$PARAMETER_NAME", "true|false", "$PARAMETER_VALUE")
        return self._block(
            [self._element(f"${name}", f"{parameter}\n..."), self._element(f"${name}2", "...")]
        )

    @property
    def elided(self) -> str:
        """A block whose calls are left out."""
        return self._block(["..."])

    def _block(self, calls: list[str]) -> str:
        lines = "\n".join(calls)
        return f"{self.block_tag}\n{lines}\n</{_MARK}{self.block}>"

    def _call(self, function: dict[str, Any]) -> str:
        parameters = [
            self._parameter(name, "true", value)
            if isinstance(value, str)
            else self._parameter(name, "false", json_text(value))
            for name, value in function["arguments"].items()
        ]
        return self._element(function["name"], "\n".join(parameters))

    def _element(self, name: str, body: str) -> str:
        return f'<{_MARK}{self.call} name="{name}">\n{body}\n</{_MARK}{self.call}>'

    def _parameter(self, name: str, is_string: str, value: str) -> str:
        tag = f"{_MARK}{self.parameter}"
        return f'<{tag} name="{name}" string="{is_string}">{value}</{tag}>'
