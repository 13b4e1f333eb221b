"""Vocabularies side by side in a real browser: what differs is what Python finds."""

from __future__ import annotations

import pytest

from playground.cutting.comparing import VocabularyReader, compare
from playground.text import texts
from tests.test_lab_ways import (
    EVIL,
    FAMILY,
    LLAMA,
    QWEN,
    SMOL,
    Server,
    begin,
    cells,
    fits,
    opening,
    settle,
    spans,
    type_text,
    vocabulary,
)

pytestmark = pytest.mark.browser

EN, ZH = texts("en"), texts("zh")
PANEL = "#bot-panel-vocabs"
TEXT = "程序员Left 人工智能 naïve 12"
FACTS = """[...document.querySelectorAll('.bot-vocabs-facts tbody tr')].map((r) =>
  [...r.cells].map((c) => c.title || c.textContent))"""
SAID = f"""[...document.querySelectorAll('{PANEL} .bot-lanes-read > *')].filter((n) => !n.hidden)
  .map((n) => n.textContent)"""


@pytest.fixture
def opened(chromium):
    yield from opening(chromium)


def python(text, *names):
    return compare({name: VocabularyReader(vocabulary(name)) for name in names}, text)


def stretches(found):
    """[start, end, whether the pieces differ] between the places where all cut."""
    result, a = [], 0
    for b in [*found.shared, len(found.text)]:
        cuts = [
            [raw for (s, _), raw in zip(c.spans, c.raw, strict=True) if a <= s < b]
            for c in found.columns
        ]
        result.append((a, b, any(cut != cuts[0] for cut in cuts)))
        a = b
    return result


def test_every_vocabulary_has_its_row_and_cuts_are_marked(opened):
    page = opened("vocabs", TEXT)
    found = python(TEXT, SMOL, QWEN)
    characters, agree, smol, qwen = cells(page, "vocabs", 1.5)
    assert [c["text"] for c in characters if c["text"] != "·"] == list(TEXT.replace(" ", ""))
    at = [len(TEXT[:k].encode()) for k in range(len(TEXT) + 1)]
    parts = stretches(found)
    assert spans(agree) == [(at[a], at[b]) for a, b, _ in parts]
    assert [c["text"] for c in agree] == ["≠" if differs else "=" for *_, differs in parts]
    for row, column in zip((smol, qwen), found.columns, strict=True):
        lengths = [b - a for a, b in spans(row)]
        assert lengths == [len(raw) for raw in column.raw]
        for cell, k in zip(row, range(len(column.ids) - 1), strict=False):
            end, start = column.spans[k][1], column.spans[k + 1][0]
            kind = "inside" if start < end else "all" if end in found.shared else "some"
            assert f"cut-{kind}" in cell["kinds"]
    rules = page.evaluate(
        f"[...document.querySelectorAll('{PANEL} .bot-lanes-rule')].map((n) =>"
        " Math.round((parseFloat(n.style.left) - 10) / 1.5))"
    )
    assert rules == [at[k] for k in found.shared]
    n, m = len(found.shared), sum(differs for *_, differs in parts)
    said = page.inner_text(f"{PANEL} .bot-vocabs-sum")
    assert f"All cut at {n} places" in said and f"{m} of the {len(parts)} stretches" in said


def test_counts_ratios_sizes_and_lost_bytes(opened):
    text = "naïve \x04 電"
    page = opened("vocabs", text)
    found = python(text, SMOL, QWEN)
    for row, column in zip(page.evaluate(FACTS), found.columns, strict=True):
        assert row[0] == column.name and row[1] == str(len(column.ids))
        assert float(row[2]) == len(text.encode()) / len(column.ids)
        assert float(row[3]) == len(text) / len(column.ids)
        assert row[4] == f"{column.size:,}"
        assert row[5] == (column.lost.hex(" ") or "–")
    assert found.columns[0].lost == b"\x04"
    page.click(f"{PANEL} .bot-fold summary")
    page.wait_for_timeout(150)
    rows = page.evaluate(
        f"[...document.querySelectorAll('{PANEL} .bot-rows tr[data-i]')].filter((r) => !r.hidden)"
        ".map((r) => [...r.cells].map((c) => c.textContent))"
    )
    parts = stretches(found)
    assert len(rows) == len(parts)
    for row, (a, b, differs) in zip(rows, parts, strict=True):
        assert row[0] == (str(a) if b - a == 1 else f"{a}–{b - 1}")
        assert row[2].startswith("≠" if differs else "=")
        for column in found.columns:
            ids = [i for (s, _), i in zip(column.spans, column.ids, strict=True) if a <= s < b]
            assert all(f"\u00a0{i}" in row[3] for i in ids)


def test_pointing_and_going_to_the_next_difference(opened):
    page = opened("vocabs", TEXT)
    page.locator(f"{PANEL} .bot-lanes-cell", has_text="智").first.hover()
    said = page.evaluate(SAID)
    assert said[:2] == [EN["panel.vocabs.characters"], "“\u2068智\u2069”"]
    assert said[4] == QWEN and "人工智能" in said[5]
    assert said[3].count("⟨") == 3  # e6, 99, ba
    page.mouse.move(5, 5)
    parts = stretches(python(TEXT, SMOL, QWEN))
    different = [TEXT[a:b].replace(" ", "·") for a, b, differs in parts if differs]
    for text in [*different, different[0]]:
        page.click(f"{PANEL} .bot-vocabs-sum button")
        page.mouse.move(5, 5)
        assert page.evaluate(SAID)[1] == f"“\u2068{text}\u2069”"


def test_any_set_of_vocabularies_may_be_chosen(opened):
    page = opened("vocabs", FAMILY)
    page.locator(f"{PANEL} .bot-lab-models .bot-chip", has_text=LLAMA).click()
    settle(page)
    found = python(FAMILY, SMOL, QWEN, LLAMA)
    assert [r[:2] for r in page.evaluate(FACTS)] == [
        [c.name, str(len(c.ids))] for c in found.columns
    ]
    for name in (SMOL, LLAMA):
        page.locator(f"{PANEL} .bot-lab-models .bot-chip", has_text=name).click()
        settle(page)
    assert [r[0] for r in page.evaluate(FACTS)] == [QWEN]
    assert EN["panel.vocabs.one"] in page.inner_text(PANEL)
    assert page.locator(f"{PANEL} .bot-lanes-rule").count() == 0
    assert page.is_hidden(f"{PANEL} .bot-vocabs-sum button")


def test_another_name_is_tried_and_kept_or_refused_in_a_sentence(opened):
    server = Server(away=("org/none",))
    page = opened("vocabs", "abc", server=server)
    page.fill("#bot-others-vocabs", "org/none")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"{PANEL} .bot-others-says.is-bad")
    assert page.inner_text(f"{PANEL} .bot-others-says") == "No 'org/none' & <b>nothing</b> here."
    assert len(page.evaluate(FACTS)) == 2
    page.evaluate("BOT.setLang('zh')")
    settle(page)
    assert page.inner_text(f"{PANEL} .bot-others-says") == "没有 'org/none'。"
    page.evaluate("BOT.setLang('en')")
    page.fill("#bot-others-vocabs", " org/there ")
    page.keyboard.press("Enter")
    page.wait_for_function(f"{FACTS}.length === 3")
    assert page.evaluate(FACTS)[2][0] == "org/there"
    assert page.input_value("#bot-others-vocabs") == ""
    page.reload()
    begin(page)
    page.wait_for_function(f"{FACTS}.length === 3")
    for name in [f"org/{k}" for k in range(6)]:
        page.fill("#bot-others-vocabs", name)
        page.keyboard.press("Enter")
        settle(page)
    assert len(page.evaluate(FACTS)) == 8
    assert EN["panel.vocabs.full"].replace("{n}", "8") in page.inner_text(PANEL)
    page.click(f"{PANEL} .bot-others .bot-chip >> nth=0")
    page.wait_for_function(f"{FACTS}.length === 7")
    for _ in range(4):
        page.click(f"{PANEL} .bot-others .bot-chip >> nth=0")
    page.wait_for_function(f"{FACTS}.length === 3")
    page.click(f"{PANEL} .bot-others .bot-chip")
    page.wait_for_function(f"{FACTS}.length === 2")


def test_one_that_can_not_be_had_takes_nothing_from_the_others(opened):
    server = Server(encodings=("far",), away=("tiktoken:far",))
    page = opened("vocabs", "abc", server=server)
    page.locator(f"{PANEL} .bot-lab-models .bot-chip", has_text="far").click()
    settle(page)
    assert [r[0] for r in page.evaluate(FACTS)] == [SMOL, QWEN]
    note = page.inner_text(f"{PANEL} .bot-others-missing")
    assert "tiktoken:far" in note and "& <b>nothing</b> here." in note
    server.away = ()
    page.click(f"{PANEL} .bot-others-missing button")
    page.wait_for_function(f"{FACTS}.length === 3")
    assert page.is_hidden(f"{PANEL} .bot-others-missing")


def test_evil_texts_stay_text_and_the_page_fits_a_phone(opened):
    page = opened("vocabs", EVIL, width=390, kept={"bot.lab.others": [EVIL]})
    assert page.locator("#app img").count() == 0
    shown = "".join(page.locator(f"{PANEL} .bot-lanes-cell").all_inner_texts())
    assert "onerror" in shown.replace("\n", "")
    assert EVIL in page.inner_text(f"{PANEL} .bot-vocabs-facts")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390 and fits(page, "vocabs")
    page.evaluate("BOT.setLang('zh')")
    type_text(page, "電 e\u0301")
    assert page.inner_text("#bot-title-vocabs") == ZH["panel.vocabs.title"]
    assert ZH["panel.vocabs.cut.some"] in page.inner_text(PANEL)
    assert page.locator(f"{PANEL} .is-loose").count() == 2  # Qwen's pieces, listed and named
    type_text(page, "")
    assert ZH["ui.lab.empty"] in page.inner_text(PANEL)
