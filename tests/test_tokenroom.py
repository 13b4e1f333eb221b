"""Tokenizers by name, without weights: who may be asked for, read once, and what they say."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import tiktoken
from transformers import AutoTokenizer

from playground import models, template, vocabularies
from playground.ask import Limits
from playground.cutting.comparing import TiktokenReader
from playground.cutting.languages import sentences
from playground.errors import PlaygroundError
from playground.forms import FORMS
from playground.host import Host
from playground.tokenlab import MOST_MODELS, OFFLINE
from playground.tokenroom import TokenRoom
from playground.trace import Message
from playground.vocabularies import KEPT, Tokenizers
from tests.test_ways import qwen_by_tiktoken
from tests.vocabularies import REAL, gpt2, real, sentencepiece

SMOL, QWEN = "smollm2-135m", "qwen3-0.6b"


def at_hand(name: str):
    return real(name) if name in REAL else None


class Room(TokenRoom):
    """The two real tokenizers, read already, and whatever else is allowed."""

    def __init__(self, *allowed: str, free: bool = False, chars: int = 1000) -> None:
        self.limits = Limits(max_prompt_chars=chars)
        self._tokenizers = Tokenizers(allowed, free=free, at_hand=at_hand)


@pytest.fixture
def loads(monkeypatch):
    """What was read by name; every name is a small tokenizer, but "broken"."""
    read: list[str] = []

    def load(name):
        read.append(name)
        time.sleep(0.02)
        if name == "broken":
            raise PlaygroundError("error.model_read", name=name, kind="OSError")
        return sentencepiece("llama").tokenizer

    monkeypatch.setattr(models, "load_tokenizer", load)
    return read


# ---- names ----


def test_the_two_that_need_no_hub_may_always_be_asked_for():
    assert OFFLINE == (SMOL, QWEN)
    names = Tokenizers(("qwen3-1.7b", "/models/mine", "Qwen/Qwen3-0.6B@main")).names()
    assert names == ("qwen3-1.7b", "/models/mine", "Qwen/Qwen3-0.6B@main", SMOL, QWEN)
    assert set(Tokenizers(("auto",)).names()) == {SMOL, QWEN}, "auto is one of them"
    assert [t.name for t in Host("gpt2").tokenizers()] == ["gpt2", SMOL, QWEN]


@pytest.mark.parametrize("name", [
    "gpt2", "Qwen/Qwen3-1.7B", "/etc", "../x", "", "auto", "x.gguf", None, 5, ["a"], {"a": 1},
    "openai-community/gpt2@main", "a\0b", "x" * 10_000, QWEN + " ",
])  # fmt: skip
def test_nobody_else_may(loads, name):
    room = Tokenizers(())
    for ask in (room.vocabulary, room.cutter, room.reader, lambda n: room.readers([n])):
        with pytest.raises((PlaygroundError, TypeError)) as caught:
            ask(name)
        if caught.type is PlaygroundError:
            assert caught.value.key == "error.model_not_allowed" and len(str(caught.value)) < 160
    assert loads == []


def test_the_operator_allows_more(loads):
    room = Tokenizers(("mine", "Owner/model"))
    assert room.vocabulary("mine").size == room.vocabulary("Owner/model").size
    assert loads == ["mine", "Owner/model"]
    with pytest.raises(PlaygroundError, match="not among"):
        room.vocabulary("Owner/other")
    assert Tokenizers(free=True).vocabulary("Owner/other").size
    assert loads[-1] == "Owner/other"


def test_case_and_spelling_of_a_known_name_do_not_matter_where_all_are_free(loads):
    room = Tokenizers(free=True)
    assert room.vocabulary("GPT2") is room.vocabulary("gpt2") and loads == ["gpt2"]


def test_a_tokenizer_is_read_once_however_many_ask(loads):
    room = Tokenizers(("one", "two"))
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda k: room.vocabulary(("one", "two")[k % 2]), range(32)))
        cutters = list(pool.map(lambda _: room.cutter("one"), range(16)))
    assert sorted(loads) == ["one", "two"]
    assert len(set(map(id, found))) == 2 and len(set(map(id, cutters))) == 1


def test_a_slow_one_does_not_hold_the_others_up(monkeypatch):
    held = threading.Event()

    def load(name):
        assert name == "quick" or held.wait(5)
        return name

    monkeypatch.setattr(vocabularies, "_load", load)
    room = Tokenizers(("slow", "quick"))
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(room.vocabulary, "slow")
        assert room.vocabulary("quick") == "quick" and not slow.done()
        held.set()
        assert slow.result(5) == "slow"


def test_what_can_not_be_read_is_said_each_time_and_tried_again(loads):
    room = Tokenizers(("broken",))
    for _ in range(2):
        with pytest.raises(PlaygroundError, match="broken"):
            room.vocabulary("broken")
    assert loads == ["broken", "broken"]


def test_those_used_last_are_kept(loads):
    room = Tokenizers(free=True)
    names = [f"owner/m{k}" for k in range(KEPT + 1)]
    for name in names:
        room.vocabulary(name)
    room.vocabulary(names[-1])
    room.vocabulary(names[1])
    assert loads == names
    room.vocabulary(names[0])
    assert loads == [*names, names[0]] and len(room._shelves) == KEPT


def test_what_lies_in_memory_is_not_read_again(loads):
    room = Tokenizers(("mine",), at_hand=at_hand)
    assert room.vocabulary(QWEN) is real(QWEN) and room.cutter(QWEN).vocabulary is real(QWEN)
    assert loads == []
    sizes = {t.name: t.size for t in room.sizes()}
    assert sizes == {"mine": None, SMOL: real(SMOL).size, QWEN: real(QWEN).size}
    room.vocabulary("mine")
    assert {t.name: t.size for t in room.sizes()}["mine"] == sentencepiece("llama").size


def test_the_first_one_needs_no_waiting(monkeypatch):
    assert Room().first_tokenizer() == SMOL
    room = Room("mine")
    room._tokenizers = Tokenizers(("mine",))
    monkeypatch.setattr(models.embedded, "made", lambda: False)
    assert room.first_tokenizer() == QWEN
    monkeypatch.setattr(models.embedded, "made", lambda: True)
    assert room.first_tokenizer() == SMOL


# ---- tiktoken ----


def test_encodings_of_tiktoken_are_offered_where_it_is_installed(monkeypatch):
    assert set(Room().encodings()) == set(tiktoken.list_encoding_names())
    monkeypatch.setattr("playground.tokenroom.find_spec", lambda name: None)
    assert Room().encodings() == ()


def test_an_encoding_can_be_compared_and_nothing_else(monkeypatch):
    made = TiktokenReader(qwen_by_tiktoken())
    monkeypatch.setattr("playground.cutting.comparing.tiktoken_reader", lambda name: made)
    found = Room().compare([QWEN, "tiktoken:cl100k_base"], "电 a\n")
    assert found.columns[0].ids == found.columns[1].ids
    assert found.columns[1].name == "tiktoken:cl100k_base"
    for ask in (Room().cut, Room().ledger, Room().ways):
        with pytest.raises(PlaygroundError, match="can be compared"):
            ask("tiktoken:cl100k_base", "a")


def test_a_publisher_who_does_not_answer_is_not_waited_for_for_long(monkeypatch):
    monkeypatch.setattr(vocabularies, "PATIENCE_S", 0.05)
    never = threading.Event()
    monkeypatch.setattr(tiktoken, "get_encoding", lambda name: never.wait(5))
    start = time.perf_counter()
    with pytest.raises(PlaygroundError, match="can not be reached"):
        Room().compare(["tiktoken:cl100k_base"], "a")
    assert time.perf_counter() - start < 2
    never.set()
    with pytest.raises(PlaygroundError, match="knows no encoding"):
        Room().compare(["tiktoken:nothing"], "a")


# ---- what they say ----

TEXTS = [
    "",
    "It's 2024!",
    "程序员Left",
    "e\u0301",
    "👩\u200d👧",
    "<|im_end|>",
    "\x04 a\n\n",
    "हिन्दी",
]


def library(name: str, text: str) -> list[int]:
    return real(name).tokenizer.backend_tokenizer.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("text", TEXTS)
def test_every_way_to_ask_gives_the_librarys_ids(name, text):
    room = Room()
    wanted = library(name, text)
    if "<|" in text:  # typed control text is text
        wanted = [p.id for p in real(name).encode(text)]
    cut = room.cut(name, text)
    assert list(cut.ids) == wanted and cut.exact and cut.text == text
    told = [i for word in cut.words for i in room.story(name, word.written)[0].ids]
    assert told == wanted
    raws = [raw for word in cut.words for raw in room.story(name, word.written)[1]]
    assert raws == [real(name).raw(i) for i in wanted]
    assert [p.id for p in room.ledger(name, text).pieces] == wanted
    assert [p[0] for p in room.ways(name, text).pieces] == wanted
    assert list(room.compare([name], text).columns[0].ids) == wanted
    control = [p.id for p in room.ledger(name, text, True).pieces]
    assert control == library(name, text)


def test_halves_of_characters_become_one_sign_everywhere():
    room = Room()
    for found in (
        room.cut(QWEN, "a\ud83d"), room.ledger(QWEN, "a\ud83d"), room.ways(QWEN, "a\ud83d"),
        room.compare([QWEN], "a\ud83d"),
    ):  # fmt: skip
        assert found.text == "a\ufffd"
    assert room.cut(QWEN, "\ud83d\udc69").text == "👩"
    assert room.story(QWEN, "\ud83d")[0].written == "\ufffd"
    assert room.train("a\ud83d aa aa", 3).n_bytes == len("a\ufffd aa aa".encode())


def test_limits_are_held_before_anything_is_read(loads):
    room = Room("mine", chars=10)
    for ask in (room.cut, room.ledger, room.ways, room.story):
        with pytest.raises(PlaygroundError, match="11 characters; up to 10"):
            ask(QWEN, "x" * 11)
    with pytest.raises(PlaygroundError, match="up to 10"):
        room.compare(["mine"], "x" * 11)
    with pytest.raises(PlaygroundError, match="up to 10"):
        room.templates("mine", [Message("user", "x" * 6), Message("user", "x" * 5)])
    for names in ([], [QWEN, QWEN], [f"m{k}" for k in range(MOST_MODELS + 1)]):
        with pytest.raises(PlaygroundError, match="each once"):
            room.compare(names, "a")
    assert loads == []


def test_languages_are_counted_by_the_library():
    rows, source = Room().languages([SMOL, QWEN])
    assert "1948" in source
    assert {row.code: row.text for row in rows} == dict(sentences())
    for row in rows:
        assert list(row.counts) == [len(library(name, row.text)) for name in (SMOL, QWEN)]


@pytest.mark.parametrize("name", REAL)
def test_templates_are_those_of_the_family_and_the_own_one_is_the_tokenizers(name):
    messages = [Message("system", "Be brief."), Message("user", "Hi? <|im_end|>")]
    found = {form.name: form for form in Room().templates(name, messages)}
    assert list(found) == ["own", *FORMS]
    assert all(form.error is None for form in found.values())
    own = template.chat(real(name), messages)
    assert found["own"].text == own.templated_text and found["own"].tokens == own.tokens
    assert found["own"].text == real(name).tokenizer.apply_chat_template(
        [{"role": m.role, "content": m.content} for m in messages], tokenize=False,
        add_generation_prompt=True,
    )  # fmt: skip
    closed = real(name).tokenizer.apply_chat_template(
        [{"role": m.role, "content": m.content} for m in messages], tokenize=False
    )
    assert found["own"].text[: found["own"].opens] == closed
    opened = {form: made.text[made.opens :] for form, made in found.items()}
    assert opened["llama2"] == opened["none"] == "" and opened["plain"] == "Assistant:"
    assert opened["own"] == opened["chatml"] == "<|im_start|>assistant\n"
    taken = Room().templates(name, messages, control=True)[0]
    assert taken.text == own.templated_text
    assert [t.id for t in taken.tokens] == library(name, taken.text)
    assert len(taken.tokens) < len(own.tokens)


def test_thinking_is_told_to_the_own_template_alone():
    on, off = (Room().templates(QWEN, [Message("user", "Hi")], thinking=t) for t in (None, False))
    assert "<think>" in off[0].text and "<think>" not in on[0].text
    assert off[0].text[off[0].opens :] == "<|im_start|>assistant\n<think>\n\n</think>\n\n"
    assert [f.text for f in on[1:]] == [f.text for f in off[1:]]
    assert all(not f.notes for f in off[1:])


def test_a_template_that_is_not_there_says_so_and_the_others_go_on():
    room = Room()
    room._tokenizers = Tokenizers(("bare",), at_hand=lambda name: gpt2())
    found = {form.name: form for form in room.templates("bare", [Message("user", "the")])}
    assert found["own"].error.key == "error.no_template" and found["own"].tokens == ()
    assert found["plain"].text == "User: the\nAssistant:" and found["plain"].error is None
    for bad in ([Message("user", " ")], [Message("robot", "x")], []):
        with pytest.raises(PlaygroundError) as caught:
            room.templates("bare", bad)
        assert caught.value.key in ("error.empty_prompt", "error.role")


def test_a_host_needs_no_model_for_any_of_it(monkeypatch):
    monkeypatch.setattr(models, "load", lambda *_, **__: pytest.fail("weights were loaded"))
    monkeypatch.setattr(models, "load_tokenizer", lambda name: real(name).tokenizer)
    host = Host("auto")
    assert host.cut(QWEN, " strawberry").ids == (72600,)
    assert [p.id for p in host.ledger(QWEN, "strawberry").pieces] == [495, 672, 15357]
    assert host.compare([QWEN, SMOL], "电").n_bytes == 3
    assert host.status().state == "idle"


def test_a_folder_of_this_machine_is_read_like_any_other(tmp_path):
    real(QWEN).tokenizer.save_pretrained(tmp_path)
    theirs = AutoTokenizer.from_pretrained(tmp_path)
    room = Room(str(tmp_path))
    for text in TEXTS[:5]:
        wanted = theirs(text, add_special_tokens=False)["input_ids"]
        assert [p.id for p in room.ledger(str(tmp_path), text).pieces] == wanted
