"""Nothing of Python's insides, and nothing of the caller's data, is in a template's reach."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from render_core.template.compiled import compile_template
from render_core.template.failures import TemplateFailure
from tests.template.reference import NOW

VARIABLES: dict[str, Any] = {
    "messages": [{"role": "user", "content": "hi", "parts": ["a", {"b": 1}]}],
    "text": "abc",
    "numbers": [3, 1, 2],
}

# Each gives nothing, or fails.
ESCAPES = [
    "{{ ''.__class__ }}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ ''['__class__'] }}",
    "{{ ''|attr('__class__') }}",
    "{{ ''|attr('__cla' ~ 'ss__') }}",
    "{{ ''['__cla' + 'ss__']['__mro__'] }}",
    "{{ [''] |map(attribute='__class__')|first }}",
    "{{ ['']|map(attribute='__class__.__mro__')|first }}",
    "{{ ['']|map('attr', '__class__')|first }}",
    "{{ ['a']|groupby('__class__')|first|first }}",
    "{{ ['a']|sort(attribute='__class__.__subclasses__') }}",
    "{{ ['a']|sum(attribute='__class__', start='') }}",
    "{{ ['a']|join(attribute='__class__') }}",
    "{{ ['a']|selectattr('__class__')|first }}",
    "{{ ['a', 'b']|min(attribute='__class__') ~ raise_exception('x') }}",
    "{{ '{0.__class__}'.format('') }}",
    "{{ '{0.__class__.__init__.__globals__}'.format(cycler) }}",
    "{{ '{a.__class__}'.format_map({'a': ''}) }}",
    "{{ '{0[__class__]}'.format('') }}",
    "{{ ('{0.__class__}'|safe).format('') }}",
    "{{ ['{0.__class__}']|map(attribute='format')|first is string and raise_exception('x') }}",
    "{{ ('{0.__class__}'.format)('') }}",
    "{% set f = '{0.__class__}'.format %}{{ f('') }}",
    "{% set f = '{0.__class__}'|attr('format') %}{{ f('') }}",
    "{% set f = ['{0.__class__}']|map(attribute='format')|first %}{{ f('') }}",
    "{% set ns = namespace(f='{0.__class__}'.format) %}{{ ns.f('') }}",
    "{{ cycler.__init__.__globals__ }}",
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "{{ joiner.__init__.__globals__ }}",
    "{{ namespace.__init__.__globals__ }}",
    "{{ lipsum.__globals__ }}",
    "{{ lipsum.func_globals }}",
    "{{ range.__globals__ }}",
    "{{ raise_exception.__globals__ }}",
    "{{ raise_exception.jinja_pass_arg }}",
    "{{ strftime_now.__globals__ }}",
    "{{ dict.mro() }}",
    "{{ dict.__subclasses__() }}",
    "{{ dict['x'].__origin__ }}",
    "{{ cycler(1).__class__ }}",
    "{{ cycler(1).__init__.__globals__ }}",
    "{{ namespace().__class__ }}",
    "{{ namespace()['__class__'] }}",
    "{{ self._TemplateReference__context }}",
    "{{ self.__context }}",
    "{% block b %}{% endblock %}{{ self.b._context }}",
    "{% block b %}{% endblock %}{{ self.b._stack }}",
    "{% block b %}{{ super.__self__ }}{% endblock %}",
    "{% macro m() %}{% endmacro %}{{ m._func }}",
    "{% macro m() %}{% endmacro %}{{ m._environment }}",
    "{% macro m() %}{% endmacro %}{{ m.__call__.__globals__ }}",
    "{% macro m() %}{{ caller.__init__ }}{{ caller._func }}{% endmacro %}{% call m() %}{% endcall %}",
    "{% for x in numbers %}{{ loop._iterator }}{{ loop.__class__ }}{{ loop._recurse }}{% endfor %}",
    "{% set g = numbers|map('string') %}{{ g.gi_frame }}",
    "{% set g = numbers|map('string') %}{{ g.gi_code }}",
    "{% set g = numbers|map('string') %}{{ g.gi_yieldfrom }}{{ g.gi_running }}",
    "{% set g = numbers|map('string') %}{{ g.throw }}{{ g.send }}{{ g.close }}",
    "{{ text.upper.__self__ }}",
    "{{ text.upper.__func__ }}",
    "{{ missing._undefined_exception }}",
    "{{ missing.__class__ }}",
    "{{ (1).__class__ }}",
    "{{ none.__class__ }}",
    "{{ {}.__class__ }}",
    "{{ {}.items().mapping }}",
    "{{ {}.keys().__class__ }}",
    "{{ (text|safe).__class__ }}",
    "{{ (text|safe).__html__() }}",
    "{{ environment }}",
    "{{ context }}",
    "{{ operations }}",
    "{{ resolve }}",
    "{{ __builtins__ }}",
    "{{ l_0_text }}",
    "{{ text.encode('rot13') }}",
    "{{ text.encode('idna') }}",
    "{{ text.encode('utf-8', 'namereplace') }}",
    "{{ text.encode().decode('unicode_escape') }}",
    "{{ (1).from_bytes.__self__ }}",
    "{{ text.nothing() }}",
    "{{ 'int'() }}",
]

# Each would change what the caller handed in.
MUTATIONS = [
    "{{ numbers.append(4) }}",
    "{{ numbers.sort() }}",
    "{{ numbers.reverse() }}",
    "{{ numbers.clear() }}",
    "{{ numbers.extend([1]) }}",
    "{{ numbers.insert(0, 1) }}",
    "{{ numbers.pop() }}",
    "{{ numbers.remove(1) }}",
    "{{ numbers.__setitem__(0, 1) }}",
    "{{ numbers.__iadd__([1]) }}",
    "{{ numbers|attr('append') is callable and numbers|attr('append')(1) }}",
    "{{ (numbers['append'])(1) }}",
    "{{ messages[0].update({'role': 'system'}) }}",
    "{{ messages[0].pop('role') }}",
    "{{ messages[0].popitem() }}",
    "{{ messages[0].clear() }}",
    "{{ messages[0].setdefault('x', 1) }}",
    "{{ messages[0].__setitem__('role', 'x') }}",
    "{{ messages[0].__delitem__('role') }}",
    "{{ messages[0].parts.append(1) }}",
    "{{ dict.update(messages[0], {'role': 'system'}) }}",
    "{{ dict.clear(messages[0]) }}",
    "{{ dict.pop(messages[0], 'role') }}",
    "{{ dict.setdefault(messages[0], 'x', 1) }}",
    "{{ dict['x'].update(messages[0], {'role': 'system'}) }}",
    "{{ messages|map(attribute='update')|list }}{% for m in messages %}{{ m['clear']() }}{% endfor %}",
    "{% set messages[0].role = 'system' %}",
    "{% set m = messages[0] %}{% set m.role = 'system' %}",
    "{% set ns = namespace(messages[0]) %}{% set ns.role = 'system' %}{{ ns.role }}",
    "{{ numbers|sort }}{{ numbers|reverse|list }}{{ numbers|batch(2, 'x')|list }}{{ numbers|sum(start=[]) }}",
    "{{ numbers|indent }}",
    "{{ messages|indent(first=true) }}",
    "{% set n = numbers %}{% set n = n + [1] %}",
    "{% for m in messages %}{% set m = {} %}{% endfor %}",
]


@pytest.mark.parametrize("source", ESCAPES)
def test_escape_gives_nothing_or_fails(source: str) -> None:
    try:
        text = compile_template(source).render(VARIABLES, now=NOW)
    except TemplateFailure as failure:
        assert failure.message  # noqa: PT017
    else:
        assert text.replace("False", "") == ""


@pytest.mark.parametrize("source", MUTATIONS)
def test_the_callers_data_stays_as_it_is(source: str) -> None:
    variables = copy.deepcopy(VARIABLES)
    try:
        compile_template(source).render(variables, now=NOW)
    except TemplateFailure as failure:
        assert failure.message  # noqa: PT017
    assert variables == VARIABLES


def test_unsafe_attribute_fails_when_it_is_used() -> None:
    with pytest.raises(TemplateFailure) as caught:
        compile_template("{{ ''.__class__.x }}").render({}, now=NOW)
    assert caught.value.message == "access to attribute '__class__' of 'str' object is unsafe."
