"""Prose: the same keys and the same fields in both languages, and values that stay data."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from playground.errors import PlaygroundError
from playground.text import LANGUAGES, say, texts

ROOT = Path(__file__).parent.parent
FIELDS = re.compile(r"\{(\w+)\}")


def test_both_languages_have_the_same_keys_and_fields():
    en, zh = texts("en"), texts("zh")
    assert en.keys() == zh.keys() and len(en) > 100
    for key in en:
        assert set(FIELDS.findall(en[key])) == set(FIELDS.findall(zh[key])), key


def test_no_sentence_is_empty_and_the_chinese_is_chinese():
    for lang in LANGUAGES:
        assert all(text.strip() for text in texts(lang).values())
    plain = [k for k, v in texts("zh").items() if not re.search(r"[一-鿿]", v)]
    # names of quantities and keys read the same in both languages
    assert len(plain) < 0.15 * len(texts("zh")), plain


def test_an_unknown_language_is_refused():
    with pytest.raises(KeyError):
        texts("fr")


def test_values_are_never_templates():
    error = PlaygroundError("error.param_range", name="{value}", value="{allowed}${x}", allowed="1")
    assert str(error) == "{value} is {allowed}${x}; allowed is 1."
    assert say("zh", "error.empty_prompt", n=1)


def test_every_error_key_that_is_raised_exists():
    keys = set()
    for path in (ROOT / "playground").rglob("*.py"):
        keys |= set(re.findall(r'"((?:error|note)\.[a-z_.0-9]+)"', path.read_text("utf-8")))
    assert len(keys) > 15
    assert keys <= texts("en").keys(), keys - texts("en").keys()
