"""The digits as answers: against soft-max of the model's logits, through files, over the wire."""

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

from playground import digits as made_by
from playground import examples, template
from playground.ask import Ask
from playground.errors import PlaygroundError
from playground.host import Host
from playground.inspection import Stopped
from playground.store import digits as store
from playground.trace import Message, SamplingParams
from playground.ui.desk import Desk
from playground.ui.inside import Inside
from playground.ui.letters import MOST_PREFIX, defaults
from playground.ui.looking import Looking
from playground.ui.page import build
from playground.ui.recorded import Recorded
from playground.views.digits import digits_payload
from tests import fakes, looking, tiny
from tests.vocabularies import SENTENCEPIECE, real, sentencepiece

A, B, PREFIX = "How many r in berry?", "How many r in b e r r y?", "It is "


def prompt(engine, text):
    return text, template.chat(engine.vocabulary, [Message("user", text)])


@cache
def made(family="llama", prefix=PREFIX):
    engine = looking.engine(family)
    return made_by.digits(engine, prompt(engine, A), prompt(engine, B), prefix)


def check(engine, found, logits):
    """logits(ids) -> f64[V] after `ids`, by the library alone."""
    vocabulary = engine.vocabulary
    given = tuple(p.id for p in vocabulary.encode(found.prefix)) if found.prefix else ()
    spelled = {lead + b"%d" % d: d for d in range(10) for lead in (b"", b" ")}
    raws = {i: vocabulary.raw(i) for i in range(engine.info.vocab_rows)}
    wanted = [tuple(i for i, r in raws.items() if spelled.get(r) == d) for d in range(10)]
    assert list(found.counted) == wanted
    for asked in (found.a, found.b):
        ids = [t.id for t in prompt(engine, asked.question)[1].tokens]
        assert [t.id for t in asked.prompt] == ids
        for begin, start in ((asked.first, ()), (asked.after, given)):
            assert begin.given == start and len(begin.probs) == 10
            x = logits([*ids, *start])
            p = np.exp(x - x.max())
            p /= p.sum()
            np.testing.assert_allclose(
                begin.probs, [p[list(of)].sum() for of in wanted], rtol=1e-3, atol=1e-9
            )
            order = np.argsort(-p, kind="stable")[: len(begin.best)]
            np.testing.assert_allclose([c.p for c in begin.best], p[order], rtol=1e-3)
            assert all(c.raw == raws[c.id] for c in begin.best)
            run = engine.generate(
                template.chat(vocabulary, [Message("user", asked.question)]), SamplingParams(),
                len(start) + made_by.MOST_TOKENS, forced=start,
            )  # fmt: skip
            list(run)
            trace = run.trace()
            assert tuple(t.id for t in begin.answer) == trace.ids
            assert (begin.text, begin.finish) == (trace.text, trace.finish)
            assert trace.ids[: len(start)] == start


@pytest.mark.parametrize("family", ["llama", "qwen3", "gpt2", "gemma3", tiny.UNKNOWN])
@pytest.mark.parametrize("prefix", [PREFIX, ""])
def test_every_digit_has_the_share_of_the_whole_vocabulary(family, prefix):
    engine = looking.engine(family)

    def logits(ids):
        with torch.inference_mode():
            return engine.model(torch.tensor([ids])).logits[0, -1].double().numpy()

    check(engine, made(family, prefix), logits)


def test_the_real_model_says_what_is_recorded(smollm):
    found = made_by.digits(
        smollm, *(prompt(smollm, q) for q in examples.LETTERS), examples.PREFIX
    )  # fmt: skip
    recorded, intact = store.load(examples.letters_path(examples.FOLDER))
    assert intact and recorded.counted == tuple((i,) for i in range(32, 42)) == found.counted
    for ours, theirs in ((found.a, recorded.a), (found.b, recorded.b)):
        for new, old in ((ours.first, theirs.first), (ours.after, theirs.after)):
            assert (new.text, new.given) == (old.text, old.given)
            np.testing.assert_allclose(new.probs, old.probs, atol=1e-5)
    assert recorded.a.first.text == "The answer is 1."
    word = [t for t in recorded.a.prompt if t.raw == b" strawberry"]
    assert len(word) == 1 and sum(t.raw == b" r" for t in recorded.b.prompt) == 4


@pytest.mark.parametrize("name", ["smollm2-135m", "qwen3-0.6b"])
def test_these_vocabularies_have_one_id_for_a_digit(name):
    vocabulary = real(name)
    found = made_by.counted(vocabulary, vocabulary.size)
    assert [len(ids) for ids in found] == [1] * 10
    assert [vocabulary.raw(ids[0]) for ids in found] == [b"%d" % d for d in range(10)]


@pytest.mark.parametrize("kind", SENTENCEPIECE)
def test_a_digit_behind_a_space_or_as_a_byte_counts(kind):
    vocabulary = sentencepiece(kind)
    found = made_by.counted(vocabulary, vocabulary.size)
    assert all(vocabulary.raw(i).strip() == b"%d" % d for d, ids in enumerate(found) for i in ids)
    spelled = {vocabulary.written(i) for ids in found for i in ids}
    assert {f"<0x3{d}>" for d in range(10)} <= spelled


def test_progress_only_grows_and_stop_works_anywhere():
    engine, told = looking.engine("llama"), []
    both = prompt(engine, A), prompt(engine, B)
    made_by.digits(engine, *both, PREFIX, on_progress=lambda *x: told.append(x))
    shares = [share for _, share in told]
    assert shares == sorted(shares) and shares[0] >= 0 and shares[-1] <= 1
    assert {stage for stage, _ in told} == {"decode"}
    for n in range(0, len(told), 7):
        asked = iter([False] * n)
        with pytest.raises(Stopped):
            made_by.digits(engine, *both, PREFIX, should_stop=lambda asked=asked: next(asked, True))


# ---- files ----


def content():
    return json.loads(store.dumps(made()))


@pytest.mark.parametrize("family", ["llama", "gemma3"])
def test_a_file_gives_it_back_to_the_bit(family, tmp_path):
    path = tmp_path / "letters.json.gz"
    store.save(made(family), path)
    assert store.load(path) == (made(family), True)
    assert gzip.decompress(path.read_bytes()) == store.dumps(made(family))
    assert examples.letters_path(examples.FOLDER).stat().st_size < 20_000


def test_damage_is_told_by_the_checksum():
    value = content()
    value["a"]["first"]["probs"][3] += 1e-6
    found, intact = store.loads(json.dumps(value).encode())
    assert not intact and found.b == made().b


def other(v, path, value):
    at = v
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value


@pytest.mark.parametrize(("path", "value"), [
    (["schema"], 2), (["prefix"], 5), (["counted"], [[1]] * 9), (["counted", 0], [10**9]),
    (["a", "first", "probs"], [0.1] * 9), (["a", "first", "probs", 0], 1.5),
    (["a", "first", "probs", 0], None), (["b", "after", "given"], [1]), (["a", "prompt"], []),
    (["a", "first", "given"], [1]), (["a", "after", "answer"], []),
    (["a", "first", "finish"], "no"), (["a", "first", "best", 0, "p"], -1),
    (["a", "first", "best", 0, "raw"], "xx"),
    (["model", "vocab_rows"], 1), (["a", "more"], 1), (["checksum"], "0"),
])  # fmt: skip
def test_a_file_that_can_not_be_is_refused(path, value):
    broken = content()
    other(broken, path, value)
    with pytest.raises(PlaygroundError) as caught:
        store.loads(json.dumps(broken).encode())
    assert all(caught.value.say(lang) for lang in ("en", "zh"))


def test_no_change_of_any_value_does_more_than_a_sentence():
    def leaves(value, path=()):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            yield (*path, key)
            if isinstance(item, (dict, list)):
                yield from leaves(item, (*path, key))

    rng, whole = random.Random(5), content()
    odd = [None, -1, 1e300, "x", "", [], {}, True, [[[[]]]], 10**30, "\ud800"]
    for place in rng.sample(list(leaves(whole)), 200):
        value = copy.deepcopy(whole)
        other(value, place, rng.choice(odd))
        try:
            _, intact = store.loads(json.dumps(value).encode())
        except PlaygroundError:
            continue
        assert not intact or value == whole


# ---- over the wire ----


class Real(fakes.FakeHost):
    """A scripted host whose digits are a tiny model's."""

    asked = 0

    def digits(self, a, b, prefix, on_progress=None, should_stop=None):
        self.asked += 1
        host = Host("llama")
        host._engine = looking.engine("llama")
        return host.digits(a, b, prefix, on_progress, should_stop)


@pytest.fixture
def inside(tmp_path):
    store.save(made(), tmp_path / "letters.json.gz")
    host = Real()
    host.set(info=looking.engine("llama").info)
    found = Inside(Looking(Desk(host, Recorded(tmp_path)), wait_s=30))
    yield found
    found.close()


def ask(inside, **fields):
    return inside.work({"op": "digits", "who": "me", **fields})


def test_what_was_recorded_needs_no_model(inside):
    host = inside.looking.desk.host
    host.set(info=None, state="loading")
    found = ask(inside, a=A, b=B, prefix=PREFIX)
    assert found["result"] == digits_payload(made(), recorded=True) and host.asked == 0
    json.dumps(found, allow_nan=False)
    for fields in ({"prefix": "It is"}, {"a": B}, {"b": "Another"}):
        with pytest.raises(PlaygroundError, match="still loading"):
            ask(inside, **({"a": A, "b": B, "prefix": PREFIX} | fields))
    assert defaults(inside.looking.desk.recorded.letters) == {"a": A, "b": B, "prefix": PREFIX}


def test_another_question_is_asked_once_and_kept(inside):
    host = inside.looking.desk.host
    for _ in range(2):
        found = ask(inside, a="How many e?", b=B, prefix="")
    assert host.asked == 1 and not found["result"]["recorded"]
    assert found["result"]["a"]["question"] == "How many e?"
    other_model = dataclasses.replace(looking.engine("llama").info, name="other", source="tuned")
    host.set(info=other_model)
    with pytest.raises(PlaygroundError, match="Load other"):  # it was switched meanwhile
        ask(inside, a=A, b=B, prefix=PREFIX)


@pytest.mark.parametrize("fields", [
    {}, {"a": A}, {"a": A, "b": B}, {"a": A, "b": B, "prefix": 5}, {"a": 5, "b": B, "prefix": ""},
    {"a": " ", "b": B, "prefix": ""}, {"a": A, "b": "x" * 40_000, "prefix": ""},
    {"a": A, "b": B, "prefix": "x" * (MOST_PREFIX + 1)},
])  # fmt: skip
def test_requests_of_a_wrong_form_are_refused(inside, fields):
    with pytest.raises(PlaygroundError) as caught:
        ask(inside, **fields)
    assert caught.value.say("zh") and inside.looking.desk.host.asked == 0


def test_the_real_host_answers_as_asked():
    host = Host("llama")
    host._engine = looking.engine("llama")
    assert host.digits(Ask(A), Ask(B), PREFIX) == made()
    with pytest.raises(PlaygroundError, match="do not fit"):
        host.digits(Ask("x" * 400), Ask(B), "")


def test_a_file_that_can_not_be_read_is_left_out(tmp_path, caplog):
    assert Recorded(tmp_path).letters is None
    (tmp_path / "letters.json.gz").write_bytes(b"no")
    assert Recorded(tmp_path).letters is None and "letters.json.gz" in caplog.text


def test_the_page_knows_what_was_recorded():
    built = build(fakes.FakeHost(), Recorded(examples.FOLDER))
    head = built.options["head"]
    assert '"prefix":"The answer is "' in head
    assert 'BOT_FORM_PAIRS=[{"name":"template"' in head
    pairs = json.loads(head.split("window.BOT_PAIRS=")[1].split(";window.")[0])
    assert "template" not in {pair["name"] for pair in pairs} and len(pairs) >= 2
    built.close()


torch.set_num_threads(1)
