"""The FFN panel in a real browser: widths to scale, and neurons as the arrays have them.

`known`, `inside_pages` and the small helpers serve the residual stream's tests too.
"""

from __future__ import annotations

import copy
import json
from functools import cache

import numpy as np
import pytest

from playground.text import texts
from playground.views.inside import ffn_payload, inside_payload, neuron_payload
from playground.views.payload import trace_payload
from tests import looking
from tests.cpu import step_costs
from tests.test_client import HOST, html

pytestmark = pytest.mark.browser

EN, ZH = texts("en"), texts("zh")
EVIL = "<img src=x onerror=alert(1)>${alert(1)}{{x}}{token}<b>"
RUN = "0123456789abcdef"
STEP = 4  # the tiny answers have eleven
ERROR = {"error": {"en": "no neuron today", "zh": "今天没有神经元"}}
WORK = """window.WORK = ({op, layer, id}) => {
  const found = op === "inside" ? KNOWN.inside
    : op === "ffn" ? KNOWN.ffn[layer] : KNOWN.neurons[`${layer},${id}`];
  return found ? {state: "done", result: found} : KNOWN.error;
};"""


@cache
def known(family):
    """(trace, what the server's `work` answers) for the family's tiny model."""
    found, engine = looking.inspection(family), looking.engine(family)
    layers = range(found.model.n_layers)
    detailed = [d for d in found.details if d.neurons is not None]
    answers = {
        "inside": inside_payload(found, RUN, layers, None, recorded=False),
        "ffn": {str(d.layer): ffn_payload(d) for d in found.details},
        "neurons": {
            f"{d.layer},{i}": neuron_payload(engine.neuron(d.layer, i))
            for d in detailed
            for i in sorted({int(i) for i in d.neurons[:, 0]} | {int(i) for i in d.neurons[STEP]})
        },
        "error": ERROR,
    }
    return trace_payload(looking.trace(family), RUN), answers


@pytest.fixture(scope="module")
def shared():
    """Pages that nothing was changed on, by family and panel, and what went wrong on any."""
    pages, problems = {}, []
    yield pages, problems
    for page in pages.values():
        page.close()


@pytest.fixture
def opened(chromium, shared):
    """open(family, view, change=None, width=1280) -> page with the panel on screen, in English, at
    STEP; change(trace, answers) may edit what is sent. A page error, a dialog or a request to any
    host fails the test."""
    kept, problems = shared
    load, own = inside_pages(chromium, problems), []

    def open_(family, view, change=None, **options):
        if change is None and (family, view) in kept:
            page = kept[family, view]
            go(page, STEP)
            return page
        page = load(family, view, change, **options)
        if change is None:
            kept[family, view] = page
        else:
            own.append(page)
        return page

    yield open_
    for page in own:
        page.close()
    found = list(problems)
    problems.clear()
    assert found == []


def inside_pages(chromium, problems):
    def open_(family, view, change=None, *, width=1280):
        trace, answers = known(family)
        if change is not None:
            trace, answers = copy.deepcopy((trace, answers))
            change(trace, answers)
        body = html(trace, views=(f"view_{view}",)).replace(
            "window.answers = {}", "window.answers = {work: window.WORK}"
        )
        page = chromium.new_page(viewport={"width": width, "height": 1000})

        def serve(route):
            if route.request.resource_type == "document":
                return route.fulfill(body=body, content_type="text/html; charset=utf-8")
            if "plotly" not in route.request.url:
                problems.append(route.request.url)
            return route.abort()

        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: problems.append("dialog"))
        page.emulate_media(reduced_motion="reduce")
        page.add_init_script(f"window.KNOWN = {json.dumps(answers)};{WORK}")
        page.route("**/*", serve)
        page.goto(f"{HOST}?lang=en&view={view}#step={STEP + 1}")
        show = f"document.getElementById('bot-panel-{view}').scrollIntoView()"
        page.evaluate(show)
        page.wait_for_selector(f"#bot-panel-{view} .bot-inside:not([hidden])", timeout=9000)
        page.evaluate(show)
        settle(page)
        return page

    return open_


def settle(page):
    page.wait_for_timeout(50)
    page.evaluate("new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))")


def go(page, i):
    page.evaluate(f"BOT.go({i})")
    settle(page)


def focus(page, **what):
    page.evaluate(f"BOT.inside.setFocus({json.dumps(what)})")
    settle(page)


def table(page, summary):
    """The rows of the folding table under this line: [[title or text, …], …]."""
    fold = page.locator("details.bot-fold", has_text=summary).first
    if fold.get_attribute("open") is None:
        fold.locator("summary").click()
        settle(page)
    return fold.evaluate(
        "(f) => [...f.querySelectorAll('tbody tr')].filter((r) => !r.hidden)"
        ".map((r) => [...r.cells].map((c) => c.title || c.textContent))"
    )


def boxes(page, selector):
    """[{x, y, width, height, class}] of the SVG rectangles that are shown, as drawn."""
    return page.evaluate(
        """(selector) => [...document.querySelectorAll(selector)]
        .filter((r) => r.getAttribute("hidden") === null)
        .map((r) => ({class: r.getAttribute("class"), ...Object.fromEntries(
          ["x", "y", "width", "height"].map((n) => [n, Number(r.getAttribute(n))]))}))""",
        selector,
    )


def nodes(page, view):
    return page.evaluate(f"document.querySelectorAll('#bot-panel-{view} *').length")


def calm(page):
    """ms of script of the middle step, in the calmest of three walks: a busy machine's caches make
    every step dearer, and the limit is about the page."""
    walks = [step_costs(page, [*range(11), *range(10, -1, -1)]) for _ in range(3)]
    return min(float(np.median([step["script"] for step in walk])) for walk in walks)


def words(page, selector):
    return page.locator(selector).first.evaluate("(n) => n.innerText ?? n.textContent")


def floats(rows):
    return np.array([[np.float32(x) for x in row] for row in rows])


@pytest.mark.parametrize("family", ["llama", "gpt2", "gpt_neox"])
def test_widths_are_to_scale_and_bars_are_the_activations_at_their_neurons_place(opened, family):
    page = opened(family, "ffn")
    found = looking.inspection(family)
    focus(page, layer=1)
    detail = found.detail(1)
    d, f = found.model.d_model, found.model.d_ffn
    strips = boxes(page, "#bot-panel-ffn .bot-ffn-strip")
    narrow, *wide = sorted(strips, key=lambda s: s["width"])[1:]
    assert len(wide) == (3 if detail.gate is not None else 2)  # gate, up, activation
    for strip in wide:
        assert narrow["width"] / strip["width"] == pytest.approx(d / f, abs=1e-3)
    picture = words(page, ".bot-ffn-picture")
    assert f"{d} numbers in" in picture and ("f(gate)" in picture) == (detail.gate is not None)

    for step in (STEP, 8):
        go(page, step)
        for part in ("activation", "up", *(["gate"] if detail.gate is not None else [])):
            values = getattr(detail, part)
            bars = boxes(page, f"#bot-panel-ffn [data-part='{part}']")
            assert len(bars) == detail.neurons.shape[1]
            full = max(s["height"] for s in wide) if part == "activation" else None
            for bar, i, value in zip(bars, detail.neurons[step], values[step], strict=True):
                strip = wide[0]
                middle = bar["x"] + bar["width"] / 2 - strip["x"]
                assert middle == pytest.approx((i + 0.5) / f * strip["width"], abs=0.05)
                assert ("is-down" in bar["class"]) == (value < 0)
                if full and bar["height"] > 1:
                    share = abs(value) / np.abs(values).max()
                    assert bar["height"] == pytest.approx(share * (full / 2 - 2), abs=0.02)


@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_the_strongest_neurons_are_listed_exactly_and_follow_the_step(opened, family):
    page = opened(family, "ffn")
    for layer, step in ((0, STEP), (2, 7)):
        focus(page, layer=layer)
        go(page, step)
        detail = looking.inspection(family).detail(layer)
        gate = detail.gate if detail.gate is not None else None
        rows = table(page, EN["panel.ffn.table"])
        assert [int(r[0]) for r in rows] == detail.neurons[step].tolist()
        columns = [detail.up, detail.activation, detail.write_norms]
        assert (floats([r[2:] for r in rows]) == np.stack([c[step] for c in columns], 1)).all()
        if gate is None:
            assert {r[1] for r in rows} == {"–"}
        else:
            assert (floats([r[1:2] for r in rows])[:, 0] == gate[step]).all()
        norms = page.locator("#bot-panel-ffn .bot-ffn-norms dd").evaluate_all(
            "(cells) => cells.map((c) => Number(c.title))"
        )
        stream, p = looking.inspection(family).stream, looking.inspection(family).position(step)
        want = [stream.attn_norms[layer, p], stream.ffn_norms[layer, p], stream.norms[layer + 1, p]]
        assert np.array(norms, np.float32).tolist() == [float(x) for x in want]


def test_a_neuron_stays_chosen_and_its_sign_turns_what_it_pushes(opened):
    page = opened("llama", "ffn")
    focus(page, layer=0)
    go(page, STEP)
    detail = looking.inspection("llama").detail(0)
    signs = detail.activation[STEP] < 0
    assert signs.any() and not signs.all()
    for negative in (True, False):
        k = int(np.flatnonzero(signs == negative)[0])
        page.locator("#bot-panel-ffn .bot-ffn-list button:visible").nth(k).click()
        settle(page)
        i, activation = int(detail.neurons[STEP, k]), float(detail.activation[STEP, k])
        neuron = looking.engine("llama").neuron(0, i)
        assert EN["panel.ffn.neuron_of"].replace("{id}", str(i)).replace("{layer}", "0") == words(
            page, ".bot-ffn-neuron-title"
        )
        sides = page.evaluate(
            """[...document.querySelectorAll(".bot-ffn-side")].map((s) => [
              s.querySelector("h5").textContent, [...s.querySelectorAll("li")].map((r) => [
                r.querySelector("bdi, .bot-hexpiece").textContent,
                Number(r.querySelector(".bot-n").title),
                r.querySelector(".bot-balance").dataset.sign])])"""
        )
        lifted, lowered = sides
        assert ("pushed down" in lifted[0]) == negative
        assert ("pushed up" in lowered[0]) == negative
        for (_, rows), scores in ((lifted, neuron.up), (lowered, neuron.down)):
            pushes = [value for _, value, _ in rows]
            assert pushes == pytest.approx([activation * float(s) for s in scores], rel=1e-6)
            assert [sign for _, _, sign in rows] == ["down" if v < 0 else "up" for v in pushes]
        key = "negative" if negative else "positive"
        assert EN[f"panel.ffn.{key}"].split("{value}")[1][:20] in words(
            page, ".bot-ffn-neuron-words"
        )
    away = next(s for s in range(11) if i not in detail.neurons[s])
    asked = page.evaluate("asked.length")
    go(page, away)
    assert str(i) in words(page, ".bot-ffn-neuron-title")
    assert "Not among the" in words(page, ".bot-ffn-neuron-words")
    assert page.locator("#bot-panel-ffn [aria-pressed=true]").count() == 0
    assert page.evaluate("asked.length") == asked


def test_the_map_of_steps_and_neurons_has_only_what_is_listed(opened):
    page = opened("llama", "ffn")
    focus(page, layer=1)
    detail = looking.inspection("llama").detail(1)
    rows = table(page, EN["panel.ffn.fires_table"])
    shown = list(dict.fromkeys(int(r[2]) for r in rows))
    pinned = int(detail.neurons[STEP, 0])
    assert shown[0] == pinned
    times = {i: int((detail.neurons == i).sum()) for i in np.unique(detail.neurons).tolist()}
    others = sorted((i for i in times if i != pinned), key=lambda i: -times[i])
    assert sorted(times[i] for i in shown[1:]) == sorted(times[i] for i in others[:13])
    got = {(int(r[2]), int(r[0]) - 1): np.float32(r[3]) for r in rows}
    want = {
        (i, step): detail.activation[step, k]
        for step in range(len(detail.neurons))
        for k, i in enumerate(detail.neurons[step].tolist())
        if i in shown
    }
    assert got == want
    heat = page.locator("#bot-panel-ffn .bot-ffn-fires canvas")
    heat.focus()
    page.keyboard.press("ArrowDown")
    read = words(page, ".bot-ffn-fires .bot-heat-read")
    assert f"Neuron {shown[1]}" in read and f"run {STEP + 1}," in read
    assert ("not among" in read) == ((shown[1], STEP) not in want)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    settle(page)
    assert page.evaluate("BOT.state.i") == STEP + 1
    assert str(shown[1]) in words(page, ".bot-ffn-neuron-title")


def test_what_is_not_at_hand_is_said(opened):
    def one_layer(trace, answers):
        answers["inside"] |= {"recorded": True, "layers": [1]}
        answers["neurons"] = {}

    page = opened("llama", "ffn", one_layer)
    assert page.evaluate("BOT.inside.focus.layer") == 1
    can = page.evaluate(
        "[...document.querySelectorAll('#bot-panel-ffn option')].map((o) => !o.disabled)"
    )
    assert can == [False, True, False]
    assert words(page, ".bot-ffn-neuron .bot-note") == ERROR["error"]["en"]
    assert page.locator("#bot-panel-ffn .bot-ffn-picture").is_visible()
    focus(page, layer=2)
    assert EN["ui.inside.not_recorded"] in words(page, "#bot-panel-ffn .bot-inside > .bot-note")
    assert not page.locator("#bot-panel-ffn .bot-ffn-picture").is_visible()
    page.evaluate("BOT.setLang('zh')")
    settle(page)
    assert ZH["ui.inside.not_recorded"] in words(page, "#bot-panel-ffn .bot-inside > .bot-note")

    page = opened("gptj", "ffn")
    sentence = words(page, "#bot-panel-ffn .bot-inside > .bot-note")
    assert sentence == EN["missing.family"].replace("{family}", "gptj")


def test_steps_ask_nothing_add_no_node_and_are_cheap_and_before_the_first_is_said(opened):
    page = opened("llama", "ffn")
    for i in range(11):
        go(page, i)
    had = nodes(page, "ffn"), page.evaluate("asked.length")
    costs = calm(page)
    assert (nodes(page, "ffn"), page.evaluate("asked.length")) == had
    assert costs < 16
    go(page, -1)
    assert words(page, "#bot-panel-ffn .bot-answering") == EN["panel.ffn.before"]
    assert boxes(page, "#bot-panel-ffn .bot-ffn-bar") == []
    assert not page.locator("#bot-panel-ffn .bot-ffn-list").is_visible()


def test_token_texts_are_inert_and_the_language_turns(opened):
    def evil(trace, answers):
        for token in [*trace["prompt"], *(s["tok"] for s in trace["steps"])]:
            token["hex"] = EVIL.encode().hex()
        for neuron in answers["neurons"].values():
            neuron["up_hexes"] = [EVIL.encode().hex()] * len(neuron["up_hexes"])

    page = opened("llama", "ffn", evil, width=390)
    assert page.locator("#bot-panel-ffn .bot-ffn-pushed bdi").first.inner_text() == EVIL.replace(
        " ", "·"
    )
    assert page.locator("#bot-panel-ffn :is(img, b)").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.evaluate("BOT.setLang('zh')")
    settle(page)
    text = words(page, "#bot-panel-ffn .bot-inside")
    assert ZH["panel.ffn.fires"] in text and ZH["panel.ffn.gate"] in words(page, ".bot-ffn-picture")
    english = [EN[k] for k in EN if k.startswith("panel.ffn.") and "{" not in EN[k]]
    assert [t for t in english if len(t) > 12 and t in text] == []
