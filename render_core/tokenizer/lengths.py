"""Encoding a prompt within the context length: truncation and the checks around it (spec 4.2 to 4.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from render_core.errors import RenderError
from render_core.tokenizer.engine import Offset
from render_core.tokenizer.tokenizer import Tokenizer

Side = Literal["left", "right"]


@dataclass(frozen=True, slots=True)
class Tokens:
    """A tokenized prompt: ids, and character offsets into the text when they were asked for."""

    ids: Sequence[int]
    offsets: list[Offset] | None = None


@dataclass(frozen=True, slots=True)
class LengthRules:
    """What one request demands of its prompt's length, in tokens.

    Attributes:
        max_model_len: context length: prompt and output together.
        max_output_tokens: what the client asked for; None when it named no limit, 0 when nothing is generated.
        output_param: the request field that max_output_tokens came from.
        truncate: keep that many tokens; -1 keeps as many as the context allows; None truncates nothing.
        side: the side that is cut; None leaves it to the tokenizer, which cuts the left side.
    """

    max_model_len: int
    max_output_tokens: int | None
    output_param: str = "max_tokens"
    truncate: int | None = None
    side: Side | None = None

    def check(self) -> None:
        """Raises RenderError when the request's own numbers exceed the context length. Looks at no prompt."""
        limit = self.max_model_len
        if self.max_output_tokens is not None and self.max_output_tokens > limit:
            raise _over_limit(
                f"{self.output_param}={self.max_output_tokens} cannot be greater than max_model_len={limit}.",
                self.output_param,
                self.max_output_tokens,
            )
        if self.truncate is not None and self.truncate > limit:
            raise _over_limit(
                f"truncate_prompt_tokens={self.truncate} cannot be greater than max_model_len={limit}.",
                "truncate_prompt_tokens",
                self.truncate,
            )

    @property
    def kept_tokens(self) -> int | None:
        """How many tokens truncation keeps at most. -1 leaves one token of room when anything is generated."""
        if self.truncate != -1:
            return self.truncate
        return self.max_model_len if self.max_output_tokens == 0 else max(0, self.max_model_len - 1)


def encode_text(
    tokenizer: Tokenizer,
    text: str,
    *,
    add_special_tokens: bool,
    with_offsets: bool,
    rules: LengthRules | None,
) -> Tokens:
    """Encode a prompt text.

    Args:
        rules: length rules, or None for none at all (/tokenize).

    Returns:
        Ids, and offsets into `text` whatever was cut.

    Raises:
        RenderError: the text cannot be encoded, or the prompt is longer than the context.
    """
    skipped = 0
    if rules is not None:
        text, skipped = _fit_characters(tokenizer, text, rules)
    ids: Sequence[int]
    offsets: list[Offset] | None = None
    try:
        if with_offsets:
            ids, offsets = tokenizer.engine.encode_with_offsets(text, add_special_tokens)
        else:
            ids = tokenizer.engine.encode(text, add_special_tokens)
    except TypeError:
        raise RenderError("The prompt holds a lone surrogate, which has no token.", None) from None
    if offsets is not None and skipped:
        offsets = [(start + skipped, end + skipped) for start, end in offsets]
    tokens = Tokens(ids, offsets)
    if rules is None:
        return tokens
    tokens = _truncate_text_tokens(tokenizer, tokens, add_special_tokens, rules)
    check_prompt_length(len(tokens.ids), rules, from_text=True)
    return tokens


def truncate_ids(ids: list[int], rules: LengthRules) -> list[int]:
    """Truncate a prompt given as ids, and check what is left.

    Raises:
        RenderError: the prompt is longer than the context.
    """
    kept = _kept_slice(len(ids), rules)
    ids = ids if kept is None else ids[kept]
    check_prompt_length(len(ids), rules, from_text=False)
    return ids


def check_prompt_length(count: int, rules: LengthRules, *, from_text: bool) -> None:
    """Raises RenderError when a prompt of `count` tokens exceeds the context length."""
    limit = rules.max_model_len
    if count > limit:
        # the engine stops counting a text one token above the limit, so it cannot name the length
        shown = f"at least {limit + 1}" if from_text else str(count)
        raise _over_limit(
            f"This model's maximum context length is {limit} tokens. However, your prompt contains {shown} input "
            "tokens. Please reduce the length of the input prompt.",
            "input_tokens",
            limit + 1 if from_text else count,
        )


def _fit_characters(tokenizer: Tokenizer, text: str, rules: LengthRules) -> tuple[str, int]:
    """Refuse or cut a text that cannot fit whatever its tokens are; returns it and the characters cut off its left."""
    most = rules.max_model_len * tokenizer.max_chars_per_token
    excess = len(text) - most
    if excess <= 0:
        return text, 0
    if rules.truncate is None:
        raise _over_limit(
            f"This model's maximum context length is {rules.max_model_len} tokens. However, your prompt contains "
            f"{len(text)} characters, and {most} is the most that many tokens can hold. "
            "Please reduce the length of the input prompt.",
            "input_text",
            len(text),
        )
    if rules.side == "left":
        return text[excess:], excess
    return (text[:most], 0) if rules.side == "right" else (text, 0)


def _truncate_text_tokens(
    tokenizer: Tokenizer, tokens: Tokens, add_special_tokens: bool, rules: LengthRules
) -> Tokens:
    kept = rules.kept_tokens
    if kept is None or kept >= len(tokens.ids):
        return tokens
    prefix, suffix = (tokenizer.prefix_ids, tokenizer.suffix_ids) if add_special_tokens else ((), ())
    added = len(prefix) + len(suffix)
    pieces: tuple[slice, ...]
    if rules.side is None and added and kept >= added:
        # the tokenizer's own truncation keeps what the post-processor adds and cuts the text between
        end = len(tokens.ids) - len(suffix)
        pieces = (slice(0, len(prefix)), slice(end - (kept - added), end), slice(end, None))
    else:
        whole = _kept_slice(len(tokens.ids), rules)
        pieces = (whole or slice(None),)
    ids = [token_id for piece in pieces for token_id in tokens.ids[piece]]
    if tokens.offsets is None:
        return Tokens(ids)
    return Tokens(ids, [offset for piece in pieces for offset in tokens.offsets[piece]])


def _kept_slice(length: int, rules: LengthRules) -> slice | None:
    kept = rules.kept_tokens
    if kept is None or kept >= length:
        return None
    if rules.side == "right" or kept == 0:
        return slice(0, kept)
    return slice(length - kept, None)


def _over_limit(message: str, param: str, value: int) -> RenderError:
    return RenderError(f"{message} (parameter={param}, value={value})", param)
