"""All prose of the product, in English and Chinese, under the same keys.

Each language is a package of small modules that each hold one dict `TEXT`; the keys are
dotted ("error.context"). `say` fills `{name}` fields by plain replacement, never by
`str.format`: a value (which may be a user's or a model's text) can not act as a template.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import cache

LANGUAGES = ("en", "zh")
_FIELD = re.compile(r"\{(\w+)\}")


@cache
def texts(lang: str) -> dict[str, str]:
    """Every sentence of one language. Raises KeyError for an unknown language."""
    if lang not in LANGUAGES:
        raise KeyError(lang)
    package = importlib.import_module(f"{__name__}.{lang}")
    merged: dict[str, str] = {}
    for module in sorted(m.name for m in pkgutil.iter_modules(package.__path__)):
        part: dict[str, str] = importlib.import_module(f"{package.__name__}.{module}").TEXT
        twice = merged.keys() & part.keys()
        if twice:
            raise ValueError(f"text keys defined twice: {sorted(twice)}")
        merged.update(part)
    return merged


def say(lang: str, key: str, **values: object) -> str:
    """The sentence `key` in `lang` with its `{fields}` replaced once, left to right."""
    sentence = texts(lang)[key]
    return _FIELD.sub(lambda m: str(values[m[1]]) if m[1] in values else m[0], sentence)
