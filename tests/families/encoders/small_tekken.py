"""A tekken.json that holds the 256 bytes and a few longer tokens, in the form of any release."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

from render_core.families.encoders.mistral import MistralEncoder, build
from render_core.tokenizer.tekken import HEADER_KEY, read_tekken
from render_core.tokenizer.tekken_engine import TekkenEngine
from render_core.tokenizer.tokenizer import Tokenizer

PATTERN = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
FIRST_TOKENS = (
    "<unk> <s> </s> [INST] [/INST] [AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_RESULTS] [/TOOL_RESULTS] [TOOL_CALLS] "
    "[IMG] <pad> [IMG_BREAK] [IMG_END] [PREFIX] [MIDDLE] [SUFFIX] [SYSTEM_PROMPT] [/SYSTEM_PROMPT] [TOOL_CONTENT]"
).split()
LATER_TOKENS = "[ARGS] [CALL_ID] [THINK] [/THINK] [MODEL_SETTINGS] [/MODEL_SETTINGS]".split()
EFFORTS = {"type": "enum", "accepts_none": True, "default": "none", "values": ["none", "high"]}
SPECIAL_COUNT = 30
MERGED = (b"he", b"ll", b"hell", b"hello", "é".encode())


def document(version: int, special: Sequence[str] | None = None, **changes: Any) -> dict[str, Any]:
    tokens = [bytes([byte]) for byte in range(256)] + list(MERGED)
    vocabulary = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for rank, token in enumerate(tokens)
    ]
    config = {
        "pattern": PATTERN,
        "num_vocab_tokens": len(tokens),
        "default_vocab_size": len(tokens) + SPECIAL_COUNT,
        "default_num_special_tokens": SPECIAL_COUNT,
        "version": f"v{version}",
    }
    found: dict[str, Any] = {"config": config, "vocab": vocabulary}
    if special is None and version > 7:
        special = [*FIRST_TOKENS, *LATER_TOKENS]
    if special is not None:
        found["special_tokens"] = [
            {"rank": rank, "token_str": token, "is_control": True} for rank, token in enumerate(special)
        ]
    if version >= 15:
        found["model_settings_builder"] = {"reasoning_effort": EFFORTS}
    return found | changes


def serialized(found: Mapping[str, Any]) -> bytes:
    return json.dumps(found).encode()


def engine_of(version: int) -> TekkenEngine:
    return TekkenEngine(read_tekken(serialized(document(version))).prepared.serialized)


def encoder_of_release(found: Mapping[str, Any]) -> tuple[Tokenizer, MistralEncoder]:
    tekken = read_tekken(serialized(found))
    tokenizer = tekken.prepared.tokenizer(TekkenEngine(tekken.prepared.serialized))
    return tokenizer, build({HEADER_KEY: tekken.header}, tokenizer)
