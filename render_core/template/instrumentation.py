"""Makes the code that Jinja generates call the render's operations wherever it loops or makes something.

What is called, with what limits, is decided in `operations` and `meter`; here it is only written out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from io import StringIO
from typing import TYPE_CHECKING, Any, Final

from jinja2 import nodes
from jinja2.compiler import Frame
from jinja2.defaults import DEFAULT_NAMESPACE
from jinja2.idtracking import VAR_LOAD_RESOLVE

from render_core.template.shortcuts import ShortcutCodeGenerator, conditions

if TYPE_CHECKING:
    from jinja2 import Environment

_BINARY: Final[dict[type[nodes.Node], str]] = {
    nodes.Sub: "subtract",
    nodes.Mul: "multiply",
    nodes.Div: "divide",
    nodes.FloorDiv: "floor_divide",
    nodes.Mod: "modulo",
    nodes.Pow: "power",
}
_UNARY: Final[dict[type[nodes.Node], str]] = {nodes.Pos: "positive", nodes.Neg: "negative"}
_OTHERS: Final = (
    "add",
    "add_all",
    "comparable",
    "modest",
    "contains",
    "keep",
    "key",
    "spread",
    "text",
    "tick",
    "ticked",
)

# Names that generated code uses, most of them Jinja's own, and the operations that take their place.
_REPLACED: Final = {
    "str": "text",
    "concat": "concat",
    "str_join": "joined",
    "markup_join": "joined_markup",
    "escape": "escaped",
    "Macro": "macro",
    "LoopContext": "loop",
    "ListLoop": "list_loop_class",
    "Str": "text_class",
}
_NAMES: Final = {name: name for name in (*_BINARY.values(), *_UNARY.values(), *_OTHERS)} | _REPLACED

# Deeper trees do not fit Python's own limits; below it, Jinja's visitors stay clear of the recursion limit.
_MAX_DEPTH: Final = 300


class TooDeepError(Exception):
    """The template nests expressions or statements too deeply to be compiled."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to add to the code of a syntax tree, by the identity of its parts.

    Attributes:
        wrapped: expressions whose value goes through an operation.
        ticks: bodies of code that may run any number of times, with the number of nodes in them.
        conditions: expressions of which only the truth matters.
    """

    wrapped: dict[int, str] = field(default_factory=dict)
    ticks: dict[int, int] = field(default_factory=dict)
    conditions: set[int] = field(default_factory=set)


def plan(template: nodes.Template) -> Plan:
    """Plan the instrumentation of a template.

    Raises:
        TooDeepError
    """
    by_level = list(_by_level(template))
    made = Plan(conditions=conditions(by_level))
    sizes: dict[int, int] = {}
    for node in reversed(by_level):
        sizes[id(node)] = 1 + sum(sizes[id(child)] for child in node.iter_child_nodes())
        made.wrapped.update((id(child), operation) for child, operation in _wrapped_by(node))
        if isinstance(node, nodes.For | nodes.Macro | nodes.CallBlock | nodes.Block):
            made.ticks[id(node.body)] = sizes[id(node)]
    return made


def _by_level(template: nodes.Template) -> Iterator[nodes.Node]:
    level: list[nodes.Node] = [template]
    for _ in range(_MAX_DEPTH):
        yield from level
        level = [child for node in level for child in node.iter_child_nodes()]
        if not level:
            return
    raise TooDeepError(f"the template is nested more than {_MAX_DEPTH} levels deep")


def _wrapped_by(node: nodes.Node) -> Iterator[tuple[nodes.Node, str]]:
    """What a node wants wrapped: itself or a child."""
    match node:
        case nodes.List() | nodes.Dict():
            if not _is_constant(node):
                yield node, "keep"
        case nodes.Tuple():
            if node.ctx == "load" and not _is_constant(node):
                yield node, "keep"
        case nodes.Getitem(arg=nodes.Slice()):
            yield node, "keep"
        case nodes.Pair(key=key):
            if not _is_constant(key):
                yield key, "key"
        case nodes.For(test=nodes.Expr() as test):
            yield test, "ticked"
        case nodes.Call() | nodes.Filter() | nodes.Test():
            if node.dyn_args is not None:
                yield node.dyn_args, "spread"
        case nodes.Compare(expr=expr, ops=[nodes.Operand(expr=other)]):
            if not (_is_constant(expr) or _is_constant(other)):
                yield expr, "comparable"
        case nodes.Compare():
            yield from ((part, "modest") for part in (node.expr, *(operand.expr for operand in node.ops)))


def _is_constant(node: nodes.Node) -> bool:
    if isinstance(node, nodes.List | nodes.Tuple | nodes.Dict):
        return all(map(_is_constant, node.items))
    if isinstance(node, nodes.Pair):
        return _is_constant(node.key) and _is_constant(node.value)
    if isinstance(node, nodes.Neg | nodes.Pos):
        return _is_constant(node.node)
    return isinstance(node, nodes.Const)


class MeteredCodeGenerator(ShortcutCodeGenerator):
    """Jinja's code generator, following a plan.

    Attributes:
        undeclared: variables that the template takes from its context, as `jinja2.meta` finds them in an environment
            without globals of its own.
    """

    def __init__(self, environment: Environment, instrumentation: Plan) -> None:
        self._code = StringIO()
        super().__init__(environment, self._code, instrumentation.conditions)
        self.undeclared: set[str] = set()
        self._plan = instrumentation

    def generate(self, template: nodes.Template) -> str:
        """The Python code of the template that was planned for."""
        self.visit(template)
        return self._code.getvalue()

    def write_commons(self) -> None:
        super().write_commons()
        self.writeline("operations = context.operations")
        self.writeline("attribute, item = environment.getattr, environment.getitem")
        for name, operation in _NAMES.items():
            self.writeline(f"{name} = operations.{operation}")

    def enter_frame(self, frame: Frame) -> None:
        super().enter_frame(frame)
        for action, name in frame.symbols.loads.values():
            if action == VAR_LOAD_RESOLVE and name is not None and name not in DEFAULT_NAMESPACE:
                self.undeclared.add(name)

    def get_visitor(self, node: nodes.Node) -> Any:
        visitor: Any = super().get_visitor(node)
        if type(node) is nodes.Add:
            visitor = self._visit_sum
        elif type(node) in _BINARY:
            visitor = self._visit_binary
        elif type(node) in _UNARY:
            visitor = self._visit_unary
        elif type(node) is nodes.Compare:
            visitor = self._visit_comparison
        operation = self._plan.wrapped.get(id(node))
        return visitor if operation is None else partial(self._visit_wrapped, operation, visitor)

    def blockvisit(self, nodes: Any, frame: Frame) -> None:
        if steps := self._plan.ticks.get(id(nodes)):
            self.writeline(f"tick({steps})" if frame.buffer is None else f"tick({steps}, {frame.buffer})")
        super().blockvisit(nodes, frame)

    def _write_operation(self, operation: str, frame: Frame, *operands: nodes.Expr) -> None:
        self.write(f"{operation}(")
        for index, operand in enumerate(operands):
            self.write(", " if index else "")
            self.visit(operand, frame)
        self.write(")")

    def _visit_wrapped(self, operation: str, visitor: Any, node: nodes.Node, frame: Frame) -> None:
        self.write(f"{operation}(")
        visitor(node, frame)
        self.write(")")

    def _visit_binary(self, node: nodes.BinExpr, frame: Frame) -> None:
        self._write_operation(_BINARY[type(node)], frame, node.left, node.right)

    def _visit_sum(self, node: nodes.BinExpr, frame: Frame) -> None:
        """A chain of `+` in one call, as far as evaluating an operand before the sum so far makes no difference."""
        operands = [node.right]
        while type(node.left) is nodes.Add and isinstance(node.right, nodes.Const | nodes.Name):
            node = node.left
            operands.append(node.right)
        operands.append(node.left)
        self._write_operation("add" if len(operands) == 2 else "add_all", frame, *reversed(operands))

    def _visit_unary(self, node: nodes.UnaryExpr, frame: Frame) -> None:
        operation = node.operator if isinstance(node.node, nodes.Const) else _UNARY[type(node)]
        self._write_operation(operation, frame, node.node)

    def _visit_comparison(self, node: nodes.Compare, frame: Frame) -> None:
        operand = node.ops[0]
        is_harmless = _is_constant(operand.expr) and not isinstance(operand.expr, nodes.Dict)
        if len(node.ops) > 1 or operand.op not in ("in", "notin") or is_harmless:
            self.visit_Compare(node, frame)
            return
        self.write("(" if operand.op == "in" else "(not ")
        self._write_operation("contains", frame, node.expr, operand.expr)
        self.write(")")
