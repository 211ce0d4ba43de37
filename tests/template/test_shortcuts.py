"""Code that is written out for the common case gives what plain Jinja gives in every other case too."""

from __future__ import annotations

import gc
import random
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from jinja2.runtime import LoopContext, Undefined

from render_core.template.compiled import translate
from render_core.template.environment import environment
from render_core.template.loops import ListLoop, loop_over
from tests.template.reference import outcome, reference_outcome
from tests.template.test_environment import VARIABLES

TEMPLATES = [
    # Members: of dicts and of what is none, present, missing, null and false.
    "{{ pairs.k }}{{ pairs['k'] }}{{ pairs.n }}{{ pairs.missing }}{{ pairs['missing'] }}",
    "{{ pairs.items }}{{ pairs['items'] }}{{ pairs.keys()|list }}",
    "{{ missing.x }}",
    "{{ missing['x'] }}",
    "{{ pairs.missing.x }}",
    "{{ pairs['missing']['x'] }}",
    "{{ five.real }}{{ five.missing }}{{ text.missing }}{{ none.missing }}",
    "{{ pairs.nested.x }}{{ pairs['nested'].x }}{{ pairs.nested['x'] }}{{ pairs.nested.y }}",
    "{{ (pairs if yes else none).k }}{{ (none or pairs).k }}",
    "{{ pairs.k.upper() }}{{ pairs['k'].upper() }}{{ pairs.missing.upper() }}",
    "{{ pairs.__class__ }}{{ pairs['__class__'] }}",
    "{{ pairs[none] }}{{ pairs[1] }}{{ numbers[0] }}{{ numbers[-1] }}{{ numbers[9] }}{{ numbers['x'] }}",
    # Conditions, where only the truth of a member matters.
    "{% if pairs.k %}a{% endif %}{% if pairs.missing %}b{% elif pairs.n %}c{% else %}d{% endif %}",
    "{{ 'a' if pairs['missing'] else 'b' }}{{ 'a' if not pairs.missing }}{{ not pairs.k }}",
    "{% if pairs.missing and pairs.missing.x %}a{% else %}b{% endif %}",
    "{% if pairs.missing or pairs.missing.x %}a{% else %}b{% endif %}",
    "{{ pairs.missing and 1 }}|{{ pairs.n or pairs.k }}|{{ pairs.n and pairs.k }}|{{ pairs.k and pairs.missing }}",
    "{{ (pairs.missing or 'x') + 'y' }}{{ (pairs.k and pairs.n) is none }}",
    "{% if missing.x %}a{% endif %}",
    "{% if five.missing %}a{% else %}b{% endif %}{% if not text.missing %}c{% endif %}",
    # Tests of members.
    *(
        f"{{{{ pairs.{name} is {test} }}}}{{{{ pairs['{name}'] is not {test} }}}}{{{{ missing.{name} is {test} }}}}"
        for name in ("k", "n", "nested", "missing", "items")
        for test in (
            "defined",
            "undefined",
            "none",
            "string",
            "mapping",
            "iterable",
            "sequence",
            "true",
            "callable",
        )
    ),
    "{% set d = {'a': missing, 'b': none} %}{{ d.a is defined }}{{ d['a'] is undefined }}"
    "{{ d.b is none }}{{ d.c is none }}",
    "{{ five.missing is defined }}{{ five.real is defined }}{{ text.upper is string }}{{ pairs.k is string() }}",
    # Sums that are printed.
    "{{ 'a' + pairs.k + 'b' + 'c' }}{{ text + pairs['k'] }}{{ 'a' + 'b' }}",
    "{{ 'a' + pairs.n }}",
    "{{ 'a' + pairs.missing + 'b' }}",
    "{{ 'a' + five }}",
    "{{ five + five + half }}{{ numbers + words }}{{ 1 + 2 }}",
    "{{ 'a' + (five + five)|string + pairs.k.upper() }}",
    "{{ pairs.missing + missing.x }}",
    "{{ 'a' + (pairs.k + 'b') + ('c' + text) }}",
    "{{ 'a' + text|trim + messages[1].content.strip() + messages[-1]['content'].split(' ')[-1] }}",
    "{{ 'a' + five|string + pairs|tojson(indent=2) + pairs.k.replace('v', 'w') + messages[1].content | upper }}",
    "{{ 'a' + pairs.n.strip() }}",
    "{{ 'a' + five|trim + numbers|length }}",
    "{{ 'a' + numbers.strip() }}",
    "{% set ns = namespace(replace=1) %}{{ 'a' + ns.replace('a', 'b') }}",
    "{% set c = cycler('a', 'b') %}{{ 'x' + c.next() }}{{ 'x' + c.next() + five }}",
    "{% set c = cycler('a','b') %}{% set o = {'strip': c.next} %}{% set x = 'x'|safe %}{{ 'a' + o.strip() + x }}",
    "{% set j = joiner() %}{% set o = {'strip': j} %}{% set x = 'x'|safe %}{{ j() }}{{ 'a' + o.strip() + x }}",
    "{% macro f() %}{{ 'abc' + 'def' }}{{ 'g' + '' }}{% endmacro %}{{ f() }}{{ f()|length }}",
    "{% set j = joiner('-') %}{{ j() + 'x' }}{{ j() + 'x' }}{{ j() + 5 }}",
    "{% set it = words|map('upper') %}{{ 'a' + it|first + 'b' }}{{ it|list }}",
    "{% set it = words|map('upper') %}{{ 'a' + it|string|length }}",
    "{% set x %}{{ 'a' + pairs.k }}{{ 'b' + pairs.n }}{% endset %}{{ x }}",
    "{% set x %}{{ 'a' + pairs.k }}-{{ pairs.k + 'b' + text }}{{ five }}{% endset %}[{{ x }}]",
    "{% macro m(x, y='d') %}{{ 'a' + x + y }}{% endmacro %}{{ m('b') }}{{ m(pairs.k, 'e') }}{{ m(five) }}",
    "{% macro m() %}{{ 'a' + caller() + 'b' }}{{ 'x' + pairs.k }}{% endmacro %}{% call m() %}"
    "{{ 'c' + pairs.k }}{% endcall %}",
    "{% autoescape true %}{{ '<' + pairs.k }}{{ '<' }}{{ text }}{{ text + '<' }}{% endautoescape %}"
    "{{ '<' + text }}",
    "{% autoescape yes %}{{ '<' + pairs.k }}{{ text + '<' }}{% endautoescape %}",
    "{% block b %}{{ 'a' + pairs.k }}{{ pairs.missing }}{% endblock %}{{ self.b() }}",
    "{% filter upper %}{{ 'a' + pairs.k }}{% endfilter %}",
    # Loops.
    "{% for n in numbers %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}"
    "{{ loop.first }}"
    "{{ loop.last }}{{ loop.length }}{{ loop.depth }}{{ loop.depth0 }}{{ loop.missing }}|{% endfor %}",
    "{% for n in numbers %}{{ loop.previtem }},{{ n }},{{ loop.nextitem }};"
    "{{ loop.previtem is defined }}{{ loop.nextitem.x }}{% endfor %}",
    "{% for n in numbers %}{{ loop }}{{ loop.cycle('a', 'b') }}{{ loop.changed(n > 1) }}{% else %}none"
    "{% endfor %}",
    "{% for n in [] %}{{ loop.index }}{% else %}none{% endfor %}",
    "{% for n in numbers if n > 1 %}{{ loop.index }}/{{ loop.length }}{{ loop.last }}"
    "{{ loop.previtem }}{% endfor %}",
    "{% for k, v in pairs.items() %}{{ loop.index0 }}{{ k }}{{ loop.last }}{{ loop.nextitem }}{% endfor %}",
    "{% for c in text %}{{ loop.index }}{{ c }}{{ loop.last }}{% endfor %}",
    "{% for n in numbers %}{% if loop.first %}{{ loop|list|length }}{% endif %}{{ n }}{{ loop.index }}"
    "{% endfor %}",
    "{% for n in numbers %}{% for w in loop %}{{ w }}{% endfor %}{{ n }}{% endfor %}",
    "{% for n in numbers %}{% set outer = loop %}{% for w in words %}{{ outer.index }}{{ loop.index }}"
    "{{ loop.last and outer.last }}{% endfor %}{% endfor %}",
    "{% for r in [[1, [2]], [3]] recursive %}{{ loop.depth }}{{ loop.index }}{% if r is iterable %}"
    "{{ loop(r) }}{% endif %}{% endfor %}",
    "{% for n in numbers %}{{ loop(numbers) }}{% endfor %}",
    "{% for n in numbers %}{% if loop.index == 2 %}{% continue %}{% endif %}{{ n }}{% if loop.last %}"
    "{% break %}{% endif %}{% endfor %}",
    "{% for n in numbers %}{{ loop['index'] }}{{ loop['missing'] }}{{ loop.index0 + 1 }}"
    "{{ loop.index - 1 }}{% endfor %}",
    "{% for n in missing %}{{ loop.index }}{% endfor %}{% for n in none %}{{ loop.index }}{% endfor %}",
    "{% for n in numbers %}{{ loop == loop }}{{ loop is iterable }}{{ loop|length }}"
    "{{ loop._iterable }}{% endfor %}",
    "{% set loop = pairs %}{{ loop.k }}{{ loop.index }}{{ loop.length }}",
    "{{ loop.index }}",
    # Namespaces.
    "{% set ns = namespace(a=1, b=none) %}{% set ns.c = 2 %}{{ ns.a }}{{ ns.b }}{{ ns.c }}{{ ns.d }}"
    "{{ ns['a'] }}{{ ns.__class__ }}",
    "{% set ns = namespace() %}{{ ns.x is defined }}{% for n in numbers %}{% set ns.x = n %}"
    "{% endfor %}{{ ns.x }}{{ ns._x }}",
    "{% set ns = namespace(pairs, a=1) %}{{ ns.k }}{{ ns.items }}{{ ns.nested.x }}{{ ns.missing.x }}",
    "{% if namespace(a=0).a %}a{% else %}b{% endif %}{{ 'x' if not namespace().y }}",
    # Numbers.
    "{{ 9223372036854775807 + 1 }}{{ -9223372036854775808 - 1 }}{{ five - 7 }}{{ yes + yes }}{{ yes - 1 }}",
    # What compiled code calls itself by.
    "{{ v }}{{ attribute }}{{ item }}{{ text_class }}{{ Str }}{% set v = 'v' %}{{ v }}{% set Str = 1 %}"
    "{{ 'a' + text }}",
    "{% set type = 'x' %}{% set dict = 'y' %}{{ pairs.k }}{{ type + dict }}",
]


@pytest.mark.parametrize("source", TEMPLATES)
def test_template(source: str) -> None:
    assert outcome(source, VARIABLES) == reference_outcome(source, VARIABLES)


class _Writer:
    """Writes random templates of what is written out, nested as it comes."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def template(self) -> str:
        return "".join(self._statement(2) for _ in range(self._chance.randint(1, 4)))

    def _any_of(self, *writers: Callable[[int], str] | str) -> Callable[[int], str]:
        chosen = self._chance.choice(writers)
        return (lambda depth: chosen) if isinstance(chosen, str) else chosen

    def _statement(self, depth: int) -> str:
        if depth == 0:
            return "{{ " + self._expression(1) + " }}"
        return self._any_of(self._output, self._output, self._if, self._for, self._set)(depth - 1)

    def _output(self, depth: int) -> str:
        return "{{ " + self._expression(2) + " }}"

    def _if(self, depth: int) -> str:
        test, body, other = self._expression(2), self._statement(depth), self._statement(depth)
        return f"{{% if {test} %}}{body}{{% else %}}{other}{{% endif %}}"

    def _for(self, depth: int) -> str:
        values = self._chance.choice(
            ("messages", "numbers", "words", "records", "pairs", "text[:3]", "missing")
        )
        return f"{{% for m in {values} %}}{self._statement(depth)}{self._statement(depth)}{{% endfor %}}"

    def _set(self, depth: int) -> str:
        name = self._chance.choice(("m", "content", "ns"))
        return f"{{% set {name} = {self._expression(2)} %}}{self._statement(depth)}"

    def _expression(self, depth: int) -> str:
        if depth == 0:
            return self._any_of(self._name, self._name, "'a'", "'b'", "1", "none")(0)
        return self._any_of(
            self._member, self._member, self._member, self._sum, self._logic, self._test, self._choice
        )(depth - 1)

    def _name(self, depth: int) -> str:
        return self._chance.choice(
            ("m", "loop", "pairs", "text", "five", "none", "missing", "messages", "content", "ns", "records")
        )

    def _member(self, depth: int) -> str:
        owner = self._name(0) if self._chance.random() < 0.7 else f"({self._expression(depth)})"
        name = self._chance.choice(
            "role content k n nested x a items first last index0 previtem missing upper".split()
        )
        index = self._chance.choice(("0", "-1", f"'{name}'"))
        return self._chance.choice(
            (f"{owner}.{name}", f"{owner}.{name}", f"{owner}['{name}']", f"{owner}[{index}]")
        )

    def _sum(self, depth: int) -> str:
        return " + ".join(self._operand(depth) for _ in range(self._chance.randint(2, 4)))

    def _operand(self, depth: int) -> str:
        endings = (
            "",
            "",
            "|trim",
            "|string",
            "|tojson",
            ".strip()",
            ".split('a')[0]",
            ".replace('a', 'b')",
            "|first",
        )
        return self._expression(depth) + self._chance.choice(endings)

    def _logic(self, depth: int) -> str:
        operator = self._chance.choice(("and", "or", "==", "!=", "in"))
        left, right = self._expression(depth), self._expression(depth)
        return f"({'not ' if self._chance.random() < 0.3 else ''}{left} {operator} {right})"

    def _test(self, depth: int) -> str:
        test = self._chance.choice(
            ("defined", "undefined", "none", "string", "mapping", "not defined", "not none")
        )
        return f"({self._member(depth)} is {test})"

    def _choice(self, depth: int) -> str:
        return f"({self._expression(depth)} if {self._expression(depth)} else {self._expression(depth)})"


@pytest.mark.parametrize("seed", range(40))
def test_random_templates(seed: int) -> None:
    writer = _Writer(seed)
    for _ in range(50):
        source = writer.template()
        assert outcome(source, VARIABLES) == reference_outcome(source, VARIABLES), source


def test_common_cases_are_written_out() -> None:
    """Without this the tests above would pass on code that takes no short cut at all."""

    def code(source: str) -> str:
        return translate(environment(), source).code

    assert "v['a'] if type(v := l_1_m) is dict and 'a' in v" in code("{% for m in x %}{{ m.a }}{% endfor %}")
    assert "v['a'] if type(v := l_1_m) is dict and 'a' in v" in code(
        "{% for m in x %}{{ m['a'] }}{% endfor %}"
    )
    assert "l_1_loop.first if type(l_1_loop) is ListLoop" in code(
        "{% for m in x %}{{ loop.first }}{% endfor %}"
    )
    assert "v.get('a')" in code("{% if m.a %}x{% endif %}")
    assert "v.get('items')" not in code("{% if m['items'] %}x{% endif %}")
    assert "False if type(v := " in code("{{ m.a is defined }}")
    assert "yield v1" in code("{{ 'a' + m.b }}")


def test_a_printed_sum_of_constants_is_one_piece() -> None:
    assert (
        ".extend(('abcd',))"
        in translate(environment(), "{% macro m() %}{{ 'ab' + 'cd' }}{% endmacro %}").code
    )


def test_a_loop_that_is_left_early_keeps_nothing_alive() -> None:
    class Item:
        pass

    items: list[Any] = [Item(), Item()]
    seen = weakref.ref(items[0])
    gc.disable()
    try:
        for _, loop in loop_over(items, Undefined):
            assert loop.first
            break
        del loop, items, _
        assert seen() is None
    finally:
        gc.enable()


def test_a_loop_that_is_left_early_counts_no_longer() -> None:
    left_early = "{% for y in range(100000)|list %}{% if loop.first %}{% break %}{% endif %}{% endfor %}"
    source = "{% for i in range(100) %}" + left_early + "{% endfor %}ok"
    assert outcome(source, {}) == ("text", "ok")


def test_a_loop_over_a_list_is_jinjas_in_all_but_name() -> None:
    assert ListLoop.__mro__[1] is LoopContext
    assert type(loop_over([1], Undefined)) is ListLoop
    assert type(loop_over((1,), Undefined)) is LoopContext
