"""`render-core serve --workers N`: processes that share the sockets, each with the model, watched by uvicorn."""

from __future__ import annotations

import logging
import os
import socket
import sys
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from uvicorn import Config
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from handlers.service import create_service
from handlers.serving import log_to_stderr
from handlers.settings import Settings
from render_core import ConfigurationError, load_model
from render_core.version import __version__

logger = logging.getLogger("render_core")


def supervise(settings: Settings, options: dict[str, Any], sockets: list[socket.socket]) -> None:
    """Serves until SIGTERM or SIGINT. A worker that dies is replaced; if one cannot start, all end.

    Args:
        options: of `uvicorn.Config`.
        sockets: bound; every worker accepts from them.

    Raises:
        ConfigurationError: a worker could not start; it has said why.
    """
    config = Config(WorkerService(settings), factory=True, workers=settings.workers, **options)
    supervisor = Multiprocess(config, sockets)
    supervisor.run()
    if any(process.exitcode == STARTUP_FAILURE for process in supervisor.processes):
        raise ConfigurationError("a worker could not start")


@dataclass(frozen=True, slots=True)
class WorkerService:
    """Makes the application in the process of a worker, which gets this by pickling."""

    settings: Settings

    def __call__(self) -> Starlette:
        """Loads the model. Ends the process, and with it the service, if the model cannot be used."""
        log_to_stderr(self.settings)
        try:
            model = load_model(self.settings.model, self.settings.model_options())
            model.wait_until_ready()
        except ConfigurationError as error:
            logger.error("render-core: %s", error)
            sys.exit(STARTUP_FAILURE)
        model.load_hot_tokenizer(wait=False)
        logger.info("render-core %s, worker %d is ready", __version__, os.getpid())
        return create_service(model, self.settings)
