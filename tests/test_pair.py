"""Two prompts side by side: against references made apart, through files, and over the wire."""

from __future__ import annotations

import copy
import dataclasses
import gzip
import json
import random
from functools import cache

import numpy as np
import pytest
import torch

from playground import examples, forms, pairing, template
from playground.ask import Ask
from playground.errors import PlaygroundError
from playground.forms import FORMS
from playground.host import Host
from playground.inspection import Stopped
from playground.inspection.experiment import Contrast
from playground.inspection.pair import Pair, differing, form_of, prompt_ids
from playground.store import pair as store
from playground.trace import Message, SamplingParams, same
from playground.ui.desk import Desk
from playground.ui.inside import Inside
from playground.ui.looking import Looking
from playground.ui.recorded import Recorded
from playground.views.pair import asked, pair_payload, whole
from tests import fakes, looking, tiny

A, B = "Is the colour of an apple other?", "Is the shape of an apple other?"
FAMILIES = ("llama", "qwen3", "gemma2", "gemma3", "gpt2", "gpt_neox", "phi3", "mistral", "olmo2")


def prompt(engine, text):
    return template.raw(engine.vocabulary, text)


@cache
def made(family: str, a: str = A, b: str = B) -> Pair:
    engine = looking.engine(family)
    return engine.pair(prompt(engine, a), prompt(engine, b), 5)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def check(pair: Pair, references, head, tolerance: float) -> None:
    """Every number of `pair` from hidden states, attention weights and logits that others made;
    head(h [N, D], last) gives the scores of a place in the stream."""
    ends = [len(side.trace.prompt) - 1 for side in (pair.a, pair.b)]
    x, y = (np.array([h[end] for h in r.hidden]) for r, end in zip(references, ends, strict=True))
    norms = np.linalg.norm(x, axis=1), np.linalg.norm(y, axis=1)
    np.testing.assert_allclose(
        pair.contrast.cosine, (x * y).sum(1) / norms[0] / norms[1], atol=tolerance
    )
    np.testing.assert_allclose(
        pair.contrast.distance, np.linalg.norm(x - y, axis=1) / ((norms[0] + norms[1]) / 2),
        rtol=1e-3, atol=10 * tolerance,
    )  # fmt: skip
    following = []
    for side, reference, end in zip((pair.a, pair.b), references, ends, strict=True):
        reads = np.array([w[:, end, side.differ].sum(1) for w in reference.attentions])
        np.testing.assert_allclose(side.reads, reads, atol=10 * tolerance)
        assert side.layers.tolist() == list(range(len(reference.hidden)))
        for row, hidden in enumerate(reference.hidden):
            p = softmax(head(hidden[end : end + 1], row == len(reference.hidden) - 1))[0]
            np.testing.assert_allclose(side.probs[row], p[side.ids[row]], atol=20 * tolerance)
            np.testing.assert_allclose(side.probs[row], np.sort(p)[::-1][:5], atol=20 * tolerance)
            bits = -(p * np.log2(np.maximum(p, 1e-300))).sum()
            assert side.entropy_bits[row] == pytest.approx(bits, abs=1e-2 if bits > 8 else 2e-3)
        following.append(softmax(reference.logits[end]))
    for p, listed, ranks in zip(following, (pair.next.a, pair.next.b),
                                (pair.next.rank_a, pair.next.rank_b), strict=True):  # fmt: skip
        np.testing.assert_allclose(listed, p[pair.next.ids], atol=20 * tolerance)
        near = [(p > p[i] + 1e-6).sum() < r <= 1 + (p > p[i] - 1e-6).sum()
                for i, r in zip(pair.next.ids, ranks, strict=True)]  # fmt: skip
        assert all(near)
        assert set(np.argsort(-p)[:10]) <= set(pair.next.ids.tolist())
    larger = np.maximum(pair.next.a, pair.next.b)
    assert (np.diff(larger) <= 0).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_every_number_is_that_of_a_reference_made_apart(family):
    engine, pair = looking.engine(family), made(family)
    model = looking.twin(engine.model)
    references = [looking.refer(model, looking.fed(s.trace), family) for s in (pair.a, pair.b)]
    parts, cap = references[0].parts, getattr(model.config, "final_logit_softcapping", None)

    def head(hidden, last):
        scores = looking.run(parts.head, looking.run(parts.final_norm, hidden))
        return cap * np.tanh(scores / cap) if cap else scores

    check(pair, references, head, 2e-5)
    for side, text in ((pair.a, A), (pair.b, B)):
        run = engine.generate(prompt(engine, text), SamplingParams(), 5)
        list(run)
        alone = run.trace()
        assert side.trace.ids == alone.ids and side.trace.text == alone.text
        assert side.trace.raw_prompt == text and side.trace.params.greedy
        first = dict(zip(alone.steps[0].candidates.ids.tolist(),
                         alone.steps[0].candidates.probs[0].tolist(), strict=True))  # fmt: skip
        listed = pair.next.a if side is pair.a else pair.next.b
        both = [(first[i], p) for i, p in zip(pair.next.ids.tolist(), listed, strict=True)
                if i in first]  # fmt: skip
        assert len(both) >= 16
        np.testing.assert_allclose(*zip(*both, strict=True), atol=1e-6)


def test_the_real_model_says_the_same_as_the_library(smollm):
    texts = ("The most common color of an apple is", "The most common shape of an apple is")
    pair = smollm.pair(*(prompt(smollm, text) for text in texts), max_tokens=3)
    model = looking.twin(smollm.model)
    references = [looking.refer(model, looking.fed(s.trace), "llama") for s in (pair.a, pair.b)]
    norm, table = model.model.norm, model.lm_head.weight.double().numpy()

    def head(hidden, last):
        return looking.run(norm, hidden) @ table.T

    check(pair, references, head, 2e-6)
    # The attention that reads the word, and where the streams part: the lesson of the panel.
    assert pair.parts_at == 22 and [t.text for t in pair.a.trace.prompt][3] == " color"
    assert pair.a.differ.tolist() == pair.b.differ.tolist() == [3]
    assert np.unravel_index(pair.a.reads.argmax(), pair.a.reads.shape) == (21, 7)
    assert pair.pieces[int(pair.next.ids[0])] == b" red"
    recorded, intact = store.load(examples.pair_path(examples.FOLDER, "apple-en"))
    assert intact and recorded.parts_at == 22
    np.testing.assert_allclose(recorded.contrast.cosine, pair.contrast.cosine, atol=1e-5)
    np.testing.assert_allclose(recorded.a.reads, pair.a.reads, atol=1e-4)
    np.testing.assert_allclose(recorded.next.b, pair.next.b, atol=1e-4)


def test_what_differs_is_what_is_left_between_beginning_and_end():
    rng = random.Random(7)
    for _ in range(3000):
        a, b = ([rng.randint(0, 2) for _ in range(rng.randint(1, 7))] for _ in range(2))
        in_a, in_b = (list(map(int, x)) for x in differing(a, b))
        rest = [[t for k, t in enumerate(ids) if k not in at]
                for ids, at in ((a, in_a), (b, in_b))]  # fmt: skip
        assert rest[0] == rest[1]
        for ids, at in ((a, in_a), (b, in_b)):
            assert at == list(range(at[0], at[0] + len(at))) if at else True
            assert all(0 <= k < len(ids) for k in at)
        if in_a and in_b:  # neither end could be taken off as well
            assert a[in_a[0]] != b[in_b[0]] and a[in_a[-1]] != b[in_b[-1]]
        assert (not in_a and not in_b) == (a == b)


def test_a_prompt_that_only_lacks_something_reads_nothing_of_its_own():
    pair = made("llama", "Is an apple other?", "Is an old apple other?")
    assert len(pair.a.differ) == 0 and pair.a.reads is None
    assert len(pair.b.differ) > 0 and pair.b.reads.shape == (3, 6)
    assert same(store.loads(store.dumps(pair)).pair.b.reads, pair.b.reads)


def test_they_part_where_the_gap_rises_most():
    pair = made("llama")

    def at(*cosine):
        contrast = Contrast(np.array(cosine), np.ones(len(cosine)))
        return dataclasses.replace(pair, contrast=contrast).parts_at

    assert at(1, 0.9, 0.5, 0.45) == 1
    assert at(0.1, 0.2, 0.15, 0.1) in (1, 2)
    assert at(0.5, 0.4, 0.4, 0.2) == 2
    assert at(0.2, 0.4, 0.6, 0.6) is None
    with pytest.raises(ValueError, match="axis L"):
        at(1, 0.5)


def test_what_can_not_be_seen_is_said_and_the_rest_is_there():
    pair = made(tiny.UNKNOWN)
    assert {m.part for m in pair.missing} >= {"writes"}
    assert np.isfinite(pair.contrast.cosine).all() and pair.a.probs[-1].sum() > 0
    assert same(store.loads(store.dumps(pair)).pair.missing, pair.missing)


def test_equal_and_endless_prompts_are_refused():
    engine = looking.engine("llama")
    with pytest.raises(PlaygroundError, match="same tokens"):
        engine.pair(prompt(engine, A), prompt(engine, A))
    with pytest.raises(PlaygroundError, match="do not fit"):
        engine.pair(prompt(engine, A), prompt(engine, "a " * 90), 5)
    long = prompt(engine, "x" * (pairing.MAX_PROMPT + 1))
    with pytest.raises(PlaygroundError, match=f"at most {pairing.MAX_PROMPT}"):
        engine.pair(prompt(engine, A), long)


def test_progress_only_grows_and_stop_works_anywhere():
    engine = looking.engine("llama")
    told: list[tuple[str, float]] = []
    engine.pair(prompt(engine, A), prompt(engine, B), 4, on_progress=lambda *x: told.append(x))
    shares = [share for _, share in told]
    assert shares == sorted(shares) and shares[0] == 0 and shares[-1] == pytest.approx(1)
    assert {stage for stage, _ in told} == {"prefill", "decode", "forward", "lens"}
    for n in range(0, len(told), 3):
        asked = iter([False] * n)
        with pytest.raises(Stopped):
            engine.pair(
                prompt(engine, A), prompt(engine, B), 4,
                should_stop=lambda asked=asked: next(asked, True),
            )  # fmt: skip
    again = engine.pair(prompt(engine, A), prompt(engine, B), 5)
    assert same(again.contrast, made("llama").contrast)
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in engine.model.modules())


# ---- files ----


@pytest.mark.parametrize("family", ["llama", "gemma2", "gpt2", tiny.UNKNOWN])
def test_a_file_gives_the_pair_back_to_the_bit(family, tmp_path):
    pair = made(family)
    path = tmp_path / "x.pair.json.gz"
    store.save(pair, path)
    found, intact = store.load(path)
    assert intact and store.dumps(found) == store.dumps(pair)
    assert gzip.decompress(path.read_bytes()) == store.dumps(pair)
    for name in ("contrast", "next", "missing", "special"):
        assert same(getattr(found, name), getattr(pair, name))
    assert dict(found.pieces) == dict(pair.pieces)
    for ours, theirs in ((found.a, pair.a), (found.b, pair.b)):
        assert all(same(getattr(ours, n), getattr(theirs, n)) for n in pair.a.AXES)
        assert ours.trace.ids == theirs.trace.ids and same(ours.trace.steps, theirs.trace.steps)


def content():
    return json.loads(store.dumps(made("llama")))


def refused(value) -> str:
    with pytest.raises(PlaygroundError) as caught:
        store.loads(json.dumps(value).encode())
    assert all(caught.value.say(lang) for lang in ("en", "zh"))
    return str(caught.value)


def test_damage_is_told_by_the_checksum():
    value = content()
    value["pieces"] = dict(reversed(value["pieces"].items()))
    assert store.loads(json.dumps(value, indent=1).encode()).intact
    value["a"]["trace"]["steps"][0]["timing"]["forward_ms"] += 1
    found, intact = store.loads(json.dumps(value).encode())
    assert not intact and found.a.trace.ids


def other_model(v):
    v["b"]["trace"]["model"]["n_layers"] += 1


def same_prompt(v):
    v["b"] = copy.deepcopy(v["a"])


def nothing_answered(v):
    v["a"]["trace"]["steps"], v["a"]["trace"]["ids"] = [], []


def twice(v):
    v["next"]["ids"] = {"t": "i4", "s": [2], "b": "AQAAAAEAAAA="}


def piece_lies(v):
    v["pieces"][str(v["a"]["trace"]["prompt"][0]["id"])] = "ff"


def not_special(v):
    v["special"] = [v["a"]["trace"]["prompt"][0]["id"]]


def piece_lacks(v):
    del v["pieces"][str(v["a"]["trace"]["prompt"][0]["id"])]


def wrong_end(v):
    v["a"]["layers"] = v["b"]["layers"] = {"t": "i4", "s": [4], "b": "AAAAAAEAAAACAAAAAgAAAA=="}


def transposed(v):
    v["a"]["reads"]["s"].reverse()


def past_one(v):
    v["a"]["probs"]["b"] = "AAAAQA" + v["a"]["probs"]["b"][6:]


@pytest.mark.parametrize("harm", [
    other_model, same_prompt, nothing_answered, twice, piece_lies, not_special, piece_lacks,
    wrong_end, transposed, past_one,
], ids=lambda f: f.__name__)  # fmt: skip
def test_a_file_that_contradicts_itself_is_refused(harm):
    value = content()
    harm(value)
    assert refused(value)


def leaves(value, path=()):
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield (*path, key)
        if isinstance(item, (dict, list)):
            yield from leaves(item, (*path, key))


def test_no_change_of_any_value_does_more_than_a_sentence():
    whole = content()
    whole["a"]["trace"]["steps"] = whole["a"]["trace"]["steps"][:1]
    whole["a"]["trace"]["ids"] = whole["a"]["trace"]["ids"][:1]
    rng = random.Random(3)
    places = [p for p in leaves(whole) if "candidates" not in p]
    arrays = [([1], "AAAAAA=="), ([10**9, 10**9], ""), ([-1], "AA")]
    odd = [None, -1, 1e300, "x", "", [], {}, True, [[[[]]]]]
    odd += [{"t": "f4", "s": shape, "b": data} for shape, data in arrays]
    for place in rng.sample(places, 250):
        value = copy.deepcopy(whole)
        at = value
        for key in place[:-1]:
            at = at[key]
        if rng.random() < 0.2 and isinstance(at, dict):
            del at[place[-1]]
        else:
            at[place[-1]] = rng.choice(odd)
        try:
            found, intact = store.loads(json.dumps(value).encode())
        except PlaygroundError:
            continue
        assert not intact or store.dumps(found)


def test_the_recorded_pairs_are_whole_small_and_of_the_real_model():
    recorded = Recorded(examples.FOLDER)
    assert {name for name, _, _ in recorded.pairs} == {e.name for e in examples.PAIRS}
    for example in examples.PAIRS:
        path = examples.pair_path(examples.FOLDER, example.name)
        pair, intact = store.load(path)
        assert intact and path.stat().st_size <= 2_000_000
        assert (asked(pair.a.trace), asked(pair.b.trace)) == (example.a, example.b)
        assert pair.model.n_params == 134_515_008 and pair.missing == ()
        assert pair.a.reads.shape == pair.b.reads.shape == (30, 9)
        assert 1 <= len(pair.a.trace.steps) <= example.max_tokens and pair.parts_at is not None


def test_a_file_that_can_not_be_read_is_left_out(tmp_path, caplog):
    (tmp_path / "bad.pair.json.gz").write_bytes(b"no")
    store.save(made("llama"), tmp_path / "good.pair.json.gz")
    recorded = Recorded(tmp_path)
    assert [name for name, _, _ in recorded.pairs] == ["good"]
    assert "bad.pair.json.gz" in caplog.text
    for name in ("../good", "none", None, 3):
        with pytest.raises(PlaygroundError):
            recorded.pair(name)


# ---- over the wire ----


class Real(fakes.FakeHost):
    """A scripted host whose comparisons are a tiny model's."""

    asked = 0

    def pair(self, a, b, on_progress=None, should_stop=None):
        self.asked += 1
        engine = looking.engine("llama")
        return engine.pair(prompt(engine, a.prompt), prompt(engine, b.prompt), a.max_tokens,
                           on_progress=on_progress, should_stop=should_stop)  # fmt: skip


@pytest.fixture
def inside(tmp_path):
    store.save(made("llama"), tmp_path / "apple.pair.json.gz")
    host = Real()
    host.set(info=looking.engine("llama").info)
    made_ = Inside(Looking(Desk(host, Recorded(tmp_path)), wait_s=30))
    yield made_
    made_.close()


def ask(inside, **fields):
    return inside.work({"op": "pair", "who": "me", **fields})


def test_a_recorded_pair_needs_no_model(inside):
    host = inside.looking.desk.host
    host.set(info=None, state="loading")
    named = ask(inside, name="apple")
    assert named["state"] == "done" and named["result"]["recorded"]
    assert named["result"] == pair_payload(made("llama"), recorded=True)
    typed = ask(inside, a={"prompt": A}, b={"prompt": B}, mode="raw")
    assert typed == named and host.asked == 0
    with pytest.raises(PlaygroundError, match="still loading"):
        ask(inside, a={"prompt": A}, b={"prompt": "Another"}, mode="raw")
    json.dumps(named, allow_nan=False)


def test_another_pair_is_made_once_and_kept(inside):
    host = inside.looking.desk.host
    for _ in range(2):
        found = ask(inside, a={"prompt": A}, b={"prompt": "Another thing"}, mode="raw")
    assert host.asked == 1 and found["state"] == "done"
    assert not found["result"]["recorded"] and found["result"]["b"]["asked"] == "Another thing"
    assert len(found["result"]["a"]["answer"]) <= 8
    # The recorded prompts, but as a chat: another question.
    ask(inside, a={"prompt": A}, b={"prompt": B}, mode="chat")
    assert host.asked == 2
    other = dataclasses.replace(looking.engine("llama").info, name="other", source="tuned")
    host.set(info=other)
    with pytest.raises(PlaygroundError, match="Load other"):  # it was switched meanwhile
        ask(inside, a={"prompt": A}, b={"prompt": "Another thing"}, mode="raw")


@pytest.mark.parametrize("fields", [
    {"a": {"prompt": A}, "mode": "raw"}, {"a": A, "b": B, "mode": "raw"},
    {"a": {"prompt": A, "x": 1}, "b": {"prompt": B}, "mode": "raw"},
    {"a": {"prompt": 3}, "b": {"prompt": B}, "mode": "raw"},
    {"a": {"prompt": A}, "b": {"prompt": B}, "mode": "song"},
    {"a": {"prompt": A}, "b": {"prompt": B}}, {"name": "../apple"}, {"name": None}, {},
    {"a": {"prompt": ""}, "b": {"prompt": B}, "mode": "raw"},
    {"a": {"prompt": A}, "b": {"prompt": "x" * 40_000}, "mode": "raw"},
])  # fmt: skip
def test_requests_of_a_wrong_form_are_refused(inside, fields):
    with pytest.raises(PlaygroundError) as caught:
        ask(inside, **fields)
    assert caught.value.say("zh") and inside.looking.desk.host.asked == 0


def test_the_real_host_compares_as_asked():
    host = Host("llama")
    host._engine = looking.engine("llama")
    raw = host.pair(Ask(A, chat=False, max_tokens=5), Ask(B, chat=False, max_tokens=5))
    assert same(raw.contrast, made("llama").contrast)
    chat = host.pair(Ask("colour", max_tokens=2), Ask("shape", max_tokens=2))
    assert chat.a.trace.messages is not None and len(chat.a.trace.steps) <= 2
    assert 0 < chat.a.differ[0] < chat.a.differ[-1] < len(prompt_ids(chat.a.trace)) - 1
    with pytest.raises(PlaygroundError, match="limit is"):
        host.pair(Ask("x" * 40_000), Ask("y"))


# ---- one question in two templates ----


def put(form: str | None, text: str = "Is it open?", system: str = "") -> dict:
    return {"prompt": text, "form": form, "system": system}


class Forms(Real):
    """As `Real`, with chats in templates."""

    def pair(self, a, b, on_progress=None, should_stop=None):
        self.asked += 1
        host = Host("llama")
        host._engine = looking.engine("llama")
        return host.pair(a, b, on_progress, should_stop)


@pytest.fixture
def formed(tmp_path):
    chat = [Message("user", "Is it open?")]
    engine = looking.engine("llama")
    recorded = engine.pair(
        template.chat(engine.vocabulary, chat), forms.chat(engine.vocabulary, chat, "plain"), 6
    )
    store.save(recorded, tmp_path / "template.pair.json.gz")
    host = Forms()
    host.set(info=engine.info)
    made_ = Inside(Looking(Desk(host, Recorded(tmp_path)), wait_s=30))
    yield made_
    made_.close()


def test_a_question_is_put_into_the_templates_that_are_named(formed):
    host = formed.looking.desk.host
    got = ask(formed, a=put(None), b=put("llama3"), mode="chat")["result"]
    assert host.asked == 1 and not got["recorded"]
    assert (got["a"]["form"], got["b"]["form"]) == (None, "llama3")
    vocabulary, chat = looking.engine("llama").vocabulary, [Message("user", "Is it open?")]
    for side, form in (("a", None), ("b", FORMS["llama3"])):
        wanted = template.chat(vocabulary, chat, form=form)
        assert [t["id"] for t in got[side]["prompt"]] == [t.id for t in wanted.tokens]
        assert [t["source"] for t in got[side]["prompt"]] == [t.source for t in wanted.tokens]
    got = ask(formed, a=put(None, system="Be brief."), b=put("plain", system="Be brief."),
              mode="chat")["result"]  # fmt: skip
    assert got["a"]["system"] == got["b"]["system"] == "Be brief." and not got["recorded"]
    assert 8 < len(got["b"]["answer"]) <= 24 or got["b"]["finish"] == "eos"


def test_what_was_recorded_in_a_template_stands_for_that_template_alone(formed):
    host = formed.looking.desk.host
    host.set(info=None, state="loading")
    named = ask(formed, name="template")["result"]
    assert named["recorded"] and (named["a"]["form"], named["b"]["form"]) == (None, "plain")
    assert ask(formed, a=put(None), b=put("plain"), mode="chat")["result"] == named
    others = [
        (put(None), put("none")), (put("plain"), put(None)), (put(None, system="x"), put("plain")),
        ({"prompt": "Is it open?"}, {"prompt": "Is it open?"}),
        (put(None, "Hi"), put("plain", "Hi")),
    ]  # fmt: skip
    for a, b in others:
        with pytest.raises(PlaygroundError, match="still loading"):
            ask(formed, a=a, b=b, mode="chat")
    assert host.asked == 0


@pytest.mark.parametrize(("a", "b", "mode"), [
    (put(None), put("own"), "chat"), (put(None), put("../x"), "chat"), (put(None), put(5), "chat"),
    (put(None), put(["plain"]), "chat"), (put(None), put("plain"), "raw"),
    (put(None), put("plain") | {"more": 1}, "chat"), (put(None), put("plain", system=5), "chat"),
    (put(None), {"form": "plain"}, "chat"), ({"prompt": "a", "system": "b"}, put(None), "raw"),
])  # fmt: skip
def test_templates_that_are_not_known_are_refused(formed, a, b, mode):
    with pytest.raises(PlaygroundError) as caught:
        ask(formed, a=a, b=b, mode=mode)
    assert caught.value.say("zh") and formed.looking.desk.host.asked == 0


def test_the_recorded_question_is_the_models_own_template_against_plain_text():
    pair, intact = store.load(examples.pair_path(examples.FOLDER, "template"))
    assert intact and form_of(pair.a.trace) is None and form_of(pair.b.trace) == "plain"
    assert pair.b.trace.templated_text == "User: Is OpenAI open?\nAssistant:"
    assert pair.a.trace.messages == pair.b.trace.messages == (Message("user", "Is OpenAI open?"),)
    assert pair.a.trace.text != pair.b.trace.text


def test_the_payload_is_the_record():
    pair = made("llama")
    sent = pair_payload(pair, recorded=False)
    assert sent["parts_at"] == pair.parts_at and sent["chat"] is False
    assert [t["id"] for t in sent["a"]["prompt"]] == prompt_ids(pair.a.trace)
    assert bytes.fromhex(sent["pieces"][str(pair.next.ids[0])]) == pair.pieces[pair.next.ids[0]]
    assert np.array_equal(unpacked(sent["cosine"]), pair.contrast.cosine)
    assert np.array_equal(unpacked(sent["b"]["reads"]), pair.b.reads)
    assert np.array_equal(unpacked(sent["next"]["rank_b"]), pair.next.rank_b)


def test_a_character_that_the_end_cut_off_is_not_sent_as_a_broken_one():
    pair, _ = store.load(examples.pair_path(examples.FOLDER, "apple-zh"))
    assert pair.a.trace.text == '"美丽\ufffd' and pair.a.trace.steps[-1].pending == b"\xe8\x89"
    sent = pair_payload(pair, recorded=True)
    assert sent["a"]["text"] == '"美丽' and sent["b"]["text"] == pair.b.trace.text
    # U+FFFD that the model itself wrote stays
    step = dataclasses.replace(pair.a.trace.steps[-1], pending=b"")
    own = dataclasses.replace(pair.a.trace, steps=(*pair.a.trace.steps[:-1], step))
    assert whole(own) == own.text


def unpacked(packed):
    import base64

    kind = {"f4": "<f4", "i4": "<i4"}[packed["t"]]
    return np.frombuffer(base64.b64decode(packed["b"]), kind).reshape(packed["s"])


torch.set_num_threads(1)
