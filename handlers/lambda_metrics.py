"""The line that the function logs for every request: JSON, and CloudWatch metrics in the embedded metric format.

One line is both: CloudWatch takes the metrics that `_aws` names and keeps the rest for queries. No word of a
request's text is in it.
"""

from __future__ import annotations

import datetime
from collections.abc import Set
from dataclasses import dataclass
from typing import Any

import orjson

from handlers.exchange import Exchanged

NAMESPACE = "RenderCore"


@dataclass(frozen=True, slots=True)
class Invocation:
    """What is known of one request from outside the application.

    Attributes:
        request_id: Lambda's.
        xray_trace: what X-Ray calls this request by, if it traces.
        status: of the answer that left, which may be a refusal of the application's.
        tier: the tokenizer engine that was ready.
        is_cold: whether this was the first request of the environment and waited for its start.
        exchanged: what the application saw; None when the event could not be read.
    """

    request_id: str
    xray_trace: str | None
    status: int
    tier: str
    is_cold: bool
    exchanged: Exchanged | None


@dataclass(frozen=True, slots=True)
class Journal:
    """Makes the lines of one function.

    Attributes:
        function_name: the metrics' only dimension.
        paths: paths of the application; any other is not named, since it may hold anything.
        with_details: whether lines say more than the metrics.
    """

    function_name: str
    paths: Set[str]
    with_details: bool

    def line(self, invocation: Invocation, now: datetime.datetime) -> str:
        """One line, without its end. `now` has a time zone."""
        metrics = _metrics(invocation)
        document = {
            "_aws": {
                "Timestamp": int(now.timestamp() * 1000),
                "CloudWatchMetrics": [
                    {
                        "Namespace": NAMESPACE,
                        "Dimensions": [["FunctionName"]],
                        "Metrics": [{"Name": name, "Unit": _unit(name)} for name in metrics],
                    }
                ],
            },
            "FunctionName": self.function_name,
            **metrics,
        }
        if self.with_details:
            document |= self._details(invocation, now)
        return orjson.dumps(document).decode()

    def _details(self, invocation: Invocation, now: datetime.datetime) -> dict[str, Any]:
        # Lambda's log filter reads `level`, and only beside a `timestamp`.
        details: dict[str, Any] = {
            "timestamp": now.astimezone(datetime.UTC).isoformat(timespec="milliseconds")[:23] + "Z",
            "level": "INFO",
            "message": "request",
            "requestId": invocation.request_id,
            "status": invocation.status,
            "engine": invocation.tier,
            "cold_start": invocation.is_cold,
            "xray_trace": invocation.xray_trace,
        }
        if (exchanged := invocation.exchanged) is not None:
            details |= {
                "method": exchanged.method,
                "path": exchanged.path if exchanged.path in self.paths else None,
                "milliseconds": round(exchanged.seconds * 1000, 3),
                "x_request_id": exchanged.ids.echoed,
                "traceparent": exchanged.trace_parent,
                "tracestate": exchanged.trace_state,
            }
        return {name: value for name, value in details.items() if value is not None}


def _metrics(invocation: Invocation) -> dict[str, float]:
    metrics: dict[str, float] = {
        "Requests": 1,
        "ColdStart": int(invocation.is_cold),
        "Errors4xx": int(400 <= invocation.status < 500),
        "Errors5xx": int(invocation.status >= 500),
    }
    observation = invocation.exchanged.observation if invocation.exchanged else None
    if observation is not None and observation.seconds:
        metrics["PromptTokens"] = observation.prompt_tokens
        metrics["RenderMilliseconds"] = round(sum(observation.seconds.values()) * 1000, 3)
        for part, seconds in observation.seconds.items():
            metrics[f"{part.capitalize()}Milliseconds"] = round(seconds * 1000, 3)
        metrics["HotEngine"] = int(invocation.tier == "hot")
    return metrics


def _unit(metric: str) -> str:
    return "Milliseconds" if metric.endswith("Milliseconds") else "Count"
