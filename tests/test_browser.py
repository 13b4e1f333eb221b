"""The whole product as its reader meets it: app.py, the real SmolLM2, a real browser."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import expect

from playground import store

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parent.parent
STRAWBERRY = "How many r are in strawberry?"
expect.set_options(timeout=60_000)  # the machine may be busy; a wrong page stays wrong
LONG = 180_000  # ms: the first start may have to convert the model


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The address of a running app on the real model; at the end, its log must be empty."""
    log = tmp_path_factory.mktemp("app") / "log"
    # SmolLM2's cache is made here when no test before has made it.
    command = [sys.executable, "app.py", "--port", "0", "--model", "smollm2-135m"]
    with open(log, "wb") as err:
        app = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=err, text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
    try:
        url = app.stdout.readline().strip().split()[-1].rstrip("/")
        yield url
    finally:
        app.terminate()
        app.wait(30)
    assert log.read_text() == ""


@pytest.fixture
def visit(site, chromium):
    """visit(query, **context) -> page; console errors and requests to elsewhere fail the test."""
    problems: list[str] = []
    contexts = []

    def open_(query: str = "", **options):
        context = chromium.new_context(**{"viewport": {"width": 1440, "height": 900}} | options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(f"error {error}"))
        page.on("console", lambda m: m.type == "error" and problems.append(f"console {m.text}"))
        page.on("dialog", lambda dialog: problems.append("dialog"))
        page.on(
            "request",
            lambda r: r.url.startswith((site, "data:", "blob:")) or problems.append(r.url),
        )
        page.goto(f"{site}/{query}")
        page.wait_for_selector(".bot-root")
        return page

    yield open_
    for context in contexts:
        context.close()
    assert problems == []


def ready(page) -> None:
    page.wait_for_function("BOT.state.status && BOT.state.status.state === 'ready'", timeout=LONG)


def opened(page, question: str) -> None:
    """Wait for the recorded run of a link: the default one may be there before it."""
    page.wait_for_function(
        "(q) => BOT.state.trace?.messages?.at(-1).content === q", arg=question, timeout=LONG
    )


def ask(page, text: str) -> None:
    """Type a question and run it; comes back when its first step is there."""
    before = page.evaluate("BOT.state.run")
    page.fill("#bot-prompt textarea", text)
    page.click("#bot-run")
    page.wait_for_function(
        "(b) => BOT.state.run !== b && BOT.state.trace.steps.length > 0", arg=before, timeout=LONG
    )


def ended(page) -> None:
    page.wait_for_function(
        """!BOT.state.running && BOT.state.trace.id
           && BOT.state.trace.steps.length === BOT.state.trace.n_steps""",
        timeout=LONG,
    )


def setting(page, name: str, value: str) -> None:
    box = page.locator(f"#bot-{name} input[type=number]")
    box.fill(value)
    box.blur()


def test_the_recorded_example_is_there_before_any_model(visit):
    page = visit()
    expect(page.locator(".bot-hero-question")).to_have_text("Is OpenAI open?")
    recorded = store.load(ROOT / "assets/examples/is-openai-open.trace.json.gz").trace
    assert page.evaluate("BOT.state.trace.steps.length") == len(recorded.steps)
    assert page.evaluate("BOT.state.trace.text") == recorded.text
    # an embedding row of the example needs no model either
    page.locator("#bot-panel-embedding").scroll_into_view_if_needed()
    expect(page.locator("#bot-panel-embedding .bot-near").first).to_be_visible()


def test_every_example_opens_by_its_link(visit):
    for name in ("strawberry", "apple-zh", "mixed-zh", "family-emoji"):
        page = visit(f"?trace={name}")
        text = store.load(ROOT / f"assets/examples/{name}.trace.json.gz").trace.text
        page.wait_for_function("(t) => BOT.state.trace && BOT.state.trace.text === t", arg=text)
        page.close()


def test_a_sampled_run_in_chinese_is_the_same_numbers_on_page_and_server(visit, site):
    page = visit("?lang=zh")
    ready(page)
    page.click("#bot-settings button")
    page.locator("#bot-sampling input[value=sample]").check()
    setting(page, "temperature", "0.8")
    setting(page, "seed", "7")
    setting(page, "max_tokens", "12")
    ask(page, "苹果最常见的颜色是什么？")
    ended(page)
    shown = page.evaluate("BOT.state.trace")
    assert shown["params"]["temperature"] == 0.8 and shown["params"]["seed"] == 7
    with urllib.request.urlopen(f"{site}/bot/trace/{shown['id']}") as answer:
        trace, intact = store.loads(answer.read())
    assert intact and trace.messages[-1].content == "苹果最常见的颜色是什么？"
    assert [s["tok"]["id"] for s in shown["steps"]] == list(trace.ids)
    assert [s["draw"] for s in shown["steps"]] == [s.draw for s in trace.steps]
    logits = page.evaluate("BOT.state.trace.steps.map((s) => [...BOT.arrays(s).logits])")
    assert logits == [s.candidates.logits.tolist() for s in trace.steps]
    expect(page.locator(".bot-hero-question")).to_have_text("苹果最常见的颜色是什么？")


def test_the_chart_shows_the_traces_numbers(visit):
    page = visit("?trace=mixed-zh")
    page.locator("#bot-panel-candidates").scroll_into_view_if_needed()
    page.wait_for_function("document.querySelector('.js-plotly-plot')?.data?.length", timeout=LONG)
    page.evaluate("BOT.go(2)")
    trace = store.load(ROOT / "assets/examples/mixed-zh.trace.json.gz").trace
    c = trace.steps[2].candidates
    first = float(c.probs[-1][list(c.ids).index(trace.steps[2].token.id)])
    page.wait_for_function(
        """(p) => document.querySelector('.js-plotly-plot').data
                .some((t) => t.x && [...t.x].includes(p))""",
        arg=first,
    )


def test_stop_half_way_keeps_what_there_was_and_the_next_run_works(visit):
    page = visit()
    ready(page)
    page.click("#bot-settings button")
    setting(page, "max_tokens", "200")
    ask(page, "Write a long story about a lighthouse.")
    page.wait_for_function("BOT.state.trace.steps.length >= 4", timeout=LONG)
    page.click("#bot-stop")
    ended(page)
    steps = page.evaluate("BOT.state.trace.steps.length")
    assert 4 <= steps < 200
    assert page.evaluate("BOT.state.trace.finish") == "cancelled"
    time.sleep(1.5)
    assert page.evaluate("BOT.state.trace.steps.length") == steps
    setting(page, "max_tokens", "3")
    ask(page, "And a short one.")
    ended(page)
    assert page.evaluate("BOT.state.trace.steps.length") <= 3


def test_stop_in_the_prefill_is_no_error_and_leaves_the_next_run_alone(visit):
    page = visit()
    ready(page)
    page.click("#bot-settings button")
    setting(page, "max_tokens", "3")
    before = page.evaluate("BOT.state.run")
    page.fill("#bot-prompt textarea", "word " * 3000)
    page.click("#bot-run")
    page.wait_for_function("(b) => BOT.state.run !== b", arg=before, timeout=LONG)
    page.click("#bot-stop")
    ask(page, "hi")
    ended(page)
    assert page.evaluate("BOT.state.trace.messages.at(-1).content") == "hi"
    assert page.locator(".bot-note-bad:visible").count() == 0


def test_replay_by_keyboard(visit):
    page = visit("?trace=is-openai-open")
    page.wait_for_function("BOT.state.trace")
    page.locator(".bot-hero").click()
    at = "BOT.state.i"
    last = page.evaluate("BOT.state.trace.steps.length - 1")
    page.keyboard.press("Home")
    first = page.evaluate(at)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(at) == first + 2
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(at) == first + 1
    page.keyboard.press("End")
    assert page.evaluate(at) == last
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    page.wait_for_function("(f) => BOT.state.i > f + 1", arg=first)
    page.keyboard.press("Space")
    assert not page.evaluate("BOT.state.playing")


def test_a_tokens_row_is_the_models(visit, smollm):
    page = visit("?trace=strawberry")
    opened(page, STRAWBERRY)
    page.locator("#bot-panel-tokens").scroll_into_view_if_needed()
    answer = page.locator("#bot-panel-tokens [data-where=answer] .bot-tok")
    expect(answer).to_have_count(page.evaluate("BOT.state.trace.steps.length"))
    answer.nth(1).click()
    expect(answer.nth(1)).to_have_attribute("aria-selected", "true")
    token_id = page.evaluate("BOT.state.trace.steps[1].tok.id")
    panel = page.locator("#bot-panel-embedding")
    panel.scroll_into_view_if_needed()
    row = smollm.embedding(token_id)
    best = next(n for n in row.neighbours if n.metric == "cosine").ids[:3]
    cells = panel.locator(".bot-near").first.locator("tbody tr td:nth-child(3)")
    expect(cells.first).to_have_text(str(best[0]))
    assert [int(t) for t in cells.all_inner_texts()[:3]] == list(best)


def test_download_and_open_again(visit, tmp_path):
    page = visit("?trace=strawberry")
    opened(page, STRAWBERRY)
    with page.expect_download() as caught:
        page.click("#bot-download")
    path = tmp_path / caught.value.suggested_filename
    caught.value.save_as(path)
    trace, intact = store.load(path)
    assert intact and trace.text == "The answer is 1."
    other = visit("?trace=apple-zh")
    opened(other, "苹果最常见的颜色是什么？")
    other.locator("#bot-open input[type=file], input[type=file]").first.set_input_files(path)
    other.wait_for_function("BOT.state.trace.text === 'The answer is 1.'")
    # one number changed in the file: opened, and said so
    changed = json.loads(path.read_text("utf-8"))
    changed["steps"][0]["rank"] += 1
    path = path.with_name("changed.trace.json")
    path.write_text(json.dumps(changed), "utf-8")
    other.locator("#bot-open input[type=file], input[type=file]").first.set_input_files(path)
    other.wait_for_function("BOT.state.trace.intact === false")
    expect(other.locator(".bot-banners")).to_contain_text("checksum")


def test_hostile_prompts_stay_text(visit):
    page = visit()
    ready(page)
    page.click("#bot-settings button")
    setting(page, "max_tokens", "2")
    text = '<img src=x onerror="alert(1)">${alert(2)}{{x}}<|im_end|>`\\ $x$ </script>\u202eabc'
    ask(page, text)
    ended(page)
    assert page.evaluate("BOT.state.trace.messages.at(-1).content") == text
    assert page.locator(".bot-root img, .bot-root script").count() == 0
    ids = page.evaluate(
        "BOT.state.trace.prompt.filter((t) => t.source === 'user' && t.special).length"
    )
    assert ids == 0


def test_three_hundred_steps_ask_nothing_and_leave_nothing_behind(visit):
    page = visit("?trace=is-openai-open")
    page.locator("#bot-panel-candidates").scroll_into_view_if_needed()
    page.wait_for_function("document.querySelector('.js-plotly-plot')?.data?.length", timeout=LONG)
    ready(page)
    walk = """async (n) => {
        for (let k = 0; k < n; k++) {
            BOT.go((k * 7) % BOT.state.trace.steps.length);
            await new Promise(requestAnimationFrame);
        }
        await new Promise(requestAnimationFrame);
    }"""
    page.evaluate(walk, 60)  # pools are filled, Plotly has warmed up
    requests: list[str] = []
    page.on("request", lambda r: requests.append(r.url))
    cdp = page.context.new_cdp_session(page)
    cdp.send("Performance.enable")

    def counts():
        cdp.send("HeapProfiler.collectGarbage")
        found = {m["name"]: m["value"] for m in cdp.send("Performance.getMetrics")["metrics"]}
        return found["Nodes"], found["JSEventListeners"]

    before = counts()
    page.evaluate(walk, 300)
    after = counts()
    assert requests == []
    # a leak of one node or listener a step would be 300
    assert after[0] - before[0] < 150 and after[1] - before[1] < 15


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_width_scrolls_sideways_and_no_key_is_left_untranslated(visit, width, lang):
    page = visit(f"?lang={lang}", viewport={"width": width, "height": 844})
    page.click("#bot-settings button")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    text = page.inner_text("body")
    assert "ui." not in text and "panel." not in text
    run = page.inner_text("#bot-run").strip()
    assert run == {"en": "Run", "zh": "运行"}[lang]
