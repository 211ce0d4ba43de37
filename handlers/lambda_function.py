"""The Lambda entry. The model is loaded while the module is imported: before the first request, and once."""

from __future__ import annotations

import os
from dataclasses import replace

from handlers.settings import Settings
from render_core import load_model

# API Gateway compresses by itself; a body compressed here would travel as base64 that it does not decode.
_settings = replace(Settings.from_environment(os.environ), compression=False)
_start = os.environ.get("AWS_LAMBDA_INITIALIZATION_TYPE")
_model = load_model(_settings.model, _settings.model_options())

# Imported only now: the tokenizer loads meanwhile.
from handlers import lambda_marshaller, snapshot  # noqa: E402
from handlers.lambda_handler import LambdaHandler  # noqa: E402

handler = LambdaHandler(_model, _settings, os.environ)
lambda_marshaller.install()

_model.wait_until_ready()
# Where nobody waits for the start everything is loaded; else the cold engine answers meanwhile.
_model.load_hot_tokenizer(wait=_start in ("snap-start", "provisioned-concurrency"))

if _start == "provisioned-concurrency":
    handler.rehearse()
elif _start == "snap-start" and not snapshot.register(handler.rehearse, handler.restored):
    snapshot.before_snapshot(handler.rehearse)
