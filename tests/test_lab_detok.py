"""The whole answer in bytes in a real browser: characters, held bytes, what an id alone prints."""

from __future__ import annotations

import codecs
import copy
import random
import re

import pytest

from playground import examples, store
from playground.text import texts
from playground.views.payload import trace_payload
from tests.cpu import step_costs
from tests.labpage import EVIL, FRAMES, chinese, load
from tests.test_client import long_trace

pytestmark = pytest.mark.browser

EN, ZH = texts("en"), texts("zh")
RUN = "0123456789abcdef"
PANEL = "#bot-panel-detok"
LANE = """() => ({
  chars: [...document.querySelectorAll('.bot-detok-char')].map((n) => [n.textContent,
    n.classList.contains('is-future'), /is-(none|waiting)/.test(n.className)]),
  bytes: [...document.querySelectorAll('.bot-detok-byte')].map((n) => [n.textContent,
    n.classList.contains('is-future'), n.classList.contains('is-now'),
    n.classList.contains('is-held')]),
  tokens: [...document.querySelectorAll('.bot-detok-token')].map((n) => ({
    k: Number(n.querySelector('.bot-detok-k').textContent),
    rubbish: [...n.querySelectorAll('s')].map((s) => s.textContent.replaceAll(' ', '')),
    now: n.classList.contains('is-now'), hatched: n.classList.contains('is-rubbish'),
    ends: Boolean(n.querySelector('.bot-detok-end')) })),
})"""


def payload(name):
    return trace_payload(store.load(examples.trace_path(examples.FOLDER, name)).trace, RUN)


@pytest.fixture
def opened(chromium, pages):
    problems = []

    def open_(sent, width=1280, key=None):
        if key is None or key not in pages:
            made = load(chromium, "detok", {}, problems, initial=sent, width=width)
            pages[key or id(made)] = made
            return made
        pages[key].bring_to_front()
        return pages[key]

    yield open_
    assert problems == []


def go(page, i):
    page.evaluate(f"BOT.go({i})")
    page.evaluate(FRAMES)


def unreadable(raw):
    """How many U+FFFD decoding these bytes alone would print that are not in them."""
    text = raw.decode("utf-8", "replace")
    return text.count("\ufffd") - raw.count(b"\xef\xbf\xbd")


def check(page, sent, i):
    """Everything that the picture shows at step i against bytes counted here."""
    go(page, i)
    seen = page.evaluate(LANE)
    steps = sent["steps"]
    eos = sent["finish"] == "eos"
    body = steps[:-1] if eos else steps
    raw = b"".join(bytes.fromhex(s["tok"]["hex"]) for s in body)
    assert bytes.fromhex("".join(b[0] for b in seen["bytes"])) == raw
    lengths = [len(s["tok"]["hex"]) // 2 for s in body]
    came = sum(lengths[: i + 1])
    assert [b[1] for b in seen["bytes"]] == [k >= came for k in range(len(raw))]
    start = sum(lengths[:i]) if i >= 0 else 0
    assert [b[2] for b in seen["bytes"]] == [start <= k < came for k in range(len(raw))]
    pending = len(steps[i]["pending"]) // 2 if i >= 0 else 0
    assert [b[3] for b in seen["bytes"]] == [came - pending <= k < came for k in range(len(raw))]
    shown = raw.decode("utf-8", "replace")
    assert [c[2] for c in seen["chars"]] == [c == "\ufffd" for c in shown]
    done = len("".join(s["emitted"] for s in steps[: i + 1]))
    assert [c[1] for c in seen["chars"]] == [k >= done for k in range(len(shown))]
    assert [t["k"] for t in seen["tokens"]] == [k + 1 for k in range(len(steps))]
    for k, token in enumerate(seen["tokens"]):
        alone = bytes.fromhex(steps[k]["tok"]["hex"])
        assert token["ends"] == (eos and k == len(steps) - 1)
        assert token["now"] == (k == i)
        if token["ends"]:
            continue
        assert len(token["rubbish"]) == unreadable(alone) and token["hatched"] == bool(
            unreadable(alone)
        )
        assert all(bytes.fromhex(r) in alone for r in token["rubbish"])
    broken = [unreadable(bytes.fromhex(s["tok"]["hex"])) for s in body]
    story = page.inner_text(".bot-detok-story")
    assert story.startswith(f"{len(body)} tokens, {len(raw)} bytes, ")
    if sum(broken) > 1:
        assert f"{sum(map(bool, broken))} of the tokens" in story and f" {sum(broken)} " in story


@pytest.mark.parametrize("name", ["apple-zh", "family-emoji", "strawberry"])
def test_the_picture_is_what_the_bytes_say(opened, name):
    sent = payload(name)
    page = opened(sent, key=name)
    n = len(sent["steps"])
    for i in (-1, 0, 1, 2, 5, n - 2, n - 1):
        check(page, sent, i)
    assert "\ufffd" not in page.inner_text(PANEL)


def test_what_is_read_stands_beside_what_each_id_alone_would_print(opened):
    sent = payload("apple-zh")
    page = opened(sent, key="apple-zh")
    outs = page.locator(".bot-detok-text")
    for i in (0, 4, 12, 30):
        go(page, i)
        text = "".join(s["emitted"] for s in sent["steps"][: i + 1])
        read = outs.nth(0).text_content()
        pending = sent["steps"][i]["pending"]
        held = " ".join(pending[k : k + 2] for k in range(0, len(pending), 2))
        assert read == text + (held if held else "")
        assert outs.nth(0).locator("mark").text_content() == sent["steps"][i]["emitted"]
        runs = page.evaluate(
            """[...document.querySelectorAll('.bot-detok-text')[1].children[0].children].filter(
            (s) => !s.hidden).map((s) => s.textContent)"""
        )
        assert len(runs) == i + 1
        for k, run in enumerate(runs):
            raw = bytes.fromhex(sent["steps"][k]["tok"]["hex"])
            assert run == (raw.hex(" ") if unreadable(raw) else raw.decode())


def test_the_step_is_told_in_words_and_in_the_table(opened):
    sent = payload("apple-zh")
    page = opened(sent, key="apple-zh")
    go(page, 12)
    said = page.inner_text(".bot-detok-now")
    assert said.startswith("Step 13: id 179 brings e8, and nothing becomes visible.")
    assert "Held: e8; 2 more bytes are needed." in said and "1 unreadable sign." in said
    page.locator(f"{PANEL} summary").click()
    page.evaluate(FRAMES)
    rows = page.evaluate(
        """[...document.querySelectorAll('#bot-panel-detok .bot-rows tr[data-i]')].filter((r) =>
        !r.hidden).map((r) => [Number(r.dataset.i), ...[...r.cells].map((c) => c.textContent)])"""
    )
    assert 12 in [r[0] for r in rows]
    for i, k, token, raw, alone, held, visible in rows:
        step = sent["steps"][i]
        assert (int(k), int(token)) == (i + 1, step["tok"]["id"])
        assert raw.replace(" ", "") == step["tok"]["hex"]
        n = unreadable(bytes.fromhex(step["tok"]["hex"]))
        assert alone.startswith(f"{n} unreadable") == (n > 0)
        assert held.replace(" ", "") == (step["pending"] or "–")
        assert visible == (step["emitted"].replace(" ", "·").replace("\n", "↵") or "–")
    page.locator(".bot-detok-token").nth(20).click()
    page.evaluate(FRAMES)
    assert page.evaluate("BOT.state.i") == 20


def test_alone_and_together_are_utf8_as_python_reads_it(opened):
    page = opened(payload("strawberry"), key="strawberry")
    rng = random.Random(4)
    odd = [0, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE8,
           0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xFF, 0xBD]  # fmt: skip
    raws = [bytes(rng.choice(odd) for _ in range(rng.randint(0, 7))) for _ in range(3000)]
    got = page.evaluate(
        """(hexes) => hexes.map((hex) => [BOT.detok.alone(hex).map((r) => (r.text === undefined
        ? "\\ufffd" : r.text)).join(""), BOT.detok.characters(BOT.unhex(hex)).map((c) =>
        [c.from, c.to, c.text, c.missing])])""",
        [raw.hex() for raw in raws],
    )
    for raw, (alone, characters) in zip(raws, got, strict=True):
        assert alone == raw.decode("utf-8", "replace"), raw.hex()
        ends = [0, *(c[1] for c in characters)]
        assert [c[0] for c in characters] == ends[:-1] and ends[-1] == len(raw)
        for start, end, text, missing in characters:
            if text is not None:
                assert raw[start:end].decode() == text and missing == 0
            elif missing:
                assert end == len(raw)


def test_an_answer_that_streams_in_ends_as_one_that_was_there(opened):
    sent = payload("family-emoji")
    begun = copy.deepcopy(sent) | {"steps": copy.deepcopy(sent["steps"][:2]), "finish": None}
    page = opened(begun)
    for step in sent["steps"][2:]:
        page.evaluate("(s) => { BOT.state.trace.steps.push(BOT.whole(s)); BOT.schedule(); }", step)
        page.evaluate(FRAMES)
    assert not any(t["ends"] for t in page.evaluate(LANE)["tokens"])
    page.evaluate("BOT.state.trace.finish = 'eos'; BOT.schedule()")
    page.evaluate(FRAMES)
    check(page, sent, len(sent["steps"]) - 1)
    assert "ends the answer" in page.inner_text(".bot-detok-now")


def lined(raws, finish="length"):
    """A trace of these pieces, as an incremental decoder makes it visible."""
    sent = long_trace(len(raws))
    utf8 = codecs.getincrementaldecoder("utf-8")("replace")
    for step, raw in zip(sent["steps"], raws, strict=True):
        text = utf8.decode(raw)
        held = utf8.getstate()[0]
        step["tok"]["hex"], step["emitted"], step["pending"] = raw.hex(), text, held.hex()
    sent["steps"][-1]["emitted"] += utf8.decode(b"", final=True)  # as a run that is cut there
    return sent | {"finish": finish, "text": "".join(s["emitted"] for s in sent["steps"])}


def test_bytes_that_are_no_character_and_rows_without_a_token(opened):
    raws = [b"a", b"\xff", b"", b"\xe8", b"", b"\x8b\xb9b", b"\xc3\xa9\xc3", b"\x28", b"\xf0\x9f"]
    sent = lined(raws)
    page = opened(sent)
    for i in (3, 4, 5, 6, 7, 8):
        check(page, sent, i)
    chars = [c[0] for c in page.evaluate(LANE)["chars"]]
    assert chars == ["a", "ff", "苹", "b", "é", "c3", "(", "f0 9f"]
    assert "f0 9f is left over" in page.inner_text(".bot-detok-now")
    assert "\ufffd" not in page.inner_text(PANEL)


def test_a_blank_that_the_decoder_drops_is_struck_out(opened):
    sent = lined([b" Hi", b" you"])
    sent["steps"][0]["emitted"] = "Hi"
    page = opened(sent)
    go(page, 0)
    assert page.locator(".bot-detok-byte.is-dropped").all_inner_texts() == ["20"]
    assert EN["panel.detok.now_dropped"] in page.inner_text(".bot-detok-now")
    assert page.locator(".bot-detok-char").nth(0).inner_text() == ""


def test_long_answers_are_drawn_in_parts_that_follow_the_player(opened):
    sent = lined(["苹果 two 👩".encode()[k % 15 : k % 15 + 1] for k in range(560)])
    page = opened(sent, key="long")
    assert page.locator(".bot-detok-token").count() < 300
    for i in (0, 256, 300, 559, 10):
        go(page, i)
        now = page.locator(".bot-detok-token.is-now")
        assert now.locator(".bot-detok-k").inner_text() == str(i + 1)
        hint = page.locator(f"{PANEL} .bot-body > .bot-hint:not(.bot-detok-legend)").inner_text()
        first, last = map(int, re.findall(r"\d+", hint)[:2])
        assert first <= i + 1 <= last and last - first < 300
        assert page.locator(".bot-detok-chunk").first.locator(".bot-detok-none").count() == 0


def test_evil_tokens_stay_text_and_the_language_can_change(opened):
    sent = lined([EVIL.encode(), "苹".encode()[:2], "苹".encode()[2:]])
    page = opened(sent)
    assert page.locator("#app img").count() == 0
    go(page, 0)
    assert EVIL in page.locator(".bot-detok-text").nth(0).text_content()
    chinese(page)
    assert page.inner_text("#bot-title-detok") == ZH["panel.detok.title"]
    assert page.inner_text(".bot-detok-now").startswith("第 1 步")
    assert "3 个 token" in page.inner_text(".bot-detok-story")


def test_on_a_narrow_page_before_the_first_step(opened):
    page = opened(payload("apple-zh"), width=390)
    go(page, -1)
    assert page.locator(".bot-detok-now").is_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


SEEN_WHOLE = """([box, node]) => {
  const [outer, inner] = [box, node].map((s) => document.querySelector(s).getBoundingClientRect());
  return inner.height > 0 && inner.top >= outer.top - 0.5 && inner.bottom <= outer.bottom + 0.5;
}"""


@pytest.mark.parametrize("width", [390, 1280])
def test_the_token_of_the_step_is_in_sight_in_every_box(opened, width):
    sent = payload("is-openai-open")
    page = opened(sent, width=width)
    last = len(sent["steps"]) - 1
    boxes = [
        (".bot-detok-lane", ".bot-detok-token.is-now"),
        (".bot-toks[data-where=answer]", ".bot-toks[data-where=answer] .is-current"),
        (".bot-toks[data-where=prompt]", ".bot-toks[data-where=prompt] [aria-selected=true]"),
        (".bot-hero-answer", f".bot-hero-answer [data-i='{last}']"),
    ]  # fmt: skip
    for i in (last, 0, last // 2, last):
        go(page, i)
        page.wait_for_timeout(60)
        for box, node in boxes[: 4 if i == last else 3]:
            page.evaluate("(s) => document.querySelector(s).scrollIntoView()", box)
            page.evaluate(FRAMES)
            page.evaluate(FRAMES)
            assert page.evaluate(SEEN_WHOLE, [box, node]), (box, i)


def test_a_step_asks_for_nothing_adds_nothing_and_is_cheap(opened):
    sent = payload("apple-zh")
    page = opened(sent, key="apple-zh")
    places = [-1, 0, 4, 12, 13, 27, len(sent["steps"]) - 1]

    def state():
        return page.evaluate(f"[document.querySelectorAll('{PANEL} *').length, asked.length]")

    for i in places:
        go(page, i)
    before = state()
    for i in [*reversed(places), *places]:
        go(page, i)
    assert state() == before
    costs = sorted(cost["script"] for cost in step_costs(page, [*range(9, 18)]))
    assert costs[len(costs) // 2] <= 16
