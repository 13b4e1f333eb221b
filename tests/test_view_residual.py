"""The residual stream's panel in a real browser: river, sum and votes are the arrays."""

from __future__ import annotations

import numpy as np
import pytest

from playground.text import texts
from tests import looking
from tests.test_view_ffn import (
    EVIL,
    STEP,
    boxes,
    calm,
    floats,
    go,
    nodes,
    opened,  # noqa: F401
    settle,
    shared,  # noqa: F401
    table,
    words,
)

pytestmark = pytest.mark.browser

EN, ZH = texts("en"), texts("zh")
PANEL = "#bot-panel-residual"
# x and half a width of the river at its banks' points, and the line in its middle
RIVER = """(() => { const d = document.querySelector(".bot-river").getAttribute("d");
  const ends = [...d.matchAll(/[MLC]([^MLCZ]+)/g)].map(
    (m) => m[1].trim().split(/\\s+/).map(Number).slice(-2));
  const half = ends.length / 2, top = ends.slice(0, half), low = ends.slice(half).reverse();
  return top.map(([x, y], k) => [x, low[k][0], low[k][1] - y, (low[k][1] + y) / 2]); })()"""


def parts_of(family, step):
    """[(kind, value)] in the order of the sum, as the record gives them."""
    a = looking.inspection(family).attribution
    parts = [("embedding", a.embedding[step])]
    if a.position is not None:
        parts.append(("position", a.position[step]))
    for attn, ffn in zip(a.attn, a.ffn, strict=True):
        parts += [("attn", attn[step]), ("ffn", ffn[step])]
    for kind in ("norm_bias", "head_bias"):
        if getattr(a, kind).any():
            parts.append((kind, getattr(a, kind)[step]))
    return parts


def bars(page, kind):
    return boxes(page, f"{PANEL} .bot-write.is-{kind}")


@pytest.mark.parametrize("family", ["llama", "gpt_neox"])
def test_the_river_is_as_wide_as_the_norms_and_bars_are_as_long(opened, family):  # noqa: F811
    page = opened(family, "residual")
    found = looking.inspection(family)
    s, layers = found.stream, found.model.n_layers
    for step, rooted in ((STEP, True), (9, True), (9, False)):
        page.locator(f"{PANEL} .bot-res-head button").nth(0 if rooted else 1).click()
        go(page, step)
        p = found.position(step)
        scale = np.sqrt if rooted else np.asarray
        norms = [s.norms[0, p]]
        for layer in range(layers):
            norms += [] if s.mid_norms is None else [s.mid_norms[layer, p]]
            norms.append(s.norms[layer + 1, p])
        river = np.array(page.evaluate(RIVER))
        assert len(river) == len(norms) and (river[:, 0] == river[:, 1]).all()
        assert np.ptp(river[:, 3]) < 0.02  # one middle line
        unit = river[-1, 2] / scale(norms[-1])
        assert river[:, 2] == pytest.approx(scale(np.array(norms)) * unit, abs=0.03)
        for kind, written in (("attn", s.attn_norms), ("ffn", s.ffn_norms)):
            lengths = [b["height"] for b in bars(page, kind)[:layers]]
            want = scale(written[:, p].astype(float)) * unit
            assert lengths == pytest.approx(np.maximum(want, 0.5).tolist(), abs=0.05)


@pytest.mark.parametrize("family", ["llama", "gpt_neox", "gpt2"])
def test_every_number_of_the_stream_is_in_its_table(opened, family):  # noqa: F811
    page = opened(family, "residual")
    found = looking.inspection(family)
    s = found.stream
    for step in (STEP, 10):
        go(page, step)
        p = found.position(step)
        rows = table(page, EN["panel.residual.river_table"])
        mid = s.mid_norms is not None
        want = [s.norms[:-1, p], s.attn_norms[:, p], *([s.mid_norms[:, p]] if mid else [])]
        want += [s.ffn_norms[:, p], s.norms[1:, p], s.attn_cosine[:, step], s.ffn_cosine[:, step]]
        got = [[x for k, x in enumerate(r[1:]) if mid or k != 2] for r in rows]
        assert (floats(got) == np.stack(want, 1)).all()
        assert mid or {r[3] for r in rows} == {"–"}
    note = page.locator(f"{PANEL} .bot-res-part > .bot-note:visible").all_inner_texts()
    assert note == ([] if mid else [EN["missing.parallel"]])


def test_cosines_stand_on_their_side_of_the_line(opened):  # noqa: F811
    page = opened("llama", "residual")
    s, layers = looking.inspection("llama").stream, looking.inspection("llama").model.n_layers
    most = max(np.abs(s.attn_cosine).max(), np.abs(s.ffn_cosine).max())
    for kind, cosine in (("attn", s.attn_cosine), ("ffn", s.ffn_cosine)):
        drawn = bars(page, kind)[layers:]
        zero = max(b["y"] for b in bars(page, "attn")[layers:] + bars(page, "ffn")[layers:])
        for bar, value in zip(drawn, cosine[:, STEP], strict=True):
            assert bar["height"] == pytest.approx(max(0.5, abs(value) / most * 52), abs=0.02)
            if abs(value) / most * 52 > 1:
                assert (bar["y"] < zero - 0.5) == (value > 0)


@pytest.mark.parametrize("family", ["llama", "gpt2", "gemma2", "gpt_neox"])
def test_the_parts_add_up_to_the_logit_and_the_difference_is_shown(opened, family):  # noqa: F811
    page = opened(family, "residual")
    found = looking.inspection(family)
    a = found.attribution
    for step in (STEP, 8):
        go(page, step)
        rows = table(page, EN["panel.residual.sum_table"])
        parts = parts_of(family, step)
        assert [r[0].split(",")[0] for r in rows] == [
            EN[f"panel.residual.part.{kind}"].split(",")[0] for kind, _ in parts
        ]
        values = np.array([value for _, value in parts])
        assert (floats([r[1:2] for r in rows])[:, 0] == values).all()
        sums = np.cumsum(values.astype(float))
        assert [float(r[2]) for r in rows] == pytest.approx(sums.tolist(), abs=1e-12)
        total, logit = float(a.total[step]), float(a.logit[step])
        assert sums[-1] == pytest.approx(total, abs=1e-4)
        says = page.locator(f"{PANEL} .bot-sum-says")
        gap = f"{abs(total - logit):.1e}".split("e")[0] if total != logit else "0"
        assert gap in says.inner_text()
        assert says.get_attribute("title").startswith(f"{total!r} − ")
        capped = page.locator(f"{PANEL} .bot-sum-says + .bot-hint")
        assert capped.is_visible() == (a.cap is not None)
        if a.cap is not None:
            assert "tanh" in capped.inner_text() and f"{a.cap:g} × tanh" in capped.inner_text()
    kind = "frozen_layer" if found.model.norm == "LayerNorm" else "frozen_rms"
    assert EN[f"panel.residual.{kind}"] == words(page, f"{PANEL} .bot-res-logit .bot-facts-line")


@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_each_bar_of_the_sum_begins_where_the_last_one_ended(opened, family):  # noqa: F811
    page = opened(family, "residual")
    a = looking.inspection(family).attribution
    values = np.array([value for _, value in parts_of(family, STEP)], float)
    sums = np.concatenate([[0], np.cumsum(values)])
    drawn = boxes(page, f"{PANEL} .bot-sum-bar")
    *steps, total = drawn
    assert "is-total" in total["class"] and len(steps) == len(values)
    unit = total["height"] / abs(float(a.total[STEP]))
    floor = total["y"] + (total["height"] if a.total[STEP] > 0 else 0)
    for k, bar in enumerate(steps):
        low, high = sorted(sums[k : k + 2])
        assert bar["y"] == pytest.approx(floor - high * unit, abs=0.1)
        assert bar["height"] == pytest.approx(max(1, (high - low) * unit), abs=0.1)
        assert ("is-down" in bar["class"]) == (values[k] < 0)


@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_the_strongest_votes_and_every_heads_part(opened, family):  # noqa: F811
    page = opened(family, "residual")
    a = looking.inspection(family).attribution
    layers, heads = a.heads.shape[:2]
    rows = table(page, EN["panel.residual.heads_table"])
    assert [r[:2] for r in rows] == [[str(x), str(h)] for x in range(layers) for h in range(heads)]
    assert (floats([r[2:] for r in rows])[:, 0] == a.heads[:, :, STEP].ravel()).all()
    votes = [(f"head {h}, layer {x}", a.heads[x, h, STEP], x, h)
             for x in range(layers) for h in range(heads)]  # fmt: skip
    votes += [(f"FFN, layer {x}", a.ffn[x, STEP], x, None) for x in range(layers)]
    votes = sorted(votes, key=lambda v: -abs(v[1]))[:10]
    shown = page.evaluate(
        """[...document.querySelectorAll(".bot-votes > li")].filter((n) => n.offsetParent)
        .map((n) => [n.querySelector(".bot-vote-name").textContent, n.querySelector(".bot-n").title,
        n.querySelector(".bot-balance").dataset.sign])"""
    )
    assert [v[0] for v in shown] == [v[0] for v in votes]
    assert [np.float32(v[1]) for v in shown] == [v[1] for v in votes]
    assert [v[2] for v in shown] == ["down" if v[1] < 0 else "up" for v in votes]
    k = next(k for k, v in enumerate(votes) if v[3] is not None)
    page.locator(f"{PANEL} .bot-vote:visible").nth(k).click()
    settle(page)
    at = page.evaluate("[BOT.inside.focus.layer, BOT.inside.focus.head]")
    assert at == list(votes[k][2:])
    bias = page.locator(f"{PANEL} .bot-vote-map > .bot-hint")
    assert bias.is_visible() == bool(a.attn_bias.any())
    page.locator(f"{PANEL} canvas").focus()
    for key in ("PageUp", "Home", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    settle(page)
    read = words(page, f"{PANEL} .bot-heat-read")
    row = 0 if heads == 1 else int(read.split("head ")[1].split(":")[0])
    assert page.evaluate("[BOT.inside.focus.layer, BOT.inside.focus.head]") == [1, row]


def test_a_layer_is_chosen_in_the_drawing_and_read_out(opened):  # noqa: F811
    page = opened("llama", "residual")
    s, p = looking.inspection("llama").stream, looking.inspection("llama").position(STEP)
    river = page.locator(f"{PANEL} svg.bot-cols").first
    river.focus()
    for key in ("Home", "ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    settle(page)
    assert page.evaluate("BOT.inside.focus.layer") == 2
    read = words(page, f"{PANEL} .bot-cols-read")
    assert read.startswith("Layer 2:") and f"{s.norms[2, p]:.3g}"[:3] in read
    total = page.locator(f"{PANEL} svg.bot-cols").nth(1)
    total.focus()
    page.keyboard.press("End")
    read = page.locator(f"{PANEL} .bot-cols-read").nth(1).inner_text()
    assert read.startswith(EN["panel.residual.read_total"].split("{")[0])
    assert page.evaluate("BOT.state.i") == STEP  # the player keeps out of these keys


def test_a_model_whose_parts_are_not_known_shows_its_stream_and_says_why(opened):  # noqa: F811
    page = opened("gptj", "residual")
    reason = EN["missing.family"].replace("{family}", "gptj")
    notes = page.locator(f"{PANEL} .bot-note:visible").all_inner_texts()
    assert notes == [reason]
    s, p = looking.inspection("gptj").stream, looking.inspection("gptj").position(STEP)
    widths = np.array(page.evaluate(RIVER))[:, 2]
    roots = np.sqrt(s.norms[:, p])
    assert widths == pytest.approx(roots * widths[-1] / roots[-1], abs=0.03)
    assert not page.locator(f"{PANEL} .bot-res-logit").is_visible()
    assert boxes(page, f"{PANEL} .bot-write") == []


def test_where_heads_can_not_be_told_whole_attentions_vote(opened):  # noqa: F811
    def whole(trace, answers):
        answers["inside"]["attribution"] |= {"heads": None, "attn_bias": None}

    page = opened("llama", "residual", whole)
    a = looking.inspection("llama").attribution
    names = page.locator(f"{PANEL} .bot-vote-name:visible").all_inner_texts()
    votes = [(f"attention, layer {x}", v) for x, v in enumerate(a.attn[:, STEP])]
    votes += [(f"FFN, layer {x}", v) for x, v in enumerate(a.ffn[:, STEP])]
    assert names == [n for n, _ in sorted(votes, key=lambda v: -abs(v[1]))[:10]]
    assert EN["panel.residual.no_heads"] in words(page, PANEL)
    assert not page.locator(f"{PANEL} canvas").is_visible()


def test_steps_ask_nothing_add_no_node_and_are_cheap(opened):  # noqa: F811
    page = opened("gpt2", "residual")
    for i in range(11):
        go(page, i)
    had = nodes(page, "residual"), page.evaluate("asked.length")
    costs = calm(page)
    assert (nodes(page, "residual"), page.evaluate("asked.length")) == had
    assert costs < 16
    go(page, -1)
    assert words(page, f"{PANEL} .bot-answering") == EN["panel.ffn.before"]
    assert boxes(page, f"{PANEL} :is(.bot-write, .bot-sum-bar)") == []
    assert not page.locator(f"{PANEL} canvas").is_visible()
    assert not page.locator(f"{PANEL} .bot-sum-says").is_visible()
    go(page, 0)
    assert page.locator(f"{PANEL} canvas").is_visible()


def test_token_texts_are_inert_and_the_language_turns(opened):  # noqa: F811
    def evil(trace, answers):
        for token in [*trace["prompt"], *(s["tok"] for s in trace["steps"])]:
            token["hex"] = EVIL.encode().hex()

    page = opened("gpt2", "residual", evil, width=390)
    goal = page.locator(f"{PANEL} svg").nth(1).evaluate("(n) => n.textContent")
    assert "<img·src=x·onerror" in goal and page.locator(f"{PANEL} :is(img, b)").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.evaluate("BOT.setLang('zh')")
    settle(page)
    text = words(page, f"{PANEL} .bot-inside")
    assert ZH["panel.residual.frozen_layer"] in text and ZH["panel.residual.votes"] in text
    english = [EN[k] for k in EN if k.startswith("panel.residual.") and "{" not in EN[k]]
    assert [t for t in english if len(t) > 12 and t in text] == []
