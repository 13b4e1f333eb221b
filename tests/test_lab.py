"""Questions to the tokenizer laboratory: read with care, answered by jobs, kept, and to the byte
what the library says."""

from __future__ import annotations

import json
import threading

import jieba
import pytest
import regex
from tokenizers import models as kinds

from playground import template
from playground.cutting.languages import sentences
from playground.cutting.ledger import ledger
from playground.cutting.story import LONGEST
from playground.errors import PlaygroundError
from playground.forms import FORMS
from playground.tokenlab import (
    MOST_CHARACTERS,
    MOST_MERGES,
    MOST_MESSAGES,
    MOST_MODELS,
    OFFLINE,
    Tokenizer,
)
from playground.trace import Message
from playground.ui import wire
from playground.ui.desk import Desk
from playground.ui.inside import Inside
from playground.ui.lab import Lab
from playground.ui.looking import Looking
from playground.ui.recorded import Recorded
from playground.views import tokenlab as views
from playground.vocabularies import Tokenizers
from tests.fakes import FakeHost
from tests.test_cutting import made
from tests.test_tokenroom import QWEN, SMOL, at_hand, library
from tests.vocabularies import real

TEXT = "It's 程序员Left 电 e\u0301 👩\u200d👧"
CHAT = [{"role": "user", "content": "Hi? <|im_end|>"}]
ASKED = {
    "cut": {"model": SMOL, "text": TEXT}, "story": {"model": QWEN, "written": "strawberry"},
    "ledger": {"model": QWEN, "text": TEXT, "control": False},
    "ways": {"model": SMOL, "text": TEXT}, "compare": {"models": [SMOL, QWEN], "text": TEXT},
    "languages": {"models": [QWEN]}, "train": {"corpus": "low lower lowest", "merges": 4},
    "templates": {"model": QWEN, "messages": CHAT, "thinking": None, "control": False},
}  # fmt: skip


class Scene:
    """A desk whose host has no model, the two real tokenizers, and what calls it got."""

    def __init__(self, folder, *allowed: str, chars: int = 600) -> None:
        self.host = FakeHost(max_prompt_chars=chars)
        self.host.set(info=None, state="idle")
        self.host._tokenizers = Tokenizers(allowed, at_hand=at_hand)
        self.inside = Inside(Looking(Desk(self.host, Recorded(folder)), wait_s=0.05))
        self.calls: list[str] = []
        for name in ASKED:
            self.watch(name)

    def watch(self, name: str) -> None:
        work = getattr(self.host, name)

        def watched(*args, **more):
            self.calls.append(name)
            return work(*args, **more)

        setattr(self.host, name, watched)

    def ask(self, op: str, who: str = "me", **fields) -> dict:
        return self.inside.work({"op": op, "who": who, **fields})

    def get(self, op: str, who: str = "me", **fields) -> dict:
        for _ in range(1200):
            told = self.ask(op, who, **fields)
            if told["state"] == "done":
                return json.loads(wire.dump(told["result"]))
        raise AssertionError(told)


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    found = Scene(tmp_path_factory.mktemp("none"))
    yield found
    found.inside.close()


@pytest.fixture(autouse=True)
def forgotten(request):
    """No test sees what another one asked for."""
    if "scene" in request.fixturenames:
        scene = request.getfixturevalue("scene")
        scene.calls.clear()
        scene.inside.lab.answers._books.clear()


# ---- what is answered ----


def test_what_can_be_asked_for_is_told_at_once(scene, tmp_path):
    got = scene.ask("lab")["result"]
    assert got["tokenizers"] == [
        {"name": SMOL, "size": real(SMOL).size}, {"name": QWEN, "size": real(QWEN).size},
    ]  # fmt: skip
    assert "cl100k_base" in got["tiktoken"] and got["default"] == SMOL
    assert got["start"] == list(OFFLINE)


def test_a_cut_is_the_words_their_rules_and_the_librarys_ids(scene):
    got = scene.get("cut", **ASKED["cut"])
    assert got["text"] == got["normalised"] == TEXT and got["exact"]
    assert (got["kind"], got["merges"]) == ("bpe", 48_900)
    assert got["ids"] == library(SMOL, TEXT)
    pre = real(SMOL).tokenizer.backend_tokenizer.pre_tokenizer.pre_tokenize_str(TEXT)
    assert [(w[2], (w[0], w[1])) for w in got["words"]] == pre
    rules = {w[2]: got["rules"][w[3]] for w in got["words"]}
    assert rules["'s"]["alternative"] == "'s" and rules["'s"]["step"] == "ByteLevel"
    assert len(got["rules"]) == len({json.dumps(rule) for rule in got["rules"]})


def test_a_story_ends_in_the_pieces_of_the_tokenizer(scene):
    got = scene.get("story", **ASKED["story"])
    assert got["ids"] == library(QWEN, "strawberry") == [495, 672, 15357]
    assert [bytes.fromhex(h).decode() for h in got["hexes"]] == ["str", "aw", "berry"]
    parts = list(got["symbols"])
    learnt = json.loads(real(QWEN).tokenizer.backend_tokenizer.to_str())["model"]["merges"]
    for rank, at, left, right in got["merges"]:
        assert learnt[rank] == [left, right] == parts[at : at + 2]
        parts[at : at + 2] = [left + right]
    assert parts == got["pieces"]
    assert (got["whole"], got["scores"], got["unknown"]) == (False, None, [])


def test_the_story_of_another_kind_has_its_scores():
    pieces = [("<unk>", 0.0), ("▁", -2.0), ("he", -1.0), ("l", -1.5), ("lo", -1.2)]
    from playground.cutting.story import Cutter

    told = Cutter(made(kinds.Unigram(pieces, 0))).story("▁hello")
    got = views.story_payload(told, [b" ", b"he", b"l", b"lo"])
    assert got["scores"] == [-2.0, -1.0, -1.5, -1.2] and got["merges"] == []
    assert got["hexes"] == ["20", "6865", "6c", "6c6f"] and got["kind"] == "unigram"


@pytest.mark.parametrize("model", [SMOL, QWEN])
@pytest.mark.parametrize("control", [False, True])
def test_a_ledger_is_the_one_of_the_engine_column_by_column(scene, model, control):
    text = TEXT + "\x04<|im_end|>"
    got = scene.get("ledger", model=model, text=text, control=control)
    found = ledger(real(model), text, control=control)
    columns = {
        "ids": "id", "written": "written", "kinds": "kind", "before": "before",
        "missing": "missing", "stray": "stray",
    }  # fmt: skip
    for name, field in columns.items():
        assert got[name] == [getattr(piece, field) for piece in found.pieces], name
    assert [bytes.fromhex(h) for h in got["hexes"]] == [p.raw for p in found.pieces]
    assert got["spans"] == [[p.start, p.end] for p in found.pieces]
    assert got["first"] == list(found.first) and got["lost"] == list(found.lost)
    assert got["rewrites"] == [[r.start, r.end, r.into] for r in found.rewrites]
    assert (got["normalised"], got["joined"]) == (found.normalised, found.joined)
    if control:
        assert got["ids"] == library(model, text)


def test_four_ways_are_those_of_real_tools(scene):
    got = scene.get("ways", model=QWEN, text="人工智能和程序员 e\u0301👩\u200d👧")
    text = got["text"]
    words = [text[a:b] for a, b in got["words"]]
    assert words[:3] == jieba.lcut("人工智能和程序员")
    assert [text[a:b] for a, b in got["characters"]] == regex.findall(r"\X", text)
    assert [p[0] for p in got["pieces"]] == library(QWEN, text)
    assert got["n_bytes"] == len(text.encode())
    assert len(got["hexes"]) == len(got["pieces"])


def test_vocabularies_side_by_side(scene):
    got = scene.get("compare", **ASKED["compare"])
    assert [c["name"] for c in got["columns"]] == [SMOL, QWEN]
    for column in got["columns"]:
        assert column["ids"] == library(column["name"], TEXT)
        assert column["size"] == real(column["name"]).size and column["lost"] == ""
    smol = b"".join(map(bytes.fromhex, got["columns"][0]["hexes"]))
    assert smol == TEXT.encode() and got["n_bytes"] == len(smol)
    ends = [set(c["ends"]) for c in got["columns"]]
    assert set(got["shared"]) == ends[0] & ends[1]


def test_languages_and_training(scene):
    got = scene.get("languages", models=[QWEN, SMOL])
    assert got["models"] == [QWEN, SMOL] and "United Nations" in got["source"]
    assert [row["code"] for row in got["rows"]] == list(sentences())
    zh = next(row for row in got["rows"] if row["code"] == "zh")
    assert zh["counts"] == [len(library(m, zh["text"])) for m in (QWEN, SMOL)]
    assert (zh["n_characters"], zh["n_bytes"]) == (len(zh["text"]), len(zh["text"].encode()))
    got = scene.get("train", corpus="low lower lowest low", merges=2.0)
    assert got["merges"] == [["l", "o", 4, 16], ["lo", "w", 4, 12]]
    assert (got["alphabet"], got["start"], got["n_words"]) == (256, 20, 4)


def test_templates_travel_as_a_traces_tokens_do(scene):
    got = scene.get("templates", **ASKED["templates"])
    assert [form["name"] for form in got["forms"]] == ["own", *FORMS]
    own = template.chat(real(QWEN), [Message("user", CHAT[0]["content"])])
    assert got["forms"][0]["text"] == own.templated_text
    for sent, token in zip(got["forms"][0]["tokens"], own.tokens, strict=True):
        assert sent == {
            "id": token.id, "hex": token.raw.hex(), "start": token.start, "end": token.end,
            "special": token.special, "source": token.source,
        }  # fmt: skip
    assert got["forms"][0]["notes"] == [[k, dict(v)] for k, v in own.notes]
    assert all(form["error"] is None for form in got["forms"])


def test_a_template_that_refuses_says_so_in_both_languages(scene, monkeypatch):
    monkeypatch.setattr(real(QWEN).tokenizer, "chat_template", None)
    got = scene.get("templates", **ASKED["templates"])
    own, *others = got["forms"]
    assert set(own["error"]) == {"en", "zh"} and (own["text"], own["tokens"]) == ("", [])
    assert all(form["tokens"] for form in others)


# ---- how it is answered ----


def test_what_was_asked_once_is_kept_whoever_asks_and_however_it_is_spelled(scene):
    for op, fields in ASKED.items():
        first = scene.get(op, **fields)
        again = scene.get(op, "somebody", **dict(reversed(fields.items())), trace="x")
        assert first == again
    assert sorted(scene.calls) == sorted(ASKED)
    scene.get("ledger", **(ASKED["ledger"] | {"control": True}))
    assert scene.calls[-1] == "ledger" and len(scene.calls) == len(ASKED) + 1


def test_a_slow_answer_is_followed_shared_and_given_up(scene):
    go = threading.Event()
    work = scene.host.cut
    scene.host.cut = lambda *args: go.wait(5) and work(*args)
    try:
        told = scene.ask("cut", model=SMOL, text="slow one")
        assert told == {"state": "running", "stage": "cut", "fraction": None}
        # Another question is not held up.
        assert scene.get("story", **ASKED["story"])["ids"] == [495, 672, 15357]
        assert scene.ask("cut", "other", model=SMOL, text="slow one")["state"] == "running"
        request = {"op": "cut", "model": SMOL, "text": "slow one"}
        assert scene.inside.halt(request | {"who": "me"}) == {"halted": True}
        go.set()
        got = scene.get("cut", "other", model=SMOL, text="slow one")
        assert got["ids"] == library(SMOL, "slow one")
        assert scene.calls.count("cut") == 1
    finally:
        scene.host.cut = work


def test_an_error_of_the_work_is_told_and_the_next_try_is_a_new_one(scene):
    for _ in range(2):
        with pytest.raises(PlaygroundError, match=str(LONGEST)):
            scene.get("story", model=QWEN, written="ab" * (LONGEST // 2 + 1))
    assert scene.calls == ["story", "story"]


def test_a_long_text_goes_through_whole(tmp_path):
    scene = Scene(tmp_path, chars=32_768)
    text = ("\n".join(sentences().values()) * 20)[:32_768]
    got = scene.get("ledger", model=SMOL, text=text)
    assert got["ids"] == library(SMOL, text) and len(got["ids"]) > 20_000
    assert b"".join(map(bytes.fromhex, got["hexes"])) == text.encode()
    assert len(wire.dump(got)) < 4_000_000
    # It is kept, and nothing else had to go for it.
    scene.host.ledger = None
    assert scene.get("ledger", model=SMOL, text=text) == got
    assert len(scene.inside.looking.results._books) == 0
    scene.inside.close()


# ---- what is refused ----

BAD_TEXT = [None, 5, True, [], {}, ["a"]]


@pytest.mark.parametrize(("op", "name"), [
    ("cut", "text"), ("cut", "model"), ("story", "written"), ("story", "model"),
    ("ledger", "text"), ("ledger", "model"), ("ways", "text"), ("compare", "text"),
    ("train", "corpus"), ("templates", "model"),
])  # fmt: skip
def test_texts_are_texts(scene, op, name):
    for value in BAD_TEXT:
        with pytest.raises(PlaygroundError, match=f"{name} must be text"):
            scene.ask(op, **(ASKED[op] | {name: value}))
    without = {k: v for k, v in ASKED[op].items() if k != name}
    with pytest.raises(PlaygroundError, match=f"{name} must be text"):
        scene.ask(op, **without)
    assert scene.calls == []


@pytest.mark.parametrize("models", [
    None, "smollm2-135m", [], {}, [SMOL] * 2, [f"m{k}" for k in range(MOST_MODELS + 1)], 5,
])  # fmt: skip
@pytest.mark.parametrize("op", ["compare", "languages"])
def test_models_are_a_short_list(scene, op, models):
    with pytest.raises(PlaygroundError, match="each once"):
        scene.ask(op, **(ASKED[op] | {"models": models}))
    with pytest.raises(PlaygroundError, match="must be text"):
        scene.ask(op, **(ASKED[op] | {"models": [SMOL, None]}))
    assert scene.calls == []


@pytest.mark.parametrize("name", ["gpt2", "/etc/passwd", "../x", "", "Qwen/Qwen3-1.7B", "x" * 400])
def test_names_that_are_not_offered_are_not_read(scene, name):
    for op in ("cut", "story", "ledger", "ways", "templates"):
        with pytest.raises(PlaygroundError, match="not among the models"):
            scene.get(op, **(ASKED[op] | {"model": name}))
    for op in ("compare", "languages"):
        with pytest.raises(PlaygroundError, match="not among the models"):
            scene.get(op, **(ASKED[op] | {"models": [SMOL, name]}))


def test_sizes_have_limits(scene):
    for op, name in (("cut", "text"), ("story", "written"), ("ledger", "text"), ("ways", "text")):
        with pytest.raises(PlaygroundError, match="601 characters; up to 600"):
            scene.ask(op, **(ASKED[op] | {name: "x" * 601}))
    with pytest.raises(PlaygroundError, match="up to 600"):
        scene.ask("compare", models=[SMOL], text="x" * 601)
    with pytest.raises(PlaygroundError, match=str(MOST_CHARACTERS)):
        scene.ask("train", corpus="x" * (MOST_CHARACTERS + 1), merges=1)
    for merges in (-1, MOST_MERGES + 1, 1.5, "1", None, True, 10**30):
        with pytest.raises(PlaygroundError, match="whole number"):
            scene.ask("train", corpus="a", merges=merges)
    with pytest.raises(PlaygroundError, match="no text to learn"):
        scene.get("train", corpus=" \n", merges=3)
    many = CHAT * (MOST_MESSAGES + 1)
    for messages in (None, [], {}, "Hi", many):
        with pytest.raises(PlaygroundError, match=f"1 to {MOST_MESSAGES} turns"):
            scene.ask("templates", **(ASKED["templates"] | {"messages": messages}))
    with pytest.raises(PlaygroundError, match="up to 600"):
        long = [{"role": "user", "content": "x" * 301}] * 2
        scene.ask("templates", **(ASKED["templates"] | {"messages": long}))


@pytest.mark.parametrize("message", [
    None, "Hi", {}, {"role": "user"}, {"role": "user", "content": "a", "more": 1}, ["user", "a"],
])  # fmt: skip
def test_a_turn_has_a_role_and_a_content(scene, message):
    with pytest.raises(PlaygroundError, match="malformed"):
        scene.ask("templates", **(ASKED["templates"] | {"messages": [message]}))


@pytest.mark.parametrize(("op", "fields", "match"), [
    ("ledger", {"control": 1}, "control"), ("ledger", {"control": "yes"}, "control"),
    ("ledger", {"control": None}, "control"), ("templates", {"control": []}, "control"),
    ("templates", {"thinking": "off"}, "thinking"), ("templates", {"thinking": 0}, "thinking"),
    ("templates", {"messages": [{"role": 5, "content": "a"}]}, "role must be text"),
    ("templates", {"messages": [{"role": "user", "content": None}]}, "content must be text"),
    ("templates", {"messages": [{"role": "robot", "content": "a"}]}, "robot"),
    ("templates", {"messages": [{"role": "user", "content": " "}]}, "empty"),
])  # fmt: skip
def test_other_fields_are_what_they_must_be(scene, op, fields, match):
    with pytest.raises(PlaygroundError, match=match):
        scene.get(op, **(ASKED[op] | fields))


def test_where_a_tokenizer_lies_is_not_told(tmp_path):
    folder = tmp_path / "my-model"
    real(QWEN).tokenizer.save_pretrained(folder)
    scene = Scene(tmp_path, str(folder))
    got = scene.ask("lab")["result"]
    assert [t["name"] for t in got["tokenizers"]] == ["my-model", SMOL, QWEN]
    found = scene.get("compare", models=["my-model", QWEN], text="电")
    assert [c["name"] for c in found["columns"]] == ["my-model", QWEN]
    assert found["columns"][0]["ids"] == found["columns"][1]["ids"]
    assert scene.get("languages", models=["my-model"])["models"] == ["my-model"]
    broken = tmp_path / "broken"
    broken.mkdir()
    scene.host._tokenizers = Tokenizers((str(broken),))
    with pytest.raises(PlaygroundError) as caught:
        scene.get("cut", model="broken", text="a")
    assert str(tmp_path) not in json.dumps(wire.both(caught.value))
    scene.inside.close()


def test_the_payload_of_names_says_what_is_not_known():
    got = views.lab_payload([Tokenizer("a", None)], [], "a", ["a"])
    assert got == {
        "tokenizers": [{"name": "a", "size": None}], "tiktoken": [], "default": "a", "start": ["a"],
    }  # fmt: skip


def test_a_named_endpoint_gets_the_same_answers_at_once(scene):
    lab = Lab(scene.host)
    for op, fields in ASKED.items():
        assert json.loads(wire.dump(lab.errand(op, fields).work())) == scene.get(op, **fields)
    with pytest.raises(PlaygroundError, match="malformed"):
        lab.errand("explode", {})
    told = lab.cut_told(SMOL, TEXT + "a" * 300)
    assert [s["written"] for s in told["stories"]] == [w[2] for w in told["words"]]
    assert [i for s in told["stories"] for i in s["ids"]] == told["ids"]
    assert "stories" not in lab.cut_told(SMOL, "a", stories=False)
