"""Whether a chat template wants message content as a text or as a list of parts, read off its syntax tree.

Reproduces vLLM 0.33 (`vllm/renderers/hf.py`, spec 2.4), including what it does not understand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from jinja2 import nodes

ContentFormat = Literal["string", "openai"]


def detect_content_format(template: nodes.Template) -> ContentFormat:
    """ "openai" if the template loops over the content of a message.

    A loop whose target is not a plain name ends the search: "string", unless a content loop came before it.
    """
    try:
        return "openai" if _has_content_loop(template) else "string"
    except _UnsupportedTargetError:
        return "string"


class _UnsupportedTargetError(Exception):
    """A loop over messages or over content that unpacks its elements."""


def _has_content_loop(template: nodes.Template) -> bool:
    found: dict[type[nodes.Node], list[Any]] = {
        kind: [] for kind in (nodes.For, nodes.Macro, nodes.Call, nodes.Assign)
    }
    for node in _descendants(template):
        if type(node) in found:
            found[type(node)].append(node)
    loops: list[nodes.For] = found[nodes.For]
    aliases = _aliases_of_messages(found[nodes.Assign])
    message_names = [
        _plain_target(loop) for loop in loops if any(_is_or_filters(loop.iter, alias) for alias in aliases)
    ]
    content_parameters = _content_parameters(found[nodes.Macro], found[nodes.Call], message_names)
    for loop in loops:
        if _is_content(loop.iter, message_names) or _is_content_name(loop, content_parameters):
            _plain_target(loop)
            return True
    return False


def _is_content_name(loop: nodes.For, content_parameters: dict[int, set[str]]) -> bool:
    """A loop over a variable that holds content: by its name outside of macros, by the calls inside of them."""
    if not isinstance(loop.iter, nodes.Name):
        return False
    return loop.iter.name in content_parameters.get(id(loop), {"content"})


def _content_parameters(
    macros: list[nodes.Macro], calls: list[nodes.Call], message_names: list[str]
) -> dict[int, set[str]]:
    """For each loop inside of a macro, by identity: the macro's parameters that are given content somewhere.

    Of nested macros the innermost that is given content counts.
    """
    parameters: dict[int, set[str]] = {}
    for macro in macros:
        own = set(_given_content(macro, calls, message_names))
        for loop in _descendants(macro):
            if own or id(loop) not in parameters:
                parameters[id(loop)] = own
    return parameters


def _given_content(macro: nodes.Macro, calls: list[nodes.Call], message_names: list[str]) -> Iterator[str]:
    names = [argument.name for argument in macro.args]
    for call in calls:
        if isinstance(call.node, nodes.Name) and call.node.name == macro.name:
            given = [*zip(names, call.args, strict=False)]
            given += [(keyword.key, keyword.value) for keyword in call.kwargs if keyword.key in names]
            yield from (name for name, value in given if _is_content(value, message_names))


def _aliases_of_messages(assignments: list[nodes.Assign]) -> list[str]:
    """Names the message list goes by: plain ones, and dotted ones for attributes of namespaces."""
    aliases = ["messages"]
    for alias in aliases:  # grows while it is gone through
        for assignment in assignments:
            for new in _new_aliases(assignment, alias):
                if new not in aliases:
                    aliases.append(new)
    return aliases


def _new_aliases(assignment: nodes.Assign, alias: str) -> Iterator[str]:
    target, value = assignment.target, assignment.node
    if isinstance(target, nodes.Name):
        if _is_or_filters(value, alias):
            yield target.name
        if (
            isinstance(value, nodes.Call)
            and isinstance(value.node, nodes.Name)
            and value.node.name == "namespace"
        ):
            for keyword in value.kwargs:
                if _is_or_filters(keyword.value, alias):
                    yield f"{target.name}.{keyword.key}"
    elif isinstance(target, nodes.NSRef) and _is_or_filters(value, alias):
        yield f"{target.name}.{target.attr}"


def _is_content(node: nodes.Node | None, message_names: Iterable[str]) -> bool:
    """Whether the node is `message.content` or `message["content"]`, perhaps filtered, tested or sliced."""
    inner = _unwrapped(node)
    if isinstance(inner, nodes.Getitem):
        if not (isinstance(inner.arg, nodes.Const) and inner.arg.value == "content"):
            return False
    elif not (isinstance(inner, nodes.Getattr) and inner.attr == "content"):
        return False
    return any(_is_variable(inner.node, name) for name in message_names)


def _is_or_filters(node: nodes.Node | None, name: str) -> bool:
    """Whether the node is the variable, perhaps filtered, tested or sliced."""
    return _is_variable(_unwrapped(node), name)


def _unwrapped(node: nodes.Node | None) -> nodes.Node | None:
    while isinstance(node, nodes.Filter | nodes.Test) or (
        isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Slice)
    ):
        node = node.node
    return node


def _is_variable(node: nodes.Node | None, name: str) -> bool:
    while isinstance(node, nodes.Getattr):
        name, _, attribute = name.rpartition(".")
        if attribute != node.attr:
            return False
        node = node.node
    return isinstance(node, nodes.Name) and node.ctx == "load" and node.name == name


def _plain_target(loop: nodes.For) -> str:
    if not isinstance(loop.target, nodes.Name):
        raise _UnsupportedTargetError
    return loop.target.name


def _descendants(node: nodes.Node) -> Iterator[nodes.Node]:
    """All nodes below a node, in the order of the source."""
    pending = [*node.iter_child_nodes()][::-1]
    while pending:
        descendant = pending.pop()
        yield descendant
        pending += [*descendant.iter_child_nodes()][::-1]
