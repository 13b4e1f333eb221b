"""Training in a real browser: merges learnt in Python, pieces and costs as Python counts them."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from tokenizers import pre_tokenizers

from playground.cutting.training import train
from playground.text import texts
from playground.views.tokenlab import train_payload
from tests.labpage import EVIL, asked, chinese, load, settle

pytestmark = pytest.mark.browser

EN, ZH = texts("en"), texts("zh")
SAMPLE = "panel.training.sample_text"
ODD = [
    " ", "  ", "\n", "\t", "\x85", "\ufeff", "\u3000", "\u200d", "\u2028", "\r", "\x00", "e\u0301",
    "'s", "'LL", "12", "½", "٤", "人工", "智能", "👩", "ا", "low", "lower", "est", "aa", "_",
    "…", "ᵃ",
]  # fmt: skip


def answer(request):
    return train_payload(train(request["corpus"], request["merges"]))


def cut(corpus, merges):
    """The corpus as words, each in pieces (in the trainer's alphabet), after these merges."""
    level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words = [list(word) for word, _ in level.pre_tokenize_str(corpus)]
    for left, right, *_ in merges:
        for symbols in words:
            at = 0
            while at < len(symbols) - 1:
                if symbols[at] == left and symbols[at + 1] == right:
                    symbols[at : at + 2] = [left + right]
                at += 1
    return words


@pytest.fixture(scope="module")
def page(chromium):
    problems = []
    made = load(chromium, "training", {"train": answer}, problems, also=("lab_ledger_symbols",))
    yield made
    made.close()
    assert problems == []


def learn(page, corpus, merges=200):
    page.evaluate("BOT.setLang('en')")
    page.fill("#bot-train-corpus", corpus)
    page.fill("#bot-train-most", str(merges))
    page.get_by_role("button", name=EN["panel.training.learn"], exact=True).click()
    settle(page)


def slide(page, k):
    page.locator(".bot-train-slider").fill(str(k))
    settle(page)


PIECES = """[...document.querySelectorAll('.bot-train-word')].map((w) =>
  [...w.querySelectorAll('.bot-train-piece')].map((p) => p.textContent))"""
NUMBERS = "[...document.querySelectorAll('.bot-train-number')].map((n) => n.title)"


def test_the_sample_is_learnt_at_once_and_follows_the_language(page):
    [request] = asked(page, "train")
    assert (request["corpus"], request["merges"]) == (EN[SAMPLE], 200)
    assert page.input_value("#bot-train-corpus") == EN[SAMPLE]
    chinese(page)
    assert page.input_value("#bot-train-corpus") == ZH[SAMPLE]
    assert asked(page, "train")[-1]["corpus"] == ZH[SAMPLE]
    assert ZH["panel.training.learn"] in page.inner_text(".bot-train-ask")
    assert "挨在一起" in page.inner_text(".bot-train-story")
    page.evaluate("BOT.setLang('en')")
    settle(page)


@pytest.mark.parametrize("corpus", [
    "low lower lowest low new newer newest", "aaaa aaa aa aaaaa b aaaa", EVIL * 3, ZH[SAMPLE][:200],
    "e\u0301e\u0301 👩\u200d👧👩\u200d👧 12 1212 it's it's",
])  # fmt: skip
def test_pieces_and_numbers_are_those_of_python_at_every_size(page, corpus):
    learn(page, corpus)
    found = train(corpus, 200)
    merges = [(m.left, m.right) for m in found.merges]
    tokens = [found.start, *(m.tokens for m in found.merges)]
    for k in sorted({0, 1, len(merges) // 2, len(merges)}):
        slide(page, k)
        words = cut(corpus, merges[:k])
        assert sum(map(len, words)) == tokens[k]
        shown = page.evaluate(PIECES)
        assert [len(word) for word in shown] == [len(word) for word in words[: len(shown)]]
        if k:
            piece = "".join(merges[k - 1])
            fresh = page.locator(".bot-train-piece.is-new").count()
            assert fresh == sum(word.count(piece) for word in words[: len(shown)])
            said = page.inner_text(".bot-train-story")
            assert f"Merge {k}:" in said and f"{found.merges[k - 1].count} times" in said
            assert f"from {tokens[k - 1]:,} to {tokens[k]:,} tokens" in said
        assert f"256 + {k} = {256 + k}" in page.inner_text(".bot-train-size")
        numbers = [int(n.replace(",", "")) for n in page.evaluate(NUMBERS)]
        assert numbers == [tokens[k], tokens[k] * (tokens[k] + 1) // 2, (256 + k) * 576 * 4]
    assert page.locator(".bot-panel-training .bot-note-warn").is_hidden()


def test_the_browsers_merges_are_the_librarys_on_odd_texts(page):
    rng = random.Random(11)
    for _ in range(25):
        corpus = "x" + "".join(rng.choice(ODD) for _ in range(rng.randint(1, 90)))
        found = train(corpus, 60)
        merges = [[m.left, m.right, m.count, m.tokens] for m in found.merges]
        ks = sorted({0, len(merges), rng.randint(0, len(merges))})
        got = page.evaluate(
            """([corpus, merges, ks]) => { const made = BOT.training.corpusOf(corpus, merges);
            return ks.map((k) => [made.total(k), made.words.map((w) => {
              const s = made.stories[w]; return s[BOT.training.stateAt(s, k)].parts; })]); }""",
            [corpus, merges, ks],
        )
        tokens = [found.start, *(m.tokens for m in found.merges)]
        for k, (total, words) in zip(ks, got, strict=True):
            assert words == cut(corpus, merges[:k])
            assert total == tokens[k]


def test_the_merges_are_listed_and_lead_to_their_place(page):
    learn(page, EN[SAMPLE])
    found = train(EN[SAMPLE], 200)
    rows = page.evaluate(
        """[...document.querySelectorAll('.bot-train-side .bot-rows tr[data-i]')].filter((r) =>
        !r.hidden).map((r) => [Number(r.dataset.i), ...[...r.cells].map((c) => c.textContent)])"""
    )
    assert len(rows) > 5
    for i, k, pair, piece, count, tokens in rows:
        merge = found.merges[i]
        assert (int(k), int(count), int(tokens)) == (i + 1, merge.count, merge.tokens)
        written = piece.replace("·", "Ġ")
        assert written == merge.left + merge.right
        assert pair.replace("·", "Ġ") == f"{merge.left} + {merge.right}"
    row = f'.bot-train-side .bot-rows tr[data-i="{rows[2][0]}"]'
    page.locator(row).dispatch_event("click")  # a real one would scroll other rows there
    settle(page)
    assert page.input_value(".bot-train-slider") == rows[2][1]


def test_both_sides_have_their_curve_and_table(page):
    learn(page, EN[SAMPLE], 40)
    page.get_by_role("button", name="1,024 · Qwen3-0.6B").click()
    page.select_option("#bot-train-bytes", "2")
    slide(page, 10)
    found = train(EN[SAMPLE], 40)
    tokens = [found.start, *(m.tokens for m in found.merges)]
    assert page.evaluate(NUMBERS)[2] == f"{266 * 1024 * 2:,}"
    assert f"266 rows × 1,024 numbers = {266 * 1024:,} weights" in page.inner_text(
        ".bot-train-costs > .bot-hint"
    )
    page.locator(".bot-panel-training summary").click()
    rows = page.evaluate(
        """[...document.querySelectorAll('.bot-panel-training .bot-fold tbody tr')].filter((r) =>
        !r.hidden).map((r) => [...r.cells].map((c) => [c.textContent, c.title]))"""
    )
    assert [int(r[0][0]) - 256 for r in rows] == list(range(41))
    for k, row in enumerate(rows):
        assert int(row[1][0].replace(",", "")) == tokens[k]
        assert float(row[2][1]) == pytest.approx(found.n_bytes / tokens[k])
        assert int(row[3][0].replace(",", "")) == tokens[k] * (tokens[k] + 1) // 2
        assert int(row[5][1].replace(",", "")) == (256 + k) * 1024 * 2
    path = page.get_attribute(".bot-train-curve.is-tokens .bot-train-line", "d")
    points = [tuple(map(float, p.split())) for p in path[1:].split("L")]
    assert len(points) == 41
    heights = [128 - y for _, y in points]  # of the base line
    assert all(abs(h / heights[0] - t / tokens[0]) < 0.01 for h, t in zip(heights, tokens))  # noqa: B905
    assert all(b > a for (a, _), (b, _) in pairwise(points))


def test_it_plays_to_the_end_and_stops(page):
    learn(page, "low lower lowest low", 4)
    button = page.locator(".bot-train-dial > .bot-btn")
    button.click()
    assert button.inner_text() == EN["panel.training.pause"]
    slider = "document.querySelector('.bot-train-slider')"
    page.wait_for_function(f"{slider}.value === {slider}.max", timeout=8000)
    play = EN["panel.training.play"]
    page.wait_for_function(f"{slider}.previousSibling.textContent === {play!r}")
    assert page.input_value(".bot-train-slider") == str(
        len(train("low lower lowest low", 4).merges)
    )


def test_what_can_not_be_learnt_says_so_and_evil_texts_stay_text(page):
    learn(page, "abc")
    assert page.locator(".bot-train-slider").get_attribute("max") == "0"
    assert "3 tokens" in page.inner_text(".bot-train-story")
    learn(page, " \n")
    assert page.inner_text(".bot-panel-training .bot-lab-says").startswith("There is no text")
    learn(page, f"{EVIL} {EVIL}", 5000)
    assert asked(page, "train")[-1]["merges"] == 2000
    assert page.locator("#app img").count() == 0
    assert "onerror" in page.inner_text(".bot-train-pieces").replace(" ", "")
    learn(page, "ab" * 600, 1)
    assert page.locator(".bot-train-pieces").is_hidden()
    assert EN["panel.training.endless"] in page.inner_text(".bot-train-result")
    assert page.inner_text(".bot-train-number >> nth=0") == "600 tokens"
    learn(page, f"{EVIL} {EVIL}", 5000)
    chinese(page)  # the reader's own text stays
    assert page.input_value("#bot-train-corpus") == f"{EVIL} {EVIL}"
    assert "\ufffd" not in page.inner_text("#bot-panel-training")


def test_on_a_narrow_page(page):
    page.set_viewport_size({"width": 390, "height": 844})
    learn(page, ZH[SAMPLE])
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1280, "height": 900})
