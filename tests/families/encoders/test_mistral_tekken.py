"""tekken.json as a tokenizer: ids, texts of ids, and which files are refused."""

from __future__ import annotations

from typing import Any

import pytest

from render_core.errors import ConfigurationError
from render_core.tokenizer.tekken import read_tekken
from tests.families.encoders.small_tekken import (
    FIRST_TOKENS,
    MERGED,
    SPECIAL_COUNT,
    document,
    engine_of,
    serialized,
)

BYTES = SPECIAL_COUNT  # the id of the first byte
BOS = FIRST_TOKENS.index("<s>")


def byte_ids(text: str) -> list[int]:
    return [BYTES + byte for byte in text.encode()]


def merged_id(token: bytes) -> int:
    return BYTES + 256 + MERGED.index(token)


def test_text_is_merged_by_rank() -> None:
    assert engine_of(3).encode("hello hell", False) == [
        merged_id(b"hello"),
        *byte_ids(" "),
        merged_id(b"hell"),
    ]


def test_bos_leads_when_special_tokens_are_asked_for() -> None:
    engine = engine_of(3)
    assert engine.encode("a", True) == [BOS, *byte_ids("a")]
    assert engine.encode("", True) == [BOS]


def test_special_tokens_in_texts_are_text() -> None:
    text = "<s>[INST]</s><SPECIAL_25>"
    assert engine_of(3).encode(text, False) == byte_ids(text)


def test_lone_surrogate_counts_as_a_replacement_character() -> None:
    engine = engine_of(3)
    assert engine.encode("a\ud83db", False) == byte_ids("a�b")
    assert engine.encode_with_offsets("\ud83d", False)[0] == byte_ids("�")


def test_offsets_are_characters() -> None:
    ids, offsets = engine_of(3).encode_with_offsets("é hello", True)
    assert ids == [BOS, merged_id("é".encode()), *byte_ids(" "), merged_id(b"hello")]
    assert offsets == [(0, 0), (0, 1), (1, 2), (2, 7)]


def test_special_token_parts_the_bytes_around_it() -> None:
    first, second = byte_ids("é")
    engine = engine_of(3)
    assert engine.decode([first, second]) == "é"
    assert engine.decode([first, BOS, second]) == "�<s>�"


def test_ids_outside_the_vocabulary_add_nothing() -> None:
    engine = engine_of(3)
    assert engine.decode([10**12, *byte_ids("a")]) == "a"
    assert engine.tokens([10**12]) == [None]


def test_tokens_are_the_texts_that_ids_show_alone() -> None:
    ids = [BOS, 25, merged_id("é".encode()), byte_ids("é")[0], BYTES]
    assert engine_of(3).tokens(ids) == ["<s>", "<SPECIAL_25>", "é", "�", "\0"]


def test_ids_of_texts_and_special_tokens_are_found() -> None:
    engine = engine_of(3)
    assert engine.token_id("hello") == merged_id(b"hello")
    assert engine.token_id("</s>") == BOS + 1
    assert engine.token_id("zzz") is None


def test_facts_of_the_tokenizer() -> None:
    tekken = read_tekken(serialized(document(15)))
    tokenizer = tekken.prepared.tokenizer(engine_of(15))
    assert tokenizer.max_chars_per_token == len("[/AVAILABLE_TOOLS]")
    assert tokenizer.max_token_id == SPECIAL_COUNT + 256 + len(MERGED) - 1
    assert (tokenizer.prefix_ids, tokenizer.suffix_ids) == ((BOS,), ())
    assert tokenizer.token_id("[MODEL_SETTINGS]") == 24
    assert tekken.header["version"] == "v15"


@pytest.mark.parametrize(
    "changes",
    [
        {"config": {}},
        {"config": document(3)["config"] | {"version": "v2"}},
        {"config": document(3)["config"] | {"default_vocab_size": 9999}},
        {"vocab": document(3)["vocab"][1:]},
        {"special_tokens": [{"rank": 1, "token_str": "<s>"}]},
        {"special_tokens": [{"rank": 0, "token_str": "<SPECIAL_5>"}]},
        {"special_tokens": [{"rank": rank, "token_str": str(rank)} for rank in range(31)]},
        {"special_tokens": [{"rank": 0, "token_str": "<s>"}, {"rank": 1, "token_str": "hello"}]},
    ],
    ids=["config", "version", "size", "bytes", "order", "twice", "too many", "reads alike"],
)
def test_file_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=r"tekken\.json"):
        read_tekken(serialized(document(3, **changes)))


def test_later_version_without_special_tokens_is_refused() -> None:
    found = {key: value for key, value in document(11).items() if key != "special_tokens"}
    with pytest.raises(ConfigurationError, match="special tokens"):
        read_tekken(serialized(found))


def test_text_that_is_no_json_is_refused() -> None:
    with pytest.raises(ConfigurationError):
        read_tekken(b"{")
