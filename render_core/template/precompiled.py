"""Chat templates compiled ahead: at start neither Jinja's parser nor, in the same Python, Python's compiler runs."""

from __future__ import annotations

import importlib.util
import marshal
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import jinja2

from render_core.errors import ConfigurationError
from render_core.template.compiled import CompiledTemplate, TemplateProgram, compile_template, translate
from render_core.template.environment import environment

_SOURCE: Final = "chat_template.jinja"
_CODE: Final = "chat_template.py"
_BYTECODE: Final = "chat_template.bin"
_MAGIC: Final = importlib.util.MAGIC_NUMBER.hex()


@dataclass(frozen=True, slots=True)
class AheadCompiled:
    """A template compiled ahead.

    Attributes:
        facts: what a manifest says of it, as JSON values.
        files: what a bundle holds of it, by name.
    """

    facts: dict[str, Any]
    files: dict[str, bytes]


def compile_ahead(name: str, source: str) -> AheadCompiled:
    """Compile a template for a bundle.

    Raises:
        ConfigurationError: it does not compile.
    """
    try:
        compile_template(source)
        program = translate(environment(), source)
        bytecode = marshal.dumps(compile(program.code, "<template>", "exec"))
    except Exception as error:  # noqa: BLE001 (besides Jinja's errors: RecursionError, SyntaxError, MemoryError)
        raise ConfigurationError(f"The chat template {name!r} does not compile: {error}") from None
    facts = {
        "variables": sorted(program.variables),
        "content_format": program.content_format,
        "jinja": jinja2.__version__,
        "bytecode_magic": _MAGIC,
    }
    return AheadCompiled(facts, {_SOURCE: source.encode(), _CODE: program.code.encode(), _BYTECODE: bytecode})


def load_compiled(name: str, facts: dict[str, Any], folder: Path) -> CompiledTemplate:
    """Load a template that was compiled ahead.

    Bytecode is used by the Python it was made by; another Python compiles the kept code again, and another Jinja
    starts from the template's own text. The files' checksums must have been checked.

    Raises:
        ConfigurationError: the files cannot be used.
    """
    try:
        source = (folder / _SOURCE).read_text(encoding="utf-8")
        if facts["jinja"] != jinja2.__version__:
            return compile_template(source)
        program = TemplateProgram(
            source=source,
            code=(folder / _CODE).read_text(encoding="utf-8"),
            variables=frozenset(facts["variables"]),
            content_format=facts["content_format"],
        )
        same_python = facts["bytecode_magic"] == _MAGIC
        return program.load(marshal.loads((folder / _BYTECODE).read_bytes()) if same_python else None)  # noqa: S302
    except Exception as error:  # noqa: BLE001 (bytecode of another Python can fail in any way)
        raise ConfigurationError(
            f"The chat template {name!r} of the bundle cannot be loaded: {error}"
        ) from None
