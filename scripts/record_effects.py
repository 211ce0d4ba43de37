#!/usr/bin/env python3
"""Record what vLLM's parsers change: fill in `effects` of every case of tests/families/data/effects_FAMILY.json.

VLLM_VENV/bin/python scripts/record_effects.py MODEL_DIR tests/families/data/effects_FAMILY.json

MODEL_DIR is any model that vLLM 0.33 loads; the file's `vocabulary` is added to the tokenizer of a copy of it. vLLM's
render application answers in process, each case with its own parsers; no GPU is needed.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")


def main() -> None:
    recording = Path(sys.argv[2])
    document = json.loads(recording.read_text())
    with tempfile.TemporaryDirectory() as scratch:
        model = Path(scratch) / "model"
        shutil.copytree(sys.argv[1], model)
        add_tokens(model, document["vocabulary"])
        asyncio.run(record(model, document))
    recording.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    print(f"{len(document['cases'])} cases recorded")


def add_tokens(model: Path, texts: list[str]) -> None:
    """Make every text a token of its own, within the vocabulary size that prompts are checked against."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    tokenizer.add_tokens([text for text in texts if text not in tokenizer.get_vocab()])
    tokenizer.save_pretrained(model)
    config = json.loads((model / "config.json").read_text())
    config["vocab_size"] = max(config["vocab_size"], len(tokenizer))
    (model / "config.json").write_text(json.dumps(config))


async def record(model: Path, document: dict[str, Any]) -> None:
    import httpx
    from vllm.parser import ParserManager

    app = await render_application(model)
    renderer = app.state.online_renderer
    tokenizer = renderer.renderer.tokenizer
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://recorder") as client:
        for case in document["cases"]:
            tool = case["parsers"].get("tool")
            renderer.enable_auto_tools = tool is not None
            renderer.parser = ParserManager.get_parser(
                tool_parser_name=tool,
                reasoning_parser_name=case["parsers"].get("reasoning"),
                enable_auto_tools=tool is not None,
                tool_strict_level=case["parsers"].get("strict_level"),
                model_name="recorder",
                is_harmony=False,
                tokenizer=tokenizer,
            )
            ids = [i for text in case["prompt"] for i in tokenizer.encode(text, add_special_tokens=False)]
            body = {
                "messages": [{"role": "user", "content": "hi"}],
                "kv_transfer_params": {"prompt_token_ids": ids},
                **({"tools": document["tools"]} if case.get("with_tools") else {}),
                **case["request"],
            }
            answer = await client.post("/v1/chat/completions/render", json=body)
            case["effects"] = shown(answer.json()) if answer.is_success else {"status": answer.status_code}


async def render_application(model: Path) -> Any:
    """vLLM's render server for the model, as an ASGI application."""
    from vllm import AsyncEngineArgs
    from vllm.config import VllmConfig
    from vllm.entrypoints.common.cli_args import make_arg_parser
    from vllm.entrypoints.launchers.app import build_app
    from vllm.entrypoints.launchers.render.app_state import init_render_app_state
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    arguments = make_arg_parser(FlexibleArgumentParser()).parse_args(["--model", str(model)])
    arguments.model_tag = None
    engine = AsyncEngineArgs.from_cli_args(arguments)
    config = VllmConfig(
        model_config=engine.create_model_config(),
        logging_config=engine.create_logging_config(),
        structured_outputs_config=engine.create_structured_outputs_config(),
    )
    app = build_app(arguments, ("render",))
    await init_render_app_state(config, app.state, arguments)
    return app


def shown(answer: dict[str, Any]) -> dict[str, Any]:
    """What was set, in the form of tests/families/recorded.py; a structural tag is decoded."""
    parameters = answer["sampling_params"]
    flags = ("skip_special_tokens", "spaces_between_special_tokens")
    effects: dict[str, Any] = {name: False for name in flags if parameters.get(name) is False}
    if constraint := parameters.get("structured_outputs"):
        effects["structured_outputs"] = {
            name: json.loads(value) if name == "structural_tag" else value
            for name, value in constraint.items()
            if value not in (None, False)
        }
    return {**effects, "reasoning_ended": answer["reasoning_ended"]}


if __name__ == "__main__":
    main()
