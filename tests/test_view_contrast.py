"""Two prompts side by side in a real browser: what is shown is what the record holds."""

from __future__ import annotations

import copy
import json
import re

import numpy as np
import pytest

from playground.text import texts
from playground.views.pair import pair_payload
from playground.views.payload import trace_payload
from tests import looking, test_pair, tiny
from tests.test_client import HOST
from tests.test_view_lens import EVIL, MARKED, RUN, lasting, serving, settle

pytestmark = pytest.mark.browser

EN, ZH = texts("en"), texts("zh")
PANEL = "#bot-panel-contrast"
PAIRS = [
    {"name": "zh", "a": "苹果的颜色", "b": "苹果的形状"},
    {"name": "en", "a": test_pair.A, "b": test_pair.B},
    {"name": "templates", "a": "?", "b": "?"},  # they differ in their templates: not shown here
]
# No other panel looks inside. `window.pair` answers at once; `window.told`, where it is set, first.
GIVEN = """localStorage.setItem("bot.inside.auto", "no"); window.BOT_PAIRS = %s;
window.pair = %s; window.told = []; window.given = {
work: (r) => r.op !== "pair" ? new Promise(() => {}) : window.told.shift() ||
  { state: "done", result: window.pair }, halt: () => ({}) };"""
CELLS = """(panel) => [...document.querySelectorAll(panel)].map((r) =>
  [...r.cells].map((c) => [c.textContent, c.title]))"""


@pytest.fixture
def opened(chromium):
    """open(pair payload) -> page on the panel; a page error or a foreign request fails the test."""
    pages, problems = [], []

    def open_(sent, *, lang="en", width=1280, pairs=PAIRS):
        page = chromium.new_page(viewport={"width": width, "height": 900})
        pages.append(page)

        def serve(route):
            if route.request.resource_type == "document":
                body = serving(trace_payload(looking.trace("llama"), RUN), "contrast")
                route.fulfill(body=body, content_type="text/html; charset=utf-8")
            else:
                if "plotly" not in route.request.url:
                    problems.append(route.request.url)
                route.abort()

        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: problems.append("dialog"))
        page.add_init_script(GIVEN % (json.dumps(pairs), json.dumps(sent)))
        page.route("**/*", serve)
        page.goto(f"{HOST}?lang={lang}&view=contrast")
        settle(page)
        page.evaluate(f"document.querySelector('{PANEL}').scrollIntoView()")
        if pairs:
            page.wait_for_selector(".bot-pair-result:not([hidden])")
        settle(page)
        return page

    yield open_
    for page in pages:
        page.close()
    assert problems == []


@pytest.fixture
def shown(opened):
    return opened(pair_payload(test_pair.made("llama"), recorded=True))


def asked(page):
    found = [x for name, *rest in page.evaluate("asked") if name == "work" for x in rest]
    return [x for x in found if x["op"] == "pair"]


def word(page, pair, i):
    return page.evaluate("(hex) => BOT.tokenText(hex)", pair.pieces[int(i)].hex()) or "∅"


def table(page, k):
    page.locator(f"{PANEL} .bot-fold summary").nth(k).click()
    folds = f"{PANEL} .bot-fold:nth-of-type({k + 1}) tbody tr"
    return page.evaluate(CELLS, folds)


def test_the_recorded_pair_of_the_readers_language_is_there_at_once(shown):
    page, pair = shown, test_pair.made("llama")
    [request] = asked(page)
    assert (request["op"], request["name"]) == ("pair", "en") and "trace" not in request
    assert page.input_value("#bot-pair-a") == test_pair.A
    assert page.input_value("#bot-pair-b") == test_pair.B
    assert page.locator(f"{PANEL} .bot-pair-recorded .bot-chip").count() == 2
    for name, side in (("a", pair.a), ("b", pair.b)):
        tokens = page.evaluate(
            f"""[...document.querySelectorAll(`{PANEL} .bot-pair-side.is-{name} > div >
            .bot-pair-tokens > .bot-pair-token`)].filter((t) => !t.hidden).map((t) => [
            t.querySelector('bdi').textContent, t.classList.contains('is-differing'), t.title,
            t.textContent.includes('(differs)')])"""
        )
        assert [t[0] for t in tokens] == [word(page, pair, t.id) for t in side.trace.prompt]
        assert [k for k, t in enumerate(tokens) if t[1]] == side.differ.tolist()
        assert all(t[1] == t[3] for t in tokens)
        assert [t[2] for t in tokens] == [
            f"position {k}, id {t.id}" for k, t in enumerate(side.trace.prompt)
        ]
        answer = page.locator(f"{PANEL} .bot-pair-side.is-{name} .bot-pair-answer").inner_text()
        assert all(word(page, pair, i) in answer for i in side.trace.ids)


def test_the_curve_has_every_cosine_and_names_the_steepest_rise(shown):
    page, pair = shown, test_pair.made("llama")
    gaps, parts = 1 - pair.contrast.cosine.astype("f8"), pair.parts_at
    assert page.get_attribute(f"{PANEL} .bot-gap", "aria-valuenow") == str(parts + 1)
    assert page.inner_html(".bot-gap-flag").startswith(f"layer {parts}:")
    story = page.inner_text(".bot-pair-story")
    assert f"They part at layer {parts}" in story
    page.focus(f"{PANEL} .bot-gap")
    page.keyboard.press("Home")
    for place, cosine in enumerate(pair.contrast.cosine):
        said = page.inner_text(".bot-gap-read")
        assert said.startswith("embedding output" if place == 0 else f"after layer {place - 1}:")
        assert np.float32(re.search(r"cosine (\S+)\)", said)[1]) == cosine
        rows = page.evaluate(CELLS, f"{PANEL} .bot-ladder tr[aria-current]")
        assert rows[0][0][0] == ("E" if place == 0 else str(place - 1))
        page.keyboard.press("ArrowRight")
    for scale in (0, 1):
        page.locator(f"{PANEL} .bot-pair-scales > button").nth(scale).click()
        dots = page.evaluate(
            "[...document.querySelectorAll('.bot-gap-dots circle')].map((d) => "
            "[+d.getAttribute('cx'), +d.getAttribute('cy'), d.classList.contains('is-zero')])"
        )
        x, y, zero = np.array(dots).T
        assert np.allclose(np.diff(x), np.diff(x)[0], atol=0.1)
        up = np.maximum(gaps, 0) if scale == 0 else np.log(np.maximum(gaps, 1e-30))
        fit = np.polyfit(up[gaps > 0], y[gaps > 0], 1)
        assert fit[0] < 0
        assert np.allclose(np.polyval(fit, up[gaps > 0]), y[gaps > 0], atol=0.2)
        assert zero.astype(bool).tolist() == (gaps <= 0).tolist()


def test_the_ladder_has_both_lenses_and_marks_where_they_disagree(shown):
    page, pair = shown, test_pair.made("llama")
    rows = page.evaluate(
        """[...document.querySelectorAll('.bot-ladder tbody tr')].map((r) => ({
        place: r.cells[0].textContent, gap: r.cells[1].title, split: r.textContent.includes('≠'),
        a: [r.cells[2].querySelector('bdi').textContent, r.cells[2].title],
        b: [r.cells[4].querySelector('bdi').textContent, r.cells[4].title],
        wide: r.querySelector('.bot-ladder-bar').getBoundingClientRect().width,
        parting: r.classList.contains('is-parting') }))"""
    )
    assert [r["place"] for r in rows] == ["E", *map(str, range(pair.model.n_layers))]
    assert [r["parting"] for r in rows].index(True) == pair.parts_at + 1
    gaps = 1 - pair.contrast.cosine.astype("f8")
    for r, row in enumerate(rows):
        assert float(row["gap"]) == gaps[r]
        for side, (guess, p) in ((pair.a, row["a"]), (pair.b, row["b"])):
            assert guess == word(page, pair, side.ids[r, 0])
            assert np.float32(p) == side.probs[r, 0]
        assert row["split"] == (pair.a.ids[r, 0] != pair.b.ids[r, 0])
    wide = np.array([r["wide"] for r in rows])
    assert np.allclose(wide[gaps > 0.01] / wide.max(), gaps[gaps > 0.01] / gaps.max(), atol=0.05)


def test_candidates_stand_in_both_side_by_side(shown):
    page, pair = shown, test_pair.made("llama")
    rows = page.evaluate(
        """(panel) => [...document.querySelectorAll(`${panel} .bot-duo-row`)].filter((r) =>
        !r.hidden).map((r) => { const all = (name) => [...r.querySelectorAll(`.bot-duo-${name}`)];
        return { token: r.querySelector('bdi').textContent, note: r.innerText.includes('taken'),
          p: all('n').map((n) => n.title.split(': ')[1]),
          rank: all('rank').map((n) => n.textContent),
          wide: all('bar').map((b) => b.getBoundingClientRect().width) }; })""",
        PANEL,
    )
    most = max(pair.next.a.max(), pair.next.b.max())
    taken = {pair.a.trace.ids[0], pair.b.trace.ids[0]}
    full = max(max(r["wide"]) for r in rows)
    for k, row in enumerate(rows):
        assert row["token"] == word(page, pair, pair.next.ids[k])
        both = np.array([pair.next.a[k], pair.next.b[k]])
        assert np.array_equal(np.array(row["p"], "f4"), both)
        assert row["rank"] == [f"rank {pair.next.rank_a[k]}", f"rank {pair.next.rank_b[k]}"]
        assert np.allclose(np.array(row["wide"]) / full, both / most, atol=0.03)
        assert row["note"] == (int(pair.next.ids[k]) in taken)
    assert len(rows) == 10


def test_heads_that_read_the_word_are_shaded_listed_and_read_out(shown):
    page, pair = shown, test_pair.made("llama")
    both = np.maximum(pair.a.reads, pair.b.reads)
    layer, head = np.unravel_index(both.argmax(), both.shape)
    items = page.locator(".bot-pair-reads-heads > li:not([hidden])").all_inner_texts()
    assert items[0].startswith(f"layer {layer} · head {head}") and len(items) == 8
    assert f"head {head} of layer {layer} reads" in page.inner_text(".bot-pair-story")
    for k, side in enumerate((pair.a, pair.b)):
        part = page.locator(".bot-pair-reads-map").nth(k)
        assert f"layer {layer}, head {head}" in part.locator("output").inner_text()
        part.locator("canvas").focus()
        page.keyboard.press("PageUp")
        page.keyboard.press("End")
        page.keyboard.press("ArrowDown")
        said = part.locator("output").inner_text()
        assert said.startswith(f"layer 1, head {pair.model.n_heads - 1}:")
        assert np.float32(re.search(r"\((\S+)\)", said)[1]) == side.reads[1, -1]


def test_the_tables_have_all_of_it_exactly(shown):
    page, pair = shown, test_pair.made("llama")
    layers, following, heads = (table(page, k) for k in range(3))
    assert len(layers) == pair.model.n_layers + 1 and len(following) == len(pair.next.ids)
    for k, row in enumerate(layers):
        assert np.float32(row[1][0]) == pair.contrast.cosine[k]
        assert np.float32(row[3][1]) == pair.contrast.distance[k]
        assert np.float32(row[4][1]) == pair.a.entropy_bits[k]
        assert np.float32(row[5][1]) == pair.b.entropy_bits[k]
    for k, row in enumerate(following):
        assert int(row[1][0]) == pair.next.ids[k] and np.float32(row[4][1]) == pair.next.b[k]
    seen = {(int(r[0][0]), int(r[1][0])): (r[2][1], r[3][1]) for r in heads}
    assert len(seen) == pair.a.reads.size
    for (layer, head), (a, b) in seen.items():
        assert np.float32(a) == pair.a.reads[layer, head]
        assert np.float32(b) == pair.b.reads[layer, head]


def test_compare_asks_for_what_was_typed_and_tells_how_far_it_is(shown):
    page = shown
    page.fill("#bot-pair-a", "one ${x}")
    page.fill("#bot-pair-b", "two\nlines")
    page.get_by_role("button", name=EN["panel.contrast.mode_chat"]).click()
    page.evaluate("told = Array(99).fill({state: 'running', stage: 'decode', fraction: 0.4})")
    go = page.get_by_role("button", name=EN["panel.contrast.go"], exact=True)
    go.click()
    page.wait_for_function("document.querySelector('.bot-pair-says').textContent.includes('40%')")
    assert go.is_disabled()
    assert page.evaluate("document.querySelector('.bot-pair-ask progress').value") == 0.4
    page.evaluate("told = []")
    page.wait_for_function("!document.querySelector('.bot-pair-says').textContent")
    request = {k: v for k, v in asked(page)[-1].items() if k != "who"}
    assert request == {
        "op": "pair", "a": {"prompt": "one ${x}"}, "b": {"prompt": "two\nlines"}, "mode": "chat"
    }  # fmt: skip
    assert go.is_enabled()


def test_stop_and_errors_leave_what_was_typed(shown):
    page = shown
    page.fill("#bot-pair-a", "kept")
    page.evaluate("told = Array(99).fill({state: 'waiting', ahead: 2})")
    page.get_by_role("button", name=EN["panel.contrast.go"], exact=True).click()
    page.wait_for_function("document.querySelector('.bot-pair-says').textContent.includes('2')")
    page.locator(f"{PANEL} .bot-pair-ask").get_by_role("button", name="Stop").click()
    settle(page)
    assert page.inner_text(".bot-pair-says") == ""
    assert page.evaluate("asked")[-1][0] == "halt"
    page.evaluate("told = [{error: {en: 'No <b>model</b> here.', zh: '没有模型。'}}]")
    page.get_by_role("button", name=EN["panel.contrast.go"], exact=True).click()
    settle(page)
    assert page.inner_text(".bot-pair-says").endswith("No <b>model</b> here.")
    page.evaluate("BOT.setLang('zh')")
    settle(page)
    assert page.inner_text(".bot-pair-says").endswith("没有模型。")
    assert page.input_value("#bot-pair-a") == "kept"
    assert page.locator(".bot-pair-result").is_visible()


def evil(sent):
    sent = copy.deepcopy(sent)
    sent["pieces"] = dict.fromkeys(sent["pieces"], EVIL.encode().hex())
    for name in ("a", "b"):
        sent[name]["asked"] = sent[name]["text"] = EVIL
        for token in (*sent[name]["prompt"], *sent[name]["answer"]):
            token["hex"] = EVIL.encode().hex()
    return sent


def test_evil_tokens_stay_text_and_the_language_can_change(opened):
    sent = evil(pair_payload(test_pair.made("llama"), recorded=True, intact=False))
    pairs = [{"name": "x", "a": EVIL, "b": f"{EVIL}!"}]
    page = opened(sent, pairs=pairs)
    assert page.locator(f"{PANEL} img").count() == 0
    assert MARKED in page.inner_text(f"{PANEL} .bot-ladder tbody tr >> nth=0")
    assert page.inner_text(f"{PANEL} .bot-pair-recorded .bot-chip") == f"{EVIL} / {EVIL}!"
    assert page.locator(f"{PANEL} .bot-note-warn").is_visible()
    page.evaluate("BOT.setLang('zh')")
    settle(page)
    assert page.inner_text("#bot-title-contrast") == ZH["panel.contrast.title"]
    parts = test_pair.made("llama").parts_at
    assert f"第 {parts} 层分开" in page.inner_text(".bot-pair-story")
    assert f"第 {parts} 层" in page.inner_text(".bot-gap-read")


@pytest.mark.parametrize("prompts", [
    ("Is an apple other?", "Is an old apple other?"), (test_pair.A, "Is the shape"),
])  # fmt: skip
def test_a_prompt_without_a_word_of_its_own_says_so(opened, prompts):
    pair = test_pair.made("llama", *prompts)
    page = opened(pair_payload(pair, recorded=False))
    maps = page.locator(".bot-pair-reads-map")
    for k, side in enumerate((pair.a, pair.b)):
        none = EN["panel.contrast.reads_none"] in maps.nth(k).inner_text()
        assert none == (len(side.differ) == 0) == maps.nth(k).locator("canvas").is_hidden()
    ends = any(len(s.trace.prompt) - 1 in s.differ for s in (pair.a, pair.b))
    assert (EN["panel.contrast.apart_at_start"] in page.inner_text(".bot-pair-story")) == ends


def test_an_unknown_family_is_shown_as_far_as_it_goes(opened):
    pair = test_pair.made(tiny.UNKNOWN)
    page = opened(pair_payload(pair, recorded=False))
    assert page.locator(".bot-gap-dots circle").count() == pair.model.n_layers + 1
    rows = page.locator(".bot-ladder tbody tr:not([hidden])")
    assert rows.count() == len(pair.a.layers)


def test_without_recorded_pairs_and_on_a_narrow_page(opened):
    page = opened(pair_payload(test_pair.made("llama"), recorded=False), pairs=[], width=390)
    assert asked(page) == [] and page.locator(".bot-pair-result").is_hidden()
    page.get_by_role("button", name=EN["panel.contrast.go"], exact=True).click()
    page.wait_for_selector(".bot-pair-result:not([hidden])")
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_step_asks_for_nothing_and_adds_nothing(shown):
    before, after = lasting(shown, "contrast", len(looking.trace("llama").steps))
    assert before == after
