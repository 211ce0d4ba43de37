#!/usr/bin/env python3
"""Train the demo model's tokenizer and write its model directory, byte for byte the same on every run.

    uv run python scripts/train_demo_model.py            write the files
    uv run python scripts/train_demo_model.py --check    exit 1 if the files differ from what would be written

The chat template in the same directory is written by hand and not touched here.
"""

import argparse
import json
import sys
from pathlib import Path

from demo_corpus import corpus
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

MODEL_DIRECTORY = Path(__file__).resolve().parent.parent / "render_core" / "demo_model"
VOCABULARY_SIZE = 8192
CONTEXT_LENGTH = 32768
MAX_TOKEN_BYTES = 18
SPECIAL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MARKUP_TOKENS = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]
PAD_TOKEN, _, EOS_TOKEN = SPECIAL_TOKENS

PRE_TOKEN_PATTERN = "|".join(
    [
        r"'(?i:s|t|d|m|ll|re|ve)(?!\p{L})",  # the tail of a contraction
        r" ?[\p{L}\p{M}]+",  # a word with the space before it
        r" ?\p{N}{1,3}",  # up to three digits
        r" ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*",  # punctuation and symbols, with the line ends behind them
        r"\s*[\r\n]+",  # blank lines and the indentation between them
        r"\s+(?!\S)",  # spaces, all but the one that belongs to the next word
        r"\s+",
    ]
)


def main() -> int:
    arguments = parse_arguments()
    files = render_files(train_tokenizer())
    if arguments.check:
        return report_differences(files, arguments.directory)
    arguments.directory.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (arguments.directory / name).write_bytes(content)
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train the demo model's tokenizer and write its directory.")
    parser.add_argument("--directory", type=Path, default=MODEL_DIRECTORY, help="where the model files lie")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file would change")
    return parser.parse_args()


def train_tokenizer() -> Tokenizer:
    """Train byte-level BPE; the added tokens get the last ids, special ones first."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PRE_TOKEN_PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY_SIZE - len(SPECIAL_TOKENS) - len(MARKUP_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        max_token_length=MAX_TOKEN_BYTES,
        show_progress=False,
    )
    tokenizer.train_from_iterator(corpus(), trainer)
    tokenizer.add_special_tokens(
        [AddedToken(token, special=True, normalized=False) for token in SPECIAL_TOKENS]
    )
    tokenizer.add_tokens([AddedToken(token, special=False, normalized=False) for token in MARKUP_TOKENS])
    return tokenizer


def render_files(tokenizer: Tokenizer) -> dict[str, bytes]:
    eos_id, pad_id = tokenizer.token_to_id(EOS_TOKEN), tokenizer.token_to_id(PAD_TOKEN)
    config = {
        "description": "Demo model of render-core: a small tokenizer and a chat template, without weights.",
        "architectures": ["RenderCoreDemo"],
        "model_type": "render_core_demo",
        "vocab_size": tokenizer.get_vocab_size(),
        "max_position_embeddings": CONTEXT_LENGTH,
        "eos_token_id": eos_id,
        "pad_token_id": pad_id,
    }
    generation_config = {
        "eos_token_id": [eos_id, pad_id],
        "pad_token_id": pad_id,
        "do_sample": True,
        "temperature": 0.7,
        "top_p": 0.9,
    }
    return {
        "tokenizer.json": f"{tokenizer.to_str()}\n".encode(),
        "tokenizer_config.json": json_file(tokenizer_config(tokenizer)),
        "config.json": json_file(config),
        "generation_config.json": json_file(generation_config),
    }


def tokenizer_config(tokenizer: Tokenizer) -> dict[str, object]:
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": EOS_TOKEN,
        "pad_token": PAD_TOKEN,
        "model_max_length": CONTEXT_LENGTH,
        "clean_up_tokenization_spaces": False,
        "added_tokens_decoder": {
            str(token_id): {
                "content": token.content,
                "lstrip": token.lstrip,
                "normalized": token.normalized,
                "rstrip": token.rstrip,
                "single_word": token.single_word,
                "special": token.special,
            }
            for token_id, token in tokenizer.get_added_tokens_decoder().items()
        },
    }


def json_file(value: object) -> bytes:
    return f"{json.dumps(value, indent=2, ensure_ascii=False)}\n".encode()


def report_differences(files: dict[str, bytes], directory: Path) -> int:
    different = [name for name, content in files.items() if not matches(directory / name, content)]
    for name in different:
        print(f"{name} differs from what scripts/train_demo_model.py writes", file=sys.stderr)
    return 1 if different else 0


def matches(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content


if __name__ == "__main__":
    sys.exit(main())
