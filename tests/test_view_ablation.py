"""Taking something away, in a real browser: what is shown is what the model's ablations say."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest

from playground.inside.ablation import Taken
from playground.text import texts
from playground.views.inside import ablation_payload, ablations_payload
from tests import looking
from tests.cpu import p95, step_costs
from tests.test_client import HOST
from tests.test_view_lens import EVIL, MARKED, go, lasting, seen, serving, settle

pytestmark = pytest.mark.browser

EN, ZH = texts("en"), texts("zh")
PANEL = "#bot-panel-ablation"
STEP = 4  # the one that was recorded
N_STEPS = 11
# A server that has what was recorded, and what a model would say of one more step.
GIVEN = """(() => { const known = %s; window.given = { halt: () => ({}), work: (r) => {
  if (r.op === "inside") return { state: "done", result: known.inside };
  if (r.op === "ablations") return { state: "done", result: { ablations: known.list } };
  if (window.told && window.told.length) return window.told.shift();
  const all = [r.step, r.hide, r.head, r.ffn].map((x) => x === null ? "" : x).join("|");
  return all in known.all ? { state: "done", result: known.all[all] }
    : { error: { en: "The <b>model</b> is needed.", zh: "需要模型。" } };
} }; })()"""
ITEMS = """(kind) => [...document.querySelectorAll(`.bot-abl-${kind} > button`)].filter((b) =>
  !b.hidden).map((b) => ({ face: b.querySelector('.bot-abl-face').textContent, title: b.title,
    bits: b.querySelector('.bot-abl-bits').textContent, pressed: b.ariaPressed === 'true',
    share: Number(b.style.getPropertyValue('--share')), known: b.classList.contains('is-known'),
    tall: b.querySelector('i').getBoundingClientRect().height }))"""


@cache
def made(family: str):
    """{key: Ablation}: every single one of STEP, and of the step after it with several at once."""
    engine, trace = looking.engine(family), looking.trace(family)
    n, info = len(trace.prompt), engine.info
    wanted = [Taken(hide=k) for k in range(n)] + [Taken(ffn=k) for k in range(info.n_layers)]
    recorded = engine.ablations(
        trace, STEP, [*wanted, *(Taken(head=(1, h)) for h in range(info.n_heads))]
    )
    more = [*wanted, Taken(hide=n + 1), Taken(2, (1, 0), 1), Taken(head=(0, 3))]
    return recorded, engine.ablations(trace, STEP + 1, more)


def key(one) -> str:
    head = "" if one.head is None else ",".join(map(str, one.head))
    return "|".join(["" if x is None else str(x) for x in (one.step, one.hide)]
                    + [head, "" if one.ffn is None else str(one.ffn)])  # fmt: skip


@cache
def known(recorded: bool, evil: bool) -> str:
    _, _, served = seen("llama", evil)
    first, second = made("llama")
    everything = {key(one): ablation_payload(one) for one in (*first, *second)}
    if evil:
        for sent in everything.values():
            sent["hexes"] = [EVIL.encode().hex()] * len(sent["hexes"])
    inside = served["inside"] | {"recorded": recorded}
    return json.dumps({"inside": inside, "list": ablations_payload(first), "all": everything})


@pytest.fixture
def opened(chromium):
    """open(recorded, …) -> page on the panel; a page error or a foreign request fails the test."""
    pages, problems = [], []

    def open_(*, recorded=True, evil=False, width=1280, step=STEP):
        page = chromium.new_page(viewport={"width": width, "height": 900})
        pages.append(page)

        def serve(route):
            if route.request.resource_type == "document":
                body = serving(seen("llama", evil)[1], "ablation")
                route.fulfill(body=body, content_type="text/html; charset=utf-8")
            else:
                if "plotly" not in route.request.url:
                    problems.append(route.request.url)
                route.abort()

        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: problems.append("dialog"))
        page.add_init_script(GIVEN % known(recorded, evil))
        page.route("**/*", serve)
        page.goto(f"{HOST}?lang=en&view=ablation")
        settle(page)
        page.evaluate(f"document.querySelector('{PANEL}').scrollIntoView()")
        page.wait_for_selector(f"{PANEL} .bot-inside:not([hidden])")
        settle(page)
        go(page, step)
        settle(page)
        return page

    yield open_
    for page in pages:
        page.close()
    assert problems == []


def button(page, name):
    return page.locator(PANEL).get_by_role("button", name=EN[f"panel.ablation.{name}"], exact=True)


def asked(page, op="ablate"):
    work = [x for name, *rest in page.evaluate("asked") if name == "work" for x in rest]
    found = [x for x in work if x["op"] == op]
    return [{k: v for k, v in x.items() if k not in ("who", "op", "trace")} for x in found]


def of(ablations, **wanted):
    return next(a for a in ablations if all(getattr(a, k) == v for k, v in wanted.items()))


def result(page):
    """Titles of the numbers that the result shows, and the rows of its bars."""
    return page.evaluate(
        """(panel) => { const all = (s, n = document.querySelector(panel)) =>
        [...n.querySelectorAll(s)]; return { kl: all('.bot-abl-kl')[0].title,
        facts: all('.bot-abl-fact dd').slice(1).map((d) => [d.children[0].title,
          d.children[2].title]), rows: all('.bot-duo-row').filter((r) => !r.hidden).map((r) => [
          r.querySelector('bdi').textContent, ...all('.bot-duo-n', r).map((n) =>
          n.title.split(': ')[1]), ...all('.bot-duo-rank', r).map((n) => n.textContent),
          r.ariaCurrent === 'true']) }; }""",
        PANEL,
    )


def same_as(page, found) -> None:
    shown, k = result(page), found.ids.tolist().index(found.chosen)
    assert float(shown["kl"]) == found.kl_bits
    probability, rank, entropy = shown["facts"]
    assert np.array_equal(
        np.array(probability, "f4"), np.array([found.probs_before[k], found.probs_after[k]])
    )
    assert rank == [str(found.rank_before[k]), str(found.rank_after[k])]
    assert [float(x) for x in entropy] == [found.entropy_bits_before, found.entropy_bits_after]
    larger = np.maximum(found.probs_before, found.probs_after)
    order = np.argsort(-larger, kind="stable")[:10].tolist()
    assert len(shown["rows"]) in (10, 11)
    for row, j in zip(shown["rows"], order, strict=False):
        assert row[0] == (page.evaluate("(h) => BOT.tokenText(h)", found.raw[j].hex()) or "∅")
        assert np.float32(row[1]) == found.probs_before[j]
        assert np.float32(row[2]) == found.probs_after[j]
        assert row[3:5] == [f"rank {found.rank_before[j]}", f"rank {found.rank_after[j]}"]
    assert [row[5] for row in shown["rows"]].count(True) == 1


def test_what_was_recorded_is_a_map_of_tokens_layers_and_heads(opened):
    page, recorded = opened(), made("llama")[0]
    trace = looking.trace("llama")
    n, bits = len(trace.prompt), {key(a): a.kl_bits for a in recorded}
    chips = page.evaluate(ITEMS, "tokens")
    assert len(chips) == n + STEP and [c["known"] for c in chips] == [True] * n + [False] * STEP
    most = max(bits[f"{STEP}|{k}||"] for k in range(n))
    for k, chip in enumerate(chips[:n]):
        kl = bits[f"{STEP}|{k}||"]
        assert chip["share"] == pytest.approx(kl / most) and f"position {k}" in chip["title"]
        assert chip["bits"] == page.evaluate("(x) => BOT.sig(x, 2)", kl)
    assert "not tried" in chips[n]["title"] and chips[n]["bits"] == ""
    bars = page.evaluate(ITEMS, "ffn")
    kls = np.array([bits[f"{STEP}|||{k}"] for k in range(3)])
    tall = np.array([b["tall"] for b in bars])
    assert np.allclose(tall / tall.max(), np.maximum(kls / kls.max(), 3 / tall.max()), atol=0.03)
    page.focus(f"{PANEL} canvas")
    page.keyboard.press("PageUp")
    page.keyboard.press("Home")
    assert "not tried" in page.inner_text(f"{PANEL} .bot-heat output")
    page.keyboard.press("ArrowDown")
    kl = page.evaluate("(x) => BOT.sig(x, 3)", bits[f"{STEP}||1,0|"])
    assert page.inner_text(f"{PANEL} .bot-heat output") == f"layer 1, head 0: {kl} bits"


def test_the_strongest_recorded_token_is_shown_first_and_any_other_on_a_click(opened):
    page, recorded = opened(), made("llama")[0]
    hidden = [a for a in recorded if a.hide is not None]
    same_as(page, max(hidden, key=lambda a: a.kl_bits))
    assert len(asked(page)) == 1 and asked(page, "ablations") == [{}]
    page.locator(".bot-abl-tokens > button").nth(3).click()
    settle(page)
    same_as(page, of(recorded, hide=3))
    assert "(position 3)" in page.inner_text(".bot-abl-away")
    page.locator(".bot-abl-ffn > button").nth(1).click()
    settle(page)
    same_as(page, of(recorded, ffn=1))
    page.evaluate("BOT.inside.setFocus({layer: 1, head: 4})")
    settle(page)
    button(page, "this_head").click()
    settle(page)
    same_as(page, of(recorded, head=(1, 4)))
    pressed = [c["pressed"] for k in ("tokens", "ffn") for c in page.evaluate(ITEMS, k)]
    assert not any(pressed)
    # seen before: not asked again
    before = len(asked(page))
    page.locator(".bot-abl-tokens > button").nth(3).click()
    settle(page)
    same_as(page, of(recorded, hide=3))
    assert len(asked(page)) == before
    button(page, "clear").click()
    assert page.locator(".bot-abl-result").is_hidden()
    assert page.inner_text(".bot-abl-away") == EN["panel.ablation.nothing"]


def test_elsewhere_the_recorded_step_is_offered(opened):
    page = opened(step=9)
    hint = page.locator(".bot-abl-hint")
    assert f"run {STEP + 1}" in hint.inner_text() and hint.is_visible()
    assert page.inner_text(".bot-abl-blank") == EN["panel.ablation.press"]
    hint.locator("button").click()
    settle(page)
    assert page.evaluate("BOT.state.i") == STEP and hint.is_hidden()
    assert page.locator(".bot-abl-result").is_visible()


def test_something_new_is_asked_for_followed_and_remembered(opened):
    page, more = opened(recorded=False, step=STEP + 1), made("llama")[1]
    assert asked(page, "ablations") == [] and button(page, "look").is_disabled()
    assert EN["panel.ablation.none_yet"] in page.inner_text(PANEL)
    n = len(looking.trace("llama").prompt)
    page.locator(".bot-abl-tokens > button").nth(n + 1).click()
    assert page.inner_text(".bot-abl-blank") == EN["panel.ablation.press"]
    page.evaluate("told = Array(99).fill({state: 'running', stage: 'work', fraction: null})")
    button(page, "look").click()
    page.wait_for_function("document.querySelector('.bot-abl-ask').innerText.includes('1 of 1')")
    page.evaluate("told = []")
    page.wait_for_selector(".bot-abl-result:not([hidden])")
    same_as(page, of(more, hide=n + 1))
    assert asked(page)[-1] == {"step": STEP + 1, "hide": n + 1, "head": None, "ffn": None}
    page.get_by_label(EN["panel.ablation.several"]).check()
    page.evaluate("BOT.inside.setFocus({layer: 1, head: 0})")
    page.locator(".bot-abl-tokens > button").nth(2).click()
    button(page, "this_head").click()
    page.locator(".bot-abl-ffn > button").nth(1).click()
    button(page, "look").click()
    settle(page)
    same_as(page, of(more, hide=2, head=(1, 0), ffn=1))
    away = page.inner_text(".bot-abl-away")
    assert "position 2" in away and "layer 1, head 0" in away and "FFN of layer 1" in away
    rows = page.locator(".bot-abl-history tbody tr:not([hidden])")
    assert rows.count() == 2 and rows.nth(0).inner_text().count(EN["panel.ablation.tried"]) == 1
    # On the step before, the token that was hidden was not there yet; the list leads back to it.
    go(page, 0)
    kl = page.evaluate("(x) => BOT.sig(x, 3)", of(more, hide=n + 1).kl_bits)
    rows.filter(has_text=f"position {n + 1}").filter(has_text=kl).get_by_role("button").click()
    settle(page)
    assert page.evaluate("BOT.state.i") == STEP + 1
    same_as(page, of(more, hide=n + 1))


def test_every_layer_in_turn_then_sorted_by_effect_or_by_time(opened):
    page, more = opened(recorded=False, step=STEP + 1), made("llama")[1]
    button(page, "every_ffn").click()
    page.wait_for_function(
        "document.querySelectorAll('.bot-abl-history tbody tr:not([hidden])').length === 3"
    )
    settle(page)
    kls = [of(more, ffn=k, hide=None).kl_bits for k in range(3)]

    def listed():
        rows = page.locator(".bot-abl-history tbody tr:not([hidden])")
        return [rows.nth(k).locator("td").nth(2).get_attribute("title") for k in range(3)]

    assert [float(x) for x in listed()] == sorted(kls, reverse=True)
    button(page, "by_time").click()
    assert [float(x) for x in listed()] == kls[::-1]
    k = looking.trace("llama").steps[STEP + 1].token.id
    one = of(more, ffn=2, hide=None)
    cells = page.locator(".bot-abl-history tbody tr").nth(0).locator("td")
    at = one.ids.tolist().index(k)
    assert np.float32(cells.nth(3).get_attribute("title")) == one.probs_before[at]
    assert np.float32(cells.nth(4).get_attribute("title")) == one.probs_after[at]


def test_stop_and_what_the_server_says(opened):
    page = opened(recorded=False, step=STEP + 1)
    page.evaluate("told = Array(99).fill({state: 'waiting', ahead: 3})")
    button(page, "every_hide").click()
    page.wait_for_function("document.querySelector('.bot-abl-ask').innerText.includes('3 other')")
    page.locator(".bot-abl-ask").get_by_role("button", name="Stop").click()
    settle(page)
    assert page.evaluate("asked")[-1][0] == "halt"
    assert page.locator(".bot-abl-history").is_hidden()
    page.evaluate("told = []")
    go(page, 7)
    page.locator(".bot-abl-tokens > button").nth(0).click()
    button(page, "look").click()
    settle(page)
    says = page.locator(".bot-abl-ask .bot-pair-says")
    assert says.inner_text().endswith("The <b>model</b> is needed.")
    page.evaluate("BOT.setLang('zh')")
    settle(page)
    assert says.inner_text().endswith("需要模型。")


def test_evil_tokens_stay_text_and_the_language_can_change(opened):
    page = opened(evil=True)
    assert page.evaluate(ITEMS, "tokens")[0]["face"] == MARKED
    assert all(row[0] == MARKED for row in result(page)["rows"])
    assert page.locator(f"{PANEL} img").count() == 0
    page.evaluate("BOT.setLang('zh')")
    settle(page)
    assert page.inner_text("#bot-title-ablation") == ZH["panel.ablation.title"]
    assert f"第 {STEP + 1} 次运行" in page.inner_text(".bot-abl-now")
    assert ZH["panel.ablation.once"] in page.inner_text(PANEL)
    assert "比特" in page.inner_text(".bot-abl-kl")


def test_arrow_keys_walk_the_tokens_on_a_narrow_page(opened):
    page = opened(width=390, step=-1)
    n = len(looking.trace("llama").prompt)
    assert len(page.evaluate(ITEMS, "tokens")) == n  # before the first run: what it will read
    page.locator(".bot-abl-tokens > button").nth(0).focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    assert f"position {n - 2}" in page.inner_text(".bot-abl-away")
    assert page.evaluate("BOT.state.i") == -1
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_step_asks_for_nothing_adds_nothing_and_is_cheap(opened):
    page = opened()
    before, after = lasting(page, "ablation", N_STEPS)
    assert before == after
    assert p95(step_costs(page, 3 * list(range(N_STEPS)))) <= 16
