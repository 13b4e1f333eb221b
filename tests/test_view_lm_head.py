"""The LM head in a real browser: vectors, scores, histogram and a dot product made again."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from playground.text import texts
from tests import looking
from tests.cpu import step_costs
from tests.test_view_lens import MARKED, go, lasting, opener, seen, settle, usual

pytestmark = pytest.mark.browser

EN, ZH = texts("en"), texts("zh")
PANEL = "#bot-panel-lm_head"
TABLE = """(k) => { const fold = document.querySelectorAll('#bot-panel-lm_head details')[k];
  fold.open = true; fold.dispatchEvent(new Event('toggle'));
  return [...fold.querySelectorAll('tbody tr')].filter((r) => !r.hidden).map((r) =>
    [...r.cells].map((c) => c.title || c.textContent)); }"""
CANDIDATES = """[...document.querySelectorAll('.bot-head-table tbody tr')].filter((r) => !r.hidden)
  .map((r) => ({ rank: r.cells[0].textContent, token: r.querySelector('button').textContent,
    score: Number(r.cells[2].title), chosen: !r.querySelector('.bot-head-tag').hidden,
    picked: r.classList.contains('is-picked') }))"""
# From the picture itself: where its axes' names stand, its bars, its pins.
PICTURE = """(() => { const of = (q) => [...document.querySelectorAll(`.bot-hist ${q}`)];
  const number = (t, name) => Number(t.getAttribute(name));
  const texts = of('.bot-hist-ticks text').map((t) => ({ text: t.textContent.replace('−', '-'),
    x: number(t, 'x'), y: number(t, 'y'), anchor: t.getAttribute('text-anchor') }));
  const pins = of('.bot-hist-pin').map((name) => name.parentNode)
    .filter((g) => g.getAttribute('visibility') !== 'hidden');
  return { texts, bars: document.querySelector('.bot-hist-bars').getAttribute('d'),
    pins: pins.map((g) => ({ stem: g.querySelector('.bot-hist-stem').getAttribute('d'),
      chosen: g.getAttribute('class') === 'is-chosen',
      text: g.querySelector('.bot-hist-pin').textContent })) }; })()"""


@pytest.fixture
def opened(chromium, pages):
    problems = []
    yield opener(chromium, pages, problems)
    assert problems == []


def sized(text):
    """The number that stands after "norm" in a stop of the flow."""
    return float(text.split("norm ")[1])


def test_the_vectors_and_their_norms_are_those_of_the_pass(opened):
    found = seen("llama")[0]
    stream = found.stream
    page = opened("llama", "lm_head")
    for i in (0, 5):
        go(page, i)
        stops = page.locator(".bot-flowline dd").all_inner_texts()
        assert sized(stops[0]) == pytest.approx(np.linalg.norm(stream.final[i]), rel=1e-3)
        assert sized(stops[1]) == pytest.approx(np.linalg.norm(stream.normed[i]), rel=1e-3)
        assert f"position {found.position(i)}" in stops[0]
        assert "283 rows × 48: the same table" in stops[2]
        rows = page.evaluate(TABLE, 1)
        assert [int(r[0]) for r in rows] == list(range(48))
        assert np.array_equal(np.float32([r[1] for r in rows]), stream.final[i])
        assert np.array_equal(np.float32([r[2] for r in rows]), stream.normed[i])
    page.focus(".bot-lines-stack")
    page.keyboard.press("End")
    text = page.inner_text(".bot-lines-read")
    assert text.startswith("dimension 47:")
    last = float(text.split("after the norm ")[1].replace("−", "-"))
    assert last == pytest.approx(stream.normed[5, 47], rel=1e-3)


def test_the_histogram_is_all_scores_of_the_step(opened):
    found = seen("llama")[0]
    page = opened("llama", "lm_head")
    for i in (1, 7):
        go(page, i)
        rows = page.evaluate(TABLE, 0)
        edges, counts = found.histogram.edges[i], found.histogram.counts[i]
        assert np.array_equal(np.float32([r[0] for r in rows]), edges[:-1])
        assert np.array_equal(np.float32([r[1] for r in rows]), edges[1:])
        assert [int(r[2].replace(",", "")) for r in rows] == counts.tolist()
        assert counts.sum() == found.model.vocab_rows
        scores = looking.reference("llama").logits[found.position(i)]
        half = float(page.inner_text(".bot-head-side .bot-facts-line").split("below ")[1]
                     .split(". ")[0].replace("−", "-"))  # fmt: skip
        assert half == pytest.approx(np.median(scores), abs=float(edges[1] - edges[0]))


def scale(found, names, axis):
    """pixel -> number, from two names beside an axis."""
    a, b = names[0], names[-1]
    values = [float(t["text"].replace(",", "")) for t in (a, b)]
    if axis == "y":
        values = [float(np.log10(v)) for v in values]
    step = (values[1] - values[0]) / (b[axis] - a[axis])
    return lambda px: values[0] + (px - a[axis]) * step


def test_bars_and_pins_stand_where_the_numbers_say(opened):
    found = seen("llama")[0]
    page = opened("llama", "lm_head", step=4)
    picture = page.evaluate(PICTURE)
    across = scale(found, [t for t in picture["texts"] if t["anchor"] == "middle"], "x")
    up = scale(
        found, [t | {"y": t["y"] - 4} for t in picture["texts"] if t["anchor"] == "end"], "y"
    )
    edges, counts = found.histogram.edges[4], found.histogram.counts[4]
    wide = float(edges[-1] - edges[0])
    bars = [b for b in picture["bars"].replace("Z", "").split("M") if b]
    held = np.flatnonzero(counts)
    assert len(bars) == len(held)
    for bar, k in zip(bars, held, strict=True):
        left, rest = bar.split(" ", 1)
        top = rest.split("V")[1].split("H")[0]
        assert across(float(left)) == pytest.approx(edges[k], abs=0.003 * wide)
        assert 10 ** up(float(top)) == pytest.approx(counts[k], rel=0.03)
    step = looking.trace("llama").steps[4]
    logits, ids = step.candidates.logits, step.candidates.ids.tolist()
    own = ids.index(step.token.id)
    places = [*range(7), *([own] if own > 6 else [])]
    assert [p["chosen"] for p in picture["pins"]] == [k == own for k in places]
    for pin, k in zip(picture["pins"], places, strict=True):
        assert across(float(pin["stem"][1:].split(" ")[0])) == pytest.approx(
            logits[k], abs=0.003 * wide
        )
        assert pin["text"].split(" ")[0] == str(step.rank if k == own else k + 1)


@pytest.mark.parametrize("family", ["llama", "gemma2"])
def test_the_candidates_scores_are_the_recorded_ones_and_can_be_made_again(opened, family):
    found = seen(family)[0]
    trace = looking.trace(family)
    page = opened(family, "lm_head", step=3)
    step = trace.steps[3]
    rows = page.evaluate(CANDIDATES)
    ids = step.candidates.ids.tolist()
    for k, row in enumerate(rows[:7]):
        assert np.float32(row["score"]) == step.candidates.logits[k]
    [chosen] = [row for row in rows if row["chosen"]]
    assert chosen["picked"] and chosen["rank"] == str(step.rank)
    assert np.float32(chosen["score"]) == step.candidates.logits[ids.index(step.token.id)]
    table = looking.engine(family).model.get_output_embeddings().weight.detach().numpy()
    second = table[ids[1]].astype("<f4")
    page.evaluate(
        "(values) => { answers.embedding = (...a) => {"
        " window.last = a; return { row: { values } }; }; }",
        base64.b64encode(second.tobytes()).decode(),
    )
    page.locator(".bot-head-pick").nth(1).click()
    before = page.evaluate("asked.length")
    page.get_by_role("button", name=EN["panel.lm_head.check"]).click()
    page.wait_for_selector(".bot-head-result:not([hidden]) >> text=difference")
    assert page.evaluate("asked.length") == before + 1
    assert page.evaluate("last") == ["0123456789abcdef", ids[1]]
    said = page.inner_text(".bot-head-result")
    dot = float(second.astype("f8") @ found.stream.normed[3].astype("f8"))
    number = float(said.split(" = ")[1].split(",")[0].split(". ")[0].replace("−", "-"))
    assert number == pytest.approx(dot, rel=1e-7)
    made = 17.0 * np.tanh(dot / 17.0) if family == "gemma2" else dot
    assert made == pytest.approx(step.candidates.logits[1], abs=1e-4)
    gap = abs(made - float(step.candidates.logits[1]))
    told = said.split("difference of ")[1].rstrip(".")
    mantissa, _, power = told.partition("×10")
    digits = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    assert float(f"{mantissa}e{power.translate(digits) or 0}") == pytest.approx(gap, rel=0.06)
    assert page.locator(".bot-vline:visible").count() == 4
    go(page, 4)  # the check was of the step before
    assert page.locator(".bot-head-result").is_hidden()
    assert page.locator(".bot-vline:visible").count() == 2


def test_a_cap_is_told_and_a_head_of_its_own_is_not_checked_here(opened):
    found = seen("gemma2")[0]
    page = opened("gemma2", "lm_head", step=2)
    text = page.inner_text(f"{PANEL} .bot-head-side .bot-note")
    raw, capped = text.split("token ")[1].rstrip(".").split(" becomes ")
    assert float(raw.replace("−", "-")) == pytest.approx(found.attribution.logit[2], rel=1e-4)
    assert float(capped.replace("−", "-")) == pytest.approx(found.attribution.capped[2], rel=1e-4)
    page = opened("qwen3", "lm_head", step=2)
    assert page.locator(f"{PANEL} .bot-head-side .bot-note").is_hidden()
    assert EN["panel.lm_head.check_own"] in page.inner_text(PANEL)
    assert page.locator(".bot-head-check").is_hidden()
    assert "a table of its own" in page.inner_text(".bot-flowline")


def test_a_row_that_can_not_be_had_is_said_so(opened):
    page = opened("llama", "lm_head", step=2, fresh=True)
    page.evaluate(
        "answers.embedding = () => ({ error: { en: 'not in the file', zh: '文件里没有' } })"
    )
    page.get_by_role("button", name=EN["panel.lm_head.check"]).click()
    page.wait_for_selector(".bot-head-result >> text=not in the file")
    page.evaluate("BOT.setLang('zh')")
    settle(page)
    assert page.inner_text(".bot-head-result") == "文件里没有"


def test_evil_tokens_stay_text_and_the_language_can_change(opened):
    page = opened("llama", "lm_head", evil=True, step=2, fresh=True)
    assert MARKED in page.inner_text(".bot-head-pick >> nth=0")
    assert MARKED in page.evaluate(PICTURE)["pins"][0]["text"]
    assert page.locator("#app img").count() == 0
    page.evaluate("BOT.setLang('zh')")
    settle(page)
    assert page.inner_text("#bot-title-lm_head") == ZH["panel.lm_head.title"]
    assert ZH["panel.lm_head.only"] in page.inner_text(PANEL)
    assert page.inner_text(".bot-head-title") == "全部 283 个 token 的分数怎样分布"


def test_before_the_first_run_and_on_a_narrow_page(opened):
    page = opened("llama", "lm_head", width=390, step=-1)
    assert EN["panel.lm_head.before"] in page.inner_text(PANEL)
    assert page.locator(".bot-hist").is_hidden()
    go(page, 0)
    assert page.locator(".bot-hist").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_step_asks_for_nothing_adds_nothing_and_is_cheap(opened):
    page = opened("llama", "lm_head")
    n = len(seen("llama")[0].chosen)
    before, after = lasting(page, "lm_head", n)
    assert before == after
    assert usual(step_costs(page, [*range(n)] * 3)) <= 16
