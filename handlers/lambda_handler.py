"""The function: an event in, an answer out, and a line in the log. It raises nothing, whatever the event."""

from __future__ import annotations

import datetime
import json
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from mangum import Mangum

from handlers.envelope import error_response, unexpected
from handlers.exchange import Exchanged
from handlers.lambda_answers import answer_of, refusal_if_too_large
from handlers.lambda_events import GatewayPath, is_http, names_a_method
from handlers.lambda_metrics import Invocation, Journal
from handlers.paths import normalised
from handlers.service import create_service
from handlers.settings import Settings
from render_core import Model

logger = logging.getLogger(__name__)

_QUIET = ("warning", "error", "critical")
_REHEARSED = (
    ("POST", "/v1/chat/completions/render", {"messages": [{"role": "user", "content": "Hello"}]}),
    ("POST", "/v1/completions/render", {"prompt": "Hello"}),
    ("POST", "/tokenize", {"prompt": "Hello"}),
    ("POST", "/detokenize", {"tokens": [0]}),
    ("GET", "/v1/models", None),
)


class LambdaHandler:
    """Serves one model. One request at a time, as Lambda does it."""

    def __init__(self, model: Model, settings: Settings, environ: Mapping[str, str]) -> None:
        """Takes the environment for what Lambda says in it: the function's name and how it was started."""
        app = create_service(model, settings, self._record)
        self._model = model
        self._settings = settings
        self._adapter = Mangum(GatewayPath(app), lifespan="off")
        self._journal = Journal(
            function_name=environ.get("AWS_LAMBDA_FUNCTION_NAME", "local"),
            paths=frozenset(getattr(route, "path", "") for route in app.routes),
            with_details=settings.log_level not in _QUIET,
        )
        # Environments that were started in advance keep no caller waiting.
        self._is_cold = environ.get("AWS_LAMBDA_INITIALIZATION_TYPE") != "provisioned-concurrency"
        self._exchanged: Exchanged | None = None
        # It would log each request once more.
        logging.getLogger("mangum").setLevel(logging.WARNING)

    def __call__(self, event: Any, context: Any) -> dict[str, Any]:
        """Answers the events of REST and HTTP APIs, function URLs and load balancers; any other only warms."""
        is_cold, self._is_cold = self._is_cold, False
        if not is_http(event):
            self._load_all()
            return {"statusCode": 200, "body": ""}
        answer = self._answer(event, context)
        invocation = Invocation(
            request_id=getattr(context, "aws_request_id", ""),
            xray_trace=os.environ.get("_X_AMZN_TRACE_ID"),
            status=answer["statusCode"],
            tier=self._model.tokenizer_tier,
            is_cold=is_cold,
            exchanged=self._exchanged,
        )
        # Written at once: Lambda takes every write for a record of its own.
        sys.stdout.write(self._journal.line(invocation, datetime.datetime.now(datetime.UTC)) + "\n")
        return answer

    def rehearse(self) -> None:
        """Render once by every path, so that what is built when first used is built. Raises if that fails."""
        for event in _rehearsal(self._settings):
            answer = self._answer(event, None)
            if answer["statusCode"] >= 500:
                raise RuntimeError(f"{event['rawPath']} answered {answer['statusCode']}: {answer['body']}")

    def restored(self) -> None:
        """This process is a copy that has answered nobody yet."""
        self._is_cold = True

    def _answer(self, event: Any, context: Any) -> dict[str, Any]:
        self._exchanged = None
        if not names_a_method(event):
            return _unreadable()
        try:
            answer = self._adapter(event, context)
            return refusal_if_too_large(answer) or answer
        except Exception as error:  # noqa: BLE001 (the last resort)
            if self._exchanged is not None:
                return answer_of(unexpected(error), self._exchanged.ids.echoed)
            return _unreadable()

    def _record(self, exchanged: Exchanged) -> None:
        self._exchanged = replace(exchanged, path=normalised(exchanged.path, self._settings.root_path))

    def _load_all(self) -> None:
        """A ping has time to wait for what else loads in the background while requests are answered."""
        try:
            self._model.load_hot_tokenizer(wait=True)
        except Exception as error:  # noqa: BLE001 (requests are answered without it)
            logger.warning("the hot tokenizer engine could not be loaded: %s", type(error).__name__)


def _unreadable() -> dict[str, Any]:
    message = "The event is no HTTP request that can be read."
    return answer_of(error_response(400, "BadRequestError", message))


def _rehearsal(settings: Settings) -> Iterator[dict[str, Any]]:
    """Requests as a function URL would hand them over."""
    headers = {"content-type": "application/json"}
    if settings.api_key:
        headers["x-api-key"] = settings.api_key[0]
    for method, path, body in _REHEARSED:
        yield {
            "version": "2.0",
            "rawPath": path,
            "headers": headers,
            "requestContext": {"http": {"method": method, "path": path, "sourceIp": "127.0.0.1"}},
            "body": None if body is None else json.dumps(body),
        }
