"""The KV cache in a real browser: what it shows as held is what the model's own cache holds."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from transformers import DynamicCache

from playground.text import texts
from tests import looking
from tests.cpu import p95, step_costs
from tests.test_view_runs import go, opening, seen, settle

pytestmark = pytest.mark.browser

EN = texts("en")
ONE, ALL = ".bot-kv-one", ".bot-kv-all"
# Whether the middle of each cell lies under the hatching: the veil is opaque there.
VEIL = """(where) => { const heat = document.querySelector(`${where} .bot-heat-map`);
  const veil = document.querySelector(`${where} .bot-kv-veil`), g = veil.getContext("2d");
  const [rows, cols] = %s, scale = veil.width / veil.clientWidth;
  const tall = (veil.clientHeight - parseFloat(heat.style.getPropertyValue("--foot"))) / rows;
  const wide = (veil.clientWidth - 44) / cols;
  return Array.from({length: rows}, (_, r) => Array.from({length: cols}, (_, c) =>
    g.getImageData(Math.floor(scale * (44 + (c + 0.5) * wide)),
      Math.floor(scale * (r + 0.5) * tall), 1, 1).data[3] > 0)); }"""


@pytest.fixture(scope="module")
def opened(chromium):
    yield from opening(chromium)


def cache_after(family, i):
    """The library's own cache after run i: [(keys [G, held, E], values)] of every layer."""
    model, trace = looking.engine(family).model, looking.trace(family)
    ids = [*(t.id for t in trace.prompt), *trace.ids[:i]]
    cache = DynamicCache(config=model.config)
    with torch.inference_mode():
        model(torch.tensor([ids[: len(trace.prompt)]]), cache=cache, use_cache=True)
        for token in ids[len(trace.prompt) :]:
            model(torch.tensor([[token]]), cache=cache, use_cache=True)
    return [(layer.keys[0].numpy(), layer.values[0].numpy()) for layer in cache.layers]


def factors(page):
    return page.evaluate(
        "[...document.querySelectorAll('.bot-factor-part')].filter((p) => !p.hidden)"
        ".map((p) => p.querySelector('.bot-factor-value').textContent)"
    )


def read(page, where, row, col):
    """What the map says of a cell, by the keyboard."""
    heat = page.locator(f"{where} .bot-heat-map")
    heat.focus()
    for key, times in (("PageUp", 1), ("Home", 1), ("ArrowDown", row), ("ArrowRight", col)):
        for _ in range(times):
            heat.press(key)
    return page.inner_text(f"{where} .bot-heat-read")


@pytest.mark.parametrize("i", [0, 7])
def test_what_is_held_is_what_the_librarys_cache_holds(opened, i):
    family = "gemma3"  # its windows are full long before
    found, trace = looking.inspection(family), looking.trace(family)
    held = cache_after(family, i)
    n_bytes = sum(keys.nbytes + values.nbytes for keys, values in held)
    assert trace.steps[i].cache_bytes == n_bytes
    page = opened("kv_cache", family, step=i)
    info, after = found.model, len(trace.prompt) + i
    rows, cols = info.n_layers * info.n_kv_heads, len(found.ids)
    hatched = np.array(page.evaluate(VEIL % f"[{rows}, {cols}]", ALL))
    for layer, (keys, values) in enumerate(held):
        free = ~hatched[layer * info.n_kv_heads : (layer + 1) * info.n_kv_heads]
        places = slice(after - keys.shape[1], after)
        # the frame round the newest column lies on the veil too, but not on the middle of a cell
        assert (free[:, places]).all() and free.sum() == keys.shape[0] * keys.shape[1]
        norms = np.linalg.norm(keys, axis=-1), np.linalg.norm(values, axis=-1)
        for mine, theirs in zip((found.heads.key_norms, found.heads.value_norms), norms,
                                strict=True):  # fmt: skip
            np.testing.assert_allclose(mine[layer, :, places], theirs, rtol=2e-4)
    said = factors(page)
    assert said[-1] == f"{n_bytes:,}" and said[:4] == ["2", "3", "10", "4"]
    assert said[4] == f"6 × 10 + 1 × {after}"
    assert page.get_attribute(".bot-formula-verdict", "data-same") == "yes"
    assert f"{n_bytes:,} bytes" in page.inner_text(".bot-formula-verdict")


def test_the_maps_say_the_arrays(opened):
    found = looking.inspection("gemma3")
    heads, (L, G, n) = found.heads, found.heads.key_norms.shape
    page = opened("kv_cache", step=3)
    page.evaluate("BOT.inside.setFocus({layer: 5})")
    settle(page)
    sig = "(x) => BOT.sig(x, 4)"
    for g, position in ((0, 0), (2, 40), (1, n - 1)):
        said = read(page, ONE, g, position)
        assert said.startswith(f"Layer 5, kv head {g}, position {position} ")
        assert f"{page.evaluate(sig, float(heads.key_norms[5, g, position]))} long" in said
    assert said.endswith(EN["panel.kv_cache.not_yet"])
    page.click(f"text={EN['panel.kv_cache.values']}")
    settle(page)
    said = read(page, ALL, 2 * G + 1, 4)
    assert said.startswith("Layer 2, kv head 1, position 4 ")
    assert f"{page.evaluate(sig, float(heads.value_norms[2, 1, 4]))} long" in said
    assert said.endswith(EN["panel.kv_cache.slid_out"])
    page.locator(f"{ALL} .bot-heat-map").press("Enter")
    settle(page)
    assert page.evaluate("BOT.inside.focus.layer") == 2
    assert "layer 2," in page.inner_text(".bot-kv-maps .bot-kv-title >> nth=0")
    assert L == 7


def test_without_windows_every_factor_has_its_box_and_the_tensors_agree(opened):
    found, trace = looking.inspection("gpt2"), looking.trace("gpt2")
    page = opened("kv_cache", "gpt2", step=2)
    m = found.model
    after = trace.steps[2].cache_after
    assert factors(page)[:-1] == [
        "2", str(m.n_layers), str(m.n_kv_heads), str(m.d_head), "4", str(after),
    ]  # fmt: skip
    go(page, -1)
    assert factors(page)[-1] == "0"
    assert page.inner_text(".bot-formula-verdict") == EN["panel.kv_cache.empty"]


def test_a_difference_to_the_formula_is_stated(opened):
    _, _, payload, known = seen("gpt2")
    steps = [dict(s, cache=[*s["cache"][:2], s["cache"][2] + (48 if s["i"] == 4 else -16)])
             for s in payload["steps"]]  # fmt: skip
    page = opened("kv_cache", ({**payload, "steps": steps}, known), step=4)
    verdict = page.locator(".bot-formula-verdict")
    assert verdict.get_attribute("data-same") == "no" and "48 more" in verdict.inner_text()
    go(page, 3)
    assert "16 less" in verdict.inner_text()


def test_query_heads_stand_beside_the_kv_head_they_read(opened):
    page = opened("kv_cache")
    groups = page.evaluate(
        "[...document.querySelectorAll('.bot-kv-serves > li')].map((li) =>"
        " [...li.querySelectorAll('button')].map((b) => b.textContent))"
    )
    assert groups == [["q 0", "q 1"], ["q 2", "q 3"], ["q 4", "q 5"]]
    page.click("text=q 3")
    settle(page)
    assert page.evaluate("BOT.inside.focus.head") == 3
    assert page.get_attribute("button:text-is('q 3')", "aria-pressed") == "true"


def test_the_first_position_is_called_a_sink_only_where_it_measures_as_one(opened):
    heads = looking.inspection("gpt2").heads
    page = opened("kv_cache", "gpt2", step=5)
    ratios = [np.median(n[..., 0] / np.median(n[..., 1:], axis=-1))
              for n in (heads.key_norms, heads.value_norms)]  # fmt: skip
    said = page.inner_text(".bot-kv-fact")
    for ratio in ratios:
        assert page.evaluate("(x) => BOT.sig(x)", float(ratio)) in said
    assert page.evaluate("(x) => BOT.prob(x)", float(heads.sink[..., 5].mean())) in said
    assert EN["panel.kv_cache.first_sink"] not in said
    page = opened("kv_cache", "gpt2", step=5, new=True)
    page.evaluate(
        "(() => { const { data } = BOT.inside.now; data.heads.sink.data.fill(0.6);"
        " const [L, G] = data.heads.value_norms.shape;"
        " for (let l = 0; l < L; l++) for (let g = 0; g < G; g++)"
        " data.heads.value_norms.row(l, g)[0] *= 0.01;"
        " BOT.inside.now.data = {...data, heads: {...data.heads}}; BOT.schedule(); })()"
    )
    settle(page)
    assert EN["panel.kv_cache.first_sink"] in page.inner_text(".bot-kv-fact")


def test_growth_and_tables_are_the_traces(opened):
    _, trace, _, _ = seen("gemma3")
    page = opened("kv_cache", step=9)
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    settle(page)
    most = trace.steps[-1].cache_bytes
    path = page.evaluate("document.querySelector('.bot-growth-line').getAttribute('d')")
    high = [1 - float(part.split("H")[0].split()[1]) for part in path[1:].split("L")]
    assert high == pytest.approx([s.cache_bytes / most for s in trace.steps])
    rows = page.evaluate(
        "[...document.querySelectorAll('.bot-panel-kv_cache .bot-fold:last-of-type tr[data-i]')]"
        ".filter((r) => !r.hidden).map((r) => [...r.cells].map((c) => c.textContent))"
    )
    for row in rows:
        step = trace.steps[int(row[0]) - 1]
        assert row[1:4] == [f"{n:,}" for n in (step.cache_before, step.cache_after,
                                               step.cache_bytes)]  # fmt: skip
        assert row[3] == row[4]
    assert len(rows) == 11
    assert f"{trace.steps[9].cache_after} positions" in page.inner_text(".bot-growth-says")


def test_a_model_that_shows_no_heads_says_so_and_still_counts(opened):
    _, _, payload, known = seen("gpt2")
    inside = {**known["inside"], "heads": None, "missing": [
        {"part": "heads", "reason": "missing.heads", "values": {}}]}  # fmt: skip
    page = opened("kv_cache", (payload, {**known, "inside": inside}), step=1)
    assert page.is_visible(".bot-panel-kv_cache .bot-note")
    assert page.inner_text(".bot-panel-kv_cache .bot-note")
    assert not page.is_visible(".bot-kv-maps") and page.is_visible(".bot-formula")


def test_a_step_asks_nothing_leaves_nothing_and_is_quick(opened):
    page = opened("kv_cache", new=True)
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    for i in range(-1, 11):
        go(page, i)
    count = "[document.querySelectorAll('#bot-panel-kv_cache *').length, asked.length]"
    before = page.evaluate(count)
    costs = step_costs(page, [*range(10, -2, -1), *range(11)])
    assert page.evaluate(count) == before
    assert p95(costs) <= 16
