"""What the ledger's row of the benchmark measures; never a speed."""

from __future__ import annotations

import unicodedata

from playground.cutting.timing import CHARACTERS, TARGET, ledger_cost, sample
from playground.text import LANGUAGES, texts
from tests.vocabularies import real


def test_the_sample_is_ten_thousand_characters_of_many_scripts():
    text = sample()
    assert len(text) == CHARACTERS == 10_000 and sample(7) == text[:7]
    scripts = {unicodedata.name(c, "").split()[0] for c in text if c.isalpha()}
    assert {"LATIN", "CJK", "ARABIC", "DEVANAGARI", "HANGUL", "THAI", "CYRILLIC"} <= scripts


def test_the_row_is_a_ratio_with_its_target():
    row = ledger_cost(real("smollm2-135m"), pairs=2)
    assert (row.name, row.pairs, row.target) == ("ledger", 2, TARGET)
    assert row.target == 10 and 0 < row.low <= row.ratio <= row.high
    assert row.ours_ms > 0 < row.theirs_ms
    for lang in LANGUAGES:
        assert f"cli.bench.row.{row.name}" in texts(lang)
