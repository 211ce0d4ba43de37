"""A chat request on its way to the template: what was asked for, and the conversation made of it."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from render_core.conversation.continuation import cut_at_mark, mark_final_message
from render_core.conversation.messages import template_messages
from render_core.conversation.roles import developer_as_system
from render_core.conversation.variables import check_kwargs, template_variables
from render_core.errors import RenderError
from render_core.template.budget import TemplateBudget
from render_core.template.choice import TemplateSet
from render_core.template.compiled import CompiledTemplate
from render_core.template.failures import TemplateFailure


@dataclass(frozen=True, slots=True)
class Chat:
    """The chat part of a request.

    Attributes:
        messages: as the client wrote them.
        tools: the dicts templates see, or None when none are offered.
        kwargs: effective chat_template_kwargs, the request's own fields included.
        template: a template of the request itself.
    """

    messages: list[Any]
    tools: list[dict[str, Any]] | None
    kwargs: Mapping[str, Any]
    template: str | None


@dataclass(frozen=True, slots=True)
class Conversation:
    """All that rendering needs: the template and every variable it is given."""

    template: CompiledTemplate
    messages: list[dict[str, Any]]
    variables: dict[str, Any]
    continue_final_message: bool

    def render(self, now: datetime.datetime, budget: TemplateBudget) -> str:
        """The prompt text.

        Raises:
            RenderError: the template refuses the conversation, fails, or costs more than the budget.
        """
        messages, text = self.messages, ""
        if self.continue_final_message:
            messages, text = mark_final_message(messages, self.template.source)
        try:
            prompt = self.template.render({**self.variables, "messages": messages}, now=now, budget=budget)
        except TemplateFailure as failure:
            raise RenderError(failure.message) from None
        return cut_at_mark(prompt, text) if self.continue_final_message else prompt


def converse(
    chat: Chat, templates: TemplateSet, special_tokens: Mapping[str, str], model_name: str
) -> Conversation:
    """Make a conversation of a chat request.

    Raises:
        RenderError: see the parts: template choice, messages, variables.
    """
    kwargs = dict(chat.kwargs)
    tools = _own_or_given_tools(kwargs.pop("tools", None), chat.tools)
    source = chat.template or kwargs.pop("chat_template", None)
    if source is not None and not isinstance(source, str):
        raise RenderError("chat_template must be a string.", "chat_template_kwargs")
    if chat.template is None and templates.override is not None:
        source = None  # a template in the kwargs only stands in for the model's own
    template = templates.choose(source, tools is not None)
    format_template = template if chat.template else templates.choose(None, tools is not None)
    messages = template_messages(chat.messages, templates.format_of(format_template), model_name)
    if not messages:
        raise RenderError(
            "Cannot apply a chat template to an empty conversation; provide at least one message."
        )
    if not template.mentions_developer and any(message["role"] == "developer" for message in messages):
        messages = developer_as_system(messages)
    check_kwargs(kwargs)
    continue_final_message = bool(kwargs.get("continue_final_message"))
    if continue_final_message and kwargs.get("add_generation_prompt"):
        raise RenderError(
            "continue_final_message needs add_generation_prompt to be false: the final message is continued "
            "instead of a new turn being opened.",
            "continue_final_message",
        )
    variables = {
        **special_tokens,
        **template_variables(kwargs, template.variables),
        "tools": tools,
        "documents": _documents(kwargs.get("documents")),
        "add_generation_prompt": kwargs.get("add_generation_prompt", False),
    }
    return Conversation(template, messages, variables, continue_final_message)


def _own_or_given_tools(own: Any, given: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
    """Tools in chat_template_kwargs stand in for the request's own in the prompt."""
    if own is None:
        return given
    if not isinstance(own, list) or not all(isinstance(tool, dict) for tool in own):
        raise RenderError("chat_template_kwargs.tools must be a list of objects.", "chat_template_kwargs")
    return own


def _documents(documents: Any) -> list[Any] | None:
    if documents is not None and not (
        isinstance(documents, list) and all(isinstance(document, dict) for document in documents)
    ):
        raise RenderError("documents must be a list of objects.", "documents")
    return documents
