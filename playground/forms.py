"""Chat templates of several families, to put one question into each of them.

What a template writes is text; only the family's own tokenizer has control tokens for it. Given
to another model, its marks are read as ordinary text, which is what "the wrong template" means.

The forms are what the families' published templates write for system, user and assistant turns
(model cards and tokenizer_config.json of SmolLM2/Qwen, Llama 3, Llama 2, Gemma 2, Phi-3), written
anew; tools, dates and other extras are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from playground import template
from playground.errors import PlaygroundError
from playground.template import Prompt
from playground.tokenlab import FORM_NOTE
from playground.tokens import Vocabulary
from playground.trace import Message

_CHATML = """\
{%- for m in messages %}
    {{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""

_LLAMA3 = """\
{{- '<|begin_of_text|>' }}
{%- for m in messages %}
    {{- '<|start_header_id|>' + m.role + '<|end_header_id|>\\n\\n' }}
    {{- m.content | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}"""

# The system text stands inside the first user turn.
_LLAMA2 = """\
{%- set about = namespace(system='') %}
{%- for m in messages %}
    {%- if m.role == 'system' %}
        {%- set about.system = '<<SYS>>\\n' + m.content | trim + '\\n<</SYS>>\\n\\n' %}
    {%- elif m.role == 'user' %}
        {{- '<s>[INST] ' + about.system + m.content | trim + ' [/INST]' }}
        {%- set about.system = '' %}
    {%- else %}
        {{- ' ' + m.content | trim + ' </s>' }}
    {%- endif %}
{%- endfor %}"""

# Gemma has no system turn: what is said there goes before the first question.
_GEMMA = """\
{{- '<bos>' }}
{%- set about = namespace(system='') %}
{%- for m in messages %}
    {%- if m.role == 'system' %}
        {%- set about.system = m.content | trim + '\\n\\n' %}
    {%- else %}
        {%- set role = 'model' if m.role == 'assistant' else 'user' %}
        {{- '<start_of_turn>' + role + '\\n' + about.system }}
        {{- m.content | trim + '<end_of_turn>\\n' }}
        {%- set about.system = '' %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}"""

_PHI3 = """\
{%- for m in messages %}{{ '<|' + m.role + '|>\\n' + m.content + '<|end|>\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% endif %}"""

_PLAIN = """\
{%- for m in messages %}{{ m.role[:1] | upper + m.role[1:] + ': ' + m.content + '\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}"""

_NONE = """\
{%- for m in messages %}{{ m.content }}{% if not loop.last %}{{ '\\n' }}{% endif %}{% endfor %}"""

# By name; "own" is the model's own template and not among them.
FORMS: Mapping[str, str] = MappingProxyType(
    {
        "chatml": _CHATML, "llama3": _LLAMA3, "llama2": _LLAMA2, "gemma": _GEMMA, "phi3": _PHI3,
        "plain": _PLAIN, "none": _NONE,
    }
)  # fmt: skip


def chat(vocabulary: Vocabulary, messages: Sequence[Message], name: str) -> Prompt:
    """The chat in the template `name`, whose first note says so. Raises PlaygroundError."""
    if name not in FORMS:
        raise PlaygroundError("error.form", name=repr(name)[:40], known=", ".join(FORMS))
    made = template.chat(vocabulary, messages, form=FORMS[name])
    return replace(made, notes=((FORM_NOTE, {"name": name}), *made.notes))
