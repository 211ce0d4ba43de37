"""Mistral prompts from a tekken vocabulary: what vLLM 0.33 makes with mistral-common for --tokenizer-mode mistral."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any, Final

from render_core.errors import ConfigurationError, RenderError
from render_core.families.encoder import Prompt
from render_core.families.encoders.mistral_messages import read_messages
from render_core.families.encoders.mistral_rules import Release, check_conversation, check_tools, shown_tools
from render_core.families.encoders.mistral_turns import (
    THINKING,
    Piece,
    Special,
    needed_tokens,
    write_conversation,
)
from render_core.families.encoders.reading import EncodedRequest, offered_tools
from render_core.protocol.chat import ChatRequest
from render_core.tokenizer.engine import Engine
from render_core.tokenizer.tekken import HEADER_KEY
from render_core.tokenizer.tokenizer import Tokenizer

# vLLM hands these to its template call itself, so that a variable of that name breaks the call (400 there as well).
_TAKEN_KWARGS: Final = ("messages", "tokenizer")


class MistralEncoder:
    """Writes conversations in the format of one release. There is no chat template, and no variables for one."""

    name = "mistral"

    def __init__(
        self,
        engine: Engine,
        token_ids: Mapping[str, int],
        release: Release,
        efforts: Mapping[str, Any] | None,
    ) -> None:
        """Make an encoder.

        Args:
            engine: encodes texts; it reads no special tokens in them.
            token_ids: ids of the special tokens that the vocabulary has.
            efforts: the reasoning efforts that the model is told, `values` and `default`; None when it is told none.
        """
        self._engine = engine
        self._token_ids = token_ids
        self._release = release
        self._efforts = efforts

    def encode(self, request: EncodedRequest, kwargs: Mapping[str, Any], now: datetime.datetime) -> Prompt:
        """The ids of a chat.

        Ids of tool calls are cut to their last nine characters in chats, and are not in /tokenize.

        Raises:
            RenderError: the request brings a template or variables; the conversation or a tool is not what the format
                allows; or the reasoning effort is none that the model knows.
        """
        if isinstance(request, ChatRequest) and (
            request.chat_template is not None or request.chat_template_kwargs is not None
        ):
            raise RenderError("This model has no chat template, and no variables for one.", "chat_template")
        for name in _TAKEN_KWARGS:
            if name in kwargs:
                raise RenderError(f"chat_template_kwargs must not hold {name!r}.", "chat_template_kwargs")
        continue_final_message = bool(kwargs.get("continue_final_message"))
        messages = read_messages(request, continue_final_message)
        if kwargs.get("add_generation_prompt") and messages and messages[-1].role == "assistant":
            raise RenderError(
                "add_generation_prompt does not go with a last message of the assistant; "
                "continue_final_message continues it.",
                "add_generation_prompt",
            )
        check_conversation(messages, self._release)
        tools = shown_tools(offered_tools(request, kwargs))
        check_tools(tools)
        settings = self._settings(kwargs.get("reasoning_effort"))
        ids: list[int] = []
        for piece in write_conversation(messages, tools, settings, self._release):
            ids += self._ids(piece)
        return Prompt(ids=ids)

    def _settings(self, effort: Any) -> dict[str, Any]:
        if self._efforts is None:
            return {}
        wanted = self._efforts["default"] if effort is None else effort
        if wanted not in self._efforts["values"]:
            raise RenderError(
                f"reasoning_effort must be one of {', '.join(self._efforts['values'])} for this model.",
                "reasoning_effort",
            )
        return {"reasoning_effort": wanted}

    def _ids(self, piece: Piece) -> Sequence[int]:
        if isinstance(piece, Special):
            token_id = self._token_ids.get(piece.token)
            if token_id is None:
                raise RenderError("Thinking is not supported by this model.", "messages")
            return [token_id]
        return self._engine.encode(piece, False) if piece else []


def build(config: Mapping[str, Any], tokenizer: Tokenizer) -> MistralEncoder:
    """Build the encoder.

    Args:
        config: the model's configuration with the header of its tekken.json under HEADER_KEY.
        tokenizer: the tokenizer of that file.

    Raises:
        ConfigurationError: there is no such header, or it or the vocabulary lacks what its version needs.
    """
    header = config.get(HEADER_KEY)
    if not isinstance(header, Mapping):
        raise ConfigurationError("The tokenizer mode mistral needs a model directory with tekken.json.")
    release = Release(int(str(header["version"]).removeprefix("v")))
    token_ids = {}
    for special in needed_tokens(release):
        token_id = tokenizer.token_id(special.token)
        if token_id is None:
            raise ConfigurationError(f"tekken.json does not know {special.token}, which its version needs.")
        token_ids[special.token] = token_id
    thinking = {special.token: tokenizer.token_id(special.token) for special in THINKING}
    token_ids |= {token: token_id for token, token_id in thinking.items() if token_id is not None}
    return MistralEncoder(tokenizer.engine, token_ids, release, _efforts(header, release))


def _efforts(header: Mapping[str, Any], release: Release) -> Mapping[str, Any] | None:
    if not release.has_settings:
        return None
    builder = header.get("model_settings_builder")
    if not isinstance(builder, Mapping):
        raise ConfigurationError("tekken.json has no model_settings_builder, which its version needs.")
    efforts = builder.get("reasoning_effort")
    if efforts is None:
        return None
    if not isinstance(efforts.get("values"), list) or efforts.get("default") not in efforts["values"]:
        raise ConfigurationError("The reasoning efforts of tekken.json name no default among their values.")
    return {"values": efforts["values"], "default": efforts["default"]}
