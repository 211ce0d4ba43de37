"""Writes the common case of an expression out in place, so that compiled code calls the environment only for the rest.

Chat templates read members of dicts, of `loop` and of namespaces, and print texts: each is tested for by its exact
type first. Whatever else stands there goes the way it always went. Results and errors are the same either way.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame

if TYPE_CHECKING:
    from jinja2 import Environment

DICT_ATTRIBUTES: Final = frozenset(dir(dict))
"""Names that `obj.name` finds on a dict before its items, and `obj['name']` after them."""

# What a loop tells of itself.
_LOOP_MEMBERS: Final = frozenset(
    {"index", "index0", "first", "last", "length", "revindex", "revindex0", "previtem", "nextitem"}
)

# What gives the same again, and leaves what it is given as it was: no iterator is used up.
_PURE_FILTERS: Final = frozenset(
    {"trim", "string", "tojson", "upper", "lower", "capitalize", "replace", "length"}
)

# Tests of a missing member that need not be asked, and their outcome.
_OF_MISSING: Final = {"defined": False, "undefined": True, "none": False, "string": False, "mapping": False}


def conditions(by_level: list[nodes.Node]) -> set[int]:
    """The expressions of which only the truth matters, by identity.

    Args:
        by_level: all nodes of a tree, parents before their children.
    """
    found: set[int] = set()
    for node in by_level:
        found.update(id(part) for part in _conditions_in(node, id(node) in found))
    return found


def _conditions_in(node: nodes.Node, is_condition: bool) -> Iterator[nodes.Node]:
    match node:
        case nodes.If() | nodes.CondExpr():
            yield node.test
        case nodes.Not():
            yield node.node
        case nodes.And() | nodes.Or() if is_condition:
            yield from (node.left, node.right)


class ShortcutCodeGenerator(CodeGenerator):
    """Jinja's code generator with the common cases written out.

    Its code finds, as local names: `attribute` and `item` for what `environment.getattr` and `environment.getitem` do,
    `text` for what `str` does, `Str` for the type str, and `ListLoop` for the class of a loop over a list.
    """

    def __init__(self, environment: Environment, stream: StringIO, conditions: set[int]) -> None:
        super().__init__(environment, None, None, stream, optimized=False)
        self._conditions = conditions
        self._methods: set[int] = set()
        self._shortcuts: dict[type[nodes.Node], Any] = {
            nodes.Output: self._visit_output,
            nodes.Call: self._visit_call,
            nodes.Getattr: self._visit_getattr,
            nodes.Getitem: self._visit_getitem,
            nodes.Test: self._visit_test,
        }

    def get_visitor(self, node: nodes.Node) -> Any:
        return self._shortcuts.get(type(node)) or super().get_visitor(node)

    def _visit_output(self, node: nodes.Output, frame: Frame) -> None:
        """Texts that a sum puts together are written one after the other instead; any other sum is computed."""
        if frame.require_output_check or frame.eval_ctx.volatile or frame.eval_ctx.autoescape:
            self.visit_Output(node, frame)
            return
        plain: list[nodes.Expr] = []
        for child in node.nodes:
            operands = _addends(child)
            if len(operands) < 2 or not all(map(_may_be_read_twice, operands)):
                plain.append(child)
                continue
            if plain:
                self.visit_Output(nodes.Output(plain, lineno=node.lineno), frame)
                plain = []
            self._write_sum(child, operands, frame)
        if plain:
            self.visit_Output(nodes.Output(plain, lineno=node.lineno), frame)

    def _write_sum(self, node: nodes.Expr, operands: list[nodes.Expr], frame: Frame) -> None:
        texts: list[str] = []
        self.writeline("if True", node)
        for constants, group in groupby(operands, lambda operand: isinstance(operand, nodes.Const)):
            if constants:
                texts.append(repr("".join(operand.value for operand in group)))  # type: ignore[attr-defined]
                continue
            for operand in group:
                texts.append(f"v{len(texts)}")
                self.write(f" and type({texts[-1]} := ")
                self.visit(operand, frame)
                self.write(") is Str")
        self.write(":")
        self.indent()
        if frame.buffer is None:
            for text in texts:
                self.writeline(f"yield {text}")
        else:
            self.writeline(f"{frame.buffer}.extend(({', '.join(texts)},))")
        self.outdent()
        self.writeline("else:")
        self.indent()
        self.visit_Output(nodes.Output([node], lineno=node.lineno), frame)
        self.outdent()

    def _visit_call(self, node: nodes.Call, frame: Frame) -> None:
        if isinstance(node.node, nodes.Getattr):
            self._methods.add(id(node.node))
        self.visit_Call(node, frame)

    def _visit_getattr(self, node: nodes.Getattr, frame: Frame) -> None:
        if isinstance(node.node, nodes.Name) and node.node.name == "loop" and node.attr in _LOOP_MEMBERS:
            loop = frame.symbols.ref("loop")
            self.write(f"({loop}.{node.attr} if type({loop}) is ListLoop else ")
            self._write_call("attribute", node.node, frame, node.attr)
            self.write(")")
        elif node.attr in DICT_ATTRIBUTES or id(node) in self._methods:
            self._write_call("attribute", node.node, frame, node.attr)
        else:
            self._write_member("attribute", node, node.node, node.attr, frame)

    def _visit_getitem(self, node: nodes.Getitem, frame: Frame) -> None:
        if isinstance(node.arg, nodes.Const) and type(node.arg.value) is str:
            self._write_member("item", node, node.node, node.arg.value, frame)
        else:
            self.visit_Getitem(node, frame)

    def _visit_test(self, node: nodes.Test, frame: Frame) -> None:
        member = _member(node.node)
        if member is None or node.name not in _OF_MISSING or node.args or node.kwargs or node.dyn_args:
            self.visit_Test(node, frame)
            return
        operation, owner, name = member
        test = self.tests[node.name]
        self.write(f"({_OF_MISSING[node.name]} if type(v := ")
        self.visit(owner, frame)
        self.write(f") is dict and {name!r} not in v else ")
        self.write(f"{test}(v[{name!r}] if type(v) is dict else {operation}(v, {name!r})))")

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        if frame.eval_ctx.volatile or frame.eval_ctx.autoescape:
            super()._output_child_pre(node, frame, finalize)
        else:
            self.write("(v if type(v := ")

    def _output_child_post(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        if frame.eval_ctx.volatile or frame.eval_ctx.autoescape:
            super()._output_child_post(node, frame, finalize)
        else:
            self.write(") is Str else text(v))")

    def _write_member(
        self, operation: str, node: nodes.Expr, owner: nodes.Expr, name: str, frame: Frame
    ) -> None:
        """A member of what is most often a dict. What is missing counts as false: a condition asks no further."""
        only_truth = id(node) in self._conditions and name not in DICT_ATTRIBUTES
        found = f"v.get({name!r})" if only_truth else f"v[{name!r}]"
        expected = "" if only_truth else f" and {name!r} in v"
        self.write(f"({found} if type(v := ")
        self.visit(owner, frame)
        self.write(f") is dict{expected} else {operation}(v, {name!r}))")

    def _write_call(self, operation: str, owner: nodes.Expr, frame: Frame, name: str) -> None:
        self.write(f"{operation}(")
        self.visit(owner, frame)
        self.write(f", {name!r})")


def _addends(node: nodes.Expr) -> list[nodes.Expr]:
    """The operands of a chain of `+`, in order; the node alone if it is none."""
    later: list[nodes.Expr] = []
    while type(node) is nodes.Add:
        later.append(node.right)
        node = node.left
    return [node, *reversed(later)]


def _may_be_read_twice(node: nodes.Expr) -> bool:
    """Whether an operand of `+` is a text that stands there, or is found by what changes nothing; a call may."""
    if isinstance(node, nodes.Const):
        return type(node.value) is str
    return _changes_nothing(node)


def _changes_nothing(node: nodes.Node | None) -> bool:
    match node:
        case nodes.Name() | nodes.Const():
            return True
        case nodes.Neg(node=nodes.Const()):
            return True
        case nodes.Getattr(node=owner):
            return _changes_nothing(owner)
        case nodes.Getitem(node=owner, arg=nodes.Const() | nodes.Neg() as index):
            return _changes_nothing(owner) and _changes_nothing(index)
        case nodes.Filter(node=owner, name=name) if name in _PURE_FILTERS:
            return _changes_nothing(owner) and _has_constant_arguments(node)
    return False


def _has_constant_arguments(node: nodes.Filter) -> bool:
    return (
        node.dyn_args is None
        and node.dyn_kwargs is None
        and all(isinstance(argument, nodes.Const) for argument in node.args)
        and all(isinstance(argument.value, nodes.Const) for argument in node.kwargs)
    )


def _member(node: nodes.Expr) -> tuple[str, nodes.Expr, str] | None:
    """The operation, owner and name of a member that may be a dict's."""
    match node:
        case nodes.Getattr(node=owner, attr=name) if name not in DICT_ATTRIBUTES:
            return "attribute", owner, name
        case nodes.Getitem(node=owner, arg=nodes.Const(value=str() as name)) if name not in DICT_ATTRIBUTES:
            return "item", owner, name
    return None
