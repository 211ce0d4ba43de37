"""Chat templates that mean harm, as a trusted client might send them: none may be answered with a prompt."""

from __future__ import annotations

from typing import Final

_NEVER: Final = "{% for a in range(100000) %}{% for b in range(100000) %}{% for c in range(100000) %}"
_ENDFORS: Final = "{% endfor %}" * 3

ENDLESS: Final[dict[str, str]] = {
    "loops in loops": f"{_NEVER}{_ENDFORS}",
    "loops in loops that test": f"{_NEVER}{{% if a == b and c is odd %}}{{% endif %}}{_ENDFORS}",
    "loops in loops that set": f"{_NEVER}{{% set d = a * b + c %}}{_ENDFORS}",
    "loops in loops that call": f"{{% macro m() %}}{{% endmacro %}}{_NEVER}{{{{ m() }}}}{_ENDFORS}",
    "loops in loops that continue": f"{_NEVER}{{% continue %}}{_ENDFORS}",
    "loops in loops that filter": "{% for a in range(100000) if range(100000) | sum < 0 %}{% endfor %}",
    "loops in loops that sort": "{% for a in range(100000) %}{% set b = range(100000) | sort | list %}{% endfor %}",
    "loops in loops that search": "{% for a in range(100000) %}{% set b = -1 in range(100000) | list %}{% endfor %}",
    "loops in loops that join": "{% for a in range(100000) %}{% set b = range(100000) | join %}{% endfor %}",
    "macros that call each other": (
        "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}"
    ),
    "loop that recurses": (
        "{% for a in [1, 2] recursive %}{% if loop.depth < 60 %}{{ loop([1, 2]) }}{% endif %}{% endfor %}"
    ),
    "search in a doubled text": (
        "{% set ns = namespace(s='ab') %}{% for i in range(15) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}"
        "{% for a in range(100000) %}{% for b in range(1000) %}{% set c = ns.s.count('abc') %}{% endfor %}{% endfor %}"
    ),
    "replacing in a doubled text": (
        "{% set ns = namespace(s='ab') %}{% for i in range(15) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}"
        "{% for a in range(100000) %}{% for b in range(1000) %}{% set c = ns.s | replace('ab', 'ba') %}{% endfor %}"
        "{% endfor %}"
    ),
    "large powers": "{{ 9 ** (9 ** 9) }}",
    "large powers of variables": "{% set n = 999999999 %}{{ n ** n }}",
    "squares of squares": (
        "{% set ns = namespace(n=10) %}{% for i in range(40) %}{% set ns.n = ns.n * ns.n %}{% endfor %}{{ ns.n > 1 }}"
    ),
    "shifted by powers": "{% set ns = namespace(n=2) %}{% for i in range(60) %}{% set ns.n = ns.n ** 3 %}{% endfor %}",
}

LARGE: Final[dict[str, str]] = {
    "printed loop": "{% for a in range(100000) %}{% for b in range(100000) %}lorem ipsum{% endfor %}{% endfor %}",
    "doubled text": (
        "{% set ns = namespace(s='x') %}{% for i in range(30) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}{{ ns.s }}"
    ),
    "doubled text by plus": (
        "{% set ns = namespace(s='x') %}{% for i in range(30) %}{% set ns.s = ns.s + ns.s %}{% endfor %}{{ ns.s }}"
    ),
    "doubled text that is not printed": (
        "{% set ns = namespace(s='x') %}{% for i in range(30) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}"
        "{{ ns.s | length }}"
    ),
    "doubled list": (
        "{% set ns = namespace(s=[0]) %}{% for i in range(28) %}{% set ns.s = ns.s + ns.s %}{% endfor %}"
        "{{ ns.s | length }}"
    ),
    "doubled content": (
        "{% set ns = namespace(s=messages[0].content) %}"
        "{% for i in range(30) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}{{ ns.s | length }}"
    ),
    "repeated text": "{{ 'x' * 1000000000 }}",
    "repeated text the other way round": "{{ 1000000000 * 'x' }}",
    "repeated list": "{{ ([0] * 200000000) | length }}",
    "repeated variable": "{% set s = messages[0].content %}{{ (s * 1000000000) | length }}",
    "centred text": "{{ 'x' | center(1000000000) }}",
    "padded text": "{{ 'x'.ljust(1000000000) | length }}",
    "padded number": "{{ '7'.zfill(1000000000) | length }}",
    "expanded tabs": "{{ '\t'.expandtabs(1000000000) | length }}",
    "indented text": "{{ 'x\ny' | indent(1000000000) | length }}",
    "formatted width": "{{ '%1000000000d' % 1 }}",
    "formatted width from a value": "{{ '%*d' % (1000000000, 1) }}",
    "formatted precision": "{{ '%.1000000000f' % 1.5 }}",
    "format filter": "{{ '%1000000000s' | format('x') }}",
    "format method": "{{ '{:>1000000000}'.format('x') }}",
    "format method with a width in an argument": "{{ '{:>{w}}'.format('x', w=1000000000) }}",
    "replaced text": "{{ ('x' * 40000) | replace('x', 'y' * 40000) | length }}",
    "replaced text by method": "{{ ('x' * 40000).replace('', 'y' * 40000) | length }}",
    "joined text": "{{ range(40000) | join('y' * 40000) | length }}",
    "joined text by method": "{{ ('y' * 40000).join(('x' * 40000) | list) | length }}",
    "translated text": "{{ ('x' * 40000).translate({120: 'y' * 40000}) | length }}",
    "wrapped text": "{{ ('x' * 40000) | wordwrap(1, wrapstring='y' * 40000) | length }}",
    "indented JSON": "{{ [[1]] | tojson(indent=1000000000) }}",
    "JSON with long separators": "{{ (range(40000) | list) | tojson(separators=('y' * 40000, ':')) | length }}",
    "JSON of what holds itself often": (
        "{% set ns = namespace(s=['x']) %}{% for i in range(30) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}"
        "{{ ns.s | tojson | length }}"
    ),
    "text of what holds itself often": (
        "{% set ns = namespace(s=['x']) %}{% for i in range(30) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}"
        "{{ ns.s | string | length }}"
    ),
    "pretty print of what holds itself often": (
        "{% set ns = namespace(s=['x']) %}{% for i in range(30) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}"
        "{{ ns.s | pprint | length }}"
    ),
    "filled batch": "{{ [1] | batch(200000000, 0) | list | length }}",
    "sliced into many": "{{ [1] | slice(200000000) | list | length }}",
    "captured block": (
        "{% set s %}{% for a in range(100000) %}{% for b in range(100000) %}lorem ipsum{% endfor %}{% endfor %}"
        "{% endset %}{{ s | length }}"
    ),
    "captured macro": (
        "{% macro m() %}{% for a in range(100000) %}{% for b in range(100000) %}lorem ipsum{% endfor %}{% endfor %}"
        "{% endmacro %}{{ m() | length }}"
    ),
    "many dictionaries": (
        "{% set ns = namespace(d={}) %}{% for a in range(100000) %}{% for b in range(100000) %}"
        "{% set ns.d = {'before': ns.d} %}{% endfor %}{% endfor %}"
    ),
    "blind text": "{{ lipsum(n=1000000) }}",
}

# None of these prints anything: one that is rendered all the same gives an empty prompt, which is an error too.
DEEP: Final[dict[str, str]] = {
    "macro that calls itself": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "loop that calls itself": "{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}",
    "list in list in list": (
        "{% set ns = namespace(s=[]) %}{% for i in range(100000) %}{% set ns.s = [ns.s] %}{% endfor %}"
        "{% set text = ns.s | string %}"
    ),
    "list in list in list as JSON": (
        "{% set ns = namespace(s=[]) %}{% for i in range(100000) %}{% set ns.s = [ns.s] %}{% endfor %}"
        "{% set text = ns.s | tojson %}"
    ),
    "many parentheses": "{% set x = " + "(" * 20_000 + "1" + ")" * 20_000 + " %}",
    "many brackets": "{% set x = " + "[" * 20_000 + "]" * 20_000 + " %}",
    "many signs": "{% set x = " + "-" * 20_000 + "1 %}",
    "many filters": "{% set x = 1" + " | string" * 20_000 + " %}",
    "many conditions": "{% if x %}" * 5_000 + "{% endif %}" * 5_000,
    "many loops": "{% for x in y %}" * 5_000 + "{% endfor %}" * 5_000,
    "long sum": "{% set x = " + "1 + " * 20_000 + "1 %}",
    "long condition": "{% set x = " + "x and " * 20_000 + "x %}",
    "long source": "{% set x = 1 %}" * 100_000,
}

ESCAPING: Final[dict[str, str]] = {
    "class of a text": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "class of the messages": "{{ messages.__class__.__base__.__subclasses__() }}",
    "class by subscript": "{{ messages['__class__']['__mro__'] }}",
    "class by filter": "{{ messages | attr('__class__') | attr('__mro__') }}",
    "class by map": "{{ [messages] | map(attribute='__class__') | map(attribute='__mro__') | list }}",
    "class by sort": "{{ [messages, messages] | sort(attribute='__class__.__name__') }}",
    "class by groupby": (
        "{% for group in [messages] | groupby('__class__') %}{{ group.grouper.__mro__ }}{% endfor %}"
    ),
    "class by selectattr": "{{ [messages] | selectattr('__class__.__name__', 'equalto', 'list') | list }}",
    "class by format method": "{{ '{0.__class__.__mro__}'.format(messages) }}",
    "class by format map": "{{ '{a.__class__.__mro__}'.format_map({'a': messages}) }}",
    "globals of a function": "{{ raise_exception.__globals__ }}",
    "globals of blind text": "{{ lipsum.__globals__['os'].popen('id').read() }}",
    "globals of the cycler": "{{ cycler.__init__.__globals__.os }}",
    "globals of the joiner": "{{ joiner.__init__.__globals__ }}",
    "globals of a namespace": "{{ namespace.__init__.__globals__ }}",
    "globals of the clock": "{{ strftime_now.__self__ }}{{ strftime_now.__globals__ }}",
    "code of a macro": "{% macro m() %}{% endmacro %}{{ m._func.__code__ }}",
    "environment of a macro": "{% macro m() %}{% endmacro %}{{ m._environment.globals }}",
    "template itself": "{{ self._TemplateReference__context.environment }}",
    "loop internals": "{% for a in [1] %}{{ loop._iterable.__class__ }}{% endfor %}",
    "undefined internals": "{{ nothing.__class__.__init__.__globals__ }}",
    "frames of a generator": "{{ ([1] | map('string')).gi_frame.f_globals }}",
    "code of a generator": "{{ ([1] | select).gi_code }}",
    "imported file": "{% import '/etc/passwd' as p %}{{ p }}",
    "included file": "{% include '/etc/passwd' %}",
    "extended file": "{% extends '/etc/passwd' %}",
    "imported module": "{{ __import__('os').getcwd() }}",
    "builtins": "{{ __builtins__ }}{{ open('/etc/passwd').read() }}",
    "changed messages": "{% set x = messages.append(1) %}{{ messages }}",
    "changed message": "{% set x = messages[0].update(role='system') %}{{ messages }}",
    "cleared messages": "{{ messages.clear() }}{{ messages }}",
    "statement that does not exist": "{% do messages.append(1) %}",
}

TEMPLATES: Final[dict[str, str]] = {
    f"{kind}: {name}": source
    for kind, templates in (
        ("endless", ENDLESS),
        ("large", LARGE),
        ("deep", DEEP),
        ("escaping", ESCAPING),
    )
    for name, source in templates.items()
}
