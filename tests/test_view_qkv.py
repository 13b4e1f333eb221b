"""The panel of queries, keys and values in a real browser: vectors and products as captured."""

from __future__ import annotations

import numpy as np
import pytest

from playground.text import texts
from tests import looking
from tests.test_view_attention import (  # noqa: F401  (fixtures)
    STEP,
    evil,
    focus,
    go,
    opened,
    pages,
    reference,
    settle,
)

pytestmark = pytest.mark.browser

EN, ZH = texts("en"), texts("zh")
PANEL = "#bot-panel-qkv"
TABLE = """(n) => { const fold = document.querySelectorAll('#bot-panel-qkv .bot-fold')[n];
if (!fold.open) fold.querySelector('summary').click();
return new Promise((done) => setTimeout(() => { const table = fold.querySelector('table');
  const shown = (c) => getComputedStyle(c).display !== 'none';
  done([...table.rows].filter((r) => !r.hidden).map((r) => [...r.cells].filter(shown)
    .map((c) => c.textContent.replace('−', '-')))); }, 60)); }"""
CHAIN = """() => [...document.querySelectorAll('.bot-qkv-chain > li:not([hidden]) > strong')]
  .map((n) => Number(n.title))"""
KEYS = """() => [...document.querySelectorAll('.bot-qkv-list tr[data-i]:not([hidden])')]
  .map((r) => [Number(r.cells[0].textContent), Number(r.cells[2].title), r.ariaCurrent])"""
STRIPS = """() => [...document.querySelectorAll('.bot-qkv-column')].map((c) =>
  [...c.querySelectorAll('.bot-qkv-stage:not([hidden]) .bot-label')].map((l) => l.textContent))"""


def shown(rows):
    return rows[0], np.array([[float(x) for x in row] for row in rows[1:]])


@pytest.mark.parametrize(
    ("family", "names"),
    [
        ("qwen3", ["q_raw", "q_normed", "q", "k_raw", "k_normed", "k", "v"]),
        ("gemma2", ["q_raw", "q", "k_raw", "k", "v"]),
        ("gpt2", ["q", "k", "v"]),
    ],
)
def test_every_dimension_of_every_stage_is_the_captured_one(opened, family, names):  # noqa: F811
    page = opened(family, "qkv")
    found = looking.inspection(family)
    for layer, head, step in ((1, 2, STEP), (0, 1, 0)):
        focus(page, layer=layer, head=head)
        go(page, step)
        head_row, values = shown(page.evaluate(TABLE, 0))
        assert head_row[1:] == [EN[f"panel.qkv.col.{name}"] for name in names]
        detail, at = found.detail(layer), found.position(step)
        kv = head // (len(detail.q) // len(detail.k))
        for column, name in enumerate(names, 1):
            array = getattr(detail, name)[head if name[0] == "q" else kv]
            assert np.array_equal(values[:, column].astype(np.float32), array[at]), name


@pytest.mark.parametrize("family", ["qwen3", "gemma2", "gpt2"])
def test_only_the_stages_that_the_model_has_are_named(opened, family):  # noqa: F811
    page = opened(family, "qkv")
    q, k, v = page.evaluate(STRIPS)
    raw, normed = EN["panel.qkv.stage.raw"], EN["panel.qkv.stage.normed"]
    turned = EN["panel.qkv.stage.turned"].format(position=looking.inspection(family).position(STEP))
    assert (
        q
        == {
            "qwen3": [raw, normed.format(letter="q"), turned],
            "gemma2": [raw, turned],
            "gpt2": [EN["panel.qkv.stage.plain"]],
        }[family]
    )
    assert [s.replace("k-norm", "q-norm") for s in k] == q and len(v) == 1
    text = page.locator(PANEL).inner_text()
    assert ("-norm" in text) == (family == "qwen3")
    assert ("turned" in text) == (family != "gpt2")
    assert ("caps scores" in text) == (family == "gemma2")


@pytest.mark.parametrize("family", ["qwen3", "gemma2", "gpt2"])
def test_products_add_up_to_the_score_and_the_weight(opened, family):  # noqa: F811
    page = opened(family, "qkv")
    found = looking.inspection(family)
    focus(page, layer=1, head=2, query=12)
    scores, weights = reference(family, 1, 2)
    detail = found.detail(1)
    q = detail.q[2].astype(float)
    k = detail.k[2 // (len(detail.q) // len(detail.k))].astype(float)
    order = [key for key in np.argsort(-weights[12], kind="stable") if weights[12, key] > 0]
    listed = page.evaluate(KEYS)
    assert [key for key, *_ in listed] == order[: len(listed)]
    assert [w for _, w, _ in listed] == pytest.approx(weights[12, order[: len(listed)]], rel=1e-4)
    assert [mark for *_, mark in listed] == ["step"] + [None] * (len(listed) - 1)
    for n in (0, 3):
        page.click(f".bot-qkv-list tr[data-i='{n}']")
        settle(page)
        key = order[n]
        chain = page.evaluate(CHAIN)
        expected = [q[12] @ k[key], q[12] @ k[key] * detail.scaling]
        expected += [scores[12, key]] * (detail.softcap is not None) + [weights[12, key]]
        assert chain == pytest.approx(expected, rel=1e-6, abs=1e-7)
        _, products = shown(page.evaluate(TABLE, 1))
        assert np.array_equal(
            products[:, 1:3], np.stack([q[12], k[key]], 1).astype(np.float32)
        ) or (products[:, 1:3] == pytest.approx(np.stack([q[12], k[key]], 1), rel=1e-7))
        assert products[:, 3] == pytest.approx(q[12] * k[key], rel=1e-7)
    said = page.locator(".bot-qkv-chain").inner_text()
    recorded = f"{scores[12, key]:.5g}".replace("-", "−").replace("e", "")[:5]
    assert f"recorded: {recorded}" in said and said.count("difference") == 2
    # the reader's key stays while it can be seen, and is left by a click
    focus(page, query=13)
    if weights[13, key] > 0:
        assert [row[0] for row in page.evaluate(KEYS) if row[2]] == [key]
    page.click(f"{PANEL} .bot-qkv-list .bot-chip")
    settle(page)
    assert [row[0] for row in page.evaluate(KEYS) if row[2]] == [int(weights[13].argmax())]


@pytest.mark.parametrize(("family", "groups"), [("gemma2", 2), ("gpt2", 5)])
def test_who_shares_a_kv_head(opened, family, groups):  # noqa: F811
    page = opened(family, "qkv")
    model = looking.inspection(family).model
    focus(page, head=0)
    boxes = page.locator(".bot-qkv-group")
    assert boxes.count() == groups == model.n_kv_heads
    per = model.n_heads // groups
    for head in range(model.n_heads):
        page.click(f".bot-qkv-group button[data-head='{head}']")
        settle(page)
        assert page.evaluate("BOT.inside.focus.head") == head
        lit = page.locator(".bot-qkv-group[data-lit]")
        assert lit.locator(".bot-qkv-kv").text_content() == f"kv {head // per}"
        assert lit.locator("[aria-pressed='true']").text_content() == str(head)
    shapes = page.locator(".bot-qkv-shape").all_text_contents()
    for shape, heads in zip(shapes, (model.n_heads, groups, groups), strict=True):
        assert shape == f"{model.d_model} → {heads} × {model.d_head} = {heads * model.d_head}"


def test_one_dimension_is_marked_in_all_strips_of_a_vector(opened):  # noqa: F811
    page = opened("qwen3", "qkv")
    focus(page, layer=1, head=3)
    detail, at = looking.inspection("qwen3").detail(1), looking.inspection("qwen3").position(STEP)
    page.locator(".bot-qkv-column canvas").first.focus()
    page.keyboard.press("Home")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    said = page.locator(".bot-qkv-column output").first.text_content().replace("−", "-")
    stages = [detail.q_raw, detail.q_normed, detail.q]
    numbers = said.split(": ", 1)[1].split(" · ")[0].split(" → ")
    assert [float(x) for x in numbers] == pytest.approx([s[3, at, 3] for s in stages], rel=1e-3)
    half = detail.cos.shape[1] // 2
    assert said.startswith("dimension 3:") and f"dimension {3 + half} " in said
    slider = page.locator(".bot-qkv-column canvas").nth(1)
    assert slider.get_attribute("aria-valuenow") == "3"
    assert page.evaluate("BOT.state.i") == STEP


BARS = """(n) => [...document.querySelectorAll(
  '#bot-panel-qkv .bot-qkv-stage:not([hidden]) canvas')]
  .map((c) => { const g = c.getContext('2d'), wide = c.width / n, half = c.height / 2;
  return Array.from({length: n}, (_, k) => { let [up, down] = [0, 0];
    const {data} = g.getImageData(Math.round((k + 0.5) * wide), 0, 1, c.height);
    for (let y = 0; y < c.height; y++) if (data[4 * y + 3] > 200) y < half ? up++ : down++;
    return up - down; }); })"""


@pytest.mark.parametrize("family", ["qwen3", "gpt2"])
def test_the_bars_are_as_high_as_the_numbers(opened, family):  # noqa: F811
    page = opened(family, "qkv")
    found = looking.inspection(family)
    focus(page, layer=0, head=2, query=8)
    page.locator(f"{PANEL} .bot-qkv-column canvas").first.focus()
    page.keyboard.press("End")  # the marked dimension is painted over
    drawn = np.array(page.evaluate(BARS, found.model.d_head), float)
    detail, kv = found.detail(0), 2 // (found.model.n_heads // found.model.n_kv_heads)
    key = int(reference(family, 0, 2)[1][8].argmax())
    stages = ["q_raw", "q_normed", "q"], ["k_raw", "k_normed", "k"], ["v"]
    names = [n for part in stages for n in part if family == "qwen3" or n in "qkv"]
    expected = [getattr(detail, n)[2 if n[0] == "q" else kv][8] for n in names]
    expected += [detail.q[2, 8], detail.k[kv, key], detail.q[2, 8] * detail.k[kv, key]]
    assert len(drawn) == len(expected)
    for bars, values in zip(drawn, np.array(expected, float), strict=True):
        keep = np.ones(len(values), bool)
        keep[[0, -1, len(values) // 2 - 1]] = False  # marked, or paired with one that is
        scale = bars[keep] @ values[keep] / (values[keep] @ values[keep])
        assert scale > 0 and bars[keep] == pytest.approx(values[keep] * scale, abs=1.6)


def test_a_step_asks_nothing_and_makes_no_nodes(opened):  # noqa: F811
    page = opened("gemma2", "qkv")
    go(page, 10)
    count = f"document.querySelectorAll('{PANEL} *').length"
    asked, nodes = page.evaluate("window.asked.length"), page.evaluate(count)
    for step in (0, 9, 3, -1):
        go(page, step)
    assert page.evaluate("window.asked.length") == asked
    assert page.evaluate(count) == nodes


def test_token_texts_stay_text_in_both_languages(opened):  # noqa: F811
    page = opened("qwen3", "qkv", change=evil)
    go(page, 1)
    panel = page.locator(PANEL)
    assert "{token}<b>" in panel.inner_text() and panel.locator("img, b").count() == 0
    page.evaluate("BOT.setLang('zh')")
    settle(page)
    text = panel.inner_text()
    assert ZH["panel.qkv.dot.title"] in text and "<img" in text
    for key in ("dot.title", "vectors.axes", "share.title", "stage.raw"):
        assert EN[f"panel.qkv.{key}"] not in text


def test_what_can_not_be_seen_is_said(opened):  # noqa: F811
    def blind(_trace, inside):
        inside["heads"] = None
        values = {"family": "other"}
        inside["missing"] = [{"part": "writes", "reason": "missing.family", "values": values}]

    page = opened("gpt2", "qkv", change=blind)
    assert EN["missing.family"].format(family="other") in page.locator(PANEL).inner_text()
    assert not page.locator(f"{PANEL} canvas").first.is_visible()
