"""What the panels of the inside stand on, in a real browser: gate, tabs, jobs, maps, tables."""

from __future__ import annotations

import json

import numpy as np
import pytest

from playground.inspection.packed import pack
from playground.views.payload import trace_payload
from tests import made
from tests.test_client import HOST, html, settle

pytestmark = pytest.mark.browser

ID = "0123456789abcdef"
# Two panels of one chapter and their texts; the first shows all that panels share.
TRIAL = """<script>
for (const lang of ["en", "zh"]) for (const id of ["one", "two"]) {
  for (const part of ["title", "why", "how", "tab"]) {
    BOT_TEXT[lang][`panel.${id}.${part}`] = `${lang} ${id} ${part}`;
  }
}
window.told = [];
const map = BOT.heat({label: "ui.inside.layer", read: (r, c) => `cell ${r} ${c}`,
  gutter: 0, tall: 10, pick: (r, c) => told.push(["pick", r, c])});
const dial = BOT.dial({key: "ui.inside.layer", get: () => BOT.inside.focus.layer,
  set: (layer) => BOT.inside.setFocus({layer})});
const table = BOT.fold({label: "ui.inside.head",
  columns: [{key: "ui.inside.layer"}, {key: "ui.inside.head"}],
  rows: () => window.lines, mark: () => 1});
BOT.insidePanel({id: "one", stage: 3, deck: "inside", mount(body) {
  body.append(dial.node, map.node, table.node);
  return {
    inside(data) { told.push(["inside", data.trace]); dial.set(3, (i) => i !== 1); },
    step(i) { told.push(["step", i]); },
    focus({layer}) { told.push(["focus", layer]); dial.draw(); },
    lang() { told.push(["lang"]); },
  };
}});
BOT.insidePanel({id: "two", stage: 3, deck: "inside",
  mount: () => ({inside() { told.push(["two"]); }})});
window.map = map; window.dial = dial; window.table = table;
</script>"""


def data(trace=ID, **more):
    return {
        "trace": trace, "recorded": False, "model": {"n_layers": 3, "n_heads": 2}, "layers": [0, 2],
        "heads": None, "missing": [], "n_prompt": 2,
    } | more  # fmt: skip


@pytest.fixture
def opened(chromium):
    """open(answers) -> page; work answers with the next of `answers`, at the end the last again."""
    pages, problems = [], []

    def open_(answers, auto=True, **change):
        page = chromium.new_page(viewport={"width": 1100, "height": 800})
        pages.append(page)
        page.on("pageerror", lambda error: problems.append(str(error)))
        payload = trace_payload(made.example(), ID) | change
        at = "<script>BOT.mount("
        body = html(payload, views=False).replace(at, TRIAL + at)
        page.route("**/*", lambda route: route.fulfill(body=body, content_type="text/html"))
        if not auto:
            page.add_init_script("localStorage.setItem('bot.inside.auto', 'no')")
        page.add_init_script(
            f"window.queue = {json.dumps(answers)}; window.lines = [];"
            "addEventListener('DOMContentLoaded', () => { answers.work = () =>"
            " queue.length > 1 ? queue.shift() : queue[0]; answers.halt = () => ({}); });"
        )
        page.goto(HOST)
        page.evaluate("document.getElementById('bot-chapter-inside').scrollIntoView()")
        return page

    yield open_
    for page in pages:
        page.close()
    assert problems == []


def asked(page, name="work"):
    return [a[1] for a in page.evaluate("asked") if a[0] == name]


def words(page, panel="one"):
    return page.locator(f"#bot-panel-{panel} .bot-gate-words").inner_text()


def wait_ready(page):
    page.wait_for_function("BOT.inside.now.phase === 'ready'")
    settle(page)


def test_numbers_are_asked_for_once_and_every_panel_on_screen_gets_them(opened):
    page = opened([{"state": "done", "result": data()}])
    wait_ready(page)
    assert [(r["op"], r["trace"]) for r in asked(page)] == [("inside", ID)]
    assert page.evaluate("told")[:3] == [["inside", ID], ["step", 2], ["focus", 0]]
    page.keyboard.press("Home")
    page.evaluate("BOT.go(0)")
    settle(page)
    assert page.evaluate("told.at(-1)") == ["step", 0]
    # The panel under the other tab is told when it comes on screen, and nothing is asked again.
    assert ["two"] not in page.evaluate("told")
    page.locator("#bot-tab-two").click()
    page.wait_for_function("told.some((t) => t[0] === 'two')")
    assert len(asked(page)) == 1


def test_the_gate_says_how_far_the_numbers_are_and_lets_one_stop(opened):
    page = opened([{"state": "waiting", "ahead": 1}])
    page.wait_for_function(
        "document.querySelector('.bot-gate-words').textContent.includes('other')"
    )
    assert words(page) == "Waiting: one other computation is before this one."
    page.evaluate("queue = [{state: 'running', stage: 'lens', fraction: 0.25}]")
    page.wait_for_function("document.querySelector('.bot-gate-words').textContent.includes('25%')")
    assert page.locator("#bot-panel-one progress").get_attribute("value") == "0.25"
    page.get_by_role("button", name="Stop").click()
    page.wait_for_function("asked.some((a) => a[0] === 'halt')")
    settle(page)
    assert asked(page, "halt")[0]["who"] == asked(page)[0]["who"]
    assert words(page).startswith("The inside of this run has not been computed")
    n = len(asked(page))
    page.wait_for_timeout(700)
    assert len(asked(page)) == n, "stopped is stopped, also where it would begin by itself"
    page.get_by_role("button", name="Look inside").click()
    page.wait_for_function(f"asked.filter((a) => a[0] === 'work').length > {n}")


def test_nothing_is_computed_unasked_where_the_reader_said_so(opened):
    page = opened([{"state": "done", "result": data()}], auto=False)
    page.wait_for_timeout(300)
    assert asked(page) == []
    page.get_by_role("button", name="Look inside").click()
    wait_ready(page)
    assert page.evaluate("localStorage.getItem('bot.inside.auto')") == "no"


def test_what_went_wrong_is_said_in_the_readers_language_and_can_be_tried_again(opened):
    error = {"error": {"en": "Load the <b>model</b>.", "zh": "请加载模型。"}}
    page = opened([error, {"state": "done", "result": data()}])
    page.wait_for_function("BOT.inside.now.phase === 'failed'")
    settle(page)
    assert words(page) == "Load the <b>model</b>."
    page.evaluate("BOT.setLang('zh')")
    settle(page)
    assert words(page) == "请加载模型。"
    page.get_by_role("button", name="看看内部").click()
    wait_ready(page)


def test_a_run_under_way_has_no_inside_yet_and_its_end_brings_it(opened):
    page = opened([{"state": "done", "result": data()}], finish=None, id=None)
    page.wait_for_timeout(300)
    assert (
        asked(page) == [] and words(page) == "The inside can be looked at when the run has ended."
    )
    page.evaluate(
        "(id) => { Object.assign(BOT.state.trace, {finish: 'eos', id}); BOT.schedule(); }", ID
    )
    wait_ready(page)


def test_an_answer_for_the_run_before_is_not_shown_for_this_one(opened):
    page = opened([{"state": "running", "stage": "forward", "fraction": None}])
    page.wait_for_function("asked.some((a) => a[0] === 'work')")
    other = "f" * 16
    page.evaluate(
        """([first, other]) => {
          queue = [{state: "done", result: first}];
          BOT.receive({type: "load", trace: {...BOT_INITIAL, id: other}});
          queue = [{state: "done", result: {...first, trace: other}}];
        }""",
        [data(), other],
    )
    wait_ready(page)
    page.wait_for_timeout(400)
    assert page.evaluate("[BOT.inside.now.id, BOT.inside.now.data.trace]") == [other, other]
    assert [t for t in page.evaluate("told") if t[0] == "inside"] == [["inside", other]]


def test_tabs_work_by_keys_and_are_remembered(opened):
    page = opened([{"state": "done", "result": data()}])
    tabs = page.locator(".bot-chapter-inside [role=tab]")
    page.evaluate("BOT.visit('one')")
    assert page.locator("#bot-panel-one").is_visible()
    page.locator("#bot-tab-one").focus()
    page.keyboard.press("ArrowRight")
    selected = page.evaluate(
        "[...document.querySelectorAll('[role=tab][aria-selected=true]')].map((t) => t.id)"
    )
    at = [t.get_attribute("id") for t in tabs.all()].index("bot-tab-one")
    following = tabs.nth((at + 1) % tabs.count()).get_attribute("id")
    assert following in selected and not page.locator("#bot-panel-one").is_visible()
    assert following.removeprefix("bot-tab-") in page.evaluate("localStorage.getItem('bot.tabs')")


def test_a_dial_leaves_out_what_can_not_be_had(opened):
    page = opened([{"state": "done", "result": data()}])
    wait_ready(page)
    page.evaluate("BOT.visit('one')")
    page.locator("#bot-panel-one .bot-dial").get_by_role("button", name="One more").click()
    assert page.evaluate("BOT.inside.focus.layer") == 2, "layer 1 is not to be had"
    settle(page)
    assert page.locator("#bot-panel-one select").input_value() == "2"
    assert page.locator("#bot-panel-one option").nth(1).is_disabled()


def test_a_map_paints_reads_and_picks_every_cell(opened):
    page = opened([{"state": "done", "result": data()}])
    wait_ready(page)
    page.evaluate("BOT.visit('one')")
    values = [[0.0, 0.5, 1.0], [float("nan"), 1.0, 0.25]]
    page.evaluate(
        """() => { const v = [[0, 0.5, 1], [NaN, 1, 0.25]];
          map.set({rows: 2, cols: 3, value: (r, c) => v[r][c], most: 1}); }"""
    )
    settle(page)
    shades = page.evaluate(
        """() => { const g = map.canvas.getContext("2d"); const w = map.canvas.width / 3;
          return [0, 1].map((r) => [0, 1, 2].map((c) =>
            [...g.getImageData(Math.floor((c + 0.5) * w), 10 * r + 5, 1, 1).data])); }"""
    )
    for row, wanted in zip(shades, values, strict=True):
        for shade, value in zip(row, wanted, strict=True):
            assert shade[3] == (0 if np.isnan(value) else 255)
    darkness = {
        v: sum(shades[r][c][:3]) for r, c, v in [(0, 0, 0), (0, 1, 0.5), (0, 2, 1), (1, 2, 0.25)]
    }
    assert darkness[0] > darkness[0.25] > darkness[0.5] > darkness[1]
    page.locator("#bot-panel-one canvas").focus()
    page.keyboard.press("Home")
    page.keyboard.press("PageUp")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert page.locator("#bot-panel-one .bot-heat-read").inner_text() == "cell 1 1"
    i = page.evaluate("BOT.state.i")
    page.keyboard.press("Enter")
    assert page.evaluate("told.at(-1)") == ["pick", 1, 1]
    assert page.evaluate("BOT.state.i") == i, "the map's keys are its own, not the player's"


def test_a_table_is_drawn_while_open_and_uses_its_rows_again(opened):
    page = opened([{"state": "done", "result": data()}])
    wait_ready(page)
    page.evaluate("BOT.visit('one')")
    page.evaluate("""() => { lines = [["1", {text: "2", title: "2.000001"}],
      [{hex: "3c623e"}, null], ["5", "6"]]; table.draw(); }""")
    body = page.locator("#bot-panel-one .bot-fold tbody")
    assert body.locator("tr").count() == 0
    page.locator("#bot-panel-one .bot-fold summary").click()
    settle(page)
    assert body.inner_text().split() == ["1", "2", "<b>", "–", "5", "6"]
    assert body.locator("td").nth(1).get_attribute("title") == "2.000001"
    assert body.locator("tr").nth(1).get_attribute("aria-current") == "true"
    page.evaluate("lines = [['7', '8']]; table.draw()")
    assert body.inner_text().split() == ["7", "8"] and body.locator("tr").count() == 3


def test_arrays_come_back_to_the_bit(opened):
    page = opened([{"state": "done", "result": data()}])
    odd = np.array([[1.1, -np.inf, 3], [np.nan, 5e-39, 2**24 + 1]], "f4")
    for array, code in ((odd, "f4"), (np.arange(6).reshape(2, 3) - 2, "i8"), (odd > 2, "?")):
        got = page.evaluate(
            """(packed) => { const a = BOT.nd(packed); return [a.shape, [...a.data].map(String),
              String(a.at(1, 2)), [...a.row(1)].map(String)]; }""",
            pack(array, code),
        )
        shape, flat, one, row = got
        back = [float(x.replace("Infinity", "inf")) for x in flat]
        assert shape == list(array.shape)
        assert np.array_equal(np.array(back, "f4"), array.ravel().astype("f4"), equal_nan=True)
        assert (one, row) == (flat[5], flat[3:])


def test_only_the_newest_of_several_answers_is_applied(opened):
    page = opened([{"state": "done", "result": data()}])
    seen = page.evaluate(
        """async () => {
          const seen = [];
          const take = BOT.latest((v) => seen.push(v), (e) => seen.push(e.message));
          let slow;
          take(new Promise((r) => { slow = r; }));
          take(Promise.resolve("new"));
          slow("old");
          take(Promise.reject(new Error("bad")));
          take(Promise.reject(new BOT.Halted()));
          await new Promise((r) => setTimeout(r, 20));
          take(Promise.reject(new Error("said")));
          await new Promise((r) => setTimeout(r, 20));
          return seen;
        }"""
    )
    assert seen == ["said"]
