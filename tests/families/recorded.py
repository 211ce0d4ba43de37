"""Effects recorded from vLLM 0.33's render server, one file a family under data/ (see data/README.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from render_core.families.effects import Effects, ParserChoice, build_parsers
from render_core.protocol.chat import ChatRequest
from tests.families.parser_models import Tokens

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class RecordedCase:
    """A request, the parsers it met, and what changed."""

    name: str
    vocabulary: tuple[str, ...]
    parsers: dict[str, str]
    fields: dict[str, Any]
    prompt: list[str]
    expected: dict[str, Any]

    def effects(self) -> dict[str, Any]:
        """What changes here, in the form of the recording."""
        tokens = Tokens(self.vocabulary)
        parsers = build_parsers(ParserChoice(**self.parsers), tokens.model())
        request = ChatRequest.parse({"messages": [], **self.fields})
        ids = [token for text in self.prompt for token in tokens.encode(text)]
        return shown(parsers.effects(request, request.chat_template_kwargs or {}, ids))


def recorded_cases() -> Iterator[RecordedCase]:
    for file in sorted(DATA.glob("effects_*.json")):
        document = json.loads(file.read_text())
        for index, case in enumerate(document["cases"]):
            tools = {"tools": document["tools"]} if case.get("with_tools") else {}
            yield RecordedCase(
                name=f"{file.stem.removeprefix('effects_')}-{'-'.join(case['parsers'].values())}-{index}",
                vocabulary=tuple(document["vocabulary"]),
                parsers=case["parsers"],
                fields={**tools, **case["request"]},
                prompt=case["prompt"],
                expected=case["effects"],
            )


def shown(effects: Effects) -> dict[str, Any]:
    """Effects as the recordings write them: what is set, the structural tag decoded."""
    written: dict[str, Any] = {}
    for name in ("skip_special_tokens", "spaces_between_special_tokens"):
        if getattr(effects, name) is not None:
            written[name] = getattr(effects, name)
    if effects.structured_outputs is not None:
        written["structured_outputs"] = {
            name: json.loads(value) if name == "structural_tag" else value
            for name, value in effects.structured_outputs.items()
            if value not in (None, False)
        }
    return {**written, "reasoning_ended": effects.reasoning_ended}
