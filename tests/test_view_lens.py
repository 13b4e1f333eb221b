"""The logit lens in a real browser: what it says of every layer is what the arrays hold.

`seen` and `opener` serve a page whose server has the inside of a tiny model's run; the tests of
position and LM head use them too.
"""

from __future__ import annotations

import json
import math
from functools import cache

import numpy as np
import pytest

from playground.inspection.attend import attend
from playground.text import texts
from playground.views.inside import head_payload, inside_payload
from playground.views.payload import trace_payload
from tests import looking, tiny
from tests.cpu import step_costs
from tests.test_client import HOST, html

pytestmark = pytest.mark.browser

EN, ZH = texts("en"), texts("zh")
EVIL = "<img src=x onerror=alert(1)>${alert(1)}{{x}}{n}"
MARKED = EVIL.replace(" ", "·")  # as a token's text is shown
RUN = "0123456789abcdef"
FRAMES = "new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))"
LIST = """[...document.querySelectorAll('.bot-lens-list tbody tr')].filter((r) => !r.hidden)
  .map((r) => ({
  layer: parseInt(r.cells[0].textContent), guess: r.querySelector('bdi').textContent,
  p: Number(r.cells[2].title), own: Number(r.cells[3].title), rank: r.cells[4].textContent,
  chosen: r.classList.contains('is-chosen'), settled: r.classList.contains('is-settled'),
  tag: !r.querySelector('.bot-lens-tag').hidden }))"""


def serving(payload, view):
    """A page with this panel alone, which answers `work` from `window.given`."""
    return html(payload, views=(f"view_{view}",)).replace(
        "window.answers = {}", "window.answers = window.given || {}"
    )


@cache
def seen(family, evil=False):
    """(inspection, trace payload, what the server's `work` knows) of the family's run."""
    found, trace = looking.inspection(family), looking.trace(family)
    inside = inside_payload(found, RUN, range(found.model.n_layers), None, recorded=False)
    payload = trace_payload(trace, RUN)
    if evil:
        inside["pieces"] = {i: EVIL.encode().hex() for i in inside["pieces"]}
        for token in [*payload["prompt"], *(step["tok"] for step in payload["steps"])]:
            token["hex"] = EVIL.encode().hex()
        for step in payload["steps"]:
            step["pieces"] = [EVIL] * len(step["pieces"])
    heads = {}
    for detail in found.details:
        for head in range(found.model.n_heads):
            attended = attend(detail, head)
            if attended is not None:
                heads[f"{detail.layer}:{head}"] = head_payload(detail, attended)
    return found, payload, {"inside": inside, "heads": heads}


GIVEN = """(() => { const known = %s; window.given = { work: (r) => ({ state: "done", result:
  r.op === "inside" ? known.inside : known.heads[`${r.layer}:${r.head}`] }) }; })()"""


def opener(chromium, pages, problems):
    """open(family, view, …) -> page that shows this panel; anything odd goes to `problems`.

    pages: those open, by what they show, used again by tests that leave no trace on them; `fresh`
    is for the others.
    """

    def open_(family, view, *, evil=False, width=1280, step=0, fresh=False):
        key = (family, evil, width, len(pages) if fresh else None)
        if key not in pages:
            pages[key] = load(family, view, evil, width)
        page = pages[key]
        page.evaluate(f"BOT.go({step})")
        settle(page)
        return page

    def load(family, view, evil, width):
        _, payload, known = seen(family, evil)
        page = chromium.new_page(viewport={"width": width, "height": 900})

        def serve(route):
            if route.request.resource_type == "document":
                route.fulfill(body=serving(payload, view), content_type="text/html; charset=utf-8")
            else:
                if "plotly" not in route.request.url:
                    problems.append(route.request.url)
                route.abort()

        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: problems.append("dialog"))
        page.add_init_script(GIVEN % json.dumps(known))
        page.route("**/*", serve)
        page.goto(f"{HOST}?lang=en&view={view}")
        settle(page)
        page.evaluate(f"document.getElementById('bot-panel-{view}').scrollIntoView()")
        page.wait_for_selector(f"#bot-panel-{view} .bot-inside:not([hidden])")
        return page

    return open_


def settle(page):
    page.wait_for_timeout(60)
    page.evaluate(FRAMES)


def go(page, i):
    page.evaluate(f"BOT.go({i})")
    page.evaluate(FRAMES)


LASTING = """async ([panel, n]) => {
  const frame = () => new Promise(requestAnimationFrame);
  const walk = async (places) => {
    for (const i of places) { BOT.go(i); await frame(); await frame(); }
  };
  const state = () => [document.querySelectorAll(`#bot-panel-${panel} *`).length, asked.length];
  const places = Array.from({ length: n + 1 }, (_, k) => k - 1);
  await walk(places); // every pool is as large as it gets
  const before = state();
  await walk([...places].reverse());
  await walk([n - 1]);
  return [before, state()];
}"""


def lasting(page, panel, n):
    """[nodes, requests] before and after a walk over all `n` steps, back and forth."""
    return page.evaluate(LASTING, [panel, n])


def usual(costs):
    """The median of the scripts' times: a busy machine makes some of them longer than they are."""
    return sorted(cost["script"] for cost in costs)[len(costs) // 2]


@pytest.fixture
def opened(chromium, pages):
    problems = []
    yield opener(chromium, pages, problems)
    assert problems == []


def word(page, found, i):
    return page.evaluate("(hex) => BOT.tokenText(hex)", found.pieces[int(i)].hex()) or "∅"


def test_the_list_says_what_every_layer_guesses(opened):
    found = seen("llama")[0]
    lens, n = found.lens, found.model.n_layers
    page = opened("llama", "lens")
    for i in (0, 4, len(found.chosen) - 1):
        go(page, i)
        rows = page.evaluate(LIST)
        assert [r["layer"] for r in rows] == lens.layers.tolist()
        for r, row in enumerate(rows):
            assert row["guess"] == word(page, found, lens.ids[r, i, 0])
            assert np.float32(row["p"]) == lens.probs[r, i, 0]
            assert np.float32(row["own"]) == lens.prob[r, i]
            assert row["rank"] == f"{lens.rank[r, i]:,}"
            assert row["chosen"] == (lens.ids[r, i, 0] == found.chosen[i])
            assert row["settled"] == (0 <= lens.settled[i] <= lens.layers[r])
            assert row["tag"] == (lens.layers[r] == lens.settled[i])
        # the last row is the model's own answer: its probability is that of the recorded scores
        step = looking.trace("llama").steps[i]
        assert math.log(rows[n]["own"]) == pytest.approx(step.logprob, abs=1e-4)


def test_the_sentence_tells_from_where_on_the_token_stays_first(opened):
    found = seen("llama")[0]
    page = opened("llama", "lens")
    said = set()
    for i, r in enumerate(found.lens.settled.tolist()):
        go(page, i)
        key = {-1: "never", 0: "start"}.get(r, "")
        text = page.inner_text(".bot-lens-says")
        said.add(key)
        if key == "never":
            assert f"ends at rank {found.lens.rank[-1, i]}" in text
            assert EN["panel.lens.drawn"] in text
        elif key == "start":
            assert "first already in the embedding" in text
        else:
            assert f"After layer {r - 1} ({r} of {found.model.n_layers} passed)" in text
        # a tied table reads the token that was just read out of the bare embedding
        echo = found.lens.ids[0, i, 0] == found.ids[found.n_prompt - 1 + i]
        assert (EN["panel.lens.echo"] in text) == echo
    assert len(said) > 1
    assert page.locator(".bot-lens-stairs-line").get_attribute("d").count("H") == sum(
        found.lens.settled >= 0
    )


def test_every_cell_of_the_map_is_read_out_and_leads_to_its_step(opened):
    found = seen("llama")[0]
    lens = found.lens
    page = opened("llama", "lens", step=3)
    page.focus(".bot-panel-lens canvas")
    page.keyboard.press("PageUp")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    text = page.inner_text(".bot-panel-lens output")
    assert f"Step 2, after 1 of {found.model.n_layers} layers" in text
    assert f"rank {lens.rank[1, 1]:,}" in text
    assert page.evaluate("BOT.state.i") == 3  # reading moves nothing
    page.keyboard.press("Enter")
    settle(page)
    assert page.evaluate("BOT.state.i") == 1
    assert page.inner_text(".bot-panel-lens output").startswith("Step 2, after 1 of")
    box = page.locator(".bot-panel-lens canvas").bounding_box()
    width = (box["width"] - 30) / len(found.chosen)
    page.mouse.click(box["x"] + 30 + 5.5 * width, box["y"] + 2.5 * 22)
    settle(page)
    assert page.evaluate("BOT.state.i") == 5


SHADE = """([r, i, n]) => { const c = document.querySelector('.bot-panel-lens canvas');
  const k = c.width / parseFloat(c.style.width), w = (parseFloat(c.style.width) - 30) / n;
  const [x, y] = [(30 + (i + 0.5) * w) * k, (r * 22 + 16) * k];
  return [...c.getContext('2d').getImageData(x, y, 1, 1).data]; }"""


def test_shades_follow_probability_rank_or_entropy(opened):
    found = seen("llama")[0]
    lens, n = found.lens, len(found.chosen)
    page = opened("llama", "lens", step=0, fresh=True)
    rows = found.model.vocab_rows
    values = {
        "prob": lens.prob, "rank": np.log(rows / lens.rank), "entropy": lens.entropy_bits,
    }  # fmt: skip
    for k, (kind, shown) in enumerate(values.items()):
        page.locator(".bot-panel-lens .bot-tabs button").nth(k).click()
        settle(page)
        pressed = page.locator(".bot-panel-lens .bot-tabs button[aria-pressed=true]")
        assert pressed.inner_text() == EN[f"panel.lens.kind.{kind}"]
        # darker means more: shades come in the order of the values
        cells = [(r, i) for r in range(len(lens.layers)) for i in range(2, n, 3)]
        shade = [sum(page.evaluate(SHADE, [r, i, n])[:3]) for r, i in cells]
        order = np.argsort([shown[c] for c in cells], kind="stable")
        darkness = -np.array(shade)[order]
        assert (np.diff(darkness) >= -2).all(), kind
        legend = page.inner_text(".bot-panel-lens .bot-heat-legend")
        assert {"prob": "100%", "rank": f"rank {rows}", "entropy": "8.14 bits"}[kind] in legend


def test_the_table_has_the_five_likeliest_of_every_layer(opened):
    found = seen("llama")[0]
    lens = found.lens
    page = opened("llama", "lens", step=6)
    page.click(".bot-panel-lens summary")
    rows = page.evaluate(
        "[...document.querySelectorAll('.bot-panel-lens .bot-fold tbody tr')].map((r) =>"
        " [...r.cells].map((c) => [c.textContent, c.title]))"
    )
    assert len(rows) == len(lens.layers)
    for r, (_, guesses, p, logprob, rank, entropy) in enumerate(rows):
        assert all(word(page, found, i) in guesses[0] for i in lens.ids[r, 6])
        assert np.float32(p[1]) == lens.prob[r, 6]
        assert np.float32(logprob[1]) == lens.logprob[r, 6]
        assert np.float32(entropy[1]) == lens.entropy_bits[r, 6]
        assert rank[0] == f"{lens.rank[r, 6]:,}"


def test_the_gap_to_the_models_own_output_is_told_as_measured(opened):
    found = seen("qwen3")[0]
    page = opened("qwen3", "lens", step=2)
    line = page.locator(".bot-lens-side .bot-facts-line")
    assert np.float32(line.get_attribute("title")) == np.float32(found.gaps.head)
    key = "last_equal" if found.gaps.head == 0 else "last"
    assert line.inner_text().startswith(EN[f"panel.lens.{key}"].split("{")[0])
    assert EN["panel.lens.honest"] in page.inner_text(".bot-lens-side")


def test_a_model_whose_layers_can_not_be_read_says_so(opened):
    found = seen(tiny.UNKNOWN)[0]
    page = opened(tiny.UNKNOWN, "lens", step=1)
    [why] = [m for m in found.missing if m.part == "lens"] or [None]
    note = page.locator(".bot-panel-lens .bot-inside > .bot-note-warn")
    assert note.is_visible() == (why is not None)
    assert len(page.evaluate(LIST)) == len(found.lens.layers)


def test_evil_tokens_stay_text_and_the_language_can_change(opened):
    page = opened("llama", "lens", evil=True, step=2, fresh=True)
    assert page.inner_text(".bot-lens-list bdi >> nth=0") == MARKED
    assert page.locator("#app img").count() == 0
    page.evaluate("BOT.setLang('zh')")
    settle(page)
    assert page.inner_text("#bot-title-lens") == ZH["panel.lens.title"]
    assert "第 3 步" in page.inner_text(".bot-lens-title")
    assert MARKED in page.inner_text(".bot-lens-says")
    assert ZH["panel.lens.honest"] in page.inner_text(".bot-lens-side")


def test_before_the_first_run_and_on_a_narrow_page(opened):
    page = opened("llama", "lens", width=390, step=-1)
    assert EN["panel.lens.before"] in page.inner_text("#bot-panel-lens")
    assert page.locator(".bot-lens-list").is_hidden()
    go(page, 0)
    assert page.locator(".bot-lens-list").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_step_asks_for_nothing_adds_nothing_and_is_cheap(opened):
    page = opened("llama", "lens")
    n = len(seen("llama")[0].chosen)
    before, after = lasting(page, "lens", n)
    assert before == after
    assert usual(step_costs(page, [*range(n)] * 3)) <= 16
