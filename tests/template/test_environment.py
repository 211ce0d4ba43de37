"""Text and error messages are those of plain Jinja in transformers' configuration."""

from __future__ import annotations

from typing import Any

import pytest

from render_core.template.environment import environment
from tests.template.reference import NOW, outcome, reference_environment, reference_outcome

VARIABLES: dict[str, Any] = {
    "messages": [
        {"role": "system", "content": "Be <brief>."},
        {"role": "user", "content": " Hi\n there "},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"function": {"arguments": {"city": "Zürich", "days": [1, 2]}, "name": "weather"}}
            ],
        },
        {"role": "tool", "content": "21 °C"},
    ],
    "tools": [{"type": "function", "function": {"name": "weather", "description": None, "parameters": {}}}],
    "add_generation_prompt": True,
    "text": "Hello <b> & wörld\n two\tthree",
    "empty": "",
    "five": 5,
    "half": 0.5,
    "none": None,
    "yes": True,
    "numbers": [3, 1, 2],
    "words": ["b", "A", "c"],
    "pairs": {"k": "v", "nested": {"x": 1}, "items": [1], "n": None},
    "records": [{"a": 1, "b": "x"}, {"a": 2, "b": "y", "c": {"z": 1}}, {"b": "X"}],
    "link": "see http://a.example.com/x?y=1 or me@example.com",
}

TEMPLATES = [
    "",
    "plain text\n",
    "two newlines\n\n",
    "  {% if yes %}  \n  a\n  {% endif %}\n",
    "{%- for m in messages %} {{- m.role -}} \n{% endfor -%} end",
    "{% for m in messages %}{% if loop.first %}[{% endif %}{{ m['role'] }}{% if loop.last %}]{% endif %}{% endfor %}",
    "{{ '<|im_start|>' + messages[0].role + '\n' + messages[0].content + '<|im_end|>' + '\n' }}",
    "{{ 'a' + messages[2].content + 'b' }}",
    "{{ messages[2].content + 'b' + missing.x }}",
    "{{ 'a' + none + messages[0].missing }}",
    "{{ 1 + 2 + 'a' + 'b' }}",
    "{{ numbers + words + [none] }}",
    "{{ numbers + (1, 2) }}",
    "{{ text ~ five ~ none ~ half ~ yes ~ missing ~ numbers }}",
    "{{ five * 'ab' }}{{ 'ab' * five }}{{ [1] * 2 }}{{ -five }}{{ +half }}{{ 7 // 2 }}{{ 7 % 4 }}{{ 2 ** 8 }}",
    "{{ 1 / 3 }}{{ -7 // 2 }}{{ -7 % 4 }}{{ 2 ** -1 }}{{ 1e16 }}{{ 1e-7 }}{{ 2.0 }}",
    "{{ 1 / 0 }}",
    "{{ 'a' - 1 }}",
    "{{ 10 ** 4000 }}",
    "{{ 10 ** 5000 }}",
    "{{ '%s is %d%% of %05.1f' % ('a', 5, 2.5) }}",
    "{{ '%(a)s %(b)r' % {'a': text, 'b': text} }}",
    "{{ '%s' % numbers }}{{ '%s %s' % (1, 2) }}",
    "{{ '%s %s' % 1 }}",
    "{{ '%(a' % {'a': 1} }}",
    "{{ '100%' % () }}",
    "{{ '{} {1}'.format(1, 2) }}",
    "{{ '{0} {1!r} {x:>8} {y[0]} {z.role}'.format(1, text, x='r', y=numbers, z=messages[0]) }}",
    "{{ '{a} {b}'.format_map({'a': 1, 'b': text}) }}",
    "{{ '{a}'.format_map({}) }}",
    "{{ ('<{}>'|e).format('<') }}{{ ('<b>'|safe).format() }}",
    "{{ five in numbers }}{{ 'a' in 'abc' }}{{ 'x' not in pairs }}{{ 3 in numbers }}{{ 'k' in pairs.keys() }}",
    "{{ five in five }}",
    "{{ 'a' in [none, words] }}{{ words in [words] }}{{ 1 < five <= 5 }}{{ 1 in numbers in [numbers] }}",
    "{% set g = numbers|select %}{{ 1 in g }}{{ g|list }}",
    "{{ numbers == [3, 1, 2] }}{{ numbers != words }}{{ numbers < [4] }}{{ pairs == pairs }}",
    "{{ numbers < 'a' }}",
    "{{ numbers[1:] }}{{ numbers[::-1] }}{{ text[:5] }}{{ numbers[-1] }}{{ (1, 2)[0] }}",
    "{{ five[1:] }}",
    "{{ {five: 1, 'a': [words, {}], (1, 2): 3} }}",
    "{{ {numbers: 1} }}",
    "{{ pairs.items() }}{{ pairs.k }}{{ pairs['items'] }}{{ pairs.items is callable }}{{ pairs.nope is defined }}",
    "{{ pairs.nope.nope }}",
    "{{ missing.x }}",
    "{{ missing[0] }}",
    "{{ missing() }}",
    "{{ messages[99].role }}",
    "{{ messages['x'].role }}",
    "{{ none.x.y }}",
    "{{ messages|first }}{{ []|first }}{{ []|last }}",
    "{{ raise_exception('No <system> role!') }}",
    "{{ raise_exception(numbers) }}",
    "{{ strftime_now('%d %b %Y') }}{{ strftime_now(format='%H') }}",
    "{{ strftime_now(5) }}",
    "{{ tools|tojson }}{{ tools|tojson(indent=4) }}{{ text|tojson }}{{ text|tojson(true) }}",
    "{{ {'b': 1, 'a': 2}|tojson(sort_keys=true) }}{{ {1: half, none: 1e-7}|tojson }}{{ numbers|tojson(indent='--') }}",
    "{{ numbers|tojson(separators=(',', ':')) }}{{ numbers|tojson(4) }}",
    "{{ missing|tojson }}",
    "{{ {(1, 2): 1}|tojson }}",
    "{% macro m(a, b='d', *c) %}{% endmacro %}",
    "{% macro m(a, b='d') %}<{{ a }}|{{ b }}|{{ varargs }}|{{ kwargs }}>{% endmacro %}{{ m() }}{{ m(1, 2, 3, x=4) }}"
    "{{ m(*numbers) }}{{ m(**{'b': 2}) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(b=2) }}",
    "{% macro m(a) %}{{ caller(a) }}{% endmacro %}{% call(x) m('q') %}{{ x }}!{% endcall %}{{ m.name }}{{ m }}",
    "{% macro outer(xs) %}{% macro inner(x) %}({{ x }}{{ xs|length }}){% endmacro %}"
    "{% for x in xs %}{{ inner(x) }}{% endfor %}{% endmacro %}{{ outer(numbers) }}",
    "{% set ns = namespace(a=1, b=none) %}{% for n in numbers %}{% set ns.a = ns.a + n %}{% endfor %}"
    "{{ ns.a }}{{ ns.b }}{{ ns.c }}{{ ns }}",
    "{% set pairs.k = 1 %}",
    "{% set x %}{% for n in numbers %}{{ n }}{% endfor %}{% endset %}{{ x }}{{ x|length }}",
    "{% set x|upper %}ab{% endset %}{{ x }}",
    "{% filter upper|trim %} {{ text }} {% endfilter %}",
    "{% for n in numbers if n > 1 %}{{ n }}{% else %}none{% endfor %}{% for n in [] %}{% else %}none{% endfor %}",
    "{% for n in range(10) %}{% if n == 2 %}{% continue %}{% endif %}{% if n == 5 %}{% break %}{% endif %}{{ n }}"
    "{% endfor %}",
    "{% for k, v in pairs.items() %}{{ k }}={{ v }};{% endfor %}{% for k, v in pairs|items %}{{ k }}{% endfor %}"
    "{% for k, v in pairs|dictsort %}{{ k }}{% endfor %}",
    "{% for a, b in numbers %}{% endfor %}",
    "{% for n in five %}{% endfor %}",
    "{% for n in numbers %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.length }}{{ loop.previtem }}"
    "{{ loop.nextitem }}{{ loop.cycle('a', 'b') }}{{ loop.changed(n) }}{{ loop.depth }}{% endfor %}{{ loop }}",
    "{% for n in [1, [2, [3]]] recursive %}{% if n is iterable %}({{ loop(n) }}){% else %}{{ n }}{% endif %}"
    "{% endfor %}",
    "{% for n in numbers|map('string')|select %}{{ loop.last }}{{ loop.length }}{% endfor %}",
    "{% generation %}{% for n in numbers %}{{ n }}{% endfor %}{% endgeneration %}",
    "{% for m in messages %}{% generation %}{{ m.role }}{% set q = 1 %}{% endgeneration %}{{ q }}{% endfor %}",
    "{% with a = 1, b = five %}{{ a + b }}{% endwith %}{{ a }}",
    "{% block b %}{{ self.b is callable }}{{ five }}{% endblock %}{{ self.b() }}",
    "{% block b %}{{ super() }}{% endblock %}",
    "{% block b scoped %}{{ strftime_now('%Y') }}{% endblock %}",
    "{% for n in numbers %}{% block b scoped %}{{ n + 1 }}{% endblock %}{% endfor %}",
    "{% autoescape true %}{{ text }}{{ text ~ '<' }}{{ text|safe ~ '<' }}{% for w in ['<'] %}{{ w }}{% endfor %}"
    "{% set x %}<{% endset %}{{ x }}{% endautoescape %}{{ text }}",
    "{% autoescape yes %}{{ text }}{{ text ~ '<' }}{{ text|upper }}{% endautoescape %}",
    "{{ cycler(1, 2).next() }}{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.current }}{{ c.next() }}{{ c.reset() }}",
    "{% set j = joiner('|') %}{{ j() }}a{{ j() }}b",
    "{{ dict(a=1) }}{{ dict([(1, 2)]) }}{{ dict(pairs, z=1) }}{{ dict.fromkeys('ab', 0) }}{{ dict(5) }}",
    "{{ dict('ab') }}",
    "{{ range(3)|list }}{{ range(100001) }}",
    "{{ range(3)[1] }}{{ range(1, 9, 3)|list }}",
    "{{ 'yes' if five > 3 else 'no' }}{{ 'yes' if five > 9 }}",
    "{{ ('yes' if five > 9).x }}",
    "{{ five is divisibleby 5 }}{{ five is odd }}{{ text is lower }}{{ none is none }}{{ five is sameas five }}",
    "{{ 'upper' is filter }}{{ 3 is in numbers }}{{ '%s!' is odd }}",
    "{{ records|selectattr('a')|map(attribute='b')|join(', ') }}{{ records|selectattr('b', 'equalto', 'x')|list }}"
    "{{ records|rejectattr('a', 'defined')|list }}",
    "{{ records|map(attribute='c.z')|list }}{{ records|map(attribute='c.z', default=0)|list }}",
    "{{ words|map('upper')|list }}{{ words|map('replace', 'b', 'q')|list }}",
    "{{ words|map('nope')|list }}",
    "{{ words|nope }}",
    "{{ words is nope }}",
    "{% if false %}{{ words|nope }}{% endif %}ok",
    "{{ words|sort }}{{ words|sort(case_sensitive=true) }}{{ records|sort(attribute='b,a')|map(attribute='b')|list }}",
    "{{ records|sort(attribute='a') }}",
    "{{ records|groupby('b') }}{{ numbers|batch(2, 0)|list }}{{ numbers|slice(2, 'x')|list }}{{ words|unique|list }}",
    "{{ numbers|sum }}{{ [[1], [2]]|sum(start=[]) }}{{ numbers|min }}{{ numbers|max }}{{ []|max }}",
    "{{ numbers|reverse|list }}{{ text|reverse }}{{ pairs|length }}{{ numbers|map('string')|join('-') }}",
    "{{ messages|selectattr('role')|length }}",
    "{{ text|indent }}{{ text|indent(2, true) }}{{ text|indent('> ', blank=true) }}{{ text|replace('e', 'EE', 1) }}",
    "{{ text|truncate(9) }}{{ text|wordwrap(5) }}{{ text|center(40) }}",
    "{{ messages|indent }}",
    "{{ text|e }}{{ text|urlencode }}{{ pairs|urlencode }}{{ link|urlize }}{{ {'a': '<', 'b': none}|xmlattr }}",
    "{{ '<b>x</b> <!-- y -->'|striptags }}{{ 1234567|filesizeformat }}{{ -3|abs }}",
    "{{ '7'|int + 1 }}{{ 'x'|int(3) }}{{ 'ff'|int(0, 16) }}{{ '1.5'|float }}",
    "{{ 2.567|round(2) }}{{ 2.567|round(1, 'ceil') }}{{ 15|round(-1) }}",
    "{{ missing|default('d') }}{{ ''|default('d', true) }}{{ none|d('x') }}",
    "{{ pairs|attr('k') }}{{ text|attr('upper')() }}",
    "{{ text.strip().split('\n')[0].lstrip('H').upper() }}{{ 'a-b-c'.rsplit('-', 1) }}{{ 'abc'.partition('b') }}",
    "{{ ', '.join(words) }}{{ ''.join(numbers) }}",
    "{{ ','.join('abc') }}{{ ','.join(pairs) }}{{ '-'.join(words|map('lower')) }}",
    "{{ 'abc'.startswith(('x', 'a')) }}{{ 'abc'.replace('b', 'B', 1) }}{{ 'é'.encode('utf-8') }}{{ '7'.zfill(3) }}",
    "{{ 'abc'.translate({98: 'x'}) }}{{ 'a\tb'.expandtabs(3) }}{{ text.splitlines() }}{{ ' x '.strip() }}",
    "{{ 'abc'.index('z') }}",
    "{{ 'abc'.nope() }}",
    "{{ 'abc'.split(1) }}",
    "{{ pairs.get('k') }}{{ pairs.get('z', 'd') }}{{ pairs.keys()|list }}{{ pairs.values()|list }}{{ pairs.copy() }}",
    "{{ numbers.index(1) }}{{ numbers.count(3) }}{{ five.bit_length() }}{{ half.is_integer() }}",
    "{{ five.real }}{{ yes + 1 }}{{ yes ~ 1 }}",
    "{{ numbers.append(4) }}",
    "{{ pairs.update({}) }}",
    "{{ pairs.pop('k') }}",
    "{% set x = numbers.append %}ok{{ x }}",
    "{{ words|list|pprint }}{{ pairs|pprint }}",
    "{{ namespace }}{{ namespace(pairs).k }}{{ namespace(1) }}",
    "{% include 'x' %}",
    "{% import 'x' as y %}",
    "{% do numbers.append(1) %}",
    "{{ text",
    "{% if %}{% endif %}",
    "{% for loop in numbers %}{% endfor %}",
    "{# comment #}{% raw %}{{ raw }}{% endraw %}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set a = [a, b] %}{{ a }}",
    "{{ not none }}{{ yes and 'x' }}{{ '' or 'y' }}{{ none and missing.x }}",
    "{% set rest = messages[1:] if messages[0].role == 'system' else messages %}"
    "{% for m in rest %}{{ m.role }}: {{ (m.content or '')|trim }}\n{% endfor %}",
]

FILTER_INPUTS = """
    text; empty; five; half; none; yes; missing; numbers; words; pairs; records; (1, 'a'); text|safe; range(3);
    pairs.keys(); namespace(a=1); [[1], [2]]; '12'
""".replace("\n", "").split(";")
FILTER_ARGUMENTS = """
    ;(1);('a');(2, 'x');(attribute='a');('b', 'x');('upper');('default', 'z');(reverse=true);(width=3);(none);
    (*numbers);(x=1)
""".replace("\n", "").split(";")
ITERATING_FILTERS = """
    batch first groupby items join length list map max min reject reverse select slice sort sum tojson unique
""".split()


def differences(sources: list[str]) -> dict[str, Any]:
    """What differs from plain Jinja, by source."""
    outcomes = {
        source: (outcome(source, VARIABLES), reference_outcome(source, VARIABLES)) for source in sources
    }
    return {source: pair for source, pair in outcomes.items() if pair[0] != pair[1]}


@pytest.mark.parametrize("source", TEMPLATES)
def test_renders_as_plain_jinja_does(source: str) -> None:
    assert outcome(source, VARIABLES) == reference_outcome(source, VARIABLES)


@pytest.mark.parametrize("name", sorted(set(reference_environment().filters) - {"random"}))
def test_filter_gives_what_it_gives_in_plain_jinja(name: str) -> None:
    sources = [
        f"{{{{ ({value})|{name}{arguments} }}}}" for value in FILTER_INPUTS for arguments in FILTER_ARGUMENTS
    ]
    sources += [
        f"{{{{ (({value})|{name})|first }}}}{{{{ (({value})|{name})|list }}}}" for value in FILTER_INPUTS
    ]
    assert differences(sources) == {}


@pytest.mark.parametrize("name", ITERATING_FILTERS)
def test_filter_of_an_iterator_gives_what_it_gives_in_plain_jinja(name: str) -> None:
    iterators = ("words|map('upper')", "numbers|select", "records|map(attribute='a')", "pairs|items")
    sources = [
        f"{{{{ ({value})|{name}{arguments} }}}}" for value in iterators for arguments in FILTER_ARGUMENTS
    ]
    sources += [f"{{{{ (({value})|{name})|list }}}}" for value in iterators]
    assert differences(sources) == {}


@pytest.mark.parametrize(
    "name", sorted(name for name in reference_environment().tests if name.isidentifier())
)
def test_test_gives_what_it_gives_in_plain_jinja(name: str) -> None:
    arguments = ("", "(1)", "('a')", "(numbers)", "(pairs)", "(none)")
    assert differences([f"{{{{ ({v}) is {name}{a} }}}}" for v in FILTER_INPUTS for a in arguments]) == {}


def test_all_filters_tests_and_globals_are_there() -> None:
    ours, plain = environment(), reference_environment()
    assert ours.filters.keys() == plain.filters.keys()
    assert ours.tests.keys() == plain.tests.keys()
    assert ours.globals.keys() == plain.globals.keys()


@pytest.mark.parametrize("operator", ["+", "~", "*", "and", "|trim|e ~"])
@pytest.mark.parametrize("count", [2, 3, 50, 190])
def test_long_chain_of_operands_renders(operator: str, count: int) -> None:
    source = "{{ " + f" {operator} ".join(["five"] * count) + " }}"
    assert outcome(source, VARIABLES) == reference_outcome(source, VARIABLES)


def test_constant_power_is_computed_while_rendering() -> None:
    assert outcome("{{ 2 ** 10 }}{{ (1 ** 1000000000) + 0 ** 1000000000 }}", {}) == ("text", "10241")


def test_clock_is_the_one_handed_in() -> None:
    assert outcome("{{ strftime_now('%Y-%m-%d %H:%M:%S') }}", {}) == ("text", f"{NOW:%Y-%m-%d %H:%M:%S}")


def test_variables_may_hide_globals() -> None:
    variables = {"range": [1], "raise_exception": "x"}
    source = "{{ range }}{{ raise_exception }}"
    assert outcome(source, variables) == reference_outcome(source, variables) == ("text", "[1]x")
