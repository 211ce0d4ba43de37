"""Each template is compiled once, and the cache stays within its bounds."""

from __future__ import annotations

import threading
from collections import Counter

import pytest

from render_core.template import cache as cache_module
from render_core.template.cache import TemplateCache
from render_core.template.compiled import CompiledTemplate, compile_template
from render_core.template.failures import TemplateRejectedError


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    counted: Counter[str] = Counter()

    def compile_and_count(source: str) -> CompiledTemplate:
        counted[source] += 1
        return compile_template(source)

    monkeypatch.setattr(cache_module, "compile_template", compile_and_count)
    return counted


def test_template_is_compiled_once(compilations: Counter[str]) -> None:
    cache = TemplateCache()
    assert cache.compiled("{{ a }}") is cache.compiled("{{ a }}")
    assert compilations == {"{{ a }}": 1}


def test_failure_is_kept_too_and_raised_anew(compilations: Counter[str]) -> None:
    cache = TemplateCache()
    failures = []
    for _ in range(2):
        with pytest.raises(TemplateRejectedError) as caught:
            cache.compiled("{% if %}")
        failures.append(caught.value)
    assert failures[0] is not failures[1]
    assert failures[0].message == failures[1].message
    assert compilations == {"{% if %}": 1}


def test_threads_that_ask_at_once_share_one_compilation(compilations: Counter[str]) -> None:
    cache = TemplateCache()
    barrier = threading.Barrier(8)
    templates: list[CompiledTemplate] = []

    def ask() -> None:
        barrier.wait()
        templates.append(cache.compiled("{{ a }}" * 200))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, templates))) == 1
    assert sum(compilations.values()) == 1


def test_least_recently_used_template_leaves_first(compilations: Counter[str]) -> None:
    cache = TemplateCache(max_entries=2)
    for source in ("a", "b", "a", "c", "a", "b"):
        cache.compiled(source)
    assert compilations == {"a": 1, "b": 2, "c": 1}
    assert len(cache) == 2


def test_source_bytes_are_bounded() -> None:
    cache = TemplateCache(max_source_bytes=10)
    for source in ("é" * 4, "bb", "cccc"):
        cache.compiled(source)
    assert len(cache) == 2
    assert cache.compiled("d" * 11).source == "d" * 11
    assert len(cache) == 0


def test_source_with_a_lone_surrogate_is_a_template_like_any_other() -> None:
    assert TemplateCache().compiled("\ud800{{ a }}").variables == {"a"}
