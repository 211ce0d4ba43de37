"""What is known of a compiled template, how it fails, and that renderings do not disturb each other."""

from __future__ import annotations

import gc
import threading
from types import MappingProxyType
from typing import Any

import pytest
from jinja2 import meta

from render_core.template.budget import TemplateBudget
from render_core.template.compiled import CompiledTemplate, compile_template
from render_core.template.failures import TemplateBudgetError, TemplateFailure, TemplateRejectedError
from tests.template.reference import NOW, reference_environment

SOURCES_WITH_VARIABLES = [
    "",
    "{{ a.b.c }}{{ d[e] }}{% if f is defined %}{% endif %}",
    "{% set x = y %}{{ x }}{% for m in messages %}{{ loop.index }}{{ m.x }}{% endfor %}{{ m }}",
    "{% macro f(p, q=r) %}{{ p }}{{ q }}{{ s }}{{ kwargs }}{{ varargs }}{{ caller() }}{% endmacro %}{{ f(1) }}",
    "{{ raise_exception('x') }}{{ strftime_now('%d') }}{{ range(3) }}{{ dict() }}{{ namespace() }}{{ cycler(1) }}",
    "{% generation %}{{ g }}{% endgeneration %}{% block b %}{{ h }}{% endblock %}{{ self.b() }}",
    "{{ 'x' if true else hidden }}{{ true or shadowed }}{% with k = v %}{{ k }}{% endwith %}",
    "{% for k, v in items if v in allowed %}{{ k ~ v ~ w }}{% else %}{{ z }}{% endfor %}",
    "{{ x|default(fallback)|join(*separators, **options) }}",
]


def render(source: str, budget: TemplateBudget | None = None, **variables: Any) -> str:
    return compile_template(source).render(variables, now=NOW, budget=budget)


@pytest.mark.parametrize("source", SOURCES_WITH_VARIABLES)
def test_variables_are_those_that_jinja_finds_undeclared(source: str) -> None:
    plain = reference_environment()
    del (
        plain.globals["raise_exception"],
        plain.globals["strftime_now"],
    )  # vLLM looks in an environment without them
    assert compile_template(source).variables == meta.find_undeclared_variables(plain.parse(source))


@pytest.mark.parametrize(
    ("source", "mentions"),
    [
        ("{% if role == 'developer' %}{% endif %}", True),
        ('{% if role in ("developer", "x") %}{% endif %}', True),
        ("developer", False),
        ("{{ developer }}", False),
        ("{# 'developer' #}", True),
    ],
)
def test_developer_role_is_recognised_by_the_quoted_word(source: str, mentions: bool) -> None:
    assert compile_template(source).mentions_developer is mentions


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{{ raise_exception('Roles must alternate') }}", "Roles must alternate"),
        ("{{ a.b.c }}", "'a' is undefined"),
        ("{{ [].a.b }}", "'list object' has no attribute 'a'"),
        ("{{ 1 + 'a' }}", "unsupported operand type(s) for +: 'int' and 'str'"),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ [].append(1) }}", "access to attribute 'append' of 'list' object is unsafe."),
        ("{{ 'a'|int(base='x')|round('y') }}", "'str' object cannot be interpreted as an integer"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "maximum recursion depth exceeded"),
    ],
)
def test_failing_template_is_rejected_with_the_message_of_its_error(source: str, message: str) -> None:
    with pytest.raises(TemplateRejectedError) as caught:
        render(source)
    assert caught.value.message.startswith(message)
    assert str(caught.value) == caught.value.message


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{% if %}", "Expected an expression, got 'end of statement block'"),
        ("{{ a|nope }}", "No filter named 'nope'."),
        (
            "{% for a in b %}",
            "Unexpected end of template. Jinja was looking for the following tags: 'endfor' or 'else'.",
        ),
        ("{% block a %}{% endblock %}{% block a %}{% endblock %}", "block 'a' defined twice"),
        ("a" * 200_000, "The chat template is longer than 131072 characters."),
        ("{{" + "(" * 500 + "a" + ")" * 500 + "}}", "maximum recursion depth exceeded"),
        ("{{ a" + ".b" * 500 + " }}", "the template is nested more than 300 levels deep"),
        ("{% for a in b %}" * 30 + "{% endfor %}" * 30, "too many statically nested blocks"),
    ],
)
def test_template_that_does_not_compile_is_rejected(source: str, message: str) -> None:
    with pytest.raises(TemplateRejectedError) as caught:
        compile_template(source)
    assert caught.value.message.startswith(message)


def test_the_message_of_a_failure_is_cut() -> None:
    with pytest.raises(TemplateRejectedError) as failure:
        compile_template("{{ raise_exception('x' * 5000) }}").render({}, now=NOW)
    assert failure.value.message == "x" * 2000


def test_failure_keeps_nothing_of_the_rendering_alive() -> None:
    with pytest.raises(TemplateFailure) as caught:
        render("{{ raise_exception('x') }}")
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


def test_variables_may_be_any_mapping_and_stay_as_they_are() -> None:
    variables = MappingProxyType({"messages": [{"role": "user"}]})
    template = compile_template("{% set messages = 1 %}{% set x = 2 %}{{ messages }}")
    assert template.render(variables, now=NOW) == "1"
    assert variables == {"messages": [{"role": "user"}]}


def test_template_is_frozen() -> None:
    with pytest.raises(AttributeError):
        compile_template("x").source = "y"  # type: ignore[misc]


def test_renderings_in_threads_have_budgets_of_their_own() -> None:
    """Both use the same template at the same time; only the one with the small budget fails."""
    template = compile_template(
        "{% for i in range(n) %}{% for j in range(200) %}{{ 'ab' }}{% endfor %}{% endfor %}"
    )
    outcomes: dict[str, Any] = {}

    def run(name: str, budget: TemplateBudget) -> None:
        try:
            outcomes[name] = len(template.render({"n": 500}, now=NOW, budget=budget))
        except TemplateFailure as failure:
            outcomes[name] = type(failure)

    threads = [
        threading.Thread(target=run, args=("small", TemplateBudget(max_chars=1000))),
        threading.Thread(target=run, args=("large", TemplateBudget(seconds=300))),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == {"small": TemplateBudgetError, "large": 200_000}


@pytest.mark.parametrize(
    "source",
    [
        "{% macro m(x) %}{% if x %}{{ m(x[1:]) }}{% endif %}{% endmacro %}{{ m(text) }}",
        "{% macro f(x) %}{{ g(x) }}{% endmacro %}{% macro g(x) %}{{ x[5:] ~ text }}{% endmacro %}{{ f(text) }}",
        "{% set ns = namespace(big=text ~ text) %}{% macro m() %}{{ ns.big }}{{ m is defined }}{% endmacro %}{{ m() }}",
    ],
)
def test_rendering_leaves_no_garbage(source: str) -> None:
    """Macros and what they close over form cycles; they must not keep long texts until the collector comes."""
    template = compile_template(source)
    text = "a" * 100
    template.render({"text": text}, now=NOW)
    gc.collect()
    gc.disable()
    try:
        template.render({"text": text}, now=NOW)
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_default_budget_is_used_when_none_is_given() -> None:
    template: CompiledTemplate = compile_template("{{ 'a' * n }}")
    assert template.render({"n": 10}, now=NOW) == "a" * 10
    with pytest.raises(TemplateBudgetError, match="67108864 characters"):
        template.render({"n": 10**9}, now=NOW)
