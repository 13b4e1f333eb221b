"""The panel of checks in a real browser: what it says is what was measured, and red is red."""

from __future__ import annotations

import copy
import math

import pytest

from playground import store
from playground.checks import check
from playground.inspection.check import unchecked
from playground.text import say, texts
from playground.views.inside import check_payload
from playground.views.payload import trace_payload
from tests import looking
from tests.test_client import HOST, html

pytestmark = pytest.mark.browser

EN, ZH = texts("en"), texts("zh")
EVIL = "<img src=x onerror=alert(1)>${alert(1)}{{x}}\u202e"
SERVE = """(answers) => {
  window.asked = [];
  const next = { work: () => answers.shift() || { state: "running", stage: "check", fraction: 0.5 },
    halt: () => ({ halted: true }) };
  for (const name of Object.keys(next)) {
    BOT.state.server[name] = async (request) => {
      asked.push([name, request]);
      return next[name]();
    };
  }
}"""
ROWS = """[...document.querySelectorAll('.bot-checks tr[data-name]')].map((row) => ({
  name: row.dataset.name, ok: row.dataset.ok, group: row.parentNode.dataset.group,
  texts: [...row.children].map((cell) => cell.textContent.trim()),
  exact: [...row.querySelectorAll('[title]')].map((cell) => cell.title),
  bar: row.querySelector('.bot-check-track').hidden ? null : row.querySelector('i').style.width,
}))"""


@pytest.fixture(scope="module")
def trace():
    return looking.trace("llama")


@pytest.fixture(scope="module")
def measured(trace):
    """Of a real run; of the unchecked one (nothing is greedy here) the reason is evil."""
    checks = check(looking.engine("llama"), trace)
    evil = unchecked("cache", "count", "check.skip.cache", {"family": EVIL})
    return [check_payload(evil if c.name == "cache" else c) for c in checks]


def done(checks, *, recorded=False, intact=True):
    return {
        "state": "done",
        "result": {"checks": checks, "recorded": recorded, "intact": intact},
    }


@pytest.fixture
def opened(chromium, trace):
    """opened(answers of `work`, example) -> page with the panel on screen."""
    problems, pages = [], []

    def open_(answers, *, example=None, query="?lang=en", width=1280):
        page = chromium.new_page(viewport={"width": width, "height": 800})
        pages.append(page)
        payload = trace_payload(trace, store.trace_id(trace))

        def serve(route):
            if route.request.resource_type == "document":
                route.fulfill(
                    body=html(payload, views=("view_check",)),
                    content_type="text/html; charset=utf-8",
                )
            else:
                route.abort()

        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: problems.append("dialog"))
        page.route("**/*", serve)
        page.goto(HOST + query)
        page.evaluate("BOT.inside.auto = false")
        page.evaluate(SERVE, answers)
        page.evaluate("(name) => { BOT.state.example = name; }", example)
        page.evaluate("BOT.visit('check')")
        page.evaluate("document.getElementById('bot-panel-check').scrollIntoView()")
        settle(page)
        return page

    yield open_
    for page in pages:
        page.close()
    assert problems == []


def settle(page):
    page.wait_for_timeout(60)
    page.evaluate("new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))")


def asked(page):
    return page.evaluate("asked.map(([name, { op, trace, again }]) => [name, op, trace, again])")


def press(page):
    page.click("#bot-panel-check .bot-gate-row .bot-btn:not([hidden])")
    settle(page)


def words(page):
    return page.inner_text("#bot-panel-check .bot-gate-words")


def figure(x, digits=2):
    """As the client writes it, made apart from it."""
    if x == 0:
        return "0"
    if x < 1e-3:
        mantissa, exponent = f"{x:.{digits - 1}e}".split("e")
        raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        return f"{mantissa}×10{raised}"
    return f"{x:.{max(0, digits - 1 - math.floor(math.log10(x)))}f}"


def test_every_invariant_is_shown_with_what_was_measured(opened, measured, trace):
    page = opened([done(measured)])
    assert page.locator(".bot-check-wrap").is_hidden() and not asked(page)
    press(page)
    assert asked(page) == [["work", "check", store.trace_id(trace), True]]
    rows = {row["name"]: row for row in page.evaluate(ROWS)}
    assert rows.keys() == {c["name"] for c in measured} and len(rows) == 23
    for c in measured:
        row = rows[c["name"]]
        verdict, name, room, found, allowed, unit = row["texts"]
        assert name == EN[f"check.{c['name']}.title"] and unit == EN[f"check.unit.{c['unit']}"]
        if c["ok"] is None:
            assert (verdict, found, allowed) == ("– not checked", "–", "–")
            assert row["bar"] is None
            continue
        assert c["ok"] and verdict == "✓ holds"
        # the exact numbers, and the same rounded
        assert [float(x) for x in row["exact"]] == [c["measured"], c["tolerance"]]
        if c["unit"] == "count":
            assert float(found) == c["measured"]
        else:
            assert found == figure(c["measured"])
        if c["tolerance"] == 0:
            assert (allowed, room, row["bar"]) == ("0", EN["panel.check.equal"], None)
            continue
        assert allowed == f"≤ {figure(c['tolerance'], 1)}"
        share = c["measured"] / c["tolerance"]
        assert room == f"{figure(100 * share)}%"
        if share:
            width = 100 * (max(-5, math.log10(share)) + 5) / 7
            assert float(row["bar"][len("max(3px, ") : -2]) == pytest.approx(width, abs=1e-3)
    assert (
        rows["cache"]["texts"][2].startswith("the family <img src=x")
        and EVIL[:-1] in (rows["cache"]["texts"][2])
    )
    assert page.locator("#app img").count() == 0
    summary = page.inner_text(".bot-check-summary")
    assert "21 of 23 hold" in summary and "2 not checked" in summary
    assert f"Measured now, on {trace.model.name}." in summary


def test_the_rows_stand_by_what_they_are_about(opened, measured):
    page = opened([done(measured)])
    press(page)
    by_group = {}
    for row in page.evaluate(ROWS):
        by_group.setdefault(row["group"], []).append(row["name"])
    assert by_group["text"] == ["prompt", "text"]
    assert by_group["cache"] == ["cache", "uncached"]
    assert by_group["pick"][0] == "prob_sum" and by_group["pick"][-1] == "seed"
    assert by_group["inside"][0] == "logits" and by_group["inside"][-1] == "lens"
    assert list(by_group) == ["text", "pick", "cache", "inside"]
    heads = page.evaluate(
        "[...document.querySelectorAll('.bot-checks [scope=rowgroup]')].map((n) => n.textContent)"
    )
    assert heads == [EN[f"panel.check.group.{g}"] for g in ("red", *by_group)]


def test_red_is_on_top_and_told_in_words(opened, measured):
    bad = copy.deepcopy(measured)
    by_name = {c["name"]: c for c in bad}
    by_name["logits"].update(ok=False, measured=4.1e-3)
    by_name["lens"].update(ok=False, measured=None)  # not a number
    by_name["kept"].update(
        ok=False, measured=3.0, detail="check.detail.first", values={"step": 4, "compared": 2000}
    )
    page = opened([done(bad, intact=False)])
    press(page)
    rows = page.evaluate(ROWS)
    red = [row for row in rows if row["group"] == "red"]
    assert rows[: len(red)] == red
    assert [row["name"] for row in red] == ["file", "kept", "logits", "lens"]
    assert all(row["texts"][0] == "✕ does not hold" for row in red)
    assert [row["texts"][2] for row in red] == ["not equal", "not equal", "410%", "∞"]
    assert [row["texts"][3] for row in red] == ["1", "3", "0.0041", "∞"]
    assert all(row["texts"][0] != "✕ does not hold" for row in rows[len(red) :])
    assert page.inner_text(".bot-check-counts").startswith("4 of 24 do not hold")
    # where it is, said as the page counts, and the way there
    page.click("tr[data-name=kept] button")
    settle(page)
    more = page.locator("#bot-check-kept")
    assert EN["check.kept.how"] in more.inner_text()
    assert "first at run 5, of 2,000 places" in more.inner_text()
    more.locator("button").click()
    assert page.evaluate("BOT.state.i") == 4


def test_stop_an_error_and_another_run_meanwhile(opened, measured, trace):
    running = {"state": "running", "stage": "check", "fraction": 0.25}
    error = {"error": {"en": f"No model. {EVIL}", "zh": "没有模型。"}}
    page = opened([running, {"state": "waiting", "ahead": 2}, error, done(measured)])
    press(page)
    assert words(page).endswith("25%") and page.evaluate(
        "document.querySelector('#bot-panel-check progress').value") == 0.25  # fmt: skip
    press(page)  # Stop
    assert [name for name, *_ in asked(page)] == ["work", "halt"]
    assert words(page) == EN["panel.check.none"]
    press(page)
    assert words(page) == say("en", "ui.inside.waiting", n=2)
    page.wait_for_function("document.querySelector('.bot-check-gate').dataset.phase === 'failed'")
    assert words(page).startswith("No model. <img")
    assert page.locator("#app img").count() == 0
    # what comes for a run that is no longer on screen is not shown
    page.evaluate(
        """() => { let let_go; window.later = new Promise((r) => { let_go = r; });
        window.letGo = let_go; const { work } = BOT.state.server;
        BOT.state.server.work = async (request) => { await later; return work(request); }; }"""
    )
    press(page)
    other = trace_payload(trace, "fedcba9876543210")
    page.evaluate("(t) => { BOT.receive({ type: 'load', trace: t }); letGo(); }", other)
    settle(page)
    assert page.locator(".bot-check-wrap").is_hidden()
    assert words(page) == EN["panel.check.none"]
    page.evaluate(
        "(t) => BOT.receive({ type: 'start', run: 'r', trace: t })", other | {"steps": []}
    )
    settle(page)
    assert words(page) == EN["panel.check.later"]


def test_what_was_recorded_is_there_at_once_and_can_be_measured_again(opened, measured, trace):
    fail = {"error": {"en": "The model is not loaded.", "zh": "模型尚未加载。"}}
    page = opened([done(measured, recorded=True), fail, done(measured)], example="is-openai-open")
    page.wait_for_selector(".bot-check-wrap:not([hidden])")
    assert asked(page) == [["work", "check", store.trace_id(trace), None]]
    recorded = f"Measured on {trace.model.name} when this run was recorded."
    assert recorded in page.inner_text(".bot-check-summary")
    press(page)
    # the answer that is there stays beside the reason why there is no newer one
    assert words(page) == "The model is not loaded." and len(page.evaluate(ROWS)) == 23
    press(page)
    assert "Measured now" in page.inner_text(".bot-check-summary")
    assert asked(page)[1:] == [["work", "check", store.trace_id(trace), True]] * 2
    assert page.locator(".bot-check-gate button:visible").count() == 0


def test_looking_for_a_record_never_begins_to_measure(opened):
    page = opened([{"state": "waiting", "ahead": 0}], example="is-openai-open")
    page.wait_for_timeout(400)
    assert [name for name, *_ in asked(page)] == ["work", "halt"]
    assert words(page) == EN["panel.check.none"]


def test_a_step_asks_and_adds_nothing_and_both_languages_are_whole(opened, measured):
    page = opened([done(measured)])
    press(page)
    before = page.evaluate("[asked.length, document.querySelectorAll('#bot-panel-check *').length]")
    page.evaluate(
        "async () => { for (const k of [3, 0, 7, -1, 5]) { BOT.go(k);"
        " await new Promise(requestAnimationFrame); } }"
    )
    settle(page)
    after = page.evaluate("[asked.length, document.querySelectorAll('#bot-panel-check *').length]")
    assert after == before
    page.click("tr[data-name=lens] button")
    page.evaluate("BOT.setLang('zh')")
    settle(page)
    assert page.inner_text("#bot-check-lens").strip().startswith(ZH["check.lens.how"])  # still open
    rows = {row["name"]: row["texts"] for row in page.evaluate(ROWS)}
    assert all(rows[c["name"]][1] == ZH[f"check.{c['name']}.title"] for c in measured)
    assert "23 项中 21 项成立" in page.inner_text(".bot-check-summary")


def test_on_a_phone_it_is_still_a_table_and_nothing_sticks_out(opened, measured):
    page = opened([done(measured)], width=390)
    press(page)
    wide = page.evaluate(
        "[...document.querySelectorAll('.bot-checks td, .bot-checks th')].filter((n) =>"
        " n.getBoundingClientRect().right > innerWidth).length"
    )
    assert wide == 0
    roles = page.evaluate(
        "[...document.querySelectorAll('.bot-checks *')].filter((n) =>"
        " /^(thead|tbody|tr|td|th)$/i.test(n.tagName) && !n.getAttribute('role')).length"
    )
    assert roles == 0 and page.locator("table.bot-checks[role=table]").count() == 1
