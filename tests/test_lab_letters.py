"""Letters in a real browser: what is shown is what the record of the digits holds."""

from __future__ import annotations

import copy
import dataclasses
import json
import re

import pytest

from playground import examples
from playground.errors import PlaygroundError
from playground.store import digits as store
from playground.text import texts
from playground.ui.letters import defaults
from playground.views.digits import digits_payload
from tests.labpage import EVIL, asked, chinese, load, settle

pytestmark = pytest.mark.browser

EN, ZH = texts("en"), texts("zh")
PANEL = "#bot-panel-letters"
LOADED = store.load(examples.letters_path(examples.FOLDER))
FOUND = LOADED.digits
SHOWN = digits_payload(FOUND, recorded=True)


@pytest.fixture
def opened(chromium):
    pages, problems = [], []

    def open_(answer=lambda request: SHOWN, *, recorded=True, width=1280):
        given = json.dumps(defaults(LOADED) if recorded else None)
        page = load(
            chromium, "letters", {"digits": answer}, problems,
            first=f"window.BOT_LETTERS = {given};", width=width,
        )  # fmt: skip
        pages.append(page)
        return page

    yield open_
    for page in pages:
        page.close()
    assert problems == []


def ask(page):
    page.get_by_role("button", name=EN["panel.letters.go"], exact=True).click()
    settle(page)


def story(page):
    """Without the marks that keep the direction of a word to itself."""
    return re.sub("[\u2068\u2069]", "", page.inner_text(".bot-letters-story"))


CHARTS = """[...document.querySelectorAll('.bot-digit-part')].map((part) => ({
  numbers: [...part.querySelectorAll('.bot-digit')].map((row) =>
    [...row.querySelectorAll('.bot-duo-n')].map((n) => Number(n.title.split(': ')[1]))),
  bars: [...part.querySelectorAll('.bot-digit')].map((row) =>
    [...row.querySelectorAll('.bot-duo-bar')].map((n) => n.getBoundingClientRect().width)),
  right: [...part.querySelectorAll('.bot-digit.is-right')].map((row) =>
    row.querySelector('.bot-digit-name').textContent),
  best: [...part.querySelectorAll('.bot-digit-best')].map((p) =>
    [...p.querySelectorAll('.bot-digit-tok')].map((t) => t.title)),
  sum: part.querySelector('.bot-digit-sum').textContent,
}))"""


def test_the_recorded_answer_is_there_at_once_with_every_number(opened):
    page = opened()
    [request] = asked(page, "digits")
    wanted = {"op": "digits", **defaults(LOADED)}
    assert {k: v for k, v in request.items() if k != "who"} == wanted
    charts = page.evaluate(CHARTS)
    most = max(max(x.probs) for q in (FOUND.a, FOUND.b) for x in (q.first, q.after))
    full = max(w for chart in charts for row in chart["bars"] for w in row)
    for chart, place in zip(charts, ("first", "after"), strict=True):
        a, b = (getattr(q, place) for q in (FOUND.a, FOUND.b))
        assert chart["numbers"] == [list(p) for p in zip(a.probs, b.probs, strict=True)]
        assert chart["right"] == ["3"]
        for row, widths in zip(chart["numbers"], chart["bars"], strict=True):
            for p, width in zip(row, widths, strict=True):
                assert abs(width / full - p / most) < 0.01
        for titles, begin in zip(chart["best"], (a, b), strict=True):
            assert titles == [f"id {c.id}: {c.p}" for c in begin.best[:4]]
        total = float(re.search(r"together: ([\d.]+)%", chart["sum"])[1])
        assert total == pytest.approx(100 * sum(a.probs), rel=0.01)
    assert f"Recorded with {FOUND.model.name}" in page.inner_text(PANEL)


def test_what_the_model_was_given_are_ids_and_the_word_stands_out(opened):
    page = opened()
    for name, q in (("a", FOUND.a), ("b", FOUND.b)):
        tokens = page.evaluate(
            f"""[...document.querySelectorAll('.bot-pair-side.is-{name} .bot-idtok')].map((t) =>
            [t.querySelector('.bot-idtok-id').textContent, t.classList.contains('is-marked')])"""
        )
        mine = [t for t in q.prompt if t.source == "user"]
        assert [int(i) for i, _ in tokens] == [t.id for t in mine]
        marked = b"".join(t.raw for t, (_, on) in zip(mine, tokens, strict=True) if on)
        assert marked.decode().strip() == ("strawberry" if name == "a" else "s t r a w b e r r y")
        said = page.inner_text(f".bot-pair-side.is-{name}")
        assert q.first.text.split("\n")[0] in said and q.question in said
    assert "The word is one id: 35199." in page.inner_text(".bot-pair-side.is-a")
    assert "10 ids for 10 letters" in page.inner_text(".bot-pair-side.is-b")
    assert "r stands 3 times in strawberry" in story(page)


def test_the_table_and_the_counted_ids_are_all_of_it(opened):
    page = opened()
    page.locator(f"{PANEL} summary").click()
    rows = page.evaluate(
        """[...document.querySelectorAll('#bot-panel-letters .bot-fold tbody tr')].map((r) =>
        [...r.cells].map((c) => c.title || c.textContent))"""
    )
    for d, row in enumerate(rows):
        assert (row[0], row[1]) == (str(d), " ".join(map(str, FOUND.counted[d])))
        wanted = [q.first.probs[d] for q in (FOUND.a, FOUND.b)]
        wanted += [q.after.probs[d] for q in (FOUND.a, FOUND.b)]
        assert [float(x) for x in row[2:]] == wanted
    hint = page.inner_text(".bot-letters > .bot-hint")
    assert "3: 35" in hint and "no digit with a space before it" in hint


def test_another_word_letter_and_beginning_are_asked_for(opened):
    def answer(request):
        a = dataclasses.replace(FOUND.a, question=request["a"])
        b = dataclasses.replace(FOUND.b, question=request["b"])
        found = dataclasses.replace(FOUND, prefix=request["prefix"], a=a, b=b)
        found = dataclasses.replace(found, counted=((1, 2), (), *FOUND.counted[2:]))
        return digits_payload(found, recorded=False)

    page = opened(answer, recorded=False)
    assert asked(page, "digits") == [] and page.locator(".bot-letters").is_hidden()
    page.fill("#bot-letters-word", "  Mississippi  river ")
    page.fill("#bot-letters-letter", "S")
    page.fill("#bot-letters-prefix", "There are")
    ask(page)
    [request] = asked(page, "digits")
    assert request["a"] == "How many S are in Mississippi river?"
    assert request["b"] == "How many S are in M i s s i s s i p p i r i v e r?"
    assert request["prefix"] == "There are"
    assert "S stands 4 times in Mississippi river" in story(page)
    assert [c["right"] for c in page.evaluate(CHARTS)] == [["4"], ["4"]]
    assert "There are" in page.inner_text(".bot-digit-title >> nth=1")
    assert "Digits without an id" in page.inner_text(".bot-letters > .bot-hint")
    assert "just now" in page.inner_text(PANEL)
    page.fill("#bot-letters-word", "x" * 3)
    page.press("#bot-letters-word", "Enter")
    settle(page)
    assert asked(page, "digits")[-1]["b"] == "How many S are in x x x?"
    assert [c["right"] for c in page.evaluate(CHARTS)] == [["0"], ["0"]]
    page.fill("#bot-letters-word", " ")
    ask(page)
    assert len(asked(page, "digits")) == 2  # there is nothing to ask


def test_waiting_is_told_and_can_be_stopped_and_errors_are_sentences(opened):
    told = [{"state": "running", "stage": "decode", "fraction": 0.5}] * 200

    def answer(_request):
        if not told:
            raise PlaygroundError("error.model_not_ready", name="x<b>")
        return told.pop()

    page = opened(answer, recorded=False)
    page.get_by_role("button", name=EN["panel.letters.go"], exact=True).click()
    page.wait_for_function("document.querySelector('.bot-asking-says').textContent.includes('50%')")
    page.locator(PANEL).get_by_role("button", name="Stop").click()
    settle(page)
    assert page.inner_text(".bot-asking-says") == ""
    assert [name for name, _ in page.evaluate("asked")][-1] == "halt"
    told.clear()
    ask(page)
    assert "x<b>" in page.inner_text(".bot-asking-says")
    chinese(page)
    assert re.search("[一-鿿]", page.inner_text(".bot-asking-says"))
    assert page.locator(".bot-letters").is_hidden()


def test_evil_words_stay_text_and_the_language_can_change(opened):
    sent = copy.deepcopy(SHOWN) | {"intact": False, "prefix": EVIL}
    for name in ("a", "b"):
        sent[name]["question"] = EVIL
        for part in ("first", "after"):
            sent[name][part]["text"] = EVIL
            sent[name][part]["best"] = [[1, EVIL.encode().hex(), False, 0.5]]
        for token in sent[name]["prompt"]:
            token["hex"] = EVIL.encode().hex()
    page = opened(lambda request: sent, recorded=False)
    page.fill("#bot-letters-word", EVIL)
    page.fill("#bot-letters-letter", "${x}")
    ask(page)
    assert page.locator("#app img").count() == 0
    assert EVIL in page.inner_text(".bot-letters-typed >> nth=0")
    assert page.locator(f"{PANEL} .bot-note-warn").is_visible()
    chinese(page)
    assert page.inner_text("#bot-title-letters") == ZH["panel.letters.title"]
    assert "${x}" in story(page)


def test_on_a_narrow_page(opened):
    page = opened(width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator(".bot-digit").first.is_visible()
    assert "\ufffd" not in page.inner_text(PANEL)
