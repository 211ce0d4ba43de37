"""Which engine answers, and that its place is taken without anybody noticing."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from render_core.tokenizer.cascade import CascadeEngine, CertifiedEngine
from render_core.tokenizer.engine import Offset
from render_core.tokenizer.fast import Encoder
from render_core.tokenizer.guard import Guard

BOS, EOS = 1, 2


class Reference:
    name = "tokenizers"

    def __init__(self, asked: list[str]) -> None:
        self._asked = asked

    def encode(self, text: str, add_special_tokens: bool) -> list[int]:
        self._asked.append("reference")
        ids = [ord(letter) for letter in text]
        return [BOS, *ids, EOS] if add_special_tokens else ids

    def encode_with_offsets(self, text: str, add_special_tokens: bool) -> tuple[list[int], list[Offset]]:
        return self.encode(text, add_special_tokens), []

    def decode(self, ids: Sequence[int]) -> str:
        return "decoded"

    def tokens(self, ids: Sequence[int]) -> list[str | None]:
        return ["token"]

    def token_id(self, token: str) -> int | None:
        return 7


def certified(name: str, asked: list[str], guard: Guard | None = None) -> CertifiedEngine:
    def encode(text: str) -> list[int]:
        asked.append(name)
        text.encode()
        return [ord(letter) for letter in text]

    return CertifiedEngine(name, lambda: encode, guard or Guard())


def noted_loading(asked: list[str]) -> CertifiedEngine:
    engine = certified("hot", asked)

    def load() -> Encoder:
        asked.append("loaded")
        return engine.load()

    return CertifiedEngine("hot", load, engine.guard, lambda: asked.append("prepared"))


def cascade(asked: list[str], *, cold: bool = True, hot: CertifiedEngine | None = None) -> CascadeEngine:
    cold_engine = certified("cold", asked, Guard(characters="é")) if cold else None
    return CascadeEngine(cold_engine, hot, lambda: Reference(asked), [BOS], [EOS])


def test_the_cold_engine_answers_and_a_guarded_text_goes_to_the_reference() -> None:
    asked: list[str] = []
    engine = cascade(asked)
    assert engine.encode("ab", add_special_tokens=True) == [BOS, 97, 98, EOS]
    assert engine.encode("é", add_special_tokens=False) == [233]
    assert asked == ["cold", "reference"]


def test_the_first_text_waits_for_a_cold_engine_that_is_still_loading() -> None:
    asked: list[str] = []
    may_load = threading.Event()
    cold = certified("cold", asked)

    def load() -> Encoder:
        may_load.wait()
        return cold.load()

    engine = CascadeEngine(CertifiedEngine("cold", load, Guard()), None, lambda: Reference(asked), [], [])
    with ThreadPoolExecutor() as pool:
        answers = [pool.submit(engine.encode, "ab", False) for _ in range(3)]
        may_load.set()
        assert [answer.result() for answer in answers] == [[97, 98]] * 3
    assert asked == ["cold"] * 3
    assert engine.name == "cold"


def test_a_cold_engine_that_cannot_load_is_told_to_whoever_waits() -> None:
    def fail() -> Encoder:
        raise OSError("no such file")

    engine = CascadeEngine(CertifiedEngine("cold", fail, Guard()), None, lambda: Reference([]), [], [])
    for _ in range(2):
        with pytest.raises(OSError, match="no such file"):
            engine.wait_until_ready()


def test_the_hot_engine_takes_over_when_it_is_loaded() -> None:
    asked: list[str] = []
    engine = cascade(asked, hot=certified("hot", asked))
    engine.encode("a", add_special_tokens=False)
    engine.load_hot()
    engine.encode("é", add_special_tokens=False)
    assert asked == ["cold", "hot"]
    assert engine.name == "hot over cold"


def test_a_hot_engine_that_cannot_load_leaves_the_cold_one_answering() -> None:
    asked: list[str] = []

    def fail() -> None:
        raise OSError("no such file")

    engine = cascade(asked, hot=CertifiedEngine("hot", fail, Guard()))  # type: ignore[arg-type]
    thread = engine.load_hot_in_background()
    assert thread is not None
    thread.join(10)
    assert engine.encode("a", add_special_tokens=False) == [97]
    assert asked == ["cold"]


def test_the_hot_engine_is_prepared_and_loaded_behind_the_first_text() -> None:
    asked: list[str] = []
    engine = cascade(asked, hot=noted_loading(asked))
    thread = engine.load_hot_in_background(patience=60)
    assert thread is not None
    assert asked == []
    engine.encode("a", add_special_tokens=False)
    thread.join(10)
    assert asked == ["cold", "prepared", "loaded"]


def test_without_a_cold_engine_the_hot_one_waits_for_nobody() -> None:
    asked: list[str] = []
    engine = cascade(asked, cold=False, hot=noted_loading(asked))
    thread = engine.load_hot_in_background(patience=60)
    assert thread is not None
    thread.join(10)
    assert asked == ["prepared", "loaded"]


def test_requests_are_answered_while_the_hot_engine_loads() -> None:
    asked: list[str] = []
    ready = threading.Event()
    hot = certified("hot", asked)

    def load_slowly() -> object:
        ready.wait(10)
        return hot.load()

    engine = cascade(asked, hot=CertifiedEngine("hot", load_slowly, Guard()))  # type: ignore[arg-type]
    thread = engine.load_hot_in_background()
    assert thread is not None
    with ThreadPoolExecutor(4) as pool:
        before = list(pool.map(lambda _: engine.encode("ab", add_special_tokens=True), range(200)))
        ready.set()
        during = list(pool.map(lambda _: engine.encode("ab", add_special_tokens=True), range(200)))
    thread.join(10)
    assert {tuple(ids) for ids in before + during} == {(BOS, 97, 98, EOS)}
    assert engine.encode("c", add_special_tokens=False) == [99]
    assert asked[-1] == "hot"


def test_the_reference_is_loaded_once_and_only_when_needed() -> None:
    loads: list[int] = []

    def load() -> Reference:
        loads.append(1)
        return Reference([])

    engine = CascadeEngine(certified("cold", []), None, load, [], [])
    engine.encode("a", add_special_tokens=False)
    assert loads == []
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: engine.decode([1]), range(50)))
    assert (loads, engine.tokens([1]), engine.encode_with_offsets("a", add_special_tokens=False)) == (
        [1],
        ["token"],
        ([97], []),
    )


def test_without_any_fast_engine_the_reference_answers() -> None:
    asked: list[str] = []
    engine = cascade(asked, cold=False)
    assert engine.load_hot_in_background() is None
    assert engine.encode("a", add_special_tokens=True) == [BOS, 97, EOS]
    assert asked == ["reference"]


def test_a_lone_surrogate_is_left_to_the_reference() -> None:
    asked: list[str] = []
    assert cascade(asked).encode("a\ud800", add_special_tokens=False) == [97, 0xD800]
    assert asked == ["cold", "reference"]
