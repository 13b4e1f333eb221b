"""What languages cost, in a real browser; and a calculator that is exact."""

from __future__ import annotations

import json
from decimal import Decimal, getcontext

import pytest

from playground.cutting.languages import sentences
from playground.text import texts
from tests.test_lab_ways import (
    EVIL,
    QWEN,
    SMOL,
    begin,
    fits,
    opening,
    settle,
    type_text,
    vocabulary,
)

pytestmark = pytest.mark.browser

EN, ZH = texts("en"), texts("zh")
PANEL = "#bot-panel-languages"
KINDS = ("tokens", "relative", "per_character", "bytes")
ROWS = f"""[...document.querySelectorAll('{PANEL} .bot-lang-row')].map((g) => ({{
  name: g.querySelector('.bot-lang-name').textContent, says: g.getAttribute('aria-label'),
  wide: [...g.querySelectorAll('.bot-lang-bar')].map((b) => +b.getAttribute('width')),
  shown: [...g.querySelectorAll('.bot-lang-value')].map((t) => t.textContent) }}))"""
RESULTS = f"""Object.fromEntries([...document.querySelectorAll('{PANEL} .bot-cost-results dt')]
  .filter((n) => !n.hidden).map((n) => [n.textContent, n.nextSibling.firstChild.textContent]))"""


@pytest.fixture
def opened(chromium):
    yield from opening(chromium)


@pytest.fixture(scope="module")
def shared(chromium):
    for open_ in opening(chromium):
        yield open_("languages", "Is OpenAI open?")


def counted(name):
    return {code: len(vocabulary(name).encode(text)) for code, text in sentences().items()}


def expected(kind, code, name):
    text, n = sentences()[code], counted(name)
    return {
        "tokens": n[code], "relative": n[code] / n["en"], "per_character": n[code] / len(text),
        "bytes": len(text.encode()) / n[code],
    }[kind]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_bars_are_the_numbers_and_the_dearest_comes_first(shared, kind):
    shared.locator(f"{PANEL} .bot-lang-kinds button").nth(KINDS.index(kind)).click()
    rows = shared.evaluate(ROWS)
    sign = 1 if kind == "bytes" else -1
    order = sorted(sentences(), key=lambda code: sign * expected(kind, code, SMOL))
    assert [r["name"] for r in rows] == [EN[f"panel.languages.lang.{code}"] for code in order]
    values = [[expected(kind, code, name) for name in (SMOL, QWEN)] for code in order]
    scale = max(max(pair) for pair in values) / max(max(r["wide"]) for r in rows)
    for row, pair in zip(rows, values, strict=True):
        assert [w * scale for w in row["wide"]] == pytest.approx(pair, rel=1e-6)
        shown = [float(t.rstrip("×").replace(",", "")) for t in row["shown"]]
        assert shown == pytest.approx(pair, rel=5e-3)
    assert shared.locator(f"{PANEL} .bot-lang-line").count() == (kind == "relative")


def test_another_vocabulary_may_give_the_order(shared):
    shared.locator(f"{PANEL} .bot-lang-kinds button").first.click()
    shared.select_option("#bot-lang-sort", "1")
    order = sorted(sentences(), key=lambda code: -expected("tokens", code, QWEN))
    names = [r["name"] for r in shared.evaluate(ROWS)]
    assert names == [EN[f"panel.languages.lang.{code}"] for code in order]
    shared.select_option("#bot-lang-sort", "0")


def test_the_table_has_every_number_in_full(shared):
    shared.locator(f"{PANEL} .bot-lang > .bot-fold summary").first.click()
    rows = shared.evaluate(
        f"[...document.querySelectorAll('{PANEL} .bot-lang > .bot-fold tbody tr')].map((r) =>"
        " [...r.cells].map((c) => c.title || c.textContent))"
    )
    codes = {EN[f"panel.languages.lang.{code}"]: code for code in sentences()}
    assert len(rows) == 2 * len(codes) == 34
    for language, characters, size, model, *numbers in rows:
        code = codes[language]
        text = sentences()[code]
        assert [int(characters), int(size)] == [len(text), len(text.encode())]
        assert [float(n) for n in numbers] == [expected(kind, code, model) for kind in KINDS]


def test_the_sentences_can_be_read_in_their_own_direction(shared):
    shared.locator(f"{PANEL} .bot-lang > .bot-fold summary").nth(1).click()
    told = shared.evaluate(
        f"[...document.querySelectorAll('{PANEL} .bot-lang-all dd')].map((n) =>"
        " [n.lang, n.dir, n.textContent])"
    )
    known = [[c, "rtl" if c in ("ar", "he") else "ltr", t] for c, t in sentences().items()]
    assert told == known
    shared.locator(f"{PANEL} .bot-lang-row", has_text="Hebrew").click()
    card = shared.locator(f"{PANEL} .bot-lang-sentence")
    assert (card.get_attribute("lang"), card.get_attribute("dir")) == ("he", "rtl")
    assert card.inner_text() == sentences()["he"]
    facts = shared.inner_text(f"{PANEL} .bot-lang-facts")
    assert f"{counted(SMOL)['he']} tokens" in facts and f"{counted(QWEN)['he']} tokens" in facts
    shared.focus(f"{PANEL} .bot-lang-svg")
    shared.keyboard.press("End")
    chosen = shared.locator(f"{PANEL} .bot-lang-row[aria-selected=true]")
    assert "English" in chosen.text_content()


def fill(page, **values):
    for name, value in values.items():
        page.fill(f"#bot-cost-{name}", value)


def number(text):
    return Decimal(text.replace(",", ""))


def test_the_price_is_exact(shared):
    getcontext().prec = 60
    shared.check(f"{PANEL} input[value=typed]")
    for n, out, requests, price_in, price_out in [
        ("1234", "987", "1,000,003", "0.15", "0.6"),
        ("999999999999999", "1", "999999999999999", "0.000000000001", "123456789012.000000000001"),
        ("7", "0", "1", "0.1", "0.2"),
        ("３３", "", "", ".075", "0"),
    ]:
        fill(shared, input=n, output=out, requests=requests, price_in=price_in, price_out=price_out)
        found = shared.evaluate(RESULTS)
        many = Decimal((requests or "1").replace(",", ""))
        a = Decimal(n) * many * Decimal(price_in) / 10**6
        b = Decimal(out or "0") * many * Decimal(price_out) / 10**6
        assert number(found[EN["panel.languages.cost.cost_in"]]) == a
        assert number(found[EN["panel.languages.cost.cost_out"]]) == b
        assert number(found[EN["panel.languages.cost.total"]]) == a + b
        assert "e" not in found[EN["panel.languages.cost.total"]].lower()


def test_the_context_is_enough_or_not(shared):
    shared.check(f"{PANEL} input[value=typed]")
    fill(shared, input="100", output="20", requests="3", context="121", price_in="", price_out="")
    found = shared.evaluate(RESULTS)
    assert found["In the context"] == "fits: 120 of 121 (99.2%), 1 left"
    assert found["All requests"] == "300 in + 60 out = 360 tokens"
    assert found["Cost"] == EN["panel.languages.cost.no_price"]
    fill(shared, context="119")
    assert shared.evaluate(RESULTS)["In the context"] == "does not fit: 120 of 119, 1 too many"
    shared.locator(f"{PANEL} .bot-cost-item .bot-chip").click()
    limit = shared.evaluate("BOT.state.trace.model.max_context")
    assert shared.input_value("#bot-cost-context") == str(limit)


@pytest.mark.parametrize(
    ("field", "value", "key"),
    [("requests", "-1", "whole"), ("output", "1.5", "whole"), ("context", "12,34", "whole"),
     ("price_in", "0,15", "price"), ("price_out", "1e3", "price"), ("input", EVIL[:30], "whole")],
)  # fmt: skip
def test_bad_input_is_one_sentence(shared, field, value, key):
    shared.check(f"{PANEL} input[value=typed]")
    fill(shared, input="1", output="1", requests="1", context="1", price_in="1", price_out="1")
    fill(shared, **{field: value})
    said = shared.inner_text(f"{PANEL} .bot-cost > .bot-others-says")
    sentence = EN[f"panel.languages.cost.bad_{key}"]
    sentence = sentence.replace("{field}", EN[f"panel.languages.cost.{field}"])
    assert said == sentence.replace("{value}", f"\u2068{value.replace(' ', '·')}\u2069")
    assert not shared.evaluate(RESULTS)
    assert shared.get_attribute(f"#bot-cost-{field}", "aria-invalid") == "true"
    fill(shared, **{field: "1"})
    assert shared.is_hidden(f"{PANEL} .bot-cost > .bot-others-says")


def test_the_readers_own_text_is_counted_and_settings_are_kept(opened):
    text = "人工智能 and a price"
    page = opened("languages", text)
    n = len(vocabulary(SMOL).encode(text))
    assert page.inner_text(f"{PANEL} .bot-cost-count b") == f"{n} tokens"
    page.select_option(f"{PANEL} .bot-cost-count select", QWEN)
    fill(page, output="2", price_in="3")
    settle(page)
    n = len(vocabulary(QWEN).encode(text))
    assert page.evaluate(RESULTS)["One request"] == f"{n} in + 2 out = {n + 2} tokens"
    assert number(page.evaluate(RESULTS)["Input costs"]) == Decimal(3 * n) / 10**6
    page.reload()
    begin(page)
    assert page.input_value("#bot-cost-price_in") == "3"
    assert page.evaluate(RESULTS)["One request"] == f"{n} in + 2 out = {n + 2} tokens"
    page.locator(f"{PANEL} .bot-lang-row", has_text="Thai").click()
    page.click(f"{PANEL} .bot-lang-card button")
    page.wait_for_selector("#bot-panel-vocabs .bot-vocabs-facts tbody tr")
    assert page.evaluate("BOT.lab.text") == sentences()["th"]
    counts = page.locator(".bot-vocabs-facts tbody b").all_inner_texts()
    assert counts == [str(counted(SMOL)["th"]), str(counted(QWEN)["th"])]


def test_chinese_a_phone_and_no_evil_from_storage(opened):
    kept = {"bot.lab.cost": {"source": "typed", "input": EVIL[:30], "model": EVIL, "output": 5}}
    page = opened("languages", EVIL, width=390, kept=kept)
    assert page.locator("#app img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390 and fits(page, "languages")
    page.evaluate("BOT.setLang('zh')")
    settle(page)
    assert page.inner_text("#bot-title-languages") == ZH["panel.languages.title"]
    names = [r["name"] for r in page.evaluate(ROWS)]
    assert set(names) == {ZH[f"panel.languages.lang.{code}"] for code in sentences()}
    assert "最多 15 位" in page.inner_text(f"{PANEL} .bot-cost > .bot-others-says")
    type_text(page, "")
    page.check(f"{PANEL} input[value=text]")
    settle(page)
    assert page.inner_text(f"{PANEL} .bot-cost-count b") == "0 个 token"
    assert json.loads(page.evaluate("localStorage.getItem('bot.lab.cost')"))["source"] == "text"
