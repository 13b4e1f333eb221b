"""What the panels of the tokenizer laboratory stand on, in a real browser: the shared text, the
vocabularies, answers that come late, errors, long lists."""

from __future__ import annotations

import json

import pytest

from playground.views.payload import trace_payload
from tests import made
from tests.test_client import HOST, html, settle

pytestmark = pytest.mark.browser

ID = "0123456789abcdef"
QUESTION = "苹果 <b>${x}</b>"  # of the example run
NAMES = {
    "tokenizers": [{"name": "smollm2-135m", "size": 49152}, {"name": "qwen3-0.6b", "size": None}],
    "tiktoken": [f"enc{k}" for k in range(8)], "default": "qwen3-0.6b",
    "start": ["qwen3-0.6b", "smollm2-135m"],
}  # fmt: skip
TRIAL = """<script>
for (const lang of ["en", "zh"]) for (const id of ["one", "two"]) {
  for (const part of ["title", "why", "how", "tab"]) {
    BOT_TEXT[lang][`panel.${id}.${part}`] = `${lang} ${id} ${part}`;
  }
}
window.told = [];
BOT.labPanel({id: "one", stage: 2, deck: "pieces", mount(body, ctx) {
  const out = BOT.el("p", {class: "out"});
  body.append(out);
  return {
    draw(lab) {
      told.push(["draw", lab.text, lab.model]);
      if (lab.text !== "") ctx.take("ledger", {control: false}, (v) => BOT.show(out, v.text));
    },
    step(i) { told.push(["step", i]); },
    lang() { told.push(["lang"]); },
  };
}});
BOT.labPanel({id: "two", stage: 2, deck: "pieces", input: {text: false, model: false, models: true},
  mount(body, ctx) {
    return {draw(lab) { told.push(["two", lab.models]); return lab.ask("languages"); }};
  }});
</script>"""


# Answers a request with what `answer` says, else at once with its own text.
SERVER = """
window.answer = (r) => ({state: "done", result: {text: r.text}});
window.names = %s;
addEventListener('DOMContentLoaded', () => {
  const list = () => (names.error ? names : {state: "done", result: names});
  answers.work = (r) => (r.op === "lab" ? list() : answer(r));
  answers.halt = () => ({});
});"""


@pytest.fixture
def opened(chromium):
    """open(…) -> page with two trial panels, the first of them on screen."""
    pages, problems = [], []

    def open_(initial=True, width=1100, names=None, init="", show="one"):
        page = chromium.new_page(viewport={"width": width, "height": 800})
        pages.append(page)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: problems.append("dialog"))
        at = "<script>BOT.mount("
        payload = trace_payload(made.example(), ID) if initial else None
        body = html(payload, views=False).replace(at, TRIAL + at)
        page.route("**/*", lambda route: route.fulfill(body=body, content_type="text/html"))
        page.add_init_script(SERVER % json.dumps(NAMES if names is None else names) + init)
        page.goto(HOST)
        page.evaluate(f"BOT.visit('{show}')")
        return page

    yield open_
    for page in pages:
        page.close()
    assert problems == []


def asked(page, op="ledger", name="work"):
    calls = [a[1] for a in page.evaluate("asked") if a[0] == name and a[1].get("op") == op]
    return [{k: v for k, v in call.items() if k not in ("op", "who")} for call in calls]


def shows(page, text):
    page.wait_for_function(
        "(t) => (document.querySelector('.out bdi') || {}).textContent === t", arg=text
    )


def area(page):
    return page.locator("#bot-lab-text-one")


def line(page):
    return page.locator("#bot-panel-one .bot-lab-line")


def test_the_question_of_the_run_is_looked_at_until_the_reader_types(opened):
    page = opened()
    shows(page, "苹果·<b>${x}</b>")
    assert asked(page) == [{"model": "qwen3-0.6b", "text": QUESTION, "control": False}]
    assert area(page).input_value() == QUESTION
    counts = page.locator(".bot-lab-counts").first.inner_text()
    assert counts == f"{len(QUESTION)} characters, {len(QUESTION.encode())} bytes"
    own = page.get_by_role("button", name="the question of this run")
    assert own.get_attribute("aria-pressed") == "true"
    page.get_by_role("button", name="·strawberry").click()
    shows(page, "·strawberry")
    assert asked(page)[-1]["text"] == " strawberry"
    page.evaluate("""BOT.receive({type: 'load', trace: {...BOT_INITIAL, id: 'f'.repeat(16),
      messages: [{role: 'user', content: 'another'}]}})""")
    settle(page)
    assert area(page).input_value() == " strawberry", "what was chosen stays"
    own.click()
    shows(page, "another")
    assert own.get_attribute("aria-pressed") == "true"


def test_typing_asks_once_for_what_was_typed(opened):
    page = opened()
    shows(page, "苹果·<b>${x}</b>")
    area(page).fill("")
    settle(page)
    area(page).press_sequentially("hello world", delay=15)
    shows(page, "hello·world")
    assert [a["text"] for a in asked(page)] == [QUESTION, "hello world"]
    area(page).press_sequentially("!")
    page.locator("#bot-lab-model-one").focus()  # leaving the field is an end too
    settle(page)
    assert page.evaluate("BOT.lab.text") == "hello world!"


def test_half_a_word_of_an_input_method_is_not_looked_at(opened):
    page = opened()
    shows(page, "苹果·<b>${x}</b>")
    page.evaluate("""() => {
      const area = document.getElementById("bot-lab-text-one");
      area.focus();
      area.dispatchEvent(new CompositionEvent("compositionstart"));
      area.value = "dian";
      area.dispatchEvent(new InputEvent("input", {isComposing: true}));
    }""")
    page.wait_for_timeout(500)
    page.evaluate("BOT.schedule()")
    settle(page)
    assert area(page).input_value() == "dian" and len(asked(page)) == 1
    page.evaluate("""() => {
      const area = document.getElementById("bot-lab-text-one");
      area.value = "电";
      area.dispatchEvent(new CompositionEvent("compositionend"));
    }""")
    shows(page, "电")
    assert [a["text"] for a in asked(page)] == [QUESTION, "电"]


def test_an_older_answer_never_replaces_a_newer_one(opened):
    page = opened()
    shows(page, "苹果·<b>${x}</b>")
    page.evaluate("""() => {
      window.slow = {};
      answer = (r) => new Promise((done) => { slow[r.text] =
        () => done({state: "done", result: {text: r.text}}); });
      BOT.lab.setText("first");
    }""")
    page.wait_for_function("'first' in slow")
    page.evaluate("BOT.lab.setText('second')")
    page.wait_for_function("'second' in slow")
    page.evaluate("slow.second()")
    shows(page, "second")
    page.evaluate("slow.first()")
    page.wait_for_timeout(100)
    shows(page, "second")


def test_what_nobody_waits_for_is_given_up(opened):
    page = opened()
    shows(page, "苹果·<b>${x}</b>")
    page.evaluate("answer = (r) => ({state: 'waiting', ahead: 3}); BOT.lab.setText('first')")
    page.wait_for_function("asked.some((a) => a[1].text === 'first')")
    page.evaluate("BOT.lab.setText('second')")
    page.wait_for_function("asked.some((a) => a[0] === 'halt')")
    assert asked(page, name="halt") == [{"model": "qwen3-0.6b", "text": "first", "control": False}]
    n = sum(a["text"] == "first" for a in asked(page))
    page.wait_for_timeout(600)
    assert sum(a["text"] == "first" for a in asked(page)) == n
    # What a panel asked for a text of its own goes on.
    page.evaluate("void BOT.lab.ask('ways', {text: 'own'}).catch(() => {})")
    page.evaluate("BOT.lab.setText('third')")
    page.wait_for_timeout(300)
    assert asked(page, "ways", "halt") == []


def test_waiting_is_told_after_a_while_and_the_old_answer_is_marked(opened):
    page = opened()
    shows(page, "苹果·<b>${x}</b>")
    assert line(page).is_hidden()
    page.evaluate("answer = (r) => ({state: 'waiting', ahead: 2}); BOT.lab.setText('a')")
    line(page).wait_for(state="visible")
    page.wait_for_function(
        "document.querySelector('.bot-lab-says').textContent.startsWith('Waiting: 2 other')"
    )
    assert "below is what was asked before" in line(page).inner_text()
    assert "is-older" in page.locator("#bot-panel-one .bot-lab").get_attribute("class")
    page.evaluate("void (answer = (r) => ({state: 'running', stage: 'cut', fraction: null}))")
    page.wait_for_function(
        "document.querySelector('.bot-lab-says').textContent.startsWith('Cutting; a voc')"
    )
    page.evaluate("BOT.setLang('zh')")
    settle(page)
    assert line(page).inner_text().startswith("正在切分")
    page.evaluate("void (answer = (r) => ({state: 'done', result: {text: r.text}}))")
    shows(page, "a")
    settle(page)
    assert line(page).is_hidden()
    assert "is-older" not in page.locator("#bot-panel-one .bot-lab").get_attribute("class")


def test_an_error_is_said_as_text_in_the_readers_language_and_can_be_tried_again(opened):
    page = opened()
    shows(page, "苹果·<b>${x}</b>")
    page.evaluate("""answer = (r) => ({error: {en: "Too <img src=x onerror=alert(1)> long.",
      zh: "太长了。"}}); BOT.lab.setText('a')""")
    line(page).wait_for(state="visible")
    said = page.locator("#bot-panel-one .bot-lab-says")
    assert said.inner_text().startswith("Too <img src=x onerror=alert(1)> long.")
    page.evaluate("BOT.setLang('zh')")
    settle(page)
    assert said.inner_text().startswith("太长了。")
    page.evaluate("void (answer = (r) => ({state: 'done', result: {text: r.text}}))")
    line(page).get_by_role("button", name="再试一次").click()
    shows(page, "a")
    settle(page)
    assert line(page).is_hidden()
    # An error of one text does not stay for the next.
    page.evaluate("answer = (r) => ({error: {en: 'no', zh: '否'}}); BOT.lab.setText('b')")
    line(page).wait_for(state="visible")
    page.evaluate("void (answer = (r) => ({state: 'done', result: {text: r.text}}))")
    page.evaluate("BOT.lab.setText('c')")
    shows(page, "c")
    settle(page)
    assert line(page).is_hidden()


def test_names_that_do_not_come_can_be_asked_for_again(opened):
    page = opened(names={"error": {"en": "The server is gone.", "zh": "服务器不在了。"}})
    line(page).wait_for(state="visible")
    assert "The server is gone." in line(page).inner_text() and asked(page) == []
    page.evaluate("(n) => { names = n; }", NAMES)
    line(page).get_by_role("button", name="Try again").click()
    shows(page, "苹果·<b>${x}</b>")


def test_a_vocabulary_is_chosen_from_those_there_are_and_its_size_comes_later(opened):
    page = opened()
    shows(page, "苹果·<b>${x}</b>")
    menu = page.locator("#bot-lab-model-one")
    assert menu.input_value() == "qwen3-0.6b"
    # It was read by now: asked once more, its size is known.
    assert page.evaluate("asked.filter((a) => a[1].op === 'lab').length") == 2
    page.evaluate("names = {...names, tokenizers: names.tokenizers.map((t) => ({...t, size: 7}))}")
    assert menu.locator("option").all_inner_texts()[0] == "smollm2-135m · 49,152 tokens"
    menu.select_option("smollm2-135m")
    page.wait_for_function("asked.some((a) => a[1].model === 'smollm2-135m')")
    assert asked(page)[-1] == {"model": "smollm2-135m", "text": QUESTION, "control": False}


def test_what_is_compared_is_one_to_eight_of_them(opened):
    page = opened(show="two")
    page.wait_for_function("told.some((t) => t[0] === 'two')")
    assert asked(page, "languages") == [{"models": ["qwen3-0.6b", "smollm2-135m"]}]
    chips = page.locator("#bot-panel-two .bot-chip")
    assert chips.count() == 10 and chips.nth(2).inner_text() == "tiktoken:enc0"
    assert [c.get_attribute("aria-pressed") for c in chips.all()[:3]] == ["true", "true", "false"]
    chips.nth(0).click()
    settle(page)
    chips.nth(1).dispatch_event("click")  # the last one stays
    settle(page)
    assert page.evaluate("BOT.lab.models") == ["qwen3-0.6b"]
    assert chips.nth(1).get_attribute("aria-disabled") == "true"
    for k in range(2, 10):
        chips.nth(k).dispatch_event("click")
        settle(page)
    assert len(page.evaluate("BOT.lab.models")) == 8
    assert chips.nth(9).get_attribute("aria-disabled") == "true"
    assert chips.nth(9).get_attribute("aria-pressed") == "false"
    assert page.locator("#bot-panel-two textarea").count() == 0


def test_text_and_choices_are_remembered_and_bad_memories_are_not_believed(opened):
    page = opened()
    shows(page, "苹果·<b>${x}</b>")
    page.get_by_role("button", name="程序员Left").click()
    page.locator("#bot-lab-model-one").select_option("smollm2-135m")
    page.evaluate("BOT.lab.setModels(['smollm2-135m'])")
    kept = json.loads(page.evaluate("localStorage.getItem('bot.lab')"))
    assert kept == {"text": "程序员Left", "model": "smollm2-135m", "models": ["smollm2-135m"]}
    page.evaluate("BOT.lab.setText('x'.repeat(30000))")
    assert json.loads(page.evaluate("localStorage.getItem('bot.lab')"))["text"] is None
    memory = json.dumps(json.dumps(kept))
    again = opened(init=f"localStorage.setItem('bot.lab', {memory});")
    shows(again, "程序员Left")
    assert asked(again)[0]["model"] == "smollm2-135m"
    for bad in ('{"text": 5, "model": {}, "models": "x"}', "[]", "null", "{", '{"model": "gone"}'):
        page = opened(init=f"localStorage.setItem('bot.lab', {json.dumps(bad)});")
        shows(page, "苹果·<b>${x}</b>")
        assert asked(page)[0]["model"] == "qwen3-0.6b"


def test_equal_questions_share_one_answer(opened):
    page = opened()
    shows(page, "苹果·<b>${x}</b>")
    same = page.evaluate("""async () => {
      const [a, b] = [1, 2].map(() => BOT.lab.ask("ledger", {control: false}));
      return a === b && (await a).text === BOT.lab.text;
    }""")
    assert same and len(asked(page)) == 1
    page.evaluate("BOT.lab.setText('a')")
    shows(page, "a")
    page.evaluate("BOT.lab.setText(null)")
    shows(page, "苹果·<b>${x}</b>")
    assert [a["text"] for a in asked(page)] == [QUESTION, "a"]


def test_the_field_grows_and_then_scrolls(opened):
    page = opened()
    shows(page, "苹果·<b>${x}</b>")
    low = area(page).bounding_box()["height"]
    area(page).fill("one\ntwo\nthree")
    page.wait_for_timeout(50)
    middle = area(page).bounding_box()["height"]
    # As a paste does; typing 3,000 lines takes a browser most of a minute.
    page.evaluate("""() => {
      const area = document.getElementById("bot-lab-text-one");
      area.value = "a long line\\n".repeat(3000);
      area.dispatchEvent(new InputEvent("input"));
    }""")
    page.wait_for_timeout(50)
    high = area(page).bounding_box()["height"]
    assert low < middle < high <= 222
    assert page.evaluate("document.getElementById('bot-lab-text-one').scrollHeight") > 1000


def test_a_panel_under_another_tab_asks_when_it_is_looked_at(opened):
    page = opened()
    shows(page, "苹果·<b>${x}</b>")
    assert asked(page, "languages") == []
    page.locator("#bot-tab-two").click()
    page.wait_for_function("told.some((t) => t[0] === 'two')")
    assert len(asked(page, "languages")) == 1
    # And what changed meanwhile is drawn when the first comes back.
    page.evaluate("BOT.lab.setText('meanwhile')")
    settle(page)
    assert [a["text"] for a in asked(page)] == [QUESTION]
    page.locator("#bot-tab-one").click()
    shows(page, "meanwhile")
    assert area(page).input_value() == "meanwhile"


def test_a_step_of_the_player_asks_nothing_and_keys_in_the_field_are_the_fields(opened):
    page = opened()
    shows(page, "苹果·<b>${x}</b>")
    page.evaluate("BOT.go(0)")
    settle(page)
    assert page.evaluate("told.filter((t) => t[0] === 'step').at(-1)") == ["step", 0]
    assert len(asked(page)) == 1
    area(page).focus()
    for key in ("ArrowRight", "End", " ", "Home"):
        page.keyboard.press(key)
    assert page.evaluate("BOT.state.i") == 0 and not page.evaluate("BOT.state.playing")


def test_no_run_is_needed(opened):
    page = opened(initial=False)
    page.wait_for_function("told.some((t) => t[0] === 'draw')")
    assert page.evaluate("told[0]") == ["draw", "", "qwen3-0.6b"]
    assert page.get_by_role("button", name="the question of this run").count() == 0
    page.get_by_role("button", name="人工智能").click()
    shows(page, "人工智能")


def test_everything_changes_its_language(opened):
    page = opened()
    shows(page, "苹果·<b>${x}</b>")
    page.evaluate("BOT.setLang('zh')")
    settle(page)
    bar = page.locator("#bot-panel-one .bot-lab-bar")
    assert "要看的文字" in bar.inner_text() and "这次运行的问题" in bar.inner_text()
    assert f"{len(QUESTION)} 个字符" in bar.inner_text()
    assert "个 token" in bar.locator("option").first.inner_text()
    assert ["lang"] in page.evaluate("told")


def test_a_phone_shows_all_of_it(opened):
    page = opened(width=390)
    shows(page, "苹果·<b>${x}</b>")
    wide = page.evaluate(
        "[...document.querySelectorAll('.bot-lab-bar, .bot-lab-bar *')].filter((n) =>"
        " n.getBoundingClientRect().right > innerWidth + 1).length"
    )
    assert wide == 0
    low = page.evaluate(
        "[...document.querySelectorAll('#bot-panel-one .bot-lab-bar button')]"
        ".filter((n) => !n.hidden).map((n) => n.getBoundingClientRect().height)"
    )
    assert min(low) >= 30


def test_pages_of_a_long_list(opened):
    page = opened()
    got = page.evaluate("""() => {
      const seen = [];
      const pager = BOT.pager({size: 100, draw: (from, to) => seen.push([from, to])});
      document.querySelector(".out").after(pager.node);
      window.pager = pager;
      window.seen = seen;
      pager.set(80);
      seen.push(pager.node.hidden);
      pager.set(20050);
      return seen;
    }""")
    assert got == [[0, 80], True, [0, 100]]
    says = page.locator(".bot-pager .bot-muted")
    assert says.inner_text() == "Showing 1–100 of 20,050."
    back, forth = (
        page.get_by_role("button", name="Earlier"),
        page.get_by_role("button", name="Later"),
    )
    assert back.get_attribute("aria-disabled") == "true"
    back.dispatch_event("click")
    forth.click()
    assert page.evaluate("seen.at(-1)") == [100, 200]
    page.evaluate("pager.go(20049)")
    assert page.evaluate("seen.at(-1)") == [20000, 20050]
    assert forth.get_attribute("aria-disabled") == "true"
    forth.dispatch_event("click")
    assert page.evaluate("seen.length") == 5
