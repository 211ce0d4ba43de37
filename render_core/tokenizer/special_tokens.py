"""Named special tokens and added tokens of a model directory, with the defaults of its tokenizer class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

NAMES: Final = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")

_END_OF_TEXT: Final = "<|endoftext|>"

# What a class assumes when tokenizer_config.json does not name the token. A null there means: no such token.
_CLASS_DEFAULTS: Final[dict[str, dict[str, str]]] = {
    "LlamaTokenizer": {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"},
    "GPT2Tokenizer": {"unk_token": _END_OF_TEXT, "bos_token": _END_OF_TEXT, "eos_token": _END_OF_TEXT},
    "Qwen2Tokenizer": {"unk_token": _END_OF_TEXT, "eos_token": _END_OF_TEXT, "pad_token": _END_OF_TEXT},
    "GemmaTokenizer": {
        "unk_token": "<unk>",
        "bos_token": "<bos>",
        "eos_token": "<eos>",
        "pad_token": "<pad>",
        "mask_token": "<mask>",
    },
    "CohereTokenizer": {
        "unk_token": "<UNK>",
        "bos_token": "<BOS_TOKEN>",
        "eos_token": "<|END_OF_TURN_TOKEN|>",
        "pad_token": "<PAD>",
        "cls_token": "<CLS>",
        "sep_token": "<SEP>",
        "mask_token": "<MASK_TOKEN>",
    },
    "GPTNeoXTokenizer": {
        "unk_token": _END_OF_TEXT,
        "bos_token": _END_OF_TEXT,
        "eos_token": _END_OF_TEXT,
        "pad_token": "<|padding|>",
    },
}
_CLASS_DEFAULTS["Qwen3_5Tokenizer"] = _CLASS_DEFAULTS["Qwen2Tokenizer"]


def special_tokens(
    tokenizer_config: Mapping[str, Any], special_tokens_map: Mapping[str, Any], class_name: str
) -> dict[str, str]:
    """Special tokens by name, as templates see them.

    tokenizer_config.json wins; special_tokens_map.json fills what it does not mention; then the class's own
    defaults. Tokens of `extra_special_tokens`, when that is an object, are named as it names them.
    """
    found: dict[str, str] = {}
    defaults = _CLASS_DEFAULTS.get(class_name, {})
    for name in NAMES:
        for source in (tokenizer_config, special_tokens_map, defaults):
            if name in source:
                if (text := token_text(source[name])) is not None:
                    found[name] = text
                break
    extra = tokenizer_config.get("extra_special_tokens", special_tokens_map.get("extra_special_tokens"))
    if isinstance(extra, Mapping):
        found |= {name: text for name, value in extra.items() if (text := token_text(value)) is not None}
    return found


def token_text(value: Any) -> str | None:
    """The text of a token written as a string or as an added-token object; None for anything else."""
    if isinstance(value, Mapping):
        value = value.get("content")
    return value if isinstance(value, str) else None


def complete_added_tokens(
    document: dict[str, Any], tokenizer_config: Mapping[str, Any], named: Mapping[str, str]
) -> bool:
    """Give a tokenizer document the added tokens that its configuration names and it lacks.

    Named special tokens are marked special; one that the vocabulary does not know gets the next free id, as
    transformers would give it. Returns whether the document was changed.
    """
    added: list[dict[str, Any]] = list(document.get("added_tokens") or ())
    by_text = {token["content"]: token for token in added}
    vocabulary = document.get("model", {}).get("vocab")
    known: Mapping[str, int] = vocabulary if isinstance(vocabulary, dict) else {}
    wanted = [
        _added_token(value)
        for _, value in sorted(_decoder_entries(tokenizer_config.get("added_tokens_decoder")))
        if token_text(value) is not None
    ]
    wanted += [_added_token({"content": text, "special": True}) for text in named.values()]
    changed = False
    next_id = max([-1, *known.values(), *(token["id"] for token in added)]) + 1
    for token in wanted:
        present = by_text.get(token["content"])
        if present is None:
            token["id"] = known.get(token["content"], next_id)
            next_id = max(next_id, token["id"] + 1)
            added.append(token)
            by_text[token["content"]] = token
            changed = True
        elif token["special"] and not present["special"] and token["content"] in named.values():
            present["special"] = True
            changed = True
    if changed:
        document["added_tokens"] = sorted(added, key=lambda token: int(token["id"]))
    return changed


def _decoder_entries(decoder: Any) -> list[tuple[int, Any]]:
    if not isinstance(decoder, Mapping):
        return []
    return [(int(token_id), value) for token_id, value in decoder.items()]


def _added_token(value: Any) -> dict[str, Any]:
    fields = value if isinstance(value, Mapping) else {"content": value}
    special = bool(fields.get("special", False))
    return {
        "id": -1,
        "content": fields["content"],
        "single_word": bool(fields.get("single_word", False)),
        "lstrip": bool(fields.get("lstrip", False)),
        "rstrip": bool(fields.get("rstrip", False)),
        "normalized": bool(fields.get("normalized", not special)),
        "special": special,
    }
