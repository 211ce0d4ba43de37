"""tekken.json, Mistral's own vocabulary file, as a tokenizer.json document that gives the same ids.

tekken's encoder always merges the pair whose joined bytes have the lowest rank. The document lists every way to split
a token, in rank order, so that an engine that goes by pairs merges alike. That both give the same ids for the
vocabularies in use was checked for every tie between splits (no such tie can be reached), and for every code point.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from render_core.errors import ConfigurationError
from render_core.tokenizer.tokenizer import PreparedTokenizer

# The key of a model's configuration under which the header of its tekken.json is kept: what chats need of it.
HEADER_KEY: Final = "tekken"
TOKENIZER_CLASS: Final = "Tekkenizer"

_VERSIONS: Final = ("v3", "v7", "v11", "v13", "v15")
_VERSIONS_WITHOUT_SPECIAL_TOKENS: Final = ("v3", "v7")
# What files of the first versions leave out.
_FIRST_SPECIAL_TOKENS: Final = (
    "<unk> <s> </s> [INST] [/INST] [AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_RESULTS] [/TOOL_RESULTS] [TOOL_CALLS] "
    "[IMG] <pad> [IMG_BREAK] [IMG_END] [PREFIX] [MIDDLE] [SUFFIX] [SYSTEM_PROMPT] [/SYSTEM_PROMPT] [TOOL_CONTENT]"
).split()
_NAMED: Final = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}
_BYTES: Final = 256


@dataclass(frozen=True, slots=True)
class Tekken:
    """A vocabulary file, read.

    Attributes:
        header: what a chat encoder needs besides the tokenizer, as JSON values: `version`, and
            `model_settings_builder` or null.
        prepared: the tokenizer that the engine is to be loaded from; its added tokens are all special tokens.
    """

    header: Mapping[str, Any]
    prepared: PreparedTokenizer


def read_tekken(serialized: bytes) -> Tekken:
    """Read a tekken.json.

    Raises:
        ConfigurationError: it is no such file, or one of a version that is not known.
    """
    try:
        document = orjson.loads(serialized)
        config = document["config"]
        version = config["version"]
        if version not in _VERSIONS:
            raise ConfigurationError(
                f"tekken.json has version {version!r}; known are {', '.join(_VERSIONS)}."
            )
        special = _special_tokens(document, version, config["default_num_special_tokens"])
        tokens = _tokens(document["vocab"], config["default_vocab_size"] - len(special))
        builder = document.get("model_settings_builder")
        pattern = config["pattern"]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ConfigurationError(f"tekken.json cannot be used: {error!r}") from None
    return Tekken(
        header={"version": version, "model_settings_builder": builder},
        prepared=PreparedTokenizer(
            serialized=orjson.dumps(_tokenizer_json(special, tokens, pattern)),
            class_name=TOKENIZER_CLASS,
            special_tokens={name: token for name, token in _NAMED.items() if token in special},
            added_tokens={token: token_id for token_id, token in enumerate(special)},
            vocabulary=_pieces(special, tokens),
        ),
    )


def byte_characters() -> list[str]:
    """The character that stands for each byte in byte-level vocabularies: itself when it is printable."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = (byte for byte in range(_BYTES) if byte not in set(printable))
    characters = {byte: chr(byte) for byte in printable}
    characters |= {byte: chr(_BYTES + position) for position, byte in enumerate(others)}
    return [characters[byte] for byte in range(_BYTES)]


def _special_tokens(document: Mapping[str, Any], version: str, count: int) -> list[str]:
    listed = document.get("special_tokens")
    if listed is None:
        if version not in _VERSIONS_WITHOUT_SPECIAL_TOKENS:
            raise ConfigurationError(f"tekken.json of version {version} lists no special tokens.")
        tokens = list(_FIRST_SPECIAL_TOKENS)
    else:
        if [entry["rank"] for entry in listed] != list(range(len(listed))):
            raise ConfigurationError(
                "tekken.json does not list its special tokens in the order of their ids."
            )
        tokens = [entry["token_str"] for entry in listed]
    tokens += [f"<SPECIAL_{position}>" for position in range(len(tokens), count)]
    if len(tokens) != count or len(set(tokens)) != count:
        raise ConfigurationError(f"tekken.json does not hold {count} different special tokens.")
    return tokens


def _tokens(entries: Sequence[Mapping[str, Any]], count: int) -> list[bytes]:
    tokens = [base64.b64decode(entry["token_bytes"]) for entry in entries[:count]]
    if len(set(tokens)) != count or tokens[:_BYTES] != [bytes([byte]) for byte in range(_BYTES)]:
        raise ConfigurationError(f"tekken.json does not hold {count} different tokens, single bytes first.")
    return tokens


def _pieces(special: Sequence[str], tokens: Sequence[bytes]) -> dict[str, int]:
    """Ids by the text that each token shows alone; of several that show the same, the last."""
    pieces = {token: token_id for token_id, token in enumerate(special)}
    pieces |= {
        token.decode(errors="replace"): token_id for token_id, token in enumerate(tokens, len(special))
    }
    return pieces


def _tokenizer_json(special: Sequence[str], tokens: Sequence[bytes], pattern: str) -> dict[str, Any]:
    """The document. Special tokens are in the vocabulary for their ids only: texts never hold one."""
    table = dict(enumerate(byte_characters()))
    strings = [token.decode("latin-1").translate(table) for token in tokens]
    vocabulary = {token: token_id for token_id, token in enumerate(special)}
    vocabulary |= {token: token_id for token_id, token in enumerate(strings, len(special))}
    if len(vocabulary) != len(special) + len(strings):
        raise ConfigurationError("tekken.json holds a token that reads like a special token.")
    bos = special.index(_NAMED["bos_token"])
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": special[bos], "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
            ],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {
                special[bos]: {"id": special[bos], "ids": [bos], "tokens": [special[bos]]},
            },
        },
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": True,
            "vocab": vocabulary,
            "merges": _merges(strings),
        },
    }


def _merges(strings: Sequence[str]) -> list[str]:
    """Every pair of tokens that make a token, by the rank of that token."""
    known = frozenset(strings)
    return [
        f"{string[:cut]} {string[cut:]}"
        for string in strings
        for cut in range(1, len(string))
        if string[:cut] in known and string[cut:] in known
    ]
