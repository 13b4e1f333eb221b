"""Prefill against decode in a real browser: what is counted there is counted here another way.

`seen` and `opener` serve a page with the two panels about cost alone; the tests of the cache use
them too.
"""

from __future__ import annotations

import base64
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from playground.text import texts
from playground.ui.sources import SCRIPTS
from playground.views.inside import inside_payload, uncached_payload
from playground.views.payload import trace_payload
from tests import looking
from tests.cpu import p95, step_costs
from tests.test_client import HOST, html

pytestmark = pytest.mark.browser

JS = Path(__file__).parent.parent / "assets" / "js"
EN, ZH = texts("en"), texts("zh")
EVIL = "<img src=x onerror=alert(1)>${alert(1)}{{x}}{n}"
RUN = "0123456789abcdef"
# What `work` answers: the inside, the run without the cache (at once, or never), or an error.
GIVEN = """(() => { const known = %s; window.slow = false; window.broken = false;
  window.given = { halt: () => ({}), work: (r) => window.broken && r.op === "uncached"
    ? {error: {en: "no model", zh: "没有模型"}}
    : window.slow ? {state: "running", stage: r.op === "inside" ? "forward" : r.op, fraction: 0.25}
    : {state: "done", result: known[r.op]} }; })()"""


@cache
def seen(family):
    """(inspection, trace, its payload, what the server's `work` knows) of the family's run."""
    engine, found, trace = looking.engine(family), looking.inspection(family), looking.trace(family)
    layers = range(found.model.n_layers)
    inside = inside_payload(found, RUN, layers, engine.weights(), recorded=False)
    again = {"uncached": uncached_payload(engine.uncached(trace)), "recorded": False}
    return found, trace, trace_payload(trace, RUN), {"inside": inside, "uncached": again}


def own(payload):
    """The page with these two panels and no other of the inside's."""
    names = [name for name in SCRIPTS if name.startswith(("view_runs", "view_kv_cache"))]
    scripts = "\n".join((JS / name).read_text("utf-8") for name in names)
    at = "<script>BOT.mount("
    page = html(payload, views=False).replace(at, f"<script>{scripts}</script>{at}")
    return page.replace("window.answers = {}", "window.answers = window.given || {}")


def opener(chromium, pages, problems):
    """open(view, family or (payload, known), …) -> page that shows this panel."""

    def open_(view, of="gemma3", *, lang="en", width=1280, step=None, before="", evil=False):
        payload, known = seen(of)[2:] if isinstance(of, str) else of
        if evil:
            payload = json.loads(json.dumps(payload))
            for token in [*payload["prompt"], *(step["tok"] for step in payload["steps"])]:
                token["hex"] = EVIL.encode().hex()
        page = chromium.new_page(viewport={"width": width, "height": 900})
        pages.append(page)

        def serve(route):
            if route.request.resource_type == "document":
                route.fulfill(body=own(payload), content_type="text/html; charset=utf-8")
            else:
                if "plotly" not in route.request.url:
                    problems.append(route.request.url)
                route.abort()

        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: problems.append("dialog"))
        page.add_init_script(GIVEN % json.dumps(known) + ";" + before)
        page.route("**/*", serve)
        page.goto(f"{HOST}?lang={lang}&view={view}")
        page.evaluate(f"document.getElementById('bot-panel-{view}').scrollIntoView()")
        if payload["finish"] is not None:
            page.wait_for_function("BOT.inside.now.phase === 'ready'")
        settle(page)
        if step is not None:
            go(page, step)
        return page

    return open_


def settle(page):
    page.wait_for_timeout(60)
    page.evaluate("new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))")


def go(page, i):
    page.evaluate(f"BOT.go({i})")
    settle(page)


def opening(chromium):
    """open(view, of, …), where a page of a family that nothing changes is used again."""
    problems, pages, kept = [], [], {}
    fresh = opener(chromium, pages, problems)

    def open_(view, of="gemma3", *, step=None, new=False, **options):
        if new or options or not isinstance(of, str):
            return fresh(view, of, step=step, **options)
        if (view, of) not in kept:
            kept[view, of] = fresh(view, of)
        if step is not None:
            go(kept[view, of], step)
        return kept[view, of]

    yield open_
    for page in pages:
        page.close()
    assert problems == []


@pytest.fixture(scope="module")
def opened(chromium):
    yield from opening(chromium)


# ---- the same counts, from masks and not from formulas ----


def counted(family, positions):
    """(multiply-adds, bytes of weights, {window: pairs in one layer}) of a run over these."""
    found, weights = seen(family)[0], looking.engine(family).weights()
    n = positions[-1] + 1
    pairs = [int(looking.allowed(n, w)[positions].sum()) for w in found.heads.windows]
    per_layer = weights.pair_macs // found.model.n_layers
    macs = len(positions) * (weights.attention_macs + weights.ffn_macs) + weights.head_macs
    macs += sum(per_layer * p for p in pairs)
    model = looking.engine(family).model
    table = model.get_input_embeddings().weight
    everything = sum(p.numel() for p in model.parameters())
    # the rows picked; the rest of the table is read where it is the head too
    read = everything + len(positions) * table.shape[1]
    if not model.config.tie_word_embeddings:
        read -= table.numel()
    if weights.position:
        read += len(positions) * table.shape[1] - weights.position
    return macs, read * weights.itemsize, dict(zip(found.heads.windows, pairs, strict=True))


def cells(page):
    """{row: (text, title) of prefill and decode}, by the rows' own names."""
    rows = page.evaluate(
        "[...document.querySelectorAll('.bot-cost tbody tr')].map((r) => [r.cells[0].textContent,"
        " ...[1, 2].map((k) => [r.cells[k].querySelector('span').textContent, r.cells[k].title])])"
    )
    key = {EN[k]: k.rsplit(".", 1)[1] for k in EN if k.startswith("panel.runs.row.")}
    return {key[name]: (tuple(a), tuple(b)) for name, a, b in rows}


def unpacked(packed):
    return np.frombuffer(base64.b64decode(packed["b"]), f"<{packed['t']}").reshape(packed["s"])


def number(n):
    return f"{n:,}"


@pytest.mark.parametrize("family", ["gemma3", "gpt2", "qwen3"])
def test_both_runs_are_counted_as_they_ran(opened, family):
    found, trace, _, _ = seen(family)
    page = opened("runs", family, step=6)
    T = len(trace.prompt)
    shown = cells(page)
    for k, (step, positions) in enumerate(
        [(trace.steps[0], list(range(T))), (trace.steps[6], [T + 5])]
    ):
        macs, n_bytes, pairs = counted(family, positions)
        said = {row: value[k] for row, value in shown.items()}
        assert said["positions"][0] == number(len(positions))
        assert said["macs"][1] == number(macs)
        assert said["bytes"][1].endswith(f"= {number(n_bytes)} B")
        assert float(said["per_byte"][1]) == pytest.approx(macs / n_bytes, rel=1e-12)
        assert float(said["ms"][1]) == step.timing.forward_ms
        before = trace.steps[5].cache_bytes if k else 0
        assert said["cache"][1] == f"{number(before)} B → {number(step.cache_bytes)} B"
        for window, n in pairs.items():
            assert number(n) in said["pairs"][0]
            assert window is None or f"(window {window})" in said["pairs"][0]
        held = said["kept"][0].split(" · ")
        assert held[0].split(" ")[0] == number(
            step.cache_before if None in pairs else min(step.cache_before, max(pairs) - 1)
        )
        assert float(said["macs_rate"][1]) == pytest.approx(1000 * macs / step.timing.forward_ms)
    assert f"{T:,} of {found.model.vocab_rows}" == shown["rows"][0][0]


def test_the_sums_are_those_of_all_runs_with_and_without(opened):
    trace = seen("gemma3")[1]
    page = opened("runs")
    T, P = len(trace.prompt), len(trace.steps)
    runs = [list(range(T)), *([T + i - 1] for i in range(1, P))]
    having = sum(counted("gemma3", run)[0] for run in runs)
    without = sum(counted("gemma3", list(range(T + i)))[0] for i in range(P))
    lines = page.evaluate(
        "[...document.querySelectorAll('.bot-total')].filter((r) => !r.hidden)"
        ".map((r) => [r.title, r.querySelector('dd').textContent])"
    )
    assert [title for title, _ in lines] == [number(having), number(without)]
    assert lines[0][1].startswith(f"{T + P - 1} positions")
    assert lines[1][1].startswith(f"{sum(T + i for i in range(P))} positions")
    assert f"{without / having:.3g} ×" in lines[1][1]


def test_the_picture_is_to_scale_and_follows(opened):
    trace = seen("gemma3")[1]
    page = opened("runs", step=4)
    T, n = len(trace.prompt), len(trace.prompt) + len(trace.steps) - 1

    def box(selector):
        return page.evaluate(
            f"(() => {{ const b = document.querySelector('{selector}').getBoundingClientRect();"
            " return [b.left, b.width]; })()"
        )

    field = box(".bot-run-prefill .bot-run-field")
    inner = field[1] - 3  # its border
    one = box(".bot-run-decode .bot-run-fresh")
    assert box(".bot-run-prefill .bot-run-fresh")[1] == pytest.approx(inner * T / n, rel=0.01)
    assert one[1] == pytest.approx(inner / n, rel=0.02)
    assert one[0] - field[0] - 1.5 == pytest.approx(inner * (T + 3) / n, abs=1)
    assert page.is_visible(".bot-run-decode .bot-run-now")
    assert not page.is_visible(".bot-run-prefill .bot-run-now")
    # each layer's hatching begins where its window does
    polygon = page.evaluate(
        "document.querySelector('.bot-run-decode .bot-run-kept').style.clipPath"
    )
    before = T + 3
    starts = {f"{100 * (before - 10) / before:.3f}", "0.000"}
    ends = [f"{float(p.split()[0].strip('%')):.3f}" for p in polygon[8:-1].split(",")]
    assert set(ends) == {*starts, "100.000"}
    go(page, 0)
    assert page.is_visible(".bot-run-prefill .bot-run-now")
    assert page.evaluate("document.querySelector('.bot-pairs-block').classList.contains('is-now')")
    go(page, -1)
    assert not page.is_visible(".bot-run-now")


def load(page, **payload):
    page.evaluate("(p) => BOT.setTrace(p)", payload)
    settle(page)


def test_what_the_trace_knows_is_there_while_the_run_goes_on(opened):
    _, trace, payload, known = seen("gemma3")
    steps = payload["steps"]
    page = opened("runs", ({**payload, "finish": None, "steps": steps[:3]}, known))
    shown = cells(page)
    assert shown["positions"][0][0] == number(len(trace.prompt))
    assert shown["macs"] == (("–", ""), ("–", ""))
    assert page.is_visible(f"text={EN['panel.runs.later']}")
    bars = "document.querySelector('.bot-runbars-with').getAttribute('d').split('M').length - 1"
    assert page.evaluate(bars) == 3
    page.evaluate("(s) => { BOT.state.trace.steps.push(BOT.whole(s)); BOT.schedule(); }", steps[3])
    settle(page)
    assert page.evaluate(bars) == 4
    # nothing but the prompt
    load(page, **payload | {"id": None, "steps": [], "finish": None})
    assert not page.is_visible(".bot-run-decode") and not page.is_visible(".bot-total")
    assert cells(page)["ms"][0] == ("–", "")
    assert page.evaluate("asked.filter((a) => a[1]?.op !== 'lab').length") == 0
    # an answer of one token
    load(page, **payload | {"id": "one", "steps": steps[:1], "n_steps": 1})
    assert page.is_visible(f"text={EN['panel.runs.no_decode']}")
    assert not page.is_visible(".bot-run-decode") and page.is_visible(".bot-run-prefill")


def test_without_the_cache_is_measured_when_asked_and_both_are_shown(opened):
    _, trace, _, known = seen("gemma3")
    page = opened("runs", new=True, step=3)
    switch, words = ".bot-again-switch", ".bot-again-words"
    # how far it is, and stopping it
    page.evaluate("slow = true")
    page.click(switch)
    settle(page)
    assert page.inner_text(words) == f"{EN['ui.inside.stage.uncached']} · 25%"
    page.click(".bot-again >> text=Stop")
    settle(page)
    assert page.get_attribute(switch, "aria-checked") == "false"
    assert page.evaluate("asked.at(-1)[0]") == "halt"
    # why it can not be
    page.evaluate("slow = false; broken = true")
    page.click(switch)
    settle(page)
    assert page.inner_text(words) == "no model"
    # and what comes of it
    page.evaluate("broken = false")
    page.click(switch)
    settle(page)
    asked = page.evaluate("asked.length")
    u = looking.engine("gemma3").uncached(trace)
    ms, gaps = (unpacked(known["uncached"]["uncached"][name]) for name in ("ms", "logits_gap"))
    T, P = len(trace.prompt), len(trace.steps)
    assert u.positions.tolist() == [T + i for i in range(P)]
    totals = page.evaluate("[...document.querySelectorAll('.bot-total')].map((r) => r.title)")
    having, without = (float(t.removesuffix(" ms")) for t in totals[2:])
    assert having == pytest.approx(sum(s.timing.forward_ms for s in trace.steps))
    assert without == pytest.approx(ms.sum())
    said = page.inner_text(words)
    key = "slower" if without > having else "not_slower"
    start, *_ = EN[f"panel.runs.again.{key}"].split("{work}")
    times = page.evaluate("(x) => BOT.sig(x)", int(u.positions.sum()) / (T + P - 1))
    assert said.startswith(f"{start}{times} ×")
    gap = page.evaluate("(x) => BOT.sig(x)", float(gaps.max()))
    assert f"{gap} (run {int(gaps.argmax()) + 1})" in said
    page.click(f"text={EN['panel.runs.measure.ms']}")
    settle(page)
    path = page.evaluate("document.querySelector('.bot-runbars-without').getAttribute('d')")
    high = [-float(part.split("v")[1].split("h")[0]) for part in path.split("M")[1:]]
    most = max(*ms, *(s.timing.forward_ms for s in trace.steps))
    assert high == pytest.approx(ms / most, abs=1e-9)
    page.click(switch)  # off: it is gone; on again: it is known, and not asked for
    settle(page)
    assert page.inner_text(words) == EN["panel.runs.again.offer"]
    page.click(switch)
    settle(page)
    assert page.evaluate("asked.length") == asked and page.inner_text(words) == said


def test_a_model_whose_parts_are_not_known_says_so(opened):
    _, _, payload, known = seen("gpt2")
    page = opened("runs", (payload, {**known, "inside": {**known["inside"], "weights": None}}))
    assert page.is_visible(f"text={EN['panel.runs.no_weights']}")
    assert cells(page)["macs"] == (("–", ""), ("–", ""))


def test_a_step_asks_nothing_leaves_nothing_and_is_quick(opened):
    page = opened("runs", new=True)
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    page.click(".bot-again-switch")
    for i in range(-1, 11):
        go(page, i)
    count = "[document.querySelectorAll('#bot-panel-runs *').length, asked.length]"
    before = page.evaluate(count)
    costs = step_costs(page, [*range(10, -2, -1), *range(11)])
    assert page.evaluate(count) == before
    assert p95(costs) <= 16


@pytest.mark.parametrize("view", ["runs", "kv_cache"])
def test_hostile_tokens_stay_text_in_both_languages_and_widths(opened, view):
    page = opened(view, evil=True)
    panel = f"#bot-panel-{view}"
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    for width in (1280, 390):
        for lang in ("zh", "en"):
            page.set_viewport_size({"width": width, "height": 900})
            page.evaluate(f"BOT.setLang('{lang}')")
            settle(page)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(f"{panel} img").count() == 0
    assert page.locator(f"{panel} td >> text=onerror").count() > 0
    page.evaluate("BOT.setLang('zh')")
    settle(page)
    text = page.inner_text(panel)
    assert ZH[f"panel.{view}.title"] in text
    left = [EN[k] for k in EN if k.startswith(f"panel.{view}.") and "{" not in EN[k]
            and EN[k] != ZH[k] and len(EN[k]) > 6 and EN[k] in text]  # fmt: skip
    assert left == []


def test_every_text_of_the_panels_is_used():
    sources = "".join(
        path.read_text("utf-8") for path in JS.glob("view_*.js") if "_runs" in path.name
        or "_kv_cache" in path.name
    )  # fmt: skip
    joined = ("panel.runs.legend.", "panel.runs.bar.with", "panel.runs.sum.", "panel.runs.col.",
              "panel.kv_cache.legend.", "panel.kv_cache.col.")  # fmt: skip
    for key in EN:
        if not key.startswith(("panel.runs.", "panel.kv_cache.")):
            continue
        own_key = key.removesuffix(".one")
        if own_key.rsplit(".", 1)[1] in ("title", "why", "how", "tab"):
            continue
        assert f'"{own_key}"' in sources or own_key.startswith(joined), key
