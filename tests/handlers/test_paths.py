"""One spelling for every path."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers.paths import normalised

ROUTES = ["/v1/chat/completions/render", "/v1/completions/render", "/health", "/v1/models"]


@pytest.mark.parametrize(
    ("path", "prefix", "expected"),
    [
        ("/v1/models", "", "/v1/models"),
        ("/v1/models/", "", "/v1/models"),
        ("//v1///models//", "", "/v1/models"),
        ("", "", "/"),
        ("/", "", "/"),
        ("///", "", "/"),
        ("*", "", "*"),
        ("http://other/v1", "", "http://other/v1"),
        ("/prod/v1/models", "/prod", "/v1/models"),
        ("/prod//v1/models", "/prod", "/v1/models"),
        ("//prod/v1/models/", "/prod", "/v1/models"),
        ("/prod", "/prod", "/"),
        ("/prod/", "/prod", "/"),
        ("/v1/models", "/prod", "/v1/models"),
        ("/production/v1/models", "/prod", "/production/v1/models"),
        ("/qwen3-8b/health", "/qwen3", "/qwen3-8b/health"),
        ("/a/b/health", "/a/b", "/health"),
        ("/a/bc/health", "/a/b", "/a/bc/health"),
        ("/prod/prod/health", "/prod", "/prod/health"),
        ("/PROD/health", "/prod", "/PROD/health"),
    ],
)
def test_normalised(path: str, prefix: str, expected: str) -> None:
    assert normalised(path, prefix) == expected


@given(st.sampled_from(ROUTES), st.sampled_from(["", "/prod", "/a/b"]), st.booleans(), st.data())
def test_extra_slashes_and_the_prefix_never_matter(
    route: str, prefix: str, prefixed: bool, data: st.DataObject
) -> None:
    slashes = st.integers(1, 3).map(lambda number: "/" * number)
    segments = [segment for segment in ((prefix if prefixed else "") + route).split("/") if segment]
    spelled = "".join(data.draw(slashes) + segment for segment in segments)
    spelled += data.draw(st.sampled_from(["", "/", "//"]))
    assert normalised(spelled, prefix) == route


@given(st.text(alphabet="/ab.%*", max_size=12))
def test_normalising_twice_changes_nothing(path: str) -> None:
    assert normalised(normalised(path)) == normalised(path)
