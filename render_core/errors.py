"""The error hierarchy of the core. Raised deep, shown once (handlers.envelope); no message repeats a prompt."""

from __future__ import annotations


class ConfigurationError(Exception):
    """The service cannot start as configured. The text is one clear line for the operator."""


class RenderError(Exception):
    """A request that is answered with an error in the OpenAI envelope.

    Attributes:
        status: HTTP status code.
        type: the envelope's `type`, named as vLLM 0.33 names it.
        param: the request field at fault, or None.
        message: text for the client.
    """

    status = 400
    type = "BadRequestError"

    def __init__(self, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.param = param


class InvalidBodyError(RenderError):
    """The body is no JSON or does not have the shape of the request (vLLM's type for both is `Bad Request`)."""

    type = "Bad Request"


class UnknownModelError(RenderError):
    """The request names a model that is not served here."""

    status = 404
    type = "NotFoundError"
