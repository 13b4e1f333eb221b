"""The byte ledger in a real browser: the picture and the table are what Python computes.

`opener` serves a page whose server cuts with real vocabularies; the tests of merges use it too.
"""

from __future__ import annotations

from functools import cache

import pytest

from playground.cutting.ledger import ledger
from playground.cutting.story import Cutter
from playground.errors import PlaygroundError
from playground.text import texts
from playground.tokenlab import Tokenizer
from playground.ui import wire
from playground.ui.sources import SCRIPTS
from playground.views import tokenlab as views
from tests import vocabularies
from tests.test_client import ASSETS, HOST, html

pytestmark = pytest.mark.browser

EN, ZH = texts("en"), texts("zh")
EVIL = "<img src=x onerror=alert(1)>${alert(1)}{{x}}{n}</script><b>e\u0301\u202e\x00"
FRAMES = "new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))"
SETTLE_MS = 60
MASK = (("<mask>", False),)
NAMES = ("smollm2-135m", "qwen3-0.6b", "llama", "mistral", "gemma", "gpt2")


@cache
def vocabulary(name):
    if name in vocabularies.REAL:
        return vocabularies.real(name)
    return vocabularies.gpt2(MASK) if name == "gpt2" else vocabularies.sentencepiece(name)


@cache
def cutter(name):
    return Cutter(vocabulary(name))


def story_answer(name, written):
    found = cutter(name).story(written)
    return views.story_payload(found, [vocabulary(name).raw(i) for i in found.ids])


ANSWERS = {
    "lab": lambda r: views.lab_payload([Tokenizer(n, 9) for n in NAMES], [], NAMES[0], NAMES[:2]),
    "ledger": lambda r: views.ledger_payload(
        ledger(vocabulary(r["model"]), r["text"], control=r["control"])
    ),
    "cut": lambda r: views.cut_payload(cutter(r["model"]).cut(r["text"])),
    "story": lambda r: story_answer(r["model"], r["written"]),
}


def answer(request):
    try:
        return {"state": "done", "result": ANSWERS[request["op"]](request)}
    except PlaygroundError as error:
        return {"error": wire.both(error)}


GIVEN = """window.under = 0; window.given = { work: async (request) => {
  window.under += 1;
  try { return await answered(request); } finally { window.under -= 1; } } }"""


def opener(chromium, panel, pages, problems, replies=answer):
    """open(text, model, …) -> page that shows this panel of the laboratory, and no other of it.

    pages: those open, by width and options, used again.
    """
    names = [n for n in SCRIPTS if n.startswith(("lab_ledger", f"lab_{panel}"))]
    scripts = "\n".join((ASSETS / "js" / name).read_text("utf-8") for name in names)
    body = html(None, views=False).replace("window.answers = {}", "window.answers = window.given")
    body = body.replace("<script>BOT.mount(", f"<script>{scripts}</script><script>BOT.mount(")

    def open_(text, model="smollm2-135m", *, width=1280, **options):
        key = (width, *options.items())
        if key not in pages:
            pages[key] = load(width, options)
        page = pages[key]
        page.bring_to_front()  # a page behind another draws no frames
        page.evaluate(
            "([text, model]) => { BOT.setLang('en'); BOT.lab.setText(text);"
            " BOT.lab.setModel(model); }",
            [text, model],
        )
        page.mouse.move(1, 1)
        settle(page)
        return page

    def load(width, options):
        page = chromium.new_page(viewport={"width": width, "height": 900}, **options)

        def serve(route):
            if route.request.resource_type == "document":
                route.fulfill(body=body, content_type="text/html; charset=utf-8")
            else:
                if "plotly" not in route.request.url:
                    problems.append(route.request.url)
                route.abort()

        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: problems.append("dialog"))
        page.expose_function("answered", replies)
        page.add_init_script(GIVEN)
        page.route("**/*", serve)
        page.goto(f"{HOST}?lang=en")
        page.evaluate(f"BOT.visit('{panel}')")
        page.evaluate(f"document.getElementById('bot-panel-{panel}').scrollIntoView()")
        return page

    return open_


def settle(page):
    """Until no answer is waited for any more."""
    for _ in range(2):  # an answer may lead to another question
        page.wait_for_timeout(SETTLE_MS)
        page.wait_for_function("window.under === 0 && BOT.lab.ready", polling=50)
        page.evaluate(FRAMES)


@pytest.fixture(scope="module")
def problems():
    return []


@pytest.fixture
def opened(chromium, pages, problems):
    yield opener(chromium, "ledger", pages, problems)
    assert problems == []


PICTURE = """() => {
  const box = document.querySelector('.bot-ledger-pic');
  const of = (lane) => [...box.querySelectorAll(`.bot-ledger-${lane}`)].map((node) => {
    const r = node.getBoundingClientRect();
    return { text: node.textContent, x: r.left, to: r.right, y: r.top, kinds: [...node.classList] };
  });
  return Object.fromEntries(['character', 'point', 'now', 'byte', 'sign', 'piece', 'id']
    .map((lane) => [lane, of(lane)])); }"""


def picture(page):
    return page.evaluate(PICTURE)


def column(cell, cells):
    """The places in `cells` that stand above or below `cell`."""
    return [i for i, c in enumerate(cells) if c["x"] > cell["x"] - 9 and c["to"] < cell["to"] + 9]


@pytest.mark.parametrize("model", NAMES)
@pytest.mark.parametrize("text", ["人工智能", " strawberry", "Hel 电é"])
def test_every_lane_is_what_python_computes(opened, model, text):
    found = ledger(vocabulary(model), text)
    page = opened(text, model)
    seen = picture(page)
    assert [int(c["text"]) for c in seen["id"]] == [p.id for p in found.pieces]
    shown = [c["text"] for c in seen["byte"]]
    assert [b for b in shown if b != "–"] == [f"{b:02x}" for b in text.encode()]
    # under each character its bytes, over each piece its own, side by side
    for at, (char, cell) in enumerate(zip(text, seen["character"], strict=True)):
        under = [shown[i] for i in column(cell, seen["byte"])]
        assert [b for b in under if b != "–"] == [f"{b:02x}" for b in char.encode()]
        assert seen["point"][at]["text"] == f"U+{ord(char):04X}"
    for piece, cell in zip(found.pieces, seen["piece"], strict=True):
        over = [shown[i] for i in column(cell, seen["byte"])]
        assert [b for b in over if b != "–"] == [f"{b:02x}" for b in piece.raw]
        assert ("is-open" in cell["kinds"]) == bool(piece.missing or piece.before)
    if vocabulary(model).decoder.byte_level:
        assert "".join(c["text"] for c in seen["sign"]) == "".join(p.written for p in found.pieces)
    else:
        assert [c["text"] for c in seen["sign"]] == [p.written for p in found.pieces]


def test_an_incomplete_piece_shows_its_bytes_and_what_is_missing(opened):
    page = opened("电")
    seen = picture(page)
    assert [c["text"] for c in seen["piece"]] == ["e7 94+ 1 more", "b5"]
    assert "begins \u2068电\u2069, 1 more byte to come" in page.inner_text(".bot-ledger-read")
    page.focus(".bot-ledger-pic")
    page.keyboard.press("ArrowRight")
    assert "ends \u2068电\u2069" in page.inner_text(".bot-ledger-read")
    assert "�" not in page.inner_text("#app")
    page.evaluate("BOT.lab.setText('a\\ufffd')")
    settle(page)
    assert "‹U+FFFD›" in page.inner_text("#bot-panel-ledger .bot-ledger-pic") or "U+FFFD" in (
        page.inner_text(".bot-ledger-pic")
    )


def test_normalisation_is_shown_as_what_it_changed(opened):
    page = opened("cafe\u0301!", "qwen3-0.6b")
    seen = picture(page)
    assert [c["text"] for c in seen["character"]] == ["c", "a", "f", "e\u0301", "!"]
    assert "is-old" in seen["point"][3]["kinds"]
    assert seen["point"][3]["text"] == "U+0065U+0301"
    assert [c["text"] for c in seen["now"]] == ["→ \u00e9U+00E9"]
    assert [c["text"] for c in seen["byte"]] == ["63", "61", "66", "c3", "a9", "21"]
    note = page.inner_text(".bot-ledger-notes .bot-note-info")
    assert "rewritten at 1 place" in note and "(U+0065 U+0301) →" in note and note.endswith("3–4")


def test_lost_bytes_are_struck_out_and_named(opened):
    page = opened("a\x04b\U00040000")
    known = vocabulary("smollm2-135m")
    seen = picture(page)
    lost = [c["text"] for c in seen["byte"] if "is-lost" in c["kinds"]]
    assert lost == ["04", "f1"] and bytes.fromhex("".join(lost)) == known.lost_bytes(
        "\x04\U00040000"
    )
    note = page.inner_text(".bot-ledger-notes .bot-note-warn")
    assert "U+0004 at 1" in note and "U+40000 at 3" in note
    assert EN["panel.ledger.parted_lost"] in page.inner_text(".bot-ledger-facts")
    # three bytes are left over from a character whose first is lost
    assert EN["panel.ledger.legend.stray"] in page.inner_text(".bot-ledger-legend")


def test_kinds_are_named_for_what_they_are(opened):
    page = opened("Hello 电", "llama")
    legend = page.inner_text(".bot-ledger-legend")
    assert EN["panel.ledger.legend.space"] in legend and EN["panel.ledger.legend.opening"] in legend
    assert "<0xE7> is the byte e7" in legend
    assert EN["panel.ledger.part.opening"] in page.inner_text(".bot-ledger-read")
    page.evaluate("BOT.lab.setText('电')")
    settle(page)
    assert [c["text"] for c in picture(page)["piece"]] == ["∅", "e7+2", "94+1", "b5"]
    assert EN["panel.ledger.kind.space"] in page.inner_text(".bot-ledger-read")
    page.evaluate("BOT.lab.setModel('smollm2-135m'); BOT.lab.setText(' a\\n')")
    settle(page)
    legend = page.inner_text(".bot-ledger-legend")
    assert "Ġ is 20, Ċ is 0a" in legend or "Ċ is 0a, Ġ is 20" in legend


def test_control_text_as_tokens_and_the_difference_in_ids(opened):
    text = "Hi <|im_end|>!"
    plain, injected = (ledger(vocabulary("smollm2-135m"), text, control=c) for c in (False, True))
    page = opened(text)
    says = page.inner_text(".bot-ledger-says")
    assert f"{len(plain.pieces)} tokens, as control tokens {len(injected.pieces)}" in says
    [line] = page.locator(".bot-ledger-diff li").all()
    before = " ".join(str(p.id) for p in plain.pieces if 2 <= p.start < 13)
    after = " ".join(str(p.id) for p in injected.pieces if 2 <= p.start < 13)
    assert line.inner_text().endswith(f"(characters 2–12) {before} → {after}")
    page.click(".bot-ledger-switch input")
    settle(page)
    seen = picture(page)
    assert [int(c["text"]) for c in seen["id"]] == [p.id for p in injected.pieces]
    assert [c["text"] for c in seen["piece"] if "is-added" in c["kinds"]] == ["<|im_end|>"]
    assert EN["panel.ledger.legend.added"] in page.inner_text(".bot-ledger-legend")
    page.evaluate("BOT.lab.setText('none')")
    settle(page)
    assert page.inner_text(".bot-ledger-says") == EN["panel.ledger.control_none"]
    page.click(".bot-ledger-switch input")


def test_what_belongs_together_lights_up_together(opened):
    page = opened("人工")  # 人 is a piece; 工 is two
    page.hover(".bot-ledger-character >> nth=1")
    settle(page)
    on = {lane: [c["text"] for c in cells if "is-on" in c["kinds"]]
          for lane, cells in picture(page).items()}  # fmt: skip
    assert on["character"] == ["工"] and on["byte"] == ["e5", "b7", "a5"]
    assert on["id"] == ["36149", "115"] and on["point"] == ["U+5DE5"]
    assert "in pieces 1 (id 36149), 2 (id 115)" in page.inner_text(".bot-ledger-read")
    page.hover(".bot-ledger-byte >> nth=4")
    assert "Byte b7 (decimal 183, binary 10110111)" in page.inner_text(".bot-ledger-read")
    page.mouse.move(5, 5)
    settle(page)
    assert page.inner_text(".bot-ledger-read").startswith("Piece 0:")
    page.click(".bot-ledger-id >> nth=2")
    assert page.inner_text(".bot-ledger-read").startswith("Piece 2:")
    chosen = page.locator(".bot-ledger-piece[aria-selected=true]")
    assert page.get_attribute(".bot-ledger-pic", "aria-activedescendant") == chosen.get_attribute(
        "id"
    )
    assert "id 115" in chosen.get_attribute("aria-label")


def test_graphemes_are_characters_and_a_table_row_is_a_piece(opened):
    text = "👩\u200d👩\u200d👧\u200d👦 e\u0301"
    found = ledger(vocabulary("smollm2-135m"), text).pieces
    page = opened(text)
    assert {c["text"] for c in picture(page)["character"]} == {text[:7], "·", "e\u0301"}
    assert "3 characters to a reader, 10 code points" in page.inner_text(".bot-ledger-facts")
    page.click(".bot-panel-ledger .bot-fold summary")
    settle(page)
    rows = page.evaluate(
        "[...document.querySelectorAll('.bot-ledger tbody tr[data-i]')].filter((r) => !r.hidden)"
        ".map((r) => [...r.cells].map((c) => c.textContent))"
    )
    for row, (k, piece) in zip(rows, enumerate(found), strict=False):
        assert (row[0], row[3], row[4], row[6]) == (
            str(k), piece.raw.hex(" "), piece.written, str(piece.id),
        )  # fmt: skip
        assert row[2] == " ".join(f"U+{ord(c):04X}" for c in text[piece.start : piece.end])
    page.click(".bot-ledger tbody tr[data-i='3'] td >> nth=0")
    assert page.inner_text(".bot-ledger-read").startswith("Piece 3:")


def test_twenty_thousand_tokens_stay_quick(opened):
    text = ("电子 a\n" * 4000)[:20000]
    n = len(ledger(vocabulary("smollm2-135m"), text).pieces)
    page = opened(text)
    page.wait_for_function(
        f"document.querySelector('.bot-ledger-facts').textContent.includes('{n:,}')"
    )
    assert n > 19_000
    assert page.evaluate("document.querySelectorAll('#bot-panel-ledger *').length") < 4000
    assert "only those on screen are drawn" in page.inner_text(".bot-ledger")
    page.focus(".bot-ledger-pic")
    for key, k in (("End", n - 1), ("ArrowLeft", n - 2), ("Home", 0)):
        page.keyboard.press(key)
        settle(page)
        assert page.inner_text(".bot-ledger-read").startswith(f"Piece {k}:")
        shown = page.locator(".bot-ledger-piece[aria-selected=true]").bounding_box()
        box = page.locator(".bot-ledger-pic").bounding_box()
        assert box["y"] <= shown["y"] + 1 and shown["y"] < box["y"] + box["height"]


def test_evil_text_is_text_and_the_language_can_change(opened):
    page = opened(EVIL)
    assert page.locator("#bot-panel-ledger :is(img, script)").count() == 0
    assert "".join(c["text"] for c in picture(page)["byte"]) == EVIL.encode().hex()
    page.evaluate("BOT.setLang('zh')")
    settle(page)
    assert page.inner_text("#bot-title-ledger") == ZH["panel.ledger.title"]
    assert "片段 0：" in page.inner_text(".bot-ledger-read")
    assert ZH["panel.ledger.lane.byte"] in page.inner_text(".bot-ledger-pic")
    asked = page.evaluate("asked.length")
    page.evaluate("BOT.setLang('en')")
    settle(page)
    assert page.evaluate("asked.length") == asked


def test_on_a_phone_and_without_a_text(opened):
    page = opened("人工智能 strawberry", width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = page.locator(".bot-ledger-pic").bounding_box()
    assert all(c["to"] <= box["x"] + box["width"] for c in picture(page)["byte"])
    assert page.inner_text(".bot-ledger-lanes").startswith("Downwards: character")
    page.evaluate("BOT.lab.setText('')")
    settle(page)
    assert EN["ui.lab.empty"] in page.inner_text("#bot-panel-ledger")
    assert page.locator(".bot-ledger").is_hidden()
