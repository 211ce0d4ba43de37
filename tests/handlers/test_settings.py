"""Every option: its names, its values, and what is refused."""

from __future__ import annotations

import datetime
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from handlers.options import shown_default
from handlers.settings import OPTIONS, Settings
from render_core.errors import ConfigurationError

REPOSITORY = Path(__file__).parents[2]


def test_flags_of_the_python_renderer_are_accepted_verbatim() -> None:
    settings = Settings.from_args(
        shlex.split(
            """/models/qwen3 --served-model-name qwen3 --max-model-len 4096 --trust-request-chat-template
            --enable-auto-tool-choice --tool-call-parser hermes --reasoning-parser qwen3
            --tokenizer-mode deepseek_v4 --chat-template-content-format string
            --exclude-tools-when-tool-choice-none --generation-config vllm --max-logprobs -1
            --default-chat-template-kwargs '{"enable_thinking": false, "foo": 1}'
            --override-generation-config '{"temperature": 0.25, "max_new_tokens": 99, "top_k": 7}'"""
        )
    )
    assert settings == Settings(
        model="/models/qwen3",
        served_model_name=("qwen3",),
        max_model_len=4096,
        trust_request_chat_template=True,
        enable_auto_tool_choice=True,
        tool_call_parser="hermes",
        reasoning_parser="qwen3",
        tokenizer_mode="deepseek_v4",
        chat_template_content_format="string",
        exclude_tools_when_tool_choice_none=True,
        generation_config="vllm",
        max_logprobs=-1,
        default_chat_template_kwargs={"enable_thinking": False, "foo": 1},
        override_generation_config={"temperature": 0.25, "max_new_tokens": 99, "top_k": 7},
    )


def test_model_options_carry_every_rendering_value() -> None:
    settings = Settings(
        served_model_name=("a",),
        chat_template="{{ x }}",
        max_model_len=7,
        max_logprobs=3,
        chat_template_timeout=1.5,
        chat_template_max_chars=9,
        max_completion_prompts=2,
        tool_call_parser="hermes",
        allow_long_max_model_len=True,
    )
    options = settings.model_options()
    assert (options.served_model_names, options.chat_template) == (("a",), "{{ x }}")
    assert (options.max_model_len, options.max_logprobs, options.allow_long_max_model_len) == (7, 3, True)
    assert (options.template_seconds, options.template_max_chars) == (1.5, 9)
    assert (options.max_completion_prompts, options.tool_call_parser) == (2, "hermes")


def test_every_model_option_is_filled_from_a_setting() -> None:
    marked = Settings.from_args(
        shlex.split(
            """m --served-model-name n --accept-any-model --revision r --chat-template {{t}}
            --chat-template-content-format openai --default-chat-template-kwargs '{"a": 1}'
            --trust-request-chat-template --exclude-tools-when-tool-choice-none --max-model-len 5
            --allow-long-max-model-len --max-logprobs 4 --generation-config vllm
            --override-generation-config '{"b": 2}' --tool-call-parser hermes --reasoning-parser qwen3
            --enable-auto-tool-choice --tool-strict-level function --no-enforce-strict-tool-calling
            --tokenizer-mode mistral --tokenizer-engine tokenizers --chat-template-timeout 3 --chat-template-max-chars 6
            --max-completion-prompts 8"""
        )
    ).model_options()
    defaults = Settings().model_options()
    assert {name for name in defaults.__slots__ if getattr(marked, name) == getattr(defaults, name)} == set()


@pytest.mark.parametrize(
    ("flags", "trusted"),
    [
        (["--trust-request-chat-template"], True),
        (["--trust-request-chat-template", "true"], True),
        (["--trust-request-chat-template=false"], False),
        (["--trust-request-chat-template", "False"], False),
        (["--no-trust-request-chat-template"], False),
        (["--trust-request-chat-template", "--no-trust-request-chat-template"], False),
        ([], False),
    ],
)
def test_switch_spellings_of_both_renderers(flags: list[str], trusted: bool) -> None:
    assert Settings.from_args(flags).trust_request_chat_template is trusted


def test_bare_switch_leaves_the_model_alone() -> None:
    settings = Settings.from_args(["--trust-request-chat-template", "org/model"])
    assert (settings.trust_request_chat_template, settings.model) == (True, "org/model")


def test_enable_flags_have_a_disable_flag() -> None:
    arguments = ["--disable-request-id-headers", "--disable-auto-tool-choice"]
    assert Settings.from_args(arguments).enable_request_id_headers is False


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("1k", 1000),
        ("1K", 1024),
        ("25.6k", 25600),
        ("1.0005k", 1000),
        ("1m", 1_000_000),
        ("1M", 1_048_576),
        (" 12 ", 12),
        ("1_000", 1000),
        ("-1", None),
        ("auto", None),
        ("AUTO", None),
    ],
)
def test_context_length_is_read_as_vllm_reads_it(text: str, tokens: int | None) -> None:
    assert Settings.from_args([f"--max-model-len={text}"]).max_model_len == tokens


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--no-such-flag"], "unrecognized arguments: --no-such-flag"),
        (["--max-model"], "unrecognized arguments: --max-model"),
        (["--port", "70000"], "--port: 70000 is not between 0 and 65535"),
        (["--port", "-1"], "--port: -1 is not between 0 and 65535"),
        (["--max-model-len", "0"], "--max-model-len: 0 is not at least 1"),
        (
            ["--max-model-len", "25.6K"],
            "--max-model-len: '25.6K' is no whole number (1000, 1k = 1000, 1K = 1024)",
        ),
        (["--max-logprobs", "-2"], "--max-logprobs: -2 is not at least -1"),
        (["--max-body-size", "0"], "--max-body-size: 0 is not at least 1"),
        (
            ["--chat-template-timeout", "nan"],
            "--chat-template-timeout: nan is not a positive number of seconds",
        ),
        (
            ["--chat-template-timeout", "-1"],
            "--chat-template-timeout: -1 is not a positive number of seconds",
        ),
        (
            ["--chat-template-content-format", "xml"],
            "--chat-template-content-format: 'xml' is none of auto, string, openai",
        ),
        (
            ["--default-chat-template-kwargs", "[1]"],
            "--default-chat-template-kwargs: a JSON object is needed",
        ),
        (
            ["--override-generation-config", "{"],
            "--override-generation-config: no JSON: Expecting property name enclosed in double quotes: "
            "line 1 column 2 (char 1)",
        ),
        (
            ["--trust-request-chat-template=maybe"],
            "--trust-request-chat-template: 'maybe' is neither true nor false",
        ),
        (["--api-key", ""], "--api-key: the value is blank"),
        (["--chat-template", "/no/such.jinja"], "--chat-template: /no/such.jinja: no such file"),
        (
            ["--generation-config", "/no/such"],
            "--generation-config: '/no/such' is neither auto, vllm nor a directory",
        ),
        (["--ssl-certfile", "/no/such"], "--ssl-certfile: /no/such: No such file or directory"),
        (["--ssl-keyfile", "/dev/null"], "--ssl-keyfile needs --ssl-certfile"),
        (["--ssl-cert-reqs", "3"], "--ssl-cert-reqs: 3 is not between 0 and 2"),
        (
            ["--ssl-certfile", "/dev/null", "--ssl-cert-reqs", "2"],
            "--ssl-cert-reqs needs --ssl-ca-certs to check client certificates against",
        ),
        (["--clock", "tomorrow"], "--clock: 'tomorrow' is no ISO date or date and time"),
        (["--root-path", "/a?b"], "--root-path: '/a?b' is no plain URL path"),
        (["--log-level", "loud"], "--log-level: 'loud' is none of debug, info, warning, error, critical"),
        (["one", "--model", "two"], "two models are named: one and --model two"),
    ],
)
def test_mistakes_on_the_command_line(arguments: list[str], complaint: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Settings.from_args(arguments)
    assert str(caught.value) == complaint


ENVIRONMENT = {
    "RENDER_CORE_MODEL": "org/model",
    "RENDER_CORE_SERVED_MODEL_NAME": "a, b,",
    "RENDER_CORE_MAX_MODEL_LEN": "4K",
    "RENDER_CORE_TRUST_REQUEST_CHAT_TEMPLATE": "Yes",
    "RENDER_CORE_DEFAULT_CHAT_TEMPLATE_KWARGS": '{"enable_thinking": false}',
    "RENDER_CORE_API_KEY": "one,two",
    "RENDER_CORE_ROOT_PATH": "prod/",
    "RENDER_CORE_HOST": "",
}


def test_environment_gives_the_same_settings_as_flags() -> None:
    assert Settings.from_environment(ENVIRONMENT) == Settings.from_args(
        shlex.split(
            """org/model --served-model-name a b --max-model-len 4096 --trust-request-chat-template
            --default-chat-template-kwargs '{"enable_thinking": false}' --api-key one two --root-path /prod"""
        )
    )


def test_flag_beats_environment() -> None:
    settings = Settings.from_args(["--api-key", "three", "--no-trust-request-chat-template"], ENVIRONMENT)
    assert (settings.api_key, settings.trust_request_chat_template, settings.max_model_len) == (
        ("three",),
        False,
        4096,
    )


def test_vllm_api_key_is_one_key_and_the_last_choice() -> None:
    assert Settings.from_environment({"VLLM_API_KEY": "a,b"}).api_key == ("a,b",)
    assert Settings.from_environment({"VLLM_API_KEY": "x", **ENVIRONMENT}).api_key == ("one", "two")


def test_variables_of_the_tests_are_no_mistakes() -> None:
    names = ("RENDER_CORE_CORPUS", "RENDER_CORE_MODELS", "RENDER_CORE_BUNDLES")
    assert Settings.from_environment(dict.fromkeys(names, "somewhere")) == Settings.from_environment({})


@pytest.mark.parametrize(
    ("environ", "complaint"),
    [
        ({"RENDER_CORE_PROT": "8000"}, "RENDER_CORE_PROT: no such environment variable"),
        ({"RENDER_CORE_PORT": "x"}, "RENDER_CORE_PORT: 'x' is no whole number (1000, 1k = 1000, 1K = 1024)"),
        ({"RENDER_CORE_COMPRESSION": "2"}, "RENDER_CORE_COMPRESSION: '2' is neither true nor false"),
    ],
)
def test_mistakes_in_the_environment(environ: dict[str, str], complaint: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Settings.from_environment(environ)
    assert str(caught.value) == complaint


def test_variables_of_a_kubernetes_service_named_render_core_are_ignored() -> None:
    links = {
        "RENDER_CORE_PORT": "tcp://10.0.0.1:8000",
        "RENDER_CORE_SERVICE_HOST": "10.0.0.1",
        "RENDER_CORE_SERVICE_PORT": "8000",
        "RENDER_CORE_SERVICE_PORT_HTTP": "8000",
        "RENDER_CORE_PORT_8000_TCP": "tcp://10.0.0.1:8000",
        "RENDER_CORE_PORT_8000_TCP_ADDR": "10.0.0.1",
    }
    assert Settings.from_environment(links) == Settings()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-29", datetime.datetime(2026, 11, 29)),
        ("2026-11-29T13:14:15", datetime.datetime(2026, 11, 29, 13, 14, 15)),
        ("2026-11-29T13:14:15+02:00", datetime.datetime(2026, 11, 29, 13, 14, 15)),
    ],
)
def test_clock_can_be_fixed(text: str, moment: datetime.datetime) -> None:
    assert Settings.from_environment({"RENDER_CORE_CLOCK": text}).clock() == moment


def test_clock_is_the_local_time_otherwise() -> None:
    before = datetime.datetime.now()
    assert before <= Settings().clock() <= datetime.datetime.now()


def test_chat_template_is_a_file_a_text_or_a_name(tmp_path: Path) -> None:
    file = tmp_path / "a.jinja"
    file.write_text("{{ 'é' }}", encoding="utf-8")
    given = [str(file), "{{ messages }}", "tool_use"]
    read = [Settings.from_args(["--chat-template", each]).chat_template for each in given]
    assert read == ["{{ 'é' }}", "{{ messages }}", "tool_use"]


def test_chat_template_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.jinja"
    file.write_bytes(b"\xff")
    with pytest.raises(ConfigurationError, match="not UTF-8"):
        Settings.from_args(["--chat-template", str(file)])


def test_keys_do_not_show() -> None:
    assert "hunter2" not in repr(Settings(api_key=("hunter2",)))


def test_names_are_unique_and_derived_from_the_flag() -> None:
    flags = [each.flag for each in OPTIONS] + [each.off_flag for each in OPTIONS if each.is_switch]
    assert len(flags) == len(set(flags))
    for each in OPTIONS:
        assert each.environment_name == "RENDER_CORE_" + each.flag[2:].upper().replace("-", "_")


@pytest.mark.parametrize("option", OPTIONS, ids=lambda each: each.flag)
def test_shown_default_gives_the_default_back(option: Any) -> None:
    shown = shown_default(option)
    assert option.default in (None, (), "") if shown == "unset" else option.parse(shown) == option.default


@pytest.mark.parametrize("module", ["handlers.settings", "handlers.cli", "handlers.serving"])
def test_import_is_light(module: str) -> None:
    heavy = ("fastapi", "starlette", "uvicorn", "mangum", "tokenizers", "pydantic", "jinja2", "boto3")
    program = f"import sys, {module}; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.mark.parametrize(("text", "enforced"), [("0", False), ("False", False), ("1", True), ("", True)])
def test_strict_tool_calling_is_switched_by_vllms_variable(text: str, enforced: bool) -> None:
    settings = Settings.from_environment({"VLLM_ENFORCE_STRICT_TOOL_CALLING": text})
    assert settings.model_options().enforce_strict_tool_calling is enforced


def test_a_model_that_an_option_took_for_a_value_is_seen(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="taken for a value of --api-key: name the model first"):
        Settings.from_args(["--api-key", "k", str(tmp_path)])
    assert Settings.from_args([str(tmp_path), "--api-key", "k", "l"]).api_key == ("k", "l")
    assert Settings.from_args(["--api-key", "k", "--model", str(tmp_path)]).model == str(tmp_path)
