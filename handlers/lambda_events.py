"""What AWS calls the function with: which events are HTTP requests, and which path of ours each one asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from starlette.types import ASGIApp, Receive, Scope, Send


def is_http(event: Any) -> bool:
    """Whether the event is an HTTP request, and not a schedule's ping or an invocation by hand."""
    request = event.get("requestContext") if isinstance(event, dict) else None
    return isinstance(request, dict) and ("httpMethod" in event or "http" in request)


def names_a_method(event: Mapping[str, Any]) -> bool:
    """Whether an HTTP event says so in a text, which routes rely on and the adapter does not look at."""
    details = event["requestContext"].get("http")
    method = details.get("method") if isinstance(details, dict) else event.get("httpMethod")
    return isinstance(method, str)


class GatewayPath:
    """ASGI middleware below Mangum: the application sees the path without what the gateway put in front of it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app({**scope, "path": path_within_api(scope["aws.event"], scope["path"])}, receive, send)


def path_within_api(event: Mapping[str, Any], path: str) -> str:
    """The path from the root of the API on: without stage and without the base path of a custom domain.

    What the events hold, for an API with the stage `prod` that is also reached as `https://own.domain/base`:

    | front | path of the event |
    |---|---|
    | REST API | `/model/v1/...`, at the custom domain `/base/model/v1/...` |
    | HTTP API, payload 2.0 | `/prod/model/v1/...`, without the stage if it is `$default`; never the base path |
    | HTTP API, payload 1.0 | as 2.0, at the custom domain `/base/model/v1/...` |
    | function URL, load balancer | the path of the client |

    The route that matched tells how long the path within the API is. A stage is cut without that only where it can
    be in the path at all: a REST API whose stage is named `v1` keeps the `/v1` of its paths.
    """
    segments = _segments(path)
    route = _segments(_matched_route(event))
    if route and segments[-len(route) :] == route:
        kept = len(route)
    elif segments[:1] == [_stage_in_path(event)]:
        kept = len(segments) - 1
    else:
        return path
    return "/" + "/".join(segments[len(segments) - kept :])


def _matched_route(event: Mapping[str, Any]) -> str:
    """The route with the parameters of its path put in; empty when it is a catch-all that names no path."""
    route = event.get("resource") or str(event.get("routeKey", "")).partition(" ")[2]
    parameters = event.get("pathParameters")
    if not isinstance(route, str) or not isinstance(parameters, (dict, type(None))):
        return ""
    for name, value in (parameters or {}).items():
        for placeholder in (f"{{{name}+}}", f"{{{name}}}"):
            route = route.replace(placeholder, str(value))
    return "" if "{" in route else unquote(route)


def _stage_in_path(event: Mapping[str, Any]) -> str | None:
    """The stage, where the paths of the front carry it: HTTP APIs with a named stage."""
    request = event["requestContext"]
    is_http_api = "http" in request or event.get("version") == "1.0"
    stage = request.get("stage")
    return stage if is_http_api and isinstance(stage, str) and stage != "$default" else None


def _segments(path: str) -> list[str]:
    return [segment for segment in path.split("/") if segment]
