#!/usr/bin/env python3
"""Tabulate the parsers that `auto` chooses for model directories, and why.

uv run scripts/parser_table.py MODELS_DIR
"""

from __future__ import annotations

import sys
from pathlib import Path

from render_core.families.encoders import chosen_family
from render_core.families.selection import select_parsers
from render_core.model.files import read_model_files
from render_core.model.preparation import prepare


def main() -> int:
    print("| model | tool calls | reasoning | because |\n|---|---|---|---|")
    for root in sorted(path for path in Path(sys.argv[1]).iterdir() if (path / "config.json").is_file()):
        files = read_model_files(root)
        preparation = prepare(files)
        family = chosen_family("auto", preparation.config)
        selection = select_parsers(
            files.config,
            files.templates.values(),
            encoder=None if family is None else family.name,
            token_id=preparation.tokenizer.vocabulary.get,
        )
        reason = selection.reason.replace("|", "\\|")
        print(f"| {root.name} | {selection.tool or '-'} | {selection.reasoning or '-'} | {reason} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
