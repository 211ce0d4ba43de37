#!/usr/bin/env python3
"""Run what is deployed in AWS's Runtime Interface Emulator, with Lambda's own runtime client, and compare its answers.

    uv run scripts/check_emulator.py

The emulator is the one that the SAM CLI puts into its containers (`sam local invoke`); here it runs without one. It
listens on 127.0.0.1 only, and takes one request at a time.
"""

from __future__ import annotations

import base64
import contextlib
import json
import secrets
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from check_deploy import (
    ARCHITECTURE,
    CHAT,
    FUNCTIONS,
    REQUEST,
    build,
    expect,
    free_port,
    listening,
    tool,
)

RUNTIME_CLIENT = "awslambdaric==4.2.2"
ARN = "arn:aws:execute-api:us-east-1:123456789012:a1b2c3d4e5/dev/POST/demo/v1/models"


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for function in FUNCTIONS:
            build(function, work / function)
        model = work / "DemoFunction"
        variables = {"RENDER_CORE_MODEL": str(model / "bundle"), "RENDER_CORE_ROOT_PATH": "/demo"}
        with emulated(model, "handlers.lambda_function.handler", variables) as port:
            check_model(port)
        with emulated(work / "AuthorizerFunction", "authorizer.handler", {}) as port:
            check_authorizer(port)
    print("Both artifacts answer in the Runtime Interface Emulator as they should.")
    return 0


@contextlib.contextmanager
def emulated(artifact: Path, handler: str, variables: dict[str, str]) -> Iterator[int]:
    """The emulator with one function, on a free port."""
    port, runtime_port = free_port(), free_port()
    command = tool(
        *("emulator", ARCHITECTURE),
        *("--runtime-interface-emulator-address", f"127.0.0.1:{port}"),
        *("--runtime-api-address", f"127.0.0.1:{runtime_port}"),
        *("uv", "run", "--quiet", "--no-project", "--python", "3.13", "--with", RUNTIME_CLIENT),
        *("--directory", str(artifact), "python", "-m", "awslambdaric", handler),
    )
    log = artifact.parent / f"{artifact.name}.log"
    lambda_variables = {
        "AWS_LAMBDA_FUNCTION_NAME": "render-core-check-demo",
        "AWS_LAMBDA_FUNCTION_TIMEOUT": "25",
        "PYTHONPATH": str(artifact),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    with listening(command, port, log, {**lambda_variables, **variables}):
        yield port


def invoke(port: int, event: dict[str, Any]) -> Any:
    """What the function returns for an event."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/2015-03-31/functions/function/invocations", data=json.dumps(event).encode()
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.loads(response.read())


def rest_event(method: str, path: str, body: Any = None) -> dict[str, Any]:
    """What API Gateway sends, as far as it matters here."""
    headers = {"Content-Type": "application/json", "Accept-Encoding": "gzip"}
    return {
        "resource": "/demo/{proxy+}",
        "path": path,
        "httpMethod": method,
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
        "requestContext": {
            "resourcePath": "/demo/{proxy+}",
            "path": f"/dev{path}",
            "stage": "dev",
            "identity": {"sourceIp": "192.0.2.1"},
        },
        "body": None if body is None else json.dumps(body),
        "isBase64Encoded": False,
    }


def check_model(port: int) -> None:
    """Renders as the library does; statuses; a large request; an event that is no request."""
    expect("probe", invoke(port, rest_event("GET", "/demo/health"))["statusCode"], 200)
    expect("unknown path", invoke(port, rest_event("GET", "/demo/nothing"))["statusCode"], 404)
    expect("warm-up event", invoke(port, {"source": "aws.events"})["statusCode"], 200)
    long = {**REQUEST, "messages": [{"role": "user", "content": "A word, a néw word. " * 1500}]}
    for request in (REQUEST, long):
        answer = invoke(port, rest_event("POST", f"/demo{CHAT}", request))
        expect("status", (answer["statusCode"], answer["isBase64Encoded"]), (200, False))
        expect("token ids", json.loads(answer["body"])["token_ids"], ids_of(request))


def ids_of(request: dict[str, Any]) -> list[int]:
    """The ids that the library gives for the demo model."""
    import datetime

    from render_core import RequestContext, load_model, render_chat

    context = RequestContext(None, secrets.token_hex(8), datetime.datetime.now())
    ids: list[int] = json.loads(render_chat(load_model(None), json.dumps(request).encode(), context))[
        "token_ids"
    ]
    return ids


def check_authorizer(port: int) -> None:
    """A key in the userinfo of a URL, and none."""
    key = secrets.token_urlsafe(30)
    basic = "Basic " + base64.b64encode(f"{key}:x".encode()).decode()
    event = {"type": "REQUEST", "methodArn": ARN, "headers": {"Authorization": basic}}
    expect("key that was found", invoke(port, event)["usageIdentifierKey"], key)
    refused = invoke(port, {**event, "headers": {}})
    expect("refusal", (refused["errorType"], refused["errorMessage"]), ("Exception", "Unauthorized"))


if __name__ == "__main__":
    sys.exit(main())
