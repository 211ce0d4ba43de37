"""infra/models.toml: what a declaration may say, and which sentence tells of a mistake."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from infra.models import DeployedModel, Deployment, read_deployment
from render_core.errors import ConfigurationError

Read = Callable[[str], Deployment]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Gives a function that reads a declaration."""

    def declared(text: str) -> Deployment:
        file = tmp_path / "models.toml"
        file.write_text(text)
        return read_deployment(file)

    return declared


def test_model_with_every_key(read: Read) -> None:
    deployment = read(
        """
        [gateway]
        key_cache_seconds = 300
        [models.qwen3-8b]
        source = "Qwen/Qwen3-8B"
        revision = "b968826d9c46dd6066d109eabc6255188de91218"
        served_names = ["Qwen/Qwen3-8B", "qwen3"]
        tool_call_parser = "hermes"
        reasoning_parser = "qwen3"
        max_model_len = 40960
        memory = 3008
        timeout = 29
        architecture = "x86_64"
        snap_start = false
        provisioned_concurrency = 2
        reserved_concurrency = 50
        p99_milliseconds = 900
        options = { enable_auto_tool_choice = true, default_chat_template_kwargs = { enable_thinking = false } }
        """
    )
    assert deployment.key_cache_seconds == 300
    [model] = deployment.models
    assert (model.name, model.logical_id, model.is_baked) == ("qwen3-8b", "Qwen38b", True)
    assert model.environment == {
        "RENDER_CORE_MODEL": "/var/task/bundle",
        "RENDER_CORE_ROOT_PATH": "/qwen3-8b",
        "RENDER_CORE_SERVED_MODEL_NAME": "Qwen/Qwen3-8B,qwen3",
        "RENDER_CORE_MAX_MODEL_LEN": "40960",
        "RENDER_CORE_TOOL_CALL_PARSER": "hermes",
        "RENDER_CORE_REASONING_PARSER": "qwen3",
        "RENDER_CORE_ENABLE_AUTO_TOOL_CHOICE": "true",
        "RENDER_CORE_DEFAULT_CHAT_TEMPLATE_KWARGS": '{"enable_thinking": false}',
    }


def test_model_without_any_key_is_the_demo_model(read: Read) -> None:
    assert read("[models.demo]").models == (DeployedModel(name="demo"),)


def test_bundle_in_s3_is_fetched_and_not_carried() -> None:
    model = DeployedModel(name="big", source="s3://some-bucket/bundles/big")
    assert (model.is_baked, model.environment["RENDER_CORE_MODEL"]) == (False, "s3://some-bucket/bundles/big")


def test_names_may_begin_with_one_another(read: Read) -> None:
    names = [model.name for model in read("[models.qwen3]\n[models.qwen3-8b]\n[models.qwen3-8b-fp8]").models]
    assert names == ["qwen3", "qwen3-8b", "qwen3-8b-fp8"]


NAME = "the name must be lowercase letters, digits and single hyphens, at most 32"
SOME_MODEL = "source = 'org/model'"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no model is declared: a [models.NAME] table is needed"),
        ("[models]", "no model is declared: a [models.NAME] table is needed"),
        ("models = 3", "models must be a table"),
        ("gateway = 3\n[models.a]", "gateway must be a table"),
        ("[model.a]", "the file has the key model, which is none of gateway, models"),
        (
            "[gateway]\ncache = 3\n[models.a]",
            "[gateway] has the key cache, which is none of key_cache_seconds",
        ),
        (
            "[gateway]\nkey_cache_seconds = 3601\n[models.a]",
            "[gateway] key_cache_seconds: 3601 is no whole number between 0 and 3600",
        ),
        ("[models]\na = 3", "[models.a] a table is needed"),
        ("[models.Qwen3]", f"[models.Qwen3] {NAME}"),
        ("[models.a_b]", f"[models.a_b] {NAME}"),
        ("[models.a--b]", f"[models.a--b] {NAME}"),
        ("[models.-a]", f"[models.-a] {NAME}"),
        (f"[models.{'a' * 33}]", f"[models.{'a' * 33}] {NAME}"),
        ("[models.authorizer]", "[models.authorizer] this name is taken by a part of the deployment"),
        ("[models.a-1b]\n[models.a1b]", "the models a-1b and a1b are both A1b"),
        ("[models.a]\nmemory = 127", "[models.a] memory: 127 is no whole number between 128 and 10240"),
        ("[models.a]\nmemory = 10241", "[models.a] memory: 10241 is no whole number between 128 and 10240"),
        ("[models.a]\nmemory = '1 GB'", "[models.a] memory must be a whole number"),
        ("[models.a]\nmemory = true", "[models.a] memory must be a whole number"),
        ("[models.a]\ntimeout = 30", "[models.a] timeout: 30 is no whole number between 1 and 29"),
        ("[models.a]\ntimeout = 0", "[models.a] timeout: 0 is no whole number between 1 and 29"),
        (
            "[models.a]\narchitecture = 'arm'",
            "[models.a] architecture: 'arm' is none of ('arm64', 'x86_64')",
        ),
        (
            "[models.a]\nprovisioned_concurrency = 1",
            "[models.a] Lambda has no SnapStart with provisioned concurrency: set snap_start = false",
        ),
        (
            "[models.a]\nsnap_start = false\nprovisioned_concurrency = 3\nreserved_concurrency = 2",
            "[models.a] provisioned_concurrency is more than reserved_concurrency",
        ),
        (
            "[models.a]\nreserved_concurrency = 0",
            "[models.a] reserved_concurrency: 0 is no whole number between 1 and 10000",
        ),
        ("[models.a]\nsource = ''", "[models.a] source must be a text"),
        ("[models.a]\nrevision = 'main'", "[models.a] revision: only a repository id has one"),
        (
            "[models.a]\nsource = 's3://b/p'\nrevision = 'main'",
            "[models.a] revision: only a repository id has one",
        ),
        (
            "[models.a]\nsource = 's3://bucket'",
            "[models.a] source: 's3://bucket' must have the form s3://bucket/prefix",
        ),
        ("[models.a]\nserved_names = 'a'", "[models.a] served_names must be a list of texts"),
        ("[models.a]\nserved_names = [1]", "[models.a] served_names must be a list of texts"),
        (
            "[models.a]\nserved_names = ['a,b']",
            "[models.a] served_names: 'a,b' is blank, padded or holds a comma",
        ),
        (
            "[models.a]\nserved_names = [' ']",
            "[models.a] served_names: ' ' is blank, padded or holds a comma",
        ),
        (
            "[models.a]\noptions = { template_timeout = 3 }",
            "[models.a] options: template_timeout is none of ",
        ),
        ("[models.a]\noptions = { api_key = 'x' }", "[models.a] options: api_key is none of "),
        ("[models.a]\noptions = { chat_template = '/x' }", "[models.a] options: chat_template is none of "),
        (
            "[models.a]\noptions = { max_logprobs = -2 }",
            "[models.a] RENDER_CORE_MAX_LOGPROBS: -2 is not at least -1",
        ),
        ("[models.a]\nmax_model_len = 0", "[models.a] RENDER_CORE_MAX_MODEL_LEN: 0 is not at least 1"),
        ("[models.a]\ntool_call_parser = 'no_such'", "[models.a] "),
        (
            "[models.a]\noptions = { default_chat_template_kwargs = { a = '" + "x" * 4096 + "' } }",
            "[models.a] the function's variables take ",
        ),
        ("[models.a", ""),
    ],
)
def test_mistake_is_told_with_its_place(read: Read, text: str, complaint: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read(text)
    told = str(caught.value)
    assert told.startswith(f"models.toml: {complaint}")
    assert "\n" not in told


def test_file_that_is_absent_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"models\.toml: .*No such file"):
        read_deployment(tmp_path / "models.toml")
