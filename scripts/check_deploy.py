#!/usr/bin/env python3
"""Deploy twice with `sam deploy` into MiniStack, an emulator of AWS on this machine, and read back what is there.

    uv run scripts/check_deploy.py

Before, the template is changed where MiniStack is no AWS (`adapted` says how): what is lost by that is checked on the
translated template and in the simulated gateway of tests/infra. Nothing listens on any address but 127.0.0.1.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
STACK = "render-core-check"
STAGE = "check"
ARCHITECTURE = {"x86_64": "x86_64", "aarch64": "arm64"}[platform.machine()]
START_SECONDS = 60
CHAT = "/v1/chat/completions/render"
REQUEST = {"messages": [{"role": "user", "content": "Hello, router!"}], "model": "render-core-demo"}
FUNCTIONS = {"DemoFunction": "demo", "AuthorizerFunction": "authorizer"}


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for function in FUNCTIONS:
            build(function, work / function)
        with emulator(work) as port:
            speak_to(port)
            deploy(work, {})
            check_resources(expected_version="1")
            check_http(port)
            deploy(work, {"RENDER_CORE_MAX_MODEL_LEN": "1000"})
            check_resources(expected_version="2")
            check_http(port, max_model_len=1000)
    print(
        "Deployed twice and read back: functions, versions, alias, API, stage, usage plan, keys, authorizer, renders."
    )
    return 0


def speak_to(port: int) -> None:
    """Makes every client of AWS in this process and its children one of the emulator, whatever the user has set up."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    os.environ |= {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }


def tool(*command: str) -> list[str]:
    """The command line of a tool of scripts/deploy_tools."""
    return ["bash", "-c", '. scripts/deploy_tools && "$@"', "_", *command]


def run(command: list[str]) -> None:
    """Runs a command, and shows what it wrote only if it fails."""
    done = subprocess.run(
        command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        sys.exit(f"{done.stdout}\n{' '.join(command)} ended with {done.returncode}")


def build(function: str, target: Path) -> None:
    """The artifact for this machine, since MiniStack runs it here."""
    architecture = () if function == "AuthorizerFunction" else ("--architecture", ARCHITECTURE)
    run(["scripts/as_function", "-m", "infra.build", function, str(target), *architecture])


@contextlib.contextmanager
def emulator(work: Path) -> Iterator[int]:
    """MiniStack on a free port of the loopback address, and of no other."""
    port = free_port()
    variables = {"BIND_HOST": "127.0.0.1", "GATEWAY_PORT": str(port), "LAMBDA_EXECUTOR": "local"}
    with listening(tool("ministack"), port, work / "ministack.log", {**variables, "TMPDIR": str(work)}):
        yield port


@contextlib.contextmanager
def listening(command: list[str], port: int, log: Path, variables: dict[str, str]) -> Iterator[None]:
    """A process that listens on a port, with what it starts, while the context lasts; its log is shown on failure."""
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            cwd=REPOSITORY,
            env={**os.environ, **variables},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        until = time.monotonic() + START_SECONDS
        while not answers(port):
            if process.poll() is not None or time.monotonic() > until:
                sys.exit(f"nothing listens on port {port}")
            time.sleep(0.1)
        yield
    except BaseException:
        print(log.read_text()[-6000:], file=sys.stderr)
        raise
    finally:
        os.killpg(process.pid, 15)
        process.wait()


def free_port() -> int:
    """A port of the loopback address that nobody listens on now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def deploy(work: Path, variables: dict[str, str]) -> None:
    """`sam deploy` of the adapted template, the model with more variables."""
    file, config = work / "template.json", work / "samconfig.toml"
    file.write_text(json.dumps(adapted(work, variables)))
    config.write_text("version = 0.1\n")
    run(
        tool(
            *("sam", "deploy", "--template-file", str(file), "--stack-name", STACK, "--resolve-s3"),
            *("--capabilities", "CAPABILITY_IAM", "--no-confirm-changeset", "--no-progressbar"),
            *("--config-file", str(config), "--region", "us-east-1"),
            *(
                "--parameter-overrides",
                f"Stage={STAGE}",
                "KeyB=1",
                "KeyRate=50",
                "KeyBurst=60",
                "KeyQuota=1000",
            ),
        )
    )


def adapted(work: Path, variables: dict[str, str]) -> dict[str, Any]:
    """The template as MiniStack can take it.

    It drops ANY from an API's body, so each event becomes one for GET and one for POST; it has no CodeDeploy; it runs
    functions here, where /var/task is not theirs but the working directory is.
    """
    from samtranslator.yaml_helper import yaml_parse

    template: dict[str, Any] = yaml_parse((REPOSITORY / "template.yaml").read_text())
    for name in FUNCTIONS:
        function = template["Resources"][name]
        del function["Metadata"]
        properties = function["Properties"]
        properties |= {"CodeUri": str(work / name), "Architectures": [ARCHITECTURE]}
        properties.pop("DeploymentPreference", None)
        if name == "DemoFunction":
            properties["Environment"]["Variables"] |= {"RENDER_CORE_MODEL": "bundle", **variables}
            properties["Events"] = {
                f"{event}{method.capitalize()}": {
                    **declared,
                    "Properties": {**declared["Properties"], "Method": method},
                }
                for event, declared in properties["Events"].items()
                for method in ("GET", "POST")
            }
    return template


def check_resources(expected_version: str) -> None:
    """Reads every part back. Exits with a sentence about the first that is not as it should be."""
    functions = client("lambda")
    model = functions.get_function_configuration(FunctionName=f"{STACK}-demo")
    expect("SnapStart", model["SnapStart"]["ApplyOn"], "PublishedVersions")
    expect("tracing", model["TracingConfig"]["Mode"], "Active")
    expect("log format", model["LoggingConfig"]["LogFormat"], "JSON")
    expect("log group", model["LoggingConfig"]["LogGroup"], f"/aws/lambda/{STACK}-demo")
    expect(
        "authorizer",
        functions.get_function(FunctionName=f"{STACK}-authorizer")["Configuration"]["Timeout"],
        5,
    )
    published = [
        each["Version"]
        for each in functions.list_versions_by_function(FunctionName=f"{STACK}-demo")["Versions"]
    ]
    expect("newest version", published[-1], expected_version)
    alias = functions.get_alias(FunctionName=f"{STACK}-demo", Name="live")
    expect("version of the alias", alias["FunctionVersion"], expected_version)
    api = client("apigateway")
    [rest_api] = [each for each in api.get_rest_apis()["items"] if each["name"] == STACK]
    expect(
        "stages", [each["stageName"] for each in api.get_stages(restApiId=rest_api["id"])["item"]], [STAGE]
    )
    [authorizer] = api.get_authorizers(restApiId=rest_api["id"])["items"]
    expect("kind of authorizer", authorizer["type"], "REQUEST")
    expect("seconds of its answers", authorizer["authorizerResultTtlInSeconds"], 0)
    [plan] = [each for each in api.get_usage_plans()["items"] if each["name"] == f"{STACK}-{STAGE}"]
    expect("stages of the plan", plan["apiStages"][0]["stage"], STAGE)
    expect("throttle", plan["throttle"], {"rateLimit": 50.0, "burstLimit": 60})
    expect("quota", plan["quota"]["limit"], 1000)
    keys = api.get_usage_plan_keys(usagePlanId=plan["id"])["items"]
    expect(
        "keys of the plan",
        sorted(key["name"] for key in keys),
        [f"{STACK}-{STAGE}-{slot}-1" for slot in "ab"],
    )
    alarms = client("cloudwatch").describe_alarms(AlarmNamePrefix=STACK)["MetricAlarms"]
    expect("alarms", len(alarms), 6)


def check_http(port: int, max_model_len: int | None = None) -> None:
    """Requests through MiniStack's front. It looks for the key in x-api-key only, so both headers are sent."""
    api = client("apigateway")
    [rest_api] = [each for each in api.get_rest_apis()["items"] if each["name"] == STACK]
    named = {key["name"]: key["value"] for key in api.get_api_keys(includeValues=True)["items"]}
    key = named[f"{STACK}-{STAGE}-a-1"]
    credentials = {"Authorization": f"Bearer {key}", "x-api-key": key}

    def call(path: str, headers: dict[str, str], body: Any = None) -> tuple[int, Any]:
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/{STAGE}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Host": f"{rest_api['id']}.execute-api.localhost:{port}",
                "Content-Type": "application/json",
                **headers,
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                text = response.read()
                return response.status, json.loads(text) if text else None
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()

    expect("probe without a key", call("/demo/health", {})[0], 200)
    expect("request without a key", call(f"/demo{CHAT}", {}, REQUEST)[0], 401)
    wrong = {**credentials, "Authorization": f"Bearer {named[f'{STACK}-{STAGE}-b-1']}"}
    expect("two different keys", call(f"/demo{CHAT}", wrong, REQUEST)[0], 401)
    status, rendered = call(f"/demo{CHAT}", credentials, REQUEST)
    expect("render", (status, bool(status == 200 and rendered["token_ids"])), (200, True))
    status, models = call("/demo/v1/models", credentials)
    expect("models", status, 200)
    if max_model_len is not None:
        expect("setting of the second deployment", models["data"][0]["max_model_len"], max_model_len)


def client(service: str) -> Any:
    import boto3

    return boto3.client(service)


def expect(what: str, found: Any, wanted: Any) -> None:
    if found != wanted:
        sys.exit(f"{what}: {found!r} instead of {wanted!r}")


if __name__ == "__main__":
    sys.exit(main())
