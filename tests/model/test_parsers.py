"""What options make of a model's parsers."""

from __future__ import annotations

import pytest

from render_core import ModelOptions, load_model
from render_core.protocol.chat import ChatRequest

NAMED = {"type": "function", "function": {"name": "f"}}


@pytest.mark.parametrize(("enforced", "field"), [(True, "structural_tag"), (False, "json")])
def test_without_strict_tool_calling_a_call_is_forced_by_its_schema(enforced: bool, field: str) -> None:
    options = ModelOptions(
        tool_call_parser="hermes", enable_auto_tool_choice=True, enforce_strict_tool_calling=enforced
    )
    document = {"messages": [], "tools": [{"type": "function", "function": {"name": "f"}}]}
    request = ChatRequest.parse(document | {"tool_choice": NAMED})
    constraint = load_model(None, options).parsers.effects(request, {}, [1]).structured_outputs
    assert constraint is not None
    assert [name for name in ("structural_tag", "json") if constraint[name] is not None] == [field]
