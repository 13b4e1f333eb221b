"""Four ways to cut, in a real browser: the picture's places are the bytes' own.

`opener` serves a page whose server cuts with real tokenizers; the tests of the comparison and of
the languages use it too.
"""

from __future__ import annotations

import json
from itertools import accumulate, pairwise
from unicodedata import is_normalized

import pytest
import regex

from playground.cutting.comparing import VocabularyReader, compare, language_costs
from playground.cutting.languages import sentences, source
from playground.cutting.ways import four_ways
from playground.text import texts
from playground.tokenlab import Tokenizer
from playground.views import tokenlab as views
from playground.views.payload import trace_payload
from tests import made
from tests.test_client import HOST, html
from tests.vocabularies import real, sentencepiece

pytestmark = pytest.mark.browser

EN, ZH = texts("en"), texts("zh")
SMOL, QWEN, LLAMA = "smollm2-135m", "qwen3-0.6b", "llama"
EVIL = "<img src=x onerror=alert(1)>${alert(1)}{{x}}{n}"
MARKED = EVIL.replace(" ", "·")
ANSWERS = """window.cuts = {begun: 0, done: 0}; window.answers = { work: async (r) => {
  cuts.begun++; try { return await window.cut(r); } finally { cuts.done++; } } }"""
ALONE = "<style>.bot-grid > :not(.bot-chapter-pieces), .bot-hero { display: none !important; }"
FAMILY = "👩\u200d👩\u200d👧\u200d👦"


def vocabulary(name):
    return sentencepiece("llama") if name == LLAMA else real(name)


class Server:
    """What answers the page's `work`. away: names that can not be had; models: those listed."""

    def __init__(self, models=(SMOL, QWEN, LLAMA), encodings=(), away=()):
        self.models, self.encodings, self.away = models, encodings, away
        self.asked = []

    def __call__(self, request):
        self.asked.append(request)
        try:
            return {"state": "done", "result": getattr(self, request["op"])(request)}
        except (AttributeError, KeyError) as error:
            sentence = f"No {error} & <b>nothing</b> here."
            return {"error": {"en": sentence, "zh": f"没有 {error}。"}}

    def readers(self, names):
        if bad := [name for name in names if name in self.away]:
            raise KeyError(bad[0])
        known = {SMOL, QWEN, LLAMA}
        return {n: VocabularyReader(vocabulary(n if n in known else QWEN)) for n in names}

    def lab(self, _):
        rows = [Tokenizer(name, vocabulary(name).size) for name in self.models]
        return views.lab_payload(rows, self.encodings, self.models[0], self.models[:2])

    def ways(self, r):
        return views.ways_payload(four_ways(vocabulary(r["model"]), r["text"]))

    def compare(self, r):
        return views.compare_payload(compare(self.readers(r["models"]), r["text"]), r["models"])

    def languages(self, r):
        rows = language_costs(self.readers(r["models"]), sentences())
        return views.languages_payload(rows, r["models"], source())


def opener(chromium, problems):
    """open(view, text, …) -> page that shows this panel; anything odd goes to `problems`."""

    def open_(view, text=None, *, width=1280, server=None, kept=None):
        page = chromium.new_page(viewport={"width": width, "height": 900})
        body = html(trace_payload(made.example(), "0123456789abcdef"))
        body = body.replace("window.answers = {}", ANSWERS).replace("<style>", ALONE, 1)

        def serve(route):
            if route.request.resource_type == "document":
                route.fulfill(body=body, content_type="text/html; charset=utf-8")
            else:
                if "plotly" not in route.request.url:
                    problems.append(route.request.url)
                route.abort()

        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: problems.append("dialog"))
        page.expose_function("cut", server or Server())
        page.route("**/*", serve)
        first = {} if text is None else {"bot.lab": {"text": text}}
        for name, value in (first | (kept or {})).items():
            script = f"localStorage.setItem({json.dumps(name)}, {json.dumps(json.dumps(value))})"
            page.add_init_script(f"if (!sessionStorage.getItem('set')) {script}")
        page.add_init_script("addEventListener('load', () => sessionStorage.setItem('set', '1'))")
        page.goto(f"{HOST}?lang=en&view={view}")
        page.evaluate(f"document.getElementById('bot-panel-{view}').scrollIntoView()")
        begin(page)
        return page

    return open_


def begin(page):
    """Until the page knows the names, and what its panel asks first."""
    page.wait_for_function("cuts.done > 1")
    settle(page)


def settle(page):
    """Until nothing is asked any more, and it is drawn."""
    done = -1
    while done < (done := page.evaluate("cuts.done")) or page.evaluate("cuts.begun") > done:
        page.wait_for_timeout(200)
        page.evaluate("new Promise(requestAnimationFrame)")


def type_text(page, text):
    page.evaluate("(t) => BOT.lab.setText(t)", text)
    settle(page)


def opening(chromium):
    """`opener`'s function; its pages are closed afterwards, and were without problems."""
    problems, pages = [], []

    def open_(*args, **options):
        pages.append(opener(chromium, problems)(*args, **options))
        return pages[-1]

    yield open_
    for page in pages:
        page.close()
    assert not problems


@pytest.fixture(scope="module")
def shared(chromium):
    """One page for tests that only type another text."""
    for open_ in opening(chromium):
        yield open_("ways", "a")


@pytest.fixture
def opened(chromium):
    yield from opening(chromium)


def fits(page, view):
    """Nothing of the panel stands out on the right, its tables open too."""
    panel = f"document.getElementById('bot-panel-{view}')"
    page.evaluate(f"for (const d of {panel}.querySelectorAll('details')) d.open = true")
    page.wait_for_timeout(150)
    wide = page.evaluate(
        f"[...{panel}.querySelectorAll('.bot-body, .bot-lab > *')].map((n) => n.scrollWidth)"
    )
    return max(wide) <= page.evaluate("innerWidth") == 390


# Cells of the first line by row: [left and right in columns, text, classes].
CELLS = """([panel, column]) => { const rows = [];
  for (const cell of document.querySelector(`#bot-panel-${panel} .bot-lanes-line`)
    .querySelectorAll('.bot-lanes-cell, .bot-lanes-gap')) {
    const at = parseFloat(cell.style.top), row = rows.find((r) => r.at === at) || rows[rows.push(
      { at, cells: [] }) - 1];
    const left = (parseFloat(cell.style.left) - 10) / column;
    const wide = parseFloat(cell.style.width.replace('max(', '')) / column;
    row.cells.push({ span: [left, left + wide].map((x) => Math.round(1000 * x) / 1000),
      text: cell.textContent, kinds: [...cell.classList] }); }
  return rows.map((r) => r.cells); }"""


def cells(page, panel="ways", column=1.75):
    return page.evaluate(CELLS, [panel, column])


def spans(row, gaps=False):
    found = [tuple(c["span"]) for c in row if gaps == ("bot-lanes-gap" in c["kinds"])]
    return sorted(found)


def byte_spans(text, pairs):
    return [(len(text[:a].encode()), len(text[:b].encode())) for a, b in pairs]


@pytest.mark.parametrize(
    "text", ["程序员Left", "Is OpenAI open?", f"{FAMILY}!", "e\u0301 naïve 电"]
)
def test_all_four_rows_lie_over_their_bytes(shared, text):
    type_text(shared, text)
    found = four_ways(real(SMOL), text)
    words, characters, pieces, raw = cells(shared)
    assert spans(words) == byte_spans(text, found.words)
    assert spans(characters) == byte_spans(text, found.characters)
    ends = [0, *accumulate(map(len, found.raw))]
    assert ends[-1] == found.n_bytes
    assert spans(pieces) == [(float(a), float(b)) for a, b in pairwise(ends)]
    assert [c["text"] for c in raw] == [f"{b:02x}" for b in text.encode()]
    joined = [len(text[a:b]) for a, b in found.characters if b - a > 1]
    marks = shared.locator("#bot-panel-ways .bot-ways-points").all_inner_texts()
    assert marks == [str(n) for n in joined]
    assert "�" not in shared.inner_text("#bot-panel-ways")


def test_the_counts_stand_beside_and_in_the_tables(shared):
    text = "the cat the cat 电电"
    type_text(shared, text)
    found = four_ways(real(SMOL), text)
    counts = [len(found.words), len(found.characters), len(found.pieces), found.n_bytes]
    names = [EN[f"panel.ways.row.{way}"] for way in ("words", "characters", "subwords", "bytes")]
    gutter = shared.evaluate(
        "[...document.querySelectorAll('#bot-panel-ways .bot-lanes-name')].map((n) =>"
        " [...n.children].map((c) => c.textContent))"
    )
    assert gutter == [[n, str(c)] for n, c in zip(names, counts, strict=True)]
    bars = shared.evaluate(
        "[...document.querySelectorAll('.bot-ways-costs:not(.bot-vocabs-facts) tbody tr')].map((r)"
        " => [+r.querySelector('b').textContent, +r.querySelector('i').style"
        ".getPropertyValue('--share'), r.querySelector('.bot-ways-entries').textContent])"
    )
    assert [b[0] for b in bars] == counts
    assert [b[1] for b in bars] == pytest.approx([c / max(counts) for c in counts])
    assert bars[2][2] == f"{real(SMOL).size:,}" and bars[3][2] == "256"
    shared.locator("#bot-panel-ways .bot-fold summary").first.click()
    rows = shared.evaluate(
        "[...document.querySelectorAll('#bot-panel-ways .bot-fold tbody')][0].rows.length"
    )
    assert rows == 4
    told = shared.evaluate(
        "[...[...document.querySelectorAll('#bot-panel-ways .bot-fold tbody')][0].rows].map((r) =>"
        " [...r.cells].map((c) => c.title || c.textContent))"
    )
    different = [
        len({text[a:b] for a, b in found.words}), len({text[a:b] for a, b in found.characters}),
        len({p[0] for p in found.pieces}), len(set(text.encode())),
    ]  # fmt: skip
    for line, n, own in zip(told, counts, different, strict=True):
        assert [int(line[1]), int(line[2])] == [n, own]
        assert [float(line[3]), float(line[4])] == [found.n_bytes / n, n / counts[2]]
        assert int(line[5].replace(",", "")) == n * (n + 1) // 2
    ratio = counts[3] / counts[2]
    assert f"{ratio:.2f} times as long" in shared.inner_text("#bot-panel-ways .bot-ways")


LIT = "[...document.querySelectorAll('#bot-panel-ways .bot-lanes-cell.is-on')].length"
SAID = """[...document.querySelectorAll('#bot-panel-ways .bot-lanes-read dd')]
  .map((n) => n.textContent)"""


def test_pointing_links_the_same_stretch_in_every_row(shared):
    type_text(shared, "程序员Left")
    shared.locator("#bot-panel-ways .bot-lanes-cell", has_text="序").nth(1).hover()
    # the word, the character, two pieces, three bytes
    assert shared.evaluate(LIT) == 7
    said = shared.evaluate(SAID)
    assert said[0] == "“\u2068程序员\u2069”" and said[3] == "e5 ba 8f"
    assert "U+5E8F" in said[1]
    assert "⟨e5 ba⟩\u00a024024" in said[2] and "⟨8f⟩\u00a0233" in said[2]
    shared.mouse.move(5, 5)
    shared.focus("#bot-panel-ways .bot-lanes")
    for key in ("ArrowDown", "End"):  # characters, the last one
        shared.keyboard.press(key)
    assert shared.evaluate(SAID)[1] == "“\u2068t\u2069”\u00a0U+0074"
    shared.keyboard.press("ArrowDown")
    assert shared.evaluate(SAID)[0] == "“\u2068Left\u2069”"
    assert "26839" in shared.evaluate(SAID)[2]


def test_what_is_one_character_is_said_with_the_standards_own_count(shared):
    lines = shared.locator(".bot-ways-character li").all_inner_texts()
    for line, text in zip(lines, (FAMILY, "e\u0301"), strict=True):
        assert len(regex.findall(r"\X", text)) == 1
        assert f"1 character, {len(text)} code points, {len(text.encode())} bytes" in line
        assert all(f"U+{ord(c):04X}" in line for c in text)


def test_lost_bytes_are_hatched_and_rewritten_ones_dashed(opened):
    page = opened("ways", "a\x04b")
    assert real(SMOL).lost_bytes("a\x04b") == b"\x04"
    assert spans(cells(page)[2], gaps=True) == [(1, 2)]
    assert page.is_visible("#bot-panel-ways .bot-lanes-lost")
    assert page.is_hidden("#bot-panel-ways .bot-lanes-loose")
    page.evaluate(f"BOT.lab.setModel('{QWEN}')")
    type_text(page, "xe\u0301y")  # one piece after NFC
    pieces = cells(page)[2]
    assert spans(pieces) == [(0, 1), (1, 4), (4, 5)]
    assert "is-loose" in pieces[1]["kinds"] and pieces[1]["text"] == "é"
    assert page.is_visible("#bot-panel-ways .bot-lanes-loose")
    page.evaluate(f"BOT.lab.setModel('{LLAMA}')")
    type_text(page, "Hello")
    assert spans(cells(page)[2])[-1][1] == 5


PLACES = """(given) => given.map(([text, spans, hexes]) => {
  const over = BOT.piecesOver(BOT.columns(text), spans, hexes);
  return [[...over.from], [...over.to], [...over.loose]]; })"""


def test_pieces_lie_where_their_bytes_are_in_every_script(shared):
    found = [
        four_ways(real(QWEN), text) for text in sentences().values() if is_normalized("NFC", text)
    ]
    assert len(found) > 10
    given = [[w.text, [list(p[1:]) for p in w.pieces], [raw.hex() for raw in w.raw]] for w in found]
    for way, (start, end, loose) in zip(found, shared.evaluate(PLACES, given), strict=True):
        ends = list(accumulate(map(len, way.raw)))
        assert end == ends and start == [0, *ends[:-1]] and not any(loose)
        clusters = [a for a, _ in way.characters] + [len(way.text)]
        assert shared.evaluate("(t) => BOT.columns(t).at.length", way.text) == len(way.text) + 1
        assert clusters[-1] == shared.evaluate("(t) => BOT.clusters(t).at(-1)", way.text)


def test_long_texts_keep_the_page_small(opened):
    text = "The quick brown fox 跳过了懒狗。\n" * 350
    page = opened("ways", text)
    found = four_ways(real(SMOL), text)
    assert len(text) > 8_000 and len(found.pieces) > 6_000
    assert page.evaluate("document.querySelectorAll('#bot-panel-ways *').length") < 2500
    page.focus("#bot-panel-ways .bot-lanes")
    for key in ("ArrowDown", "End"):
        page.keyboard.press(key)
    page.wait_for_timeout(100)
    assert "↵" in page.evaluate(SAID)[1]
    assert page.locator("#bot-panel-ways .bot-lanes-cell.is-at").is_visible()
    assert page.evaluate("document.querySelectorAll('#bot-panel-ways *').length") < 2500
    assert "the rest is there when you scroll" in page.inner_text("#bot-panel-ways")


def test_evil_texts_stay_text_in_both_languages_and_on_a_phone(opened):
    page = opened("ways", EVIL, width=390)
    assert page.evaluate(SAID)[0] == "“\u2068<\u2069”"
    shown = "".join(page.locator("#bot-panel-ways .bot-lanes-cell").all_inner_texts())
    assert "onerror" in shown.replace("\n", "")
    assert page.locator("#app img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390 and fits(page, "ways")
    page.evaluate("BOT.setLang('zh')")
    settle(page)
    assert page.inner_text("#bot-title-ways") == ZH["panel.ways.title"]
    assert page.inner_text("#bot-panel-ways .bot-lanes-name >> nth=0").startswith("词")
    type_text(page, "")
    assert ZH["ui.lab.empty"] in page.inner_text("#bot-panel-ways")
    assert page.is_hidden("#bot-panel-ways .bot-lanes")
    type_text(page, "שלום")
    assert ZH["panel.ways.leftward"] in page.inner_text("#bot-panel-ways")
