"""What leaves the server: JSON that every JSON parser takes, and errors in both languages.

Gradio writes its events with orjson, which refuses a lone surrogate and ends the connection
with it; so none gets that far. NaN and infinity have no JSON and are a defect here.
"""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

from playground.errors import PlaygroundError
from playground.text import LANGUAGES, say

ROOT = r"(?:~?/|[A-Za-z]:[/\\])"
# In quotes a path may have blanks; else it ends at one.
PATH = re.compile(rf"(?<=['\"]){ROOT}[^'\"\n]+(?=['\"])" rf"|(?<![\w.:/\\]){ROOT}[^\s'\"]+")

_serials = itertools.count(1)


def clean(text: str) -> str:
    """`text` with each lone surrogate as U+FFFD (a pair of them becomes its character)."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def dump(value: Any) -> str:
    """`value` as compact JSON. Raises ValueError for NaN and infinity."""
    return clean(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def message(value: dict[str, Any]) -> str:
    """`value` as a message for the page, unlike any before it.

    The page's framework tells the client of a value only when it differs from the last one: the
    same file opened again, or the same mistake made again, must still be heard.
    """
    return dump(value | {"serial": next(_serials)})


def in_script(value: Any) -> str:
    """`value` as JSON that can stand inside a <script>: no `<`, no line separators of old JS."""
    text = dump(value)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def public(text: str) -> str:
    """`text` with each absolute path cut down to its last part: where things lie on the server
    is the operator's to know. A hub id (`owner/model`) is no such path."""
    whole = re.match(ROOT, text)
    return _last(text) if whole else PATH.sub(lambda found: _last(found[0]), text)


def _last(path: str) -> str:
    return re.split(r"[/\\]+", path.rstrip("/\\"))[-1]


def both(error: PlaygroundError) -> dict[str, str]:
    """The sentence of `error` in every language of the page, without paths of this machine."""
    values = {k: public(v) if isinstance(v, str) else v for k, v in error.values.items()}
    return {lang: clean(say(lang, error.key, **values)) for lang in LANGUAGES}


def text(key: str, **values: object) -> dict[str, str]:
    """The sentence `key` in every language of the page."""
    return {lang: clean(say(lang, key, **values)) for lang in LANGUAGES}
