"""xgrammar without the libraries it only needs for inference, so that tests need no gigabytes of torch."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from functools import cache
from types import ModuleType
from unittest.mock import MagicMock

import pytest

_ABSENT = ("torch", "transformers")


@cache
def xgrammar() -> ModuleType:
    """The library; the calling test is skipped when it is not installed (scripts/check_structural_tags.py has it)."""
    if importlib.util.find_spec("xgrammar") is None:
        pytest.skip("xgrammar is not installed: run scripts/check_structural_tags.py")
    importlib.import_module("tvm_ffi")  # before the stand-ins, which it would take for the real thing
    stand_ins = [name for name in _ABSENT if importlib.util.find_spec(name) is None]
    for name in stand_ins:
        sys.modules[name] = MagicMock(name=name, Tensor=type("Tensor", (), {}))
    try:
        return importlib.import_module("xgrammar")
    finally:
        for name in stand_ins:
            del sys.modules[name]


def compile_tag(text: str) -> object:
    """The grammar of a structural tag; raises when it is none."""
    grammar: object = xgrammar().Grammar.from_structural_tag(text)
    return grammar


def accepts(text: str, answer: str) -> bool:
    """Whether a structural tag lets a model write exactly this answer and stop."""
    engine = xgrammar()
    info = engine.TokenizerInfo([])
    compiled = engine.GrammarCompiler(info, cache_enabled=False).compile_grammar(compile_tag(text))
    matcher = engine.GrammarMatcher(compiled, terminate_without_stop_token=True)
    return bool(matcher.accept_string(answer) and matcher.is_terminated())
