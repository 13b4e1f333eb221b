"""The client alone, in a real browser without a server: what it decodes, shows and moves."""

from __future__ import annotations

import base64
import itertools
import json
import random
import re
from pathlib import Path

import numpy as np
import pytest

from playground.text import texts
from playground.trace import SamplingParams
from playground.ui.sources import SCRIPTS, STYLES
from playground.views import candidates as chart
from playground.views.payload import step_payload, trace_payload
from tests import made, test_payload

pytestmark = pytest.mark.browser

ASSETS = Path(__file__).parent.parent / "assets"
HOST = "http://page.test/"
WORDS = [" Partly", ".", "\n", "苹", "果", " <b>", "👩", "\u200d", "👩", " e", "\u0301", " ${x}"]


def long_trace(n):
    """A payload of n steps as the engine makes them; two in three split a character."""
    payload = trace_payload(made.example(), "0123456789abcdef")
    steps, held = [], b""
    for i, step in enumerate(test_payload.sampled_steps(n)):
        sent = step_payload(step)
        word = WORDS[i % len(WORDS)].encode()
        raw = held[-1:] + word if i % 3 else word[:1] + b"\xe8\x8b"[: i % 2]
        sent["tok"]["hex"] = raw.hex()
        sent["emitted"] = WORDS[i % len(WORDS)] if i % 3 != 1 else ""
        sent["pending"] = "e88b" if i % 3 == 1 else ""
        sent["phase"] = "decode" if i else "prefill"
        steps.append(sent)
    text = "".join(s["emitted"] for s in steps)
    return payload | {"steps": steps, "n_steps": n, "text": text, "model": payload["model"]}


def html(initial, views=True):
    """The page of the client; views: with all panels of its chapters, none, or those whose scripts
    begin like this (a tuple): neighbours would ask the server too."""

    def data(value):
        return json.dumps(value).replace("<", "\\u003c")

    wanted = views if isinstance(views, tuple) else ("view_", "lab_") if views else ()
    kept = [n for n in SCRIPTS if not n.startswith(("view_", "lab_")) or n.startswith(wanted)]
    names = [name for name in kept if name != "form.js"]
    styles = "".join((ASSETS / "css" / name).read_text("utf-8") for name in STYLES)
    scripts = "\n".join((ASSETS / "js" / name).read_text("utf-8") for name in names)
    prose = {lang: texts(lang) for lang in ("en", "zh")}
    return f"""<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<style>{styles}</style><body><textarea id="box"></textarea><button id="run">Run</button>
<div id="app"></div>
<script>window.BOT_TEXT = {data(prose)}; window.BOT_INITIAL = {data(initial)};
window.BOT_FIGURES = {{candidates: {data(chart.template())}}};
window.asked = []; window.answers = {{}};
const ask = (name) => async (...args) => {{
  window.asked.push([name, ...args]);
  return window.answers[name] ? window.answers[name](...args) : {{error: {{en: "no", zh: "否"}}}};
}};</script><script>{scripts}</script>
<script>BOT.mount(document.getElementById("app"), {{steps: ask("steps"), payload: ask("payload"),
example: ask("example"), embedding: ask("embedding"), work: ask("work"),
halt: ask("halt")}});</script>"""


@pytest.fixture(scope="module")
def tools(chromium):
    """One page for what needs no page of its own: the functions of the client."""
    page = chromium.new_page()
    page.route("**/*", lambda route: route.fulfill(body=html(None), content_type="text/html"))
    page.goto(HOST)
    yield page
    page.close()


@pytest.fixture
def opened(chromium):
    """open(payload, query) -> page; a page error or a request to any host fails the test."""
    pages, problems = [], []

    def serve(route):
        url = route.request.url
        if url.startswith(HOST) and route.request.resource_type == "document":
            route.fulfill(body=html(pages[-1][1]), content_type="text/html; charset=utf-8")
        else:
            problems.append(f"request {url}")
            route.abort()

    def open_(payload=None, query="", **options):
        page = chromium.new_page(viewport={"width": 1280, "height": 800}, **options)
        pages.append((page, payload))
        page.on("pageerror", lambda error: problems.append(f"error {error}"))
        page.on("dialog", lambda dialog: problems.append("dialog"))
        page.route("**/*", serve)
        page.goto(HOST + query)
        return page

    yield open_
    for page, _ in pages:
        page.close()
    # Plotly's file is not there: the chart asks for it, and nothing else is asked for.
    assert not [p for p in problems if "plotly" not in p.lower()]


def settle(page):
    page.evaluate("new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))")


def asked(page):
    """What the server was asked for the run; panels ask for what they show."""
    return [call for call in page.evaluate("asked") if call[0] != "work"]


def state(page):
    return page.evaluate("[BOT.state.i, BOT.state.trace.steps.length]")


def test_arrays_are_decoded_to_the_bit(tools):
    steps = [*made.example().steps, *test_payload.sampled_steps(3)]
    for step in steps:
        got = tools.evaluate(
            """(step) => {
              const b64 = (a) => btoa(String.fromCharCode(...new Uint8Array(a.buffer)));
              const a = BOT.arrays(step);
              return {logits: b64(a.logits), tail: b64(a.tail), probs: a.probs.map(b64),
                kept: a.kept.map((row) => [...row]), hexes: BOT.hexes(step)};
            }""",
            step_payload(step),
        )
        had = step.candidates

        def same(text, array):
            return base64.b64decode(text) == np.asarray(array, "<f4").tobytes()

        assert same(got["logits"], had.logits) and same(got["tail"], had.tail)
        assert all(same(t, a) for t, a in zip(got["probs"], had.probs, strict=True))
        assert np.array_equal(np.array(got["kept"], bool), had.kept)
        assert tuple(map(bytes.fromhex, got["hexes"])) == had.raw


CONTINUATIONS = [bytes(c) for n in (1, 2, 3) for c in itertools.product(b"\x80\x90\xa0", repeat=n)]


def reference(raw):
    """(text or None, bytes missing, stray), by trying what could follow, shortest first."""
    for more in (b"", *CONTINUATIONS):
        try:
            text = (raw + more).decode()
        except UnicodeDecodeError:
            continue
        return None if more else text, len(more), False
    return None, 0, True


def test_whole_unfinished_and_stray_bytes_are_told_apart(tools):
    edges = [0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0,
             0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF]  # fmt: skip
    cases = [bytes(c) for n in (0, 1, 2, 3) for c in itertools.product(edges, repeat=n)]
    rng = random.Random(5)
    cases += [bytes(rng.choices(edges, k=rng.randint(4, 7))) for _ in range(4000)]
    cases += ["👩‍👩‍👧‍👦".encode()[:n] for n in range(26)]
    got = tools.evaluate(
        "(all) => all.map((h) => { const p = BOT.piece(h.slice(2), h.slice(0, 2));"
        " return [p.text, p.missing, p.stray]; })",
        [raw.hex() for raw in cases],
    )
    for raw, (text, missing, stray) in zip(cases, got, strict=True):
        assert (text, missing, stray) == reference(raw), raw.hex()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (" open\n", "·open↵"),
        ("\ta\r", "→a␍"),
        ("<b>&amp;${x}`{{y}}", "<b>&amp;${x}`{{y}}"),
        ("\u202eabc\u202c", "‹U+202E›abc‹U+202C›"),
        ("a\u200bb\u00a0", "a‹U+200B›b‹U+00A0›"),
        ("\x00\x1b", "‹U+0000›‹U+001B›"),
        ("\ufffd", "‹U+FFFD›"),
        ("\u0301", "◌\u0301"),
        ("e\u0301", "e\u0301"),
        ("👩\u200d👧", "👩\u200d👧"),
        ("\u200d", "‹U+200D›"),
        ("❤\ufe0f", "❤\ufe0f"),
        ("שלום", "שלום"),
    ],
)
def test_text_is_shown_with_its_invisible_parts(tools, text, shown):
    got = tools.evaluate(
        """(text) => { const box = document.createElement("div"); box.append(BOT.visible(text));
        return [box.textContent, BOT.visibleText(text), 
          [...box.querySelectorAll("*")].map((n) => n.localName)]; }""",
        text,
    )
    assert got[0] == got[1] == shown
    assert got[2][0] == "bdi" and set(got[2]) <= {"bdi", "span"}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0%"), (1, "100%"), (0.5, "50.0%"), (0.0123456, "1.23%"), (0.99999994, "99.9999940%"),
        (0.9996, "99.960%"), (0.9994, "99.9%"), (0.00012345, "0.0123%"), (3.2e-7, "3.2×10⁻⁵%"),
        (1e-45, "1.0×10⁻⁴³%"),
    ],
)  # fmt: skip
def test_no_probability_is_rounded_to_certainty(tools, value, shown):
    assert tools.evaluate("BOT.prob", value) == shown


def test_a_float32_is_given_with_its_shortest_decimal(tools):
    values = np.random.default_rng(1).standard_normal(200).astype("f4")
    got = tools.evaluate("(all) => all.map((x) => BOT.exact(x, true))", [float(v) for v in values])
    assert all(np.float32(text) == v for text, v in zip(got, values, strict=True))
    assert [float(t) for t in got] == [float(str(v)) for v in values]


def stream(page, payload, *numbers):
    for k in numbers:
        page.evaluate(
            "(m) => BOT.receive(m)", {"type": "step", "run": "r", "step": payload["steps"][k]}
        )


def begin(page, payload):
    start = {k: v for k, v in payload.items()} | {"steps": [], "finish": None, "n_steps": None}
    page.evaluate("(m) => BOT.receive(m)", {"type": "start", "run": "r", "trace": start})
    page.evaluate(
        "(s) => { answers.steps = (run, from) => ({steps: s.slice(from)}); }", payload["steps"]
    )


def end(page, payload):
    rest = {k: v for k, v in payload.items() if k not in ("steps", "prompt")}
    page.evaluate(
        "(m) => BOT.receive(m)", {"type": "end", "run": "r", "trace": rest, "trace_id": "0" * 16}
    )


def test_lost_doubled_and_late_messages_still_give_every_step_once(opened):
    page, payload = opened(), long_trace(9)
    begin(page, payload)
    stream(page, payload, 0, 1, 1, 0, 4, 5)
    page.wait_for_function("BOT.state.trace.steps.length === 9")
    assert asked(page) == [["steps", "r", 2]]
    stream(page, payload, 6, 7, 8)
    end(page, payload)
    settle(page)
    assert page.evaluate("BOT.state.trace.steps.map((s) => s.i)") == list(range(9))
    assert page.evaluate("BOT.state.trace.id") == "0" * 16
    assert page.evaluate("[BOT.state.running, BOT.state.trace.finish]") == [False, "length"]


def test_a_step_lost_at_the_very_end_is_asked_for(opened):
    page, payload = opened(), long_trace(7)
    begin(page, payload)
    stream(page, payload, 0, 1, 2)
    end(page, payload)
    page.wait_for_function("BOT.state.trace.steps.length === 7")
    assert asked(page) == [["steps", "r", 3]]


def test_steps_that_can_not_be_had_are_said_to_be_missing(opened):
    page, payload = opened(), long_trace(5)
    begin(page, payload)
    page.evaluate("answers.steps = null")
    stream(page, payload, 0, 3)
    page.wait_for_selector(".bot-note-bad", timeout=20_000)
    assert page.inner_text(".bot-note-bad p") == texts("en")["ui.steps_lost"]
    assert state(page)[1] == 1


def test_messages_of_another_run_are_not_mixed_in(opened):
    page, payload = opened(), long_trace(4)
    begin(page, payload)
    stream(page, payload, 0)
    page.evaluate("(s) => BOT.receive({type: 'step', run: 'other', step: s})", payload["steps"][1])
    page.evaluate("(m) => BOT.receive({type: 'load', trace: m})", payload)
    stream(page, payload, 1, 2)
    assert state(page) == [3, 4]


def test_a_run_is_followed_until_the_reader_goes_back(opened):
    page, payload = opened(), long_trace(8)
    begin(page, payload)
    stream(page, payload, 0, 1, 2)
    settle(page)
    assert state(page) == [2, 3] and page.locator(".bot-live").is_hidden()
    page.keyboard.press("ArrowLeft")
    stream(page, payload, 3, 4)
    settle(page)
    assert state(page) == [1, 5] and page.locator(".bot-live").is_visible()
    page.click(".bot-live")
    stream(page, payload, 5)
    settle(page)
    assert state(page) == [5, 6]


def test_keys_move_and_leave_the_readers_own_typing_alone(opened):
    page = opened(long_trace(6))
    assert state(page) == [5, 6]
    for key, i in (
        ("Home", -1),
        ("ArrowRight", 0),
        ("ArrowRight", 1),
        ("ArrowLeft", 0),
        ("End", 5),
    ):
        page.keyboard.press(key)
        assert state(page)[0] == i, key
    page.focus("#box")
    page.keyboard.type("a b")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowLeft")
    assert state(page)[0] == 5 and page.input_value("#box") == "a b"
    page.focus("#run")  # a button has no use for arrows, but for the space bar it has
    page.keyboard.press("ArrowLeft")
    page.keyboard.press(" ")
    assert state(page)[0] == 4 and page.evaluate("BOT.state.playing") is False
    page.keyboard.press("End")
    page.focus(".bot-btn-back")
    page.keyboard.press(" ")
    assert state(page)[0] == 4 and page.evaluate("BOT.state.playing") is False


def test_it_plays_to_the_end_and_stops(opened):
    page = opened(long_trace(6))
    page.select_option(".bot-speed", "16")
    page.keyboard.press(" ")
    assert page.evaluate("BOT.state.playing") is True
    page.wait_for_function("!BOT.state.playing", timeout=10_000)
    assert state(page)[0] == 5
    # at the speed of the run itself, the recorded milliseconds count
    page.select_option(".bot-speed", "real")
    page.evaluate("BOT.state.trace.steps.forEach((s, k) => { s.ms[2] = 60 * (k + 1); })")
    began = page.evaluate("performance.now()")
    page.keyboard.press(" ")
    page.wait_for_function("!BOT.state.playing", timeout=10_000)
    assert page.evaluate("performance.now()") - began >= 360


def test_the_address_names_the_step(opened):
    page = opened(long_trace(6), "#step=3")
    assert state(page)[0] == 2
    page.keyboard.press("ArrowRight")
    page.wait_for_function("location.hash === '#step=4'")


def test_the_answer_is_what_was_emitted_and_chips_are_whole_characters(opened):
    payload = long_trace(24)
    page = opened(payload, "?lang=en")
    settle(page)
    joined = page.evaluate("[...document.querySelectorAll('.bot-born')].map((n) => n.dataset.i)")
    assert joined and int(joined[-1]) == 23
    shown = page.evaluate(
        "[...document.querySelectorAll('.bot-born:not(.is-special)')]"
        ".map((n) => n.textContent).join('')"
    )
    assert re.sub("[·↵□]|⟨.*?⟩|‹.*?›|◌", "", shown) == re.sub(r"\s|‹.*?›", "", payload["text"])
    # a step back hides what was not yet there and moves nothing
    place = "document.querySelectorAll('.bot-born')[3].getBoundingClientRect().top"
    before = page.evaluate(place)
    page.evaluate("BOT.go(1)")
    settle(page)
    hidden = page.evaluate("document.querySelectorAll('.bot-born.is-future').length")
    assert hidden > 5 and page.evaluate(place) == before


def test_hostile_text_stays_text_everywhere(opened):
    payload = long_trace(5)
    evil = "<img src=x onerror=alert(1)></script>${alert(1)}{{x}}\"'`"
    for step in payload["steps"]:
        step["emitted"] = evil
        step["tok"]["hex"] = evil.encode().hex()
        step["pieces"] = [evil] * len(step["ids"])
    payload |= {"messages": [{"role": "user", "content": evil}], "notes": [["note.nfc", {}]]}
    payload["model"] = payload["model"] | {"name": evil}
    page = opened(payload)
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    for panel in ("timeline", "text", "tokens", "template"):
        page.evaluate(f"document.getElementById('bot-panel-{panel}').scrollIntoView()")
        settle(page)
    page.evaluate("BOT.setLang('zh')")
    settle(page)
    assert page.locator("#app img, #app script, #app iframe").count() == 0
    assert evil in page.inner_text(".bot-hero-question")


def test_a_hidden_view_is_right_when_it_comes_back(opened):
    page = opened(long_trace(40))
    page.evaluate("scrollTo(0, 0); BOT.go(7)")
    settle(page)
    page.evaluate(
        "BOT.setLang('zh'); BOT.go(12); document.getElementById('bot-panel-text').scrollIntoView()"
    )
    page.wait_for_function(
        "document.querySelector('.bot-panel-text tr[aria-current]')?.dataset.i === '12'"
    )
    assert page.inner_text(".bot-panel-text th >> nth=0") == texts("zh")["panel.text.col.run"]


def test_three_hundred_steps_ask_nothing_and_leave_nothing_behind(opened):
    page = opened(long_trace(300))
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")

    def counts():
        session.send("HeapProfiler.collectGarbage")
        metrics = session.send("Performance.getMetrics")["metrics"]
        found = {m["name"]: m["value"] for m in metrics}
        return found["Nodes"], found["JSEventListeners"]

    def walk(n):
        page.evaluate(
            "async (n) => { for (let k = 0; k < n; k++) { BOT.go((k * 7) % 300);"
            " await new Promise(requestAnimationFrame); } }",
            n,
        )

    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    for panel in ("timeline", "text"):
        page.evaluate(f"document.getElementById('bot-panel-{panel}').scrollIntoView()")
        walk(60)  # warms caches and pools
        nodes, listeners = counts()
        walk(150)
        after = counts()
        assert after[1] == listeners
        assert abs(after[0] - nodes) <= 40, (panel, nodes, after[0])
    assert requests == []


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_never_scrolls_sideways(opened, width, lang):
    page = opened(long_trace(30), f"?lang={lang}")
    page.set_viewport_size({"width": width, "height": 844})
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_language_comes_from_the_address_and_changes_everything(opened):
    page = opened(long_trace(3), "?lang=zh")
    assert page.inner_text("#bot-title-text") == texts("zh")["panel.text.title"]
    page.evaluate("BOT.setLang('en')")
    assert page.inner_text("#bot-title-text") == texts("en")["panel.text.title"]
    assert page.get_attribute(".bot-root", "lang") == "en"


def test_params_are_named_and_greedy_is_greedy(opened):
    payload = long_trace(2)
    assert SamplingParams(**payload["params"]).temperature == 0.7
    page = opened(payload)
    assert "0.7" in page.inner_text(".bot-hero-meta") and "11" in page.inner_text(".bot-hero-meta")
    greedy = payload | {"params": payload["params"] | {"temperature": 0}}
    page.evaluate("(m) => BOT.receive({type: 'load', trace: m})", greedy)
    settle(page)
    assert page.inner_text(".bot-hero-meta") == texts("en")["ui.greedy"]


def test_still_loading_is_said_no_longer_when_the_model_is_there(opened):
    page = opened(trace_payload(made.example(), "0123456789abcdef"))
    page.evaluate(
        """() => {
          for (const key of ["error.model_not_ready", "error.top_k"]) {
            BOT.receive({type: "error", key, text: {en: key, zh: key}});
          }
        }"""
    )
    assert page.locator(".bot-banners .bot-note").count() == 2
    page.evaluate("BOT.receive({type: 'status', status: {state: 'ready', name: 'm', info: null}})")
    left = page.locator(".bot-banners .bot-note")
    assert left.count() == 1 and "error.top_k" in left.inner_text()
