"""The command `render-core`: the command line becomes settings, and a subcommand runs with them.

What is slow to import is imported by the subcommand that needs it, once the settings are known to be right.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from handlers.options import ArgumentParser, add_options, with_switch_values
from handlers.settings import OPTIONS, RENDERING_GROUPS, Settings
from render_core import validate_options
from render_core.errors import ConfigurationError, RenderError
from render_core.version import __version__

PACKED_OPTIONS = ("revision", "served_model_name", "tool_call_parser", "reasoning_parser")
"""The options that a bundle brings along as defaults."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command. 0: done; 1: it failed; 2: the command line or the settings are wrong."""
    try:
        arguments = with_switch_values(sys.argv[1:] if argv is None else argv, OPTIONS)
        return _run(_parser().parse_args(arguments))
    except ConfigurationError as error:
        return _complain(error, status=2)
    except KeyboardInterrupt:
        return 130


def _run(given: Namespace) -> int:
    if given.command == "serve":
        return _serve(given)
    if given.command == "render":
        return _render(given)
    if given.command in ("pack", "inspect"):
        from handlers import packing

        return packing.pack_model(given) if given.command == "pack" else packing.inspect_bundle(given)
    if given.command == "infra":
        return _infra(given)
    raise ConfigurationError("a command is needed: serve, render, pack, inspect or infra (--help tells more)")


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="render-core", description="Renders prompts as vLLM does, without an engine."
    )
    parser.add_argument("--version", action="version", version=f"render-core {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    serve = commands.add_parser("serve", help="serve over HTTP", description="Serves one model over HTTP.")
    serve.add_argument("positional_model", metavar="MODEL", nargs="?", help="as --model")
    add_options(serve, OPTIONS)

    render = commands.add_parser(
        "render", help="render one request", description="Prints one rendered request."
    )
    render.add_argument(
        "request", metavar="REQUEST.json", help="file with the request body; - for standard input"
    )
    render.add_argument(
        "--completion", action="store_true", help="a completion request, though it has messages"
    )
    shown = render.add_mutually_exclusive_group()
    shown.add_argument("--text", action="store_true", help="print only the prompt text, byte for byte")
    shown.add_argument("--tokens", action="store_true", help="print only the token ids, one prompt a line")
    add_options(render, (each for each in OPTIONS if each.group in RENDERING_GROUPS))

    pack = commands.add_parser(
        "pack",
        help="make a bundle of a model",
        description="Makes a bundle: a model prepared for cold starts.",
    )
    pack.add_argument("source", metavar="SOURCE", help="model directory, or repository id")
    pack.add_argument(
        "-o", "--output", metavar="DIR", required=True, help="folder for the bundle, new or empty"
    )
    add_options(pack, (each for each in OPTIONS if each.name in PACKED_OPTIONS))

    inspect = commands.add_parser(
        "inspect", help="show what a bundle holds", description="Shows a bundle for a person."
    )
    inspect.add_argument("bundle", metavar="DIR", help="folder of the bundle")

    infra = commands.add_parser(
        "infra",
        help="bring template.yaml up to date with infra/models.toml",
        description="Packs bundles and writes the generated parts of template.yaml, in a clone of the repository.",
    )
    infra.add_argument("--template-only", action="store_true", help="pack no bundles")
    infra.add_argument(
        "--check", action="store_true", help="write nothing; end with 1 if template.yaml is stale"
    )
    return parser


def _infra(given: Namespace) -> int:
    try:
        from infra import command
    except ImportError:
        raise ConfigurationError("infra works in a clone of the repository only") from None
    return command.run(given)


def _serve(given: Namespace) -> int:
    settings = Settings.from_flags(vars(given), os.environ)
    from handlers.serving import BindError, serve

    try:
        serve(settings)
    except BindError as error:
        return _complain(error, status=1)
    return 0


def _render(given: Namespace) -> int:
    settings = Settings.from_flags(vars(given), os.environ)
    body = _read_request(given.request)
    validate_options(settings.model_options())
    from render_core import RequestContext, load_model, render_chat, render_completion

    model = load_model(settings.model, settings.model_options())
    if model.is_demo:
        print("render-core: no model was named; this is the demo model", file=sys.stderr)
    body, is_chat = _with_prompt_text(body, wanted=given.text)
    context = RequestContext(header_request_id=None, random_id=secrets.token_hex(8), now=settings.clock())
    render = render_chat if is_chat and not given.completion else render_completion
    try:
        answer = json.loads(render(model, body, context))
    except RenderError as error:
        return _complain(f"{error.type} ({error.status}): {error.message}", status=1)
    sys.stdout.buffer.write(_shown(answer, given).encode())
    sys.stdout.flush()
    return 0


def _read_request(name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{name}: {getattr(error, 'strerror', None) or error}") from None


def _with_prompt_text(body: bytes, *, wanted: bool) -> tuple[bytes, bool]:
    """The body, asking for the prompt text if wanted, and whether it is a chat request.

    What is no JSON object stays as it is: the core says what is wrong with it.
    """
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        return body, True
    if not isinstance(request, dict):
        return body, True
    is_chat = "messages" in request or "prompt" not in request
    return json.dumps({**request, "return_prompt_text": True}).encode() if wanted else body, is_chat


def _shown(answer: Any, given: Namespace) -> str:
    rendered = answer if isinstance(answer, list) else [answer]
    if given.text:
        end = "\n" if sys.stdout.isatty() else ""
        return "\n".join(each["prompt_text"] for each in rendered) + end
    if given.tokens:
        return "".join(f"{json.dumps(each['token_ids'])}\n" for each in rendered)
    return "".join(f"{_pretty(each)}\n" for each in rendered)


def _pretty(rendered: dict[str, Any]) -> str:
    """One field a line: the token ids would fill pages with one id a line."""
    fields = (
        f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in rendered.items()
    )
    return "{\n" + ",\n".join(fields) + "\n}"


def _complain(error: Exception | str, *, status: int) -> int:
    print("render-core:", " ".join(str(error).split()), file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
