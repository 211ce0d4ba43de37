"""Start, freeze, thaw, snapshot and restore of an execution environment."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from tests.lambda_path.events import JSON, http_api
from tests.lambda_path.function import Function, needs_runtime_client, running, starting

pytestmark = needs_runtime_client

PAUSE_SECONDS = 0.5
"""Long enough for threads of a process that was not frozen to get on."""

CHAT = "/v1/chat/completions/render"
REQUEST = http_api(
    "POST", CHAT, b'{"messages": [{"role": "user", "content": "Hello"}]}', JSON | {"X-Request-Id": "abc"}
)


def rendered(function: Function) -> str:
    answer = function.invoke(REQUEST)
    assert answer["statusCode"] == 200, answer["body"]
    body: str = answer["body"]
    return body


def test_a_pause_between_two_requests_changes_nothing() -> None:
    with running() as function:
        before = rendered(function)
        function.freeze()
        time.sleep(PAUSE_SECONDS)
        function.thaw()
        assert rendered(function) == before
        assert [record["cold_start"] for record in function.records(2)] == [True, False]


def test_a_pause_while_the_hot_engine_loads_changes_nothing(bundle: Path) -> None:
    with running({"RENDER_CORE_MODEL": str(bundle)}) as function:
        function.freeze()
        time.sleep(PAUSE_SECONDS)
        function.thaw()
        cold = rendered(function)
        function.freeze()
        time.sleep(PAUSE_SECONDS)
        function.thaw()
        assert function.invoke({}) == {"statusCode": 200, "body": ""}  # a ping waits for the hot engine
        assert rendered(function) == cold
        assert function.records(2)[-1]["engine"] == "hot"


def test_a_snapshot_holds_the_hot_engine_and_copies_of_it_start_afresh(bundle: Path) -> None:
    with starting({"RENDER_CORE_MODEL": str(bundle)}, initialisation="snap-start") as function:
        assert function.wait_until_initialised() is None
        assert function.log == []  # what is rehearsed before the snapshot is no request
        function.freeze()
        time.sleep(PAUSE_SECONDS)
        function.thaw()
        function.api.may_restore.set()
        rendered(function)
        rendered(function)
        records = function.records(2)
        assert [record["engine"] for record in records] == ["hot", "hot"]
        assert [record["cold_start"] for record in records] == [True, False]
        assert function.api.restore_error is None


def test_environments_started_in_advance_have_everything_loaded(bundle: Path) -> None:
    settings = {"RENDER_CORE_MODEL": str(bundle)}
    with starting(settings, initialisation="provisioned-concurrency") as function:
        assert function.wait_until_initialised() is None
        rendered(function)
        (record,) = function.records(1)
        assert (record["engine"], record["cold_start"]) == ("hot", False)


def test_a_model_that_is_missing_is_named_when_the_function_starts(tmp_path: Path) -> None:
    missing = str(tmp_path / "no-model")
    with starting({"RENDER_CORE_MODEL": missing}) as function:
        error = function.wait_until_initialised()
        assert error is not None
        assert error["errorType"] == "ConfigurationError"
        assert re.match(f"'{missing}' is (neither a|no) model directory", error["errorMessage"])
        assert function.exit_status() == 1


@pytest.mark.parametrize(
    ("name", "value"), [("RENDER_CORE_MAX_MODEL_LEN", "many"), ("RENDER_CORE_MODLE", "x")]
)
def test_a_setting_that_is_wrong_is_named_when_the_function_starts(name: str, value: str) -> None:
    with starting({name: value}) as function:
        error = function.wait_until_initialised()
        assert error is not None
        assert (error["errorType"], name in error["errorMessage"]) == ("ConfigurationError", True)
