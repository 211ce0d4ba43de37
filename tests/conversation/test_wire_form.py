"""Which of vLLM's two message forms a message takes when both fit."""

from __future__ import annotations

from typing import Any

import pytest

from render_core.conversation.wire_form import wire_form


@pytest.mark.parametrize(
    ("part", "form"),
    [
        ({"tool_reference": 1, "name": "q"}, "custom"),
        ({"type": "tool_reference"}, "custom"),
        ({"name": "q"}, "custom"),
        ({"name": 1}, "role"),
        ({"name": "q", "type": None}, "role"),
        ({"name": "q", "type": "unheard of"}, "role"),
        ({"image_url": "x"}, "custom"),
        ({"image_url": {"url": "x"}}, "role"),
        ({"audio_url": None}, "custom"),
        ({"image_pil": "x", "uuid": "u"}, "custom"),
        ({"thinking": "x", "closed": True}, "role"),
        ({"uuid": 1}, "role"),
        ({}, "role"),
    ],
)
def test_one_recognised_field_of_a_part_decides_for_the_custom_form(part: dict[str, Any], form: str) -> None:
    assert wire_form({"role": "user", "content": [part]}, "m") == form
