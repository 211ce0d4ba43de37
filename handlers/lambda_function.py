"""The Lambda entry. The model is loaded while the module is imported: before the first request, and once."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from mangum import Mangum

from handlers.service import create_service
from handlers.settings import Settings
from render_core import load_model

# API Gateway compresses by itself; a body compressed here would travel as base64 that it does not decode.
_settings = replace(Settings.from_environment(os.environ), compression=False)
_model = load_model(_settings.model, _settings.model_options())
_model.wait_until_ready()
# A snapshot keeps what is in memory now; any other start is answered by the cold engine meanwhile.
_model.load_hot_tokenizer(wait=os.environ.get("AWS_LAMBDA_INITIALIZATION_TYPE") == "snap-start")

# The application strips RENDER_CORE_ROOT_PATH itself: Mangum would also cut "/prod" off "/production/...".
_adapter = Mangum(create_service(_model, _settings), lifespan="off")


def handler(event: Any, context: Any) -> dict[str, Any]:
    """Answers the events of REST and HTTP APIs, function URLs and load balancers; any other only warms."""
    if not is_http(event):
        return {"statusCode": 200, "body": ""}
    return _adapter(event, context)


def is_http(event: Any) -> bool:
    """Whether the event is an HTTP request, and not a schedule's ping or an invocation by hand."""
    request = event.get("requestContext") if isinstance(event, dict) else None
    return isinstance(request, dict) and ("httpMethod" in event or "http" in request)
