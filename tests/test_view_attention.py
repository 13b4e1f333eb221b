"""The attention panel in a real browser: what it shows are the weights, recomputed apart."""

from __future__ import annotations

import copy
import json
from functools import cache

import numpy as np
import pytest

from playground.inspection.attend import attend
from playground.text import texts
from playground.views.inside import head_payload, inside_payload
from playground.views.payload import trace_payload
from tests import looking
from tests.test_client import HOST, html

pytestmark = pytest.mark.browser

EN, ZH = texts("en"), texts("zh")
TRACE_ID = "0123456789abcdef"
EVIL = "<img src=x onerror=alert(1)>${alert(1)}{{x}}{token}<b>‮"
STEP = 6  # the tiny answers have eleven
WORK = """window.WORK = ({op, layer, head}) => {
  if (op === "inside") return {state: "done", result: window.INSIDE};
  const found = op === "head" && !window.broken && window.HEADS[`${layer},${head}`];
  return found ? {state: "done", result: found} : {error: {en: "no head today", zh: "今天没有头"}};
};"""


@cache
def payloads(family):
    """(trace, inside, heads by "layer,head") of the tiny model, as the server sends them."""
    found = looking.inspection(family)
    layers = range(found.model.n_layers)
    heads = {
        f"{d.layer},{h}": head_payload(d, attend(d, h))
        for d in found.details
        for h in range(found.model.n_heads)
    }
    inside = inside_payload(found, TRACE_ID, layers, None, recorded=False)
    return trace_payload(looking.trace(family), TRACE_ID), inside, heads


def reference(family, layer, head):
    """(scores, weights) f64[T, T] from the captured q and k alone, by the definition."""
    found = looking.inspection(family)
    detail = found.detail(layer)
    q = detail.q[head].astype(float)
    k = detail.k[head // (len(detail.q) // len(detail.k))].astype(float)
    scores = q @ k.T * detail.scaling
    if detail.softcap is not None:
        scores = detail.softcap * np.tanh(scores / detail.softcap)
    scores[~looking.allowed(len(q), looking.window(family, layer))] = -np.inf
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return scores, weights / weights.sum(1, keepdims=True)


@pytest.fixture(scope="module")
def pages(chromium):
    """{(family, panel): page} that tests without changes share, and all that went wrong on any."""
    kept, problems = {}, []
    yield kept, problems
    for page in kept.values():
        page.close()


@pytest.fixture
def opened(chromium, pages):
    """open(family, panel, change) -> page with the panel on screen; change(trace, inside) may edit
    what is sent. A page error, a dialog or a foreign request fails the test."""
    kept, problems = pages
    own = []

    def open_(family, panel="attention", change=None):
        if change is None and (family, panel) in kept:
            page = kept[family, panel]
        else:
            page = load(chromium, problems, family, panel, change)
            if change is None:
                kept[family, panel] = page
            else:
                own.append(page)
        page.evaluate(RESET)
        go(page, STEP)
        return page

    yield open_
    for page in own:
        page.close()
    found, problems[:] = list(problems), []
    assert found == []


RESET = """() => { BOT.setLang('en'); BOT.inside.setFocus({query: null});
document.querySelectorAll('.bot-inside details[open] > summary').forEach((s) => s.click());
document.querySelectorAll('.bot-inside input:checked').forEach((box) => box.click()); }"""


def load(chromium, problems, family, panel, change):
    trace, inside, heads = copy.deepcopy(payloads(family))
    if change:
        change(trace, inside)
    body = html(trace, views=("view_attention_bar", f"view_{panel}"))
    body = body.replace("window.answers = {};", "window.answers = {work: window.WORK};")
    body = body.replace('example: ask("example")', 'example: ask("example"), work: ask("work")')
    page = chromium.new_page(viewport={"width": 1280, "height": 900})

    def serve(route):
        if route.request.resource_type == "document":
            route.fulfill(body=body, content_type="text/html; charset=utf-8")
        else:
            if not route.request.url.endswith("plotly.js"):
                problems.append(route.request.url)
            route.abort()

    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("dialog", lambda dialog: problems.append("dialog"))
    sent = f"window.INSIDE = {json.dumps(inside)}; window.HEADS = {json.dumps(heads)};"
    page.add_init_script(f"window.BOT_PLOTLY_URL = 'plotly.js'; {sent}{WORK}")
    page.route("**/*", serve)
    page.goto(f"{HOST}?lang=en&view={panel}")
    page.locator(f"#bot-panel-{panel}").scroll_into_view_if_needed()
    page.wait_for_function(f"document.querySelector('#bot-panel-{panel} .bot-gate').hidden")
    settle(page)
    return page


def settle(page):
    page.evaluate(
        "new Promise((r) => requestAnimationFrame(() => requestAnimationFrame("
        "() => setTimeout(r))))"
    )


def focus(page, **change):
    page.evaluate(f"BOT.inside.setFocus({json.dumps(change)})")
    settle(page)


def go(page, step):
    page.evaluate(f"BOT.go({step})")
    settle(page)


CHIPS = """() => [...document.querySelectorAll('.bot-att-chip:not([hidden])')].map((c) => ({
  p: Number(c.dataset.p), text: c.querySelector('.bot-att-n').textContent,
  token: c.querySelector('.bot-att-tok').textContent,
  share: Number(c.style.getPropertyValue('--w')), kind: c.className }))"""
KEYS = """() => [...document.querySelectorAll('.bot-att-keys > li:not([hidden])')].map((l) => [
  Number(l.querySelector('.bot-att-place').textContent),
  ...[...l.querySelectorAll('.bot-att-cell > .bot-att-n')].map((n) => Number(n.title))])"""


@pytest.mark.parametrize("family", ["gemma2", "qwen3", "gpt2"])
def test_chips_and_keys_are_the_weights_of_the_position_that_answers(opened, family):
    page = opened(family)
    n_prompt = looking.inspection(family).n_prompt
    for layer, head, step in ((0, 1, STEP), (1, 0, 0), (1, 2, 10)):
        focus(page, layer=layer, head=head)
        go(page, step)
        at = n_prompt - 1 + step
        scores, weights = reference(family, layer, head)
        row = weights[at]
        chips = page.evaluate(CHIPS)
        assert [c["p"] for c in chips] == list(range(at + 1))
        hidden = [c["p"] for c in chips if "is-hidden" in c["kind"]]
        assert hidden == list(np.flatnonzero(np.isneginf(scores[at, : at + 1])))
        for chip in chips:
            assert chip["share"] == pytest.approx(row[chip["p"]] / row.max(), abs=2e-4)
            if row[chip["p"]] > 0.002:
                assert float(chip["text"].strip("%>")) == pytest.approx(
                    100 * row[chip["p"]], rel=0.06
                )
        assert ["is-asking" in c["kind"] for c in chips] == [False] * at + [True]
        shown = page.evaluate(KEYS)
        order = np.argsort(-row, kind="stable")[: len(shown)]
        assert row[[k for k, *_ in shown]] == pytest.approx(row[order], rel=1e-5)
        for k, score, weight in shown:
            assert score == pytest.approx(scores[at, k], rel=1e-4, abs=1e-4)
            assert weight == pytest.approx(row[k], rel=1e-4)


def test_the_table_of_keys_has_every_score_weight_and_share(opened):
    family = "gemma2"
    page = opened(family)
    focus(page, layer=2, head=3, query=14)
    page.click(".bot-panel-attention .bot-att-two .bot-fold > summary")
    settle(page)
    cells = page.evaluate(
        "[...document.querySelectorAll('.bot-att-two .bot-fold tbody tr:not([hidden])')]"
        ".map((r) => [...r.cells].map((c) => c.title || c.textContent))"
    )
    scores, weights = reference(family, 2, 3)
    seen = np.flatnonzero(weights[14])
    assert [int(c[0]) for c in cells] == list(seen) and len(seen) == 9  # the window of this layer
    detail = looking.inspection(family).detail(2)
    lengths = np.linalg.norm(detail.v[3 // 2].astype(float), axis=1)
    got = np.array([[float(x) for x in (c[2], c[3], c[4], c[5])] for c in cells])
    assert got[:, 0] == pytest.approx(scores[14, seen], rel=1e-4, abs=1e-4)
    assert got[:, 1] == pytest.approx(weights[14, seen], rel=1e-4)
    assert got[:, 2] == pytest.approx(lengths[seen], rel=1e-6)
    assert got[:, 3] == pytest.approx(weights[14, seen] * lengths[seen], rel=1e-4)
    out = np.linalg.norm(weights[14] @ detail.v[3 // 2])
    said = page.locator(".bot-att-two > div:last-child p").last.text_content()
    assert f"a vector {out:.3g}" in said.replace("−", "-")


def test_the_map_is_hatched_where_nothing_can_be_seen_and_only_there(opened):
    family = "gemma2"
    page = opened(family)
    for layer in (0, 1):
        focus(page, layer=layer, head=0)
        alpha = page.evaluate(
            """(n) => { const c = document.querySelector('.bot-att-map canvas');
            const px = (name) => parseFloat(c.style.getPropertyValue(name));
            const [gutter, foot] = [px('--gutter'), px('--foot')];
            const [w, h] = [(px('width') - gutter) / n, (px('height') - foot) / n];
            const g = c.getContext('2d');
            const at = (q, k) => g.getImageData(gutter + (k + 0.5) * w, (q + 0.5) * h, 1, 1);
            return Array.from({length: n}, (_, q) =>
              Array.from({length: n}, (_, k) => at(q, k).data[3])); }""",
            len(looking.inspection(family).ids),
        )
        allowed = looking.allowed(len(alpha), looking.window(family, layer))
        bare = np.array(alpha) == 0
        # the frames of the marked row and of the cursor cover part of their cells
        assert np.array_equal(bare, ~allowed)
        note = page.locator(".bot-att-key").text_content()
        assert ("window" in note) == (looking.window(family, layer) is not None)


def test_a_row_of_the_map_becomes_the_query_and_the_answer_is_one_click_away(opened):
    page = opened("qwen3")
    focus(page, layer=1, head=1)
    chips = page.evaluate(CHIPS)
    canvas = page.locator(".bot-att-map canvas")
    rows = len(looking.inspection("qwen3").ids)
    box = canvas.bounding_box()
    foot = canvas.evaluate("(c) => parseFloat(c.style.getPropertyValue('--foot'))")
    canvas.click(position={"x": 120, "y": (9 + 0.5) * (box["height"] - foot) / rows})
    settle(page)
    assert page.evaluate("BOT.inside.focus.query") == 9
    _, weights = reference("qwen3", 1, 1)
    shown = page.evaluate(KEYS)
    assert sorted(k for k, *_ in shown) == list(range(10))
    assert all(w == pytest.approx(weights[9, k], rel=1e-4) for k, _, w in shown)
    assert page.evaluate(CHIPS) == chips  # those stay with the position that answers
    page.click(".bot-panel-attention .bot-att-follow")
    settle(page)
    assert page.evaluate("BOT.inside.focus.query") is None


def test_the_overview_says_what_the_record_says_and_chooses(opened):
    page = opened("gemma2")
    page.click(".bot-panel-attention .bot-att-block > .bot-fold > summary")
    heads = looking.inspection("gemma2").heads
    for step in (STEP, 2):
        go(page, step)
        rows = page.evaluate(
            "[...document.querySelectorAll('.bot-att > .bot-att-block:first-child tbody tr')]"
            ".map((r) => [...r.cells].map((c) => c.title || c.textContent))"
        )
        assert len(rows) == heads.sink[..., 0].size
        for layer, head, sink, entropy, key, _, weight in rows:
            where = (int(layer), int(head), step)
            assert np.float32(sink) == heads.sink[where]
            assert np.float32(entropy) == heads.entropy_bits[where]
            assert int(key) == heads.peak[where]
            assert np.float32(weight) == heads.peak_weight[where]
    canvas = page.locator(".bot-att-all canvas")
    canvas.focus()
    page.keyboard.press("Home")
    page.keyboard.press("PageUp")
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    settle(page)
    assert page.evaluate("[BOT.inside.focus.layer, BOT.inside.focus.head]") == [2, 1]
    assert page.evaluate("BOT.state.i") == 2  # its arrow keys do not move the player
    page.get_by_role("radio", name=EN["panel.attention.shade.peak"]).click()
    assert page.locator(".bot-att-all output").text_content().startswith("layer 2, head 1:")


def test_leaving_the_first_token_out_changes_the_shade_and_no_number(opened):
    page = opened("gpt2")
    head = max(range(5), key=lambda h: reference("gpt2", 2, h)[1][-1, 0])
    focus(page, layer=2, head=head)
    go(page, 10)
    before, keys = page.evaluate(CHIPS), page.evaluate(KEYS)
    page.check(".bot-att-switch input")
    after = page.evaluate(CHIPS)
    assert [c["text"] for c in after] == [c["text"] for c in before]
    assert page.evaluate(KEYS) == keys
    row = reference("gpt2", 2, head)[1][-1]
    for chip in after[1:]:
        assert chip["share"] == pytest.approx(row[chip["p"]] / row[1:].max(), abs=2e-4)
    assert ("is-beyond" in after[0]["kind"]) == (row[0] > row[1:].max())
    assert "Only the shading has changed" in page.locator(".bot-att-scale").text_content()


def test_a_step_asks_nothing_and_makes_no_nodes(opened):
    page = opened("gemma2")
    count = "document.querySelectorAll('.bot-panel-attention *').length"
    asked, nodes = page.evaluate("window.asked.length"), page.evaluate(count)
    for step in (0, 10, 3, -1):
        go(page, step)
    assert page.evaluate("window.asked.length") == asked
    assert page.evaluate(count) == nodes
    assert page.locator(".bot-att-say").text_content().startswith("Before step 1")


def test_moving_to_another_head_is_painted_from_one_click(opened, record_property):
    """The time is recorded, not judged here."""
    page = opened("gemma2")
    focus(page, layer=3, head=2)
    asked = page.evaluate("window.asked.length")
    ms = page.evaluate(
        """() => new Promise((done) => { const says = document.querySelector('.bot-att-say');
        const start = performance.now();
        const painted = () => setTimeout(() => done(performance.now() - start));
        new MutationObserver(() => requestAnimationFrame(painted))
          .observe(says, {childList: true, characterData: true, subtree: true});
        document.querySelectorAll('.bot-panel-attention .bot-dial .bot-btn')[3].click(); })"""
    )
    record_property("paint_ms", ms)
    assert "head 3" in page.locator(".bot-att-say").text_content()
    assert page.evaluate("window.asked.length") == asked + 1


def evil(trace, _inside):
    for token in (trace["prompt"][2], trace["steps"][0]["tok"]):
        token["hex"] = EVIL.encode().hex()


def test_token_texts_stay_text(opened):
    page = opened("qwen3", change=evil)
    panel = page.locator("#bot-panel-attention")
    assert panel.locator("img, b").count() == 0
    chips = page.evaluate(CHIPS)
    assert "<img" in chips[2]["token"] and "${alert(1)}" in chips[2]["token"]
    n_prompt = looking.inspection("qwen3").n_prompt
    go(page, 1)
    assert "{token}<b>" in page.locator(".bot-att-say").text_content()
    focus(page, query=n_prompt)
    page.click(".bot-panel-attention .bot-att-two .bot-fold > summary")
    assert panel.locator("img, b").count() == 0


def test_both_languages(opened):
    page = opened("gemma2")
    page.evaluate("BOT.setLang('zh')")
    settle(page)
    text = page.locator("#bot-panel-attention").inner_text()
    assert ZH["panel.attention.map.title"] in text and "看得见" in text
    for key in ("read.title", "all.title", "map.axes", "aside"):
        assert EN[f"panel.attention.{key}"] not in text


def test_what_can_not_be_seen_is_said(opened):
    def blind(_trace, inside):
        inside["heads"] = None
        inside["missing"] = [{"part": "heads", "reason": "missing.attention", "values": {}}]

    page = opened("gpt2", change=blind)
    assert EN["missing.attention"] in page.locator("#bot-panel-attention").inner_text()
    assert not page.locator(".bot-att-chip").first.is_visible()
    assert not page.locator(".bot-panel-attention canvas").first.is_visible()


def test_a_layer_that_was_not_recorded_is_not_asked_for(opened):
    def recorded(_trace, inside):
        inside |= {"recorded": True, "layers": [1]}

    page = opened("qwen3", change=recorded)
    assert page.evaluate("BOT.inside.focus.layer") == 1
    select = page.locator(".bot-panel-attention .bot-dial-list").first
    assert select.locator("option:disabled").all_text_contents() == ["0"]
    canvas = page.locator(".bot-att-all canvas")
    box = canvas.bounding_box()
    canvas.click(position={"x": 30 + 5, "y": 10})
    settle(page)
    assert box and page.evaluate("BOT.inside.focus.layer") == 1
    assert page.get_by_text(EN["ui.inside.not_recorded"]).first.is_visible()
    focus(page, layer=0)
    assert not page.locator(".bot-att-content").first.is_visible()
    assert page.evaluate("window.asked.every(([n, r]) => n !== 'work' || r.layer !== 0)")


def test_an_error_is_a_sentence_and_can_be_tried_again(opened):
    page = opened("gpt2")
    page.evaluate("window.broken = true")
    focus(page, layer=3, head=4)
    bar = page.locator(".bot-panel-attention .bot-att-bar")
    assert "no head today" in bar.inner_text()
    assert not page.locator(".bot-att-content").is_visible()
    page.evaluate("window.broken = false")
    bar.get_by_role("button", name=EN["panel.attention.retry"]).click()
    settle(page)
    assert "Layer 3, head 4" in page.locator(".bot-att-say").text_content()
    assert not bar.locator(".bot-note").is_visible()
