"""Position in a real browser: rotations equal the model's, and only the distance counts."""

from __future__ import annotations

import numpy as np
import pytest

from playground.inspection.packed import pack
from playground.text import say, texts
from tests import looking, tiny
from tests.cpu import step_costs
from tests.test_view_lens import MARKED, go, lasting, opener, seen, settle, usual

pytestmark = pytest.mark.browser

EN, ZH = texts("en"), texts("zh")
PANEL = "#bot-panel-position"
TURNING = ("llama", "qwen3", "gemma3", "phi3", "gpt_neox")  # the last two turn a part of a head
ROTARY = """([cos, sin, q, k, m, n, most]) => {
  const r = BOT.rotary(BOT.nd(cos), BOT.nd(sin));
  const both = BOT.shifted(r, q, m, k, n, most);
  return { theta: [...r.theta], gap: r.gap, q: [...r.turn(q, m)], k: [...r.turn(k, n)],
    both: [...both.both], one: [...both.one] }; }"""
TABLE = """(k) => { const fold = document.querySelectorAll('#bot-panel-position details')[k];
  fold.open = true; fold.dispatchEvent(new Event('toggle'));
  return [...fold.querySelectorAll('tbody tr')].filter((r) => !r.hidden).map((r) =>
    [...r.cells].map((c) => c.title || c.textContent)); }"""
FOCUS = "(f) => { BOT.inside.setFocus(f); }"


@pytest.fixture
def opened(chromium, pages):
    problems = []
    yield opener(chromium, pages, problems)
    assert problems == []


def before(detail, name):
    normed = getattr(detail, f"{name}_normed")
    return getattr(detail, f"{name}_raw") if normed is None else normed


def spun(x, theta, p):
    """x turned at position p, by complex numbers: an own way to the same."""
    half = len(theta)
    pairs = (x[:half] + 1j * x[half : 2 * half]) * np.exp(1j * p * theta)
    return np.concatenate([pairs.real, pairs.imag, x[2 * half :]])


def speeds(family, layer):
    """rad per position, of the model's own rotary module."""
    model = looking.engine(family).model
    rotary = model.base_model.rotary_emb
    kind = getattr(model.config, "layer_types", None)
    own = getattr(rotary, f"{kind[layer]}_inv_freq", None) if kind else None
    return (rotary.inv_freq if own is None else own).double().numpy()


@pytest.mark.parametrize("family", TURNING)
def test_turning_in_the_browser_is_the_models_and_shifts_keep_the_product(opened, family):
    found = seen(family)[0]
    page = opened(family, "position", step=2)
    for layer in {0, found.model.n_layers - 1}:
        detail = found.detail(layer)
        theta = speeds(family, layer)
        head, kv, m, n = 1, 1 // (found.model.n_heads // found.model.n_kv_heads), 17, 6
        q, k = before(detail, "q")[head, m], before(detail, "k")[kv, n]
        got = page.evaluate(
            ROTARY,
            [pack(detail.cos, "f4"), pack(detail.sin, "f4"), q.tolist(), k.tolist(), m, n, 64],
        )
        assert got["theta"] == pytest.approx(theta, rel=1e-5, abs=1e-7)
        assert got["gap"] < 2e-5
        assert got["q"] == pytest.approx(detail.q[head, m], abs=3e-5 * float(np.abs(q).max()))
        assert got["k"] == pytest.approx(detail.k[kv, n], abs=3e-5 * float(np.abs(k).max()))
        q, k = q.astype("f8"), k.astype("f8")
        length = np.linalg.norm(q) * np.linalg.norm(k)
        product = float(detail.q[head, m].astype("f8") @ detail.k[kv, n].astype("f8"))
        assert np.ptp(got["both"]) < 1e-10 * length
        assert got["both"][0] == pytest.approx(product, abs=2e-5 * length)
        one = [spun(q, theta, m + s) @ spun(k, theta, n) for s in range(65)]
        assert got["one"] == pytest.approx(one, abs=1e-4 * length)
        assert np.ptp(got["one"]) > 1e-3 * length  # and alone it changes


def test_the_panel_shows_the_pair_of_the_chosen_position(opened):
    found = seen("qwen3")[0]
    page = opened("qwen3", "position", step=3)
    page.evaluate(FOCUS, {"layer": 1, "head": 2})
    settle(page)
    q_at = found.position(3)
    detail, heads = found.detail(1), found.model.n_heads // found.model.n_kv_heads
    # the key shown first is the one that the head reads most, but for position 0 and itself
    weights = detail.weights[2, q_at]
    key = 1 + int(np.argmax(weights[1:q_at]))
    assert page.evaluate("[...document.querySelectorAll('.bot-dial-list')].map((s) => s.value)")[:4]
    selects = page.locator(f"{PANEL} .bot-dial-list")
    assert [selects.nth(k).input_value() for k in range(4)] == ["1", "2", str(q_at), str(key)]
    rows = page.evaluate(TABLE, 0)
    half = detail.cos.shape[1] // 2
    assert len(rows) == half
    raw, turned = detail.k_normed[2 // heads, key], detail.k[2 // heads, key]
    theta = speeds("qwen3", 1)
    for i, row in enumerate(rows):
        assert row[1] == f"{i}, {i + half}"
        assert float(row[2]) == pytest.approx(theta[i], rel=1e-5)
        assert np.array_equal(np.float32(row[5].split(", ")), raw[[i, i + half]])
        size = max(1e-3, float(np.abs(raw).max()))
        assert np.float64(row[6].split(", ")) == pytest.approx(
            turned[[i, i + half]], abs=1e-5 * size
        )
        degrees = np.degrees(key * theta[i]) % 360
        assert abs((float(row[4]) - degrees + 180) % 360 - 180) < 0.1
    page.locator(f"{PANEL} .bot-tabs button").nth(0).click()  # the query instead
    rows = page.evaluate(TABLE, 0)
    assert np.array_equal(
        np.float32(rows[1][5].split(", ")), detail.q_normed[2, q_at][[1, 1 + half]]
    )
    assert f"query of position {q_at}" in page.inner_text(".bot-position-of")


def test_the_proof_is_of_the_real_query_and_key(opened):
    found = seen("llama")[0]
    page = opened("llama", "position", step=5, fresh=True)
    page.evaluate(FOCUS, {"layer": 2, "head": 4, "query": 14})
    settle(page)
    page.locator(f"{PANEL} .bot-dial-list").nth(3).select_option("9")
    settle(page)
    rows = page.evaluate(TABLE, 1)
    assert [int(r[0]) for r in rows] == list(range(65))
    detail, theta = found.detail(2), speeds("llama", 2)
    q, k = detail.q_raw[4, 14].astype("f8"), detail.k_raw[1, 9].astype("f8")
    near = 1e-5 * np.linalg.norm(q) * np.linalg.norm(k)
    product = spun(q, theta, 14) @ spun(k, theta, 9)
    for s, both, one in rows:
        assert float(both) == pytest.approx(product, abs=near)
        expected = spun(q, theta, 14 + int(s)) @ spun(k, theta, 9)
        assert float(one) == pytest.approx(expected, abs=10 * near)
    text = page.inner_text(".bot-position-shift")
    score = float(text.split("attention panel: ")[1].split()[0].rstrip(".").replace("−", "-"))
    assert score == pytest.approx(detail.scores[4, 14, 9], rel=1e-3)
    assert "distance 5" in text
    # the key dial offers no later position than the query's
    assert page.locator(f"{PANEL} .bot-dial-list").nth(3).locator("option:enabled").count() == 15


def test_clocks_choose_pairs_and_stand_at_the_angle(opened):
    page = opened("llama", "position", step=1)
    clocks = page.locator(".bot-clock:visible")
    assert clocks.count() == 4  # heads of 8: 4 pairs
    clocks.nth(2).click()
    settle(page)
    assert clocks.nth(2).get_attribute("aria-pressed") == "true"
    assert page.inner_text(f"{PANEL} .bot-position-facts").count("Pair 2 turns by") == 1
    key = int(page.locator(f"{PANEL} .bot-dial-list").nth(3).input_value())
    angle = key * speeds("llama", 0)[2]
    x, y = page.evaluate(
        "document.querySelectorAll('.bot-clock-hand')[2].getAttribute('d').split('L')[1]"
        ".split(' ').map(Number)"
    )
    assert np.arctan2(36 - y, x - 36) == pytest.approx(np.angle(np.exp(1j * angle)), abs=0.01)


def test_added_rows_of_positions_are_measured(opened):
    found = seen("gpt2")[0]
    page = opened("gpt2", "position", step=4)
    assert page.locator(".bot-position-turning").is_hidden()
    rows = page.evaluate(TABLE, 2)
    table = looking.engine("gpt2").model.transformer.wpe.weight.detach().double().numpy()
    n, here = len(found.ids), found.position(4)
    assert len(rows) == n
    cosine = table[:n] @ table[here] / np.linalg.norm(table[:n], axis=1)
    cosine /= np.linalg.norm(table[here])
    assert [float(r[2]) for r in rows] == pytest.approx(np.linalg.norm(table[:n], axis=1), rel=1e-6)
    assert np.array_equal(np.float32([r[3] for r in rows]), found.stream.norms[0])
    assert [float(r[4]) for r in rows] == pytest.approx(cosine, abs=1e-6)
    words = looking.engine("gpt2").model.transformer.wte.weight.detach().double().numpy()
    p = found.n_prompt - 1
    own = words[found.ids[p]]
    alike = own @ table[p] / np.linalg.norm(own) / np.linalg.norm(table[p])
    text = page.inner_text(".bot-position-rows")
    told = text.split("cosine of the two ")[1].split(". ")[0].split("\n")[0].rstrip(".")
    assert float(told.replace("−", "-")) == pytest.approx(alike, abs=2e-3)


def test_a_model_that_hides_its_queries_says_so(opened):
    page = opened(tiny.UNKNOWN, "position", step=1)
    assert page.inner_text(f"{PANEL} .bot-note") == say("en", "missing.family", family="gptj")
    assert page.locator(".bot-position-turning").is_hidden()


def test_another_head_is_asked_for_once_and_a_failure_is_said(opened):
    page = opened("llama", "position", step=1, fresh=True)
    page.evaluate(FOCUS, {"layer": 2, "head": 5})
    settle(page)
    page.evaluate(FOCUS, {"layer": 2, "head": 4})
    settle(page)
    n = page.evaluate("asked.length")
    page.evaluate(FOCUS, {"layer": 2, "head": 5})
    settle(page)
    assert page.evaluate("asked.length") == n
    page.evaluate("answers.work = () => ({ error: { en: 'no such layer', zh: '没有这一层' } })")
    page.evaluate(FOCUS, {"layer": 1, "head": 3})
    settle(page)
    assert page.inner_text(f"{PANEL} .bot-note") == "no such layer"
    page.evaluate("BOT.setLang('zh')")
    settle(page)
    assert page.inner_text(f"{PANEL} .bot-note") == "没有这一层"


def test_evil_tokens_stay_text_and_the_language_can_change(opened):
    page = opened("llama", "position", evil=True, step=2, fresh=True)
    assert MARKED in page.inner_text(".bot-position-row")
    assert MARKED in page.inner_text(".bot-position-shift")
    assert page.locator("#app img").count() == 0
    page.evaluate("BOT.setLang('zh')")
    settle(page)
    assert page.inner_text("#bot-title-position") == ZH["panel.position.title"]
    assert ZH["panel.position.clocks_hint"] in page.inner_text(PANEL)
    assert "两者同移 0 … 64 位" in page.inner_text(PANEL)


def test_the_row_can_be_seen_in_the_embedding_panel_and_narrow_pages_hold_it(opened):
    page = opened("llama", "position", width=390, step=2, fresh=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.evaluate("window.told = []; BOT.on('select', (what) => told.push(what)); 0")
    page.click(".bot-position-link")
    assert page.evaluate("told") == [{"where": "answer", "index": 1}]
    go(page, -1)
    found = seen("llama")[0]
    page.evaluate("document.getElementById('bot-panel-position').scrollIntoView()")
    settle(page)
    assert f"Position {found.n_prompt - 1} holds" in page.inner_text(".bot-position-row")


def test_a_step_asks_for_nothing_adds_nothing_and_is_cheap(opened):
    page = opened("llama", "position")
    n = len(seen("llama")[0].chosen)
    first, then = lasting(page, "position", n)
    assert first == then
    assert usual(step_costs(page, [*range(n)] * 3)) <= 16
