"""How a piece comes to be, in a real browser: words, rules and merges are Python's, and what they
end in are the tokenizer's own pieces.
"""

from __future__ import annotations

import json

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from playground.cutting.story import Cutter
from playground.text import texts
from playground.tokenlab import Cutting, Word
from playground.tokens import Vocabulary
from playground.views import tokenlab as views
from tests import test_lab_ledger as lab
from tests.test_cutting import made
from tests.test_lab_ledger import EVIL, cutter, settle, vocabulary

pytestmark = pytest.mark.browser

EN, ZH = texts("en"), texts("zh")
STORY = "#bot-panel-merges .bot-merges-story"
PIECES = [("<unk>", 0.0), ("▁", -2.0), ("he", -1.0), ("l", -1.5), ("lo", -1.2), ("▁he", -2.5)]


@pytest.fixture(scope="module")
def problems():
    return []


@pytest.fixture
def opened(chromium, pages, problems):
    yield lab.opener(chromium, "merges", pages, problems)
    assert problems == []


ROW = """() => [...document.querySelectorAll('.bot-merges-row > .bot-merges-box')]
  .filter((b) => !b.hidden).map((b) => ({
    text: b.querySelector('bdi').textContent, id: b.querySelector('b')?.textContent || null,
    pair: b.classList.contains('is-pair'), fresh: b.classList.contains('is-new') }))"""


def row(page):
    return page.evaluate(ROW)


def go(page, s):
    page.evaluate(
        "(s) => { const i = document.querySelector('.bot-merges-player input'); i.value = s;"
        " i.dispatchEvent(new Event('input')); }",
        s,
    )


def read(page, hexes):
    """How bytes are shown: as text where they are text."""
    return page.evaluate("(all) => all.map((hex) => BOT.mergeLabel(hex)[0])", hexes)


def states(story):
    """The symbols after each number of merges, written."""
    parts, found = list(story.symbols), [list(story.symbols)]
    for merge in story.merges:
        parts[merge.at : merge.at + 2] = [merge.left + merge.right]
        found.append(list(parts))
    return found


@pytest.mark.parametrize("model", ["smollm2-135m", "qwen3-0.6b", "llama"])
@pytest.mark.parametrize("text", ["电", "人工智能", " strawberry", "Hello"])
def test_each_step_is_pythons_and_the_end_the_tokenizers(opened, model, text):
    known = cutter(model)
    [word] = known.cut(text).words
    story = known.story(word.written)
    decoder = vocabulary(model).decoder
    page = opened(text, model)
    for s, symbols in enumerate(states(story)):
        if story.merges:
            go(page, s)
        shown = row(page)
        if decoder.byte_level:
            assert [b["text"] for b in shown] == read(
                page, [decoder.to_bytes(x).hex() for x in symbols]
            )
        else:
            plain = [x[3:5].lower() if x.startswith("<0x") else x for x in symbols]
            assert [b["text"] for b in shown] == plain
        pair = [i for i, b in enumerate(shown) if b["pair"]]
        if s < len(story.merges):
            merge = story.merges[s]
            assert pair == [merge.at, merge.at + 1]
            assert f"no. {merge.rank + 1:,}:" in page.inner_text(".bot-merges-next")
        else:
            assert pair == []
            # what is left is what the tokenizer itself gives for the text
            ids = [p.id for p in vocabulary(model).encode(text)]
            assert [int(b["id"]) for b in shown] == ids == list(story.ids)
        if s:
            assert [i for i, b in enumerate(shown) if b["fresh"]] == [story.merges[s - 1].at]
            said = page.inner_text(".bot-merges-step")
            assert f"learnt as no. {story.merges[s - 1].rank + 1:,} of {known.merges:,}" in said


def test_the_tree_has_a_join_for_each_merge_and_the_ids_on_top(opened):
    story = cutter("qwen3-0.6b").story("äººå·¥æĻºèĥ½")
    page = opened("人工智能", "qwen3-0.6b")
    ranks = page.locator(".bot-merges-tree .bot-merges-rank").all_text_contents()
    assert sorted(ranks) == sorted(f"{m.rank + 1:,}" for m in story.merges)
    assert page.locator(".bot-merges-tree .bot-merges-node").count() == len(story.symbols) + len(
        ranks
    )
    assert page.locator(".bot-merges-tree .bot-merges-id").all_text_contents() == ["104455"]
    names = page.locator(".bot-merges-tree .bot-merges-name").all_text_contents()
    assert {"人", "工", "智", "能", "人工", "智能", "人工智能", "e4 ba"} <= set(names)
    # a join leads to the state that it made; what comes later is faint
    page.locator(
        ".bot-merges-node", has=page.locator("title", has_text="人工")
    ).first.dispatch_event("click")
    at = [m.left + m.right for m in story.merges].index("äººå·¥") + 1
    assert page.inner_text(".bot-merges-place") == f"{at} / {len(story.merges)}"
    assert page.locator(".bot-merges-node.is-there").count() == len(story.symbols) + at
    assert page.locator(".bot-merges-node.is-pair").count() == 2


def test_words_come_with_the_rule_that_cut_them(opened):
    text = "It's 20 程序员Left!\n"
    cut = cutter("qwen3-0.6b").cut(text)
    page = opened(text, "qwen3-0.6b")
    chips = page.locator(".bot-merges-word").all()
    shown = [
        page.evaluate("(t) => BOT.visibleText(t)", cut.normalised[w.start : w.end])
        for w in cut.words
    ]
    assert [c.locator("bdi").inner_text() for c in chips] == shown
    rules = page.locator(".bot-merges-rules li").all_inner_texts()
    for chip, word in zip(chips, cut.words, strict=True):
        number = int(chip.locator(".bot-merges-no").inner_text())
        assert word.rule.alternative.replace(" ", "␣") in rules[number - 1]
    assert EN["panel.merges.form.endings"] in rules[1] and EN["panel.merges.form.digit"] in rules[3]
    chips[1].click()
    settle(page)
    assert page.inner_text(".bot-merges-pattern mark") == cut.words[1].rule.alternative
    assert page.inner_text(".bot-merges-pattern") == cut.words[1].rule.pattern
    assert "step Split: " + EN["panel.merges.form.endings"] in page.inner_text(".bot-merges-rule")
    assert page.inner_text(".bot-merges-title") == "'s"
    chips[1].focus()
    page.keyboard.press("End")
    settle(page)
    assert page.inner_text(".bot-merges-title") == "!↵"
    assert chips[-1].get_attribute("aria-pressed") == "true"
    smol = opened("a 1 b")
    assert EN["panel.merges.step.Digits"] in smol.inner_text(".bot-merges-rules")


def test_with_a_space_and_without_are_laid_side_by_side(opened):
    page = opened("strawberry", "qwen3-0.6b")
    page.wait_for_selector(".bot-merges-twin:not([hidden])")
    chips = page.locator(".bot-merges-twinrow > .bot-chip")
    assert chips.all_inner_texts() == ["strawberry", "·strawberry"]
    found = page.locator(".bot-merges-found").all_inner_texts()
    assert [" ".join(f.split()) for f in found] == [
        "str 495 aw 672 berry 15357 3 tokens", "·strawberry 72600 1 token",
    ]  # fmt: skip
    chips.nth(1).click()
    settle(page)
    assert [(b["text"], b["id"]) for b in row(page)] == [("·strawberry", "72600")]
    assert chips.nth(1).get_attribute("aria-pressed") == "true"
    # where the vocabulary puts a space before every text, there is no other word
    assert opened("Hello", "llama").locator(".bot-merges-twin").is_hidden()


def test_the_table_the_keys_and_the_player_move_alike(opened):
    story = cutter("smollm2-135m").story("Ġstrawberry")
    page = opened(" strawberry")
    page.click(f"{STORY} .bot-fold summary")
    settle(page)
    rows = page.evaluate(
        "[...document.querySelectorAll('.bot-merges-bpe tbody tr')].map((r) =>"
        " [...r.cells].map((c) => c.textContent))"
    )
    assert [(r[1], r[2] + r[3]) for r in rows] == [
        (f"{m.rank + 1:,}", (m.left + m.right).replace("Ġ", "·")) for m in story.merges
    ]
    page.click(".bot-merges-bpe tbody tr >> nth=2")
    assert page.inner_text(".bot-merges-place") == "3 / 10"
    page.focus(".bot-merges-stage")
    for key, at in (("ArrowRight", 4), ("ArrowLeft", 3), ("End", 10), ("Home", 0)):
        page.keyboard.press(key)
        assert page.inner_text(".bot-merges-place") == f"{at} / 10"
    page.select_option(f"{STORY} .bot-speed", "fast")
    nodes = page.evaluate("document.querySelectorAll('#bot-panel-merges *').length")
    asked = page.evaluate("asked.length")
    page.keyboard.press("Space")
    page.wait_for_function("document.querySelector('.bot-merges-place').textContent === '2 / 10'")
    page.click(".bot-merges-play")  # pause
    at = page.inner_text(".bot-merges-place")
    page.wait_for_timeout(500)
    assert page.inner_text(".bot-merges-place") == at
    page.click(".bot-merges-last")
    page.click(f"{STORY} .bot-fold summary")
    # a step only shows and hides, and asks nothing
    assert page.evaluate("document.querySelectorAll('#bot-panel-merges *').length") == nodes
    assert page.evaluate("asked.length") == asked


def test_without_motion_nothing_is_animated(opened):
    page = opened("电", reduced_motion="reduce")
    page.click(".bot-merges-back")
    page.click(".bot-merges-forward")
    assert (
        page.evaluate("document.querySelector('.bot-merges-row').getAnimations({subtree: true})")
        == []
    )


def test_a_word_too_long_to_be_told_says_so(opened):
    page = opened("ab" * 400 + " c", "qwen3-0.6b")
    page.click(".bot-merges-word >> nth=0")
    settle(page)
    said = page.inner_text(f"{STORY} .bot-note-bad")
    assert said == EN["error.cutting_long"].replace("{n}", "800").replace("{limit}", "512")
    assert page.locator(".bot-merges-bpe").is_hidden()
    page.evaluate("BOT.setLang('zh')")
    settle(page)
    assert "800" in page.inner_text(f"{STORY} .bot-note-bad") != said
    page.click(".bot-merges-word >> nth=1")
    settle(page)
    assert page.locator(f"{STORY} .bot-note-bad").is_hidden()
    assert [b["text"] for b in row(page)] == ["·c"]


def unigram():
    core = Tokenizer(models.Unigram(PIECES, 0))
    core.pre_tokenizer, core.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    return Vocabulary(PreTrainedTokenizerFast(tokenizer_object=core, unk_token="<unk>"))


def served(cut, teller):
    """The server's answers for one text cut so."""

    def reply(request):
        if request["op"] == "lab":
            return lab.answer(request)
        if request["op"] == "cut":
            return {"state": "done", "result": views.cut_payload(cut)}
        story = teller(request["written"])
        raw = [piece.replace("▁", " ").encode() for piece in story.pieces]
        return {"state": "done", "result": views.story_payload(story, raw)}

    return reply


def test_a_unigram_model_shows_its_best_path_with_its_scores(chromium, problems):
    known = Cutter(unigram())
    cut = known.cut("hello")
    own = {}
    page = lab.opener(chromium, "merges", own, problems, served(cut, known.story))("hello", "gemma")
    items = [" ".join(t.split()) for t in page.locator(".bot-merges-path li").all_inner_texts()]
    assert items == ["▁he 5 −2.500", "l 3 −1.500", "lo 4 −1.200"]
    says = page.inner_text(".bot-merges-says")
    assert "−2.500 − 1.500 − 1.200 = −5.200" in says and "highest sum" in says
    assert EN["panel.merges.kind.unigram"] in page.inner_text(".bot-merges-counts")
    assert page.locator(".bot-merges-bpe").is_hidden()
    page.close()
    assert problems == []


def test_wordpiece_whole_words_and_inexact_cuts_are_said(chromium, problems):
    pieces = {"[UNK]": 0, "un": 1, "##aff": 2, "##able": 3}
    longest = Cutter(made(models.WordPiece(pieces, unk_token="[UNK]")))
    words = (Word(0, 9, "unaffable", None), Word(9, 12, "unx", None))
    cut = Cutting("unaffableunx", "unaffableunx", words, (1, 2, 3, 0), True, "wordpiece", 0)
    open_ = lab.opener(chromium, "merges", {}, problems, served(cut, longest.story))
    page = open_("unaffableunx")
    assert page.locator(".bot-merges-path bdi").all_inner_texts() == ["un", "##aff", "##able"]
    assert EN["panel.merges.wordpiece_on"] in page.inner_text(".bot-merges-says")
    page.click(".bot-merges-word >> nth=1")
    settle(page)
    assert page.locator(".bot-merges-path bdi").all_inner_texts() == ["[UNK]"]
    page.close()

    whole = Cutter(made(models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")], ignore_merges=True)))
    cut = Cutting("ab", "ab", (Word(0, 2, "ab", None),), (2,), True, "bpe", 1)
    page = lab.opener(chromium, "merges", {}, problems, served(cut, whole.story))("ab")
    assert EN["panel.merges.whole"] in page.inner_text(".bot-merges-says")
    page.close()

    cut = Cutting("ab", "ab", (Word(0, 2, "ab", None),), (0, 1), False, "bpe", 1)
    page = lab.opener(chromium, "merges", {}, problems, served(cut, whole.story))("ab")
    assert EN["panel.merges.inexact"] in page.inner_text("#bot-panel-merges")
    assert page.locator(".bot-merges-bpe").is_hidden()
    assert page.locator(".bot-merges-other").is_hidden()
    page.close()
    assert problems == []


def test_many_words_come_a_page_at_a_time(opened):
    text = "电子 a1 " * 2500
    cut = cutter("smollm2-135m").cut(text)
    page = opened(text)
    assert page.locator(".bot-merges-word").count() == 150
    assert f"of {len(cut.words):,}" in page.inner_text(".bot-merges-wordbox .bot-pager")
    page.focus(".bot-merges-word[aria-pressed=true]")
    page.keyboard.press("End")
    settle(page)
    [last] = page.locator(".bot-merges-word[aria-pressed=true]").all()
    assert int(last.get_attribute("data-w")) == len(cut.words) - 1
    assert page.evaluate("document.querySelectorAll('#bot-panel-merges *').length") < 1500


def test_evil_text_stays_text_and_the_language_can_change(opened):
    page = opened(EVIL, "qwen3-0.6b")
    assert page.locator("#bot-panel-merges :is(img, script)").count() == 0
    cut = cutter("qwen3-0.6b").cut(EVIL)
    assert "�" not in page.inner_text("#bot-panel-merges")
    shown = "".join(page.locator(".bot-merges-word bdi").all_inner_texts())
    assert shown == page.evaluate("(t) => BOT.visibleText(t)", cut.normalised)
    page.evaluate("BOT.setLang('zh')")
    settle(page)
    assert page.inner_text("#bot-title-merges") == ZH["panel.merges.title"]
    assert ZH["panel.merges.form.sign_letters"] in page.inner_text(".bot-merges-rules")
    assert "次合并" in page.inner_text(".bot-merges-stage") or "片段" in page.inner_text(
        ".bot-merges-stage"
    )
    assert json.dumps(EVIL)[1:12] in json.dumps(page.input_value("#bot-panel-merges textarea"))


def test_on_a_phone_and_without_a_text(opened):
    page = opened("人工智能 strawberry", width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.evaluate("BOT.lab.setText('')")
    settle(page)
    assert EN["ui.lab.empty"] in page.inner_text("#bot-panel-merges")
    assert page.locator(".bot-merges").is_hidden()
