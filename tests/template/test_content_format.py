"""The content format is detected as vLLM 0.33 detects it (spec 2.4), including what it overlooks."""

from __future__ import annotations

import pytest

from render_core.template.compiled import compile_template

LOOP = "{% for c in message.content %}{{ c }}{% endfor %}"

OPENAI = {
    "content of a message": f"{{% for message in messages %}}{LOOP}{{% endfor %}}",
    "content by subscript": "{% for m in messages %}{% for c in m['content'] %}{% endfor %}{% endfor %}",
    "content filtered": "{% for m in messages %}{% for c in m.content|selectattr('text') %}{% endfor %}{% endfor %}",
    "content sliced": "{% for m in messages %}{% for c in m.content[1:][::-1] %}{% endfor %}{% endfor %}",
    "content sliced and filtered": "{% for m in messages %}{% for c in m.content[1:]|list %}{% endfor %}{% endfor %}",
    "messages filtered": f"{{% for message in messages|list %}}{LOOP}{{% endfor %}}",
    "messages sliced": f"{{% for message in messages[1:] %}}{LOOP}{{% endfor %}}",
    "messages tested": f"{{% for message in (messages is iterable) %}}{LOOP}{{% endfor %}}",
    "alias": f"{{% set rest = messages %}}{{% for message in rest %}}{LOOP}{{% endfor %}}",
    "alias of a slice": f"{{% set rest = messages[1:] %}}{{% for message in rest %}}{LOOP}{{% endfor %}}",
    "alias of an alias": f"{{% set b = a %}}{{% set a = messages[1:] %}}{{% for message in b %}}{LOOP}{{% endfor %}}",
    "alias of itself": f"{{% set messages = messages[1:] %}}{{% for message in messages %}}{LOOP}{{% endfor %}}",
    "namespace": f"{{% set ns = namespace(rest=messages) %}}{{% for message in ns.rest %}}{LOOP}{{% endfor %}}",
    "namespace, assigned": f"{{% set ns.rest = messages[1:] %}}{{% for message in ns.rest|list %}}{LOOP}{{% endfor %}}",
    "alias of a namespace's": (
        f"{{% set ns.rest = messages %}}{{% set x = ns.rest %}}{{% for message in x %}}{LOOP}{{% endfor %}}"
    ),
    "loops apart": f"{{% for message in messages %}}{{% endfor %}}{LOOP}",
    "variable named content": "{% set content = x %}{% for c in content %}{% endfor %}",
    "variable named content alone": "{% for c in content %}{% endfor %}",
    "macro given content": (
        "{% macro f(parts) %}{% for p in parts %}{% endfor %}{% endmacro %}"
        "{% for m in messages %}{{ f(m.content) }}{% endfor %}"
    ),
    "macro given content by name": (
        "{% macro f(a, parts) %}{% for p in parts %}{% endfor %}{% endmacro %}"
        "{% for m in messages %}{{ f(1, parts=m['content']|list) }}{% endfor %}"
    ),
    "macro whose parameter is named content": (
        "{% macro f(content) %}{% for p in content %}{% endfor %}{% endmacro %}"
        "{% for m in messages %}{{ f(m.content) }}{% endfor %}"
    ),
    "macro in a macro that is given content": (
        "{% macro f(x) %}{% macro g(y) %}{% for p in x %}{% endfor %}{% endmacro %}{% endmacro %}"
        "{% for m in messages %}{{ f(m.content) }}{% endfor %}"
    ),
    "content loop in a generation block": (
        f"{{% for message in messages %}}{{% generation %}}{LOOP}{{% endgeneration %}}{{% endfor %}}"
    ),
    "unpacked content after a content loop": (
        f"{{% for message in messages %}}{LOOP}{{% for a, b in message.content %}}{{% endfor %}}{{% endfor %}}"
    ),
}

STRING = {
    "empty": "",
    "printed content": "{% for message in messages %}{{ message.content }}{% endfor %}",
    "other key": "{% for message in messages %}{% for c in message.parts %}{% endfor %}{% endfor %}",
    "other list": f"{{% for message in others %}}{LOOP}{{% endfor %}}",
    "indexed message": "{% for c in messages[0].content %}{% endfor %}",
    "content with a default": "{% for m in messages %}{% for c in m.content or [] %}{% endfor %}{% endfor %}",
    "conditional content": "{% for m in messages %}{% for c in (m.content if x else []) %}{% endfor %}{% endfor %}",
    "alias by a condition": f"{{% set rest = messages if x else [] %}}{{% for message in rest %}}{LOOP}{{% endfor %}}",
    "alias by a block": (
        f"{{% set rest %}}{{{{ messages }}}}{{% endset %}}{{% for message in rest %}}{LOOP}{{% endfor %}}"
    ),
    "alias of content": (
        "{% for m in messages %}{% set parts = m.content %}{% for c in parts %}{% endfor %}{% endfor %}"
    ),
    "key from a variable": "{% for m in messages %}{% for c in m[content_key] %}{% endfor %}{% endfor %}",
    "parameter named content, not given any": (
        "{% macro f(content) %}{% for p in content %}{% endfor %}{% endmacro %}{{ f(x) }}"
    ),
    "macro given more than it takes": (
        "{% macro f() %}{% for p in parts %}{% endfor %}{% endmacro %}"
        "{% for m in messages %}{{ f(m.content) }}{% endfor %}"
    ),
    "call of something else": (
        "{% macro f(parts) %}{% for p in parts %}{% endfor %}{% endmacro %}"
        "{% for m in messages %}{{ g(m.content) }}{% endfor %}"
    ),
    "unpacked messages": f"{{% for i, message in messages %}}{LOOP}{{% endfor %}}",
    "unpacked messages after a content loop": (
        f"{{% for message in messages %}}{LOOP}{{% endfor %}}{{% for a, b in messages %}}{{% endfor %}}"
    ),
    "unpacked content": (
        f"{{% for message in messages %}}{{% for a, b in message.content %}}{{% endfor %}}{LOOP}{{% endfor %}}"
    ),
    "unpacked variable named content": "{% for a, b in content %}{% endfor %}",
}


@pytest.mark.parametrize("source", [pytest.param(source, id=name) for name, source in OPENAI.items()])
def test_template_that_loops_over_content_wants_parts(source: str) -> None:
    assert compile_template(source).content_format == "openai"


@pytest.mark.parametrize("source", [pytest.param(source, id=name) for name, source in STRING.items()])
def test_any_other_template_wants_a_text(source: str) -> None:
    assert compile_template(source).content_format == "string"
