"""The checks: all green on what was really recorded; each falsehood turns its own check red."""

from __future__ import annotations

import dataclasses
import json
import math
from functools import cache

import numpy as np
import pytest
import torch

from playground import checks, examples, models, store, template
from playground.checking import measure
from playground.checking.picking import chain, missed
from playground.checks import check
from playground.cli import main
from playground.engine import Engine
from playground.errors import PlaygroundError
from playground.inside import attention
from playground.inside.recording import Recorder
from playground.inspection import Stopped
from playground.inspection.check import UNITS, Check, judged, unchecked
from playground.text import say, texts
from playground.trace import Message, SamplingParams, Trace
from tests import looking, tiny
from tests.tiny import INSIDE, UNKNOWN

SAMPLED = SamplingParams(temperature=0.8, top_k=24, top_p=0.9, min_p=0.01, seed=6)
INSIDES = {
    "embedding", "residual", "attention_sum", "attention_causal", "attention_output",
    "attribution", "heads",
}  # fmt: skip
NAMES = (
    "prompt", "text", "prob_sum", "prob_values", "kept", "listed", "entropy", "logprob", "rank",
    "draw", "greedy", "seed", "cache", "logits", "embedding", "residual", "attention_sum",
    "attention_causal", "attention_output", "attribution", "heads", "lens", "uncached",
)  # fmt: skip


@cache
def recorded(params: SamplingParams = SAMPLED, family: str = "llama", n: int = 9) -> Trace:
    engine = looking.engine(family)
    prompt = template.chat(engine.vocabulary, [Message("user", looking.QUESTION)])
    run = engine.generate(prompt, params, n, n_candidates=31)
    list(run)
    return run.trace()


def verdicts(trace: Trace, family: str = "llama") -> dict[str, bool | None]:
    return {c.name: c.ok for c in check(looking.engine(family), trace)}


def red(trace: Trace, family: str = "llama") -> set[str]:
    return {name for name, ok in verdicts(trace, family).items() if ok is False}


# --- green -----------------------------------------------------------------------------------


@pytest.mark.parametrize("family", INSIDE)
@pytest.mark.parametrize("params", [SAMPLED, SamplingParams()], ids=["sampled", "greedy"])
def test_what_was_recorded_is_green_in_every_family(family, params):
    found = check(looking.engine(family), recorded(params, family))
    assert tuple(c.name for c in found) == NAMES
    other = "draw" if params.greedy else "greedy"
    assert {c.name: c.ok for c in found} == {n: None if n == other else True for n in NAMES}
    for c in found:
        if c.ok:
            assert 0 <= c.measured <= c.tolerance
    # and rounding there is: these compare numbers that were really made twice
    assert next(c for c in found if c.name == "logits").measured > 0


def test_what_a_family_does_not_show_is_not_checked_and_says_why():
    found = {c.name: c for c in check(looking.engine(UNKNOWN), looking.trace(UNKNOWN))}
    missing = {"embedding", "residual", "attribution", "heads", "greedy"}
    assert {n for n, c in found.items() if c.ok is None} >= missing - {"heads"}
    assert all(c.ok is not False for c in found.values())
    assert found["residual"].detail == "missing.family"
    assert UNKNOWN in say("en", found["residual"].detail, **found["residual"].values)


@pytest.mark.parametrize("example", examples.EXAMPLES, ids=lambda e: e.name)
def test_the_recorded_examples_are_green_on_the_real_model(smollm, example):
    trace, _ = store.load(examples.trace_path(examples.FOLDER, example.name))
    found = check(smollm, trace)
    other = "draw" if trace.params.greedy else "greedy"
    assert {c.name: c.ok for c in found} == {n: None if n == other else True for n in NAMES}


def test_a_fork_and_a_stopped_run_are_green():
    engine = looking.engine("llama")
    prompt = template.raw(engine.vocabulary, "the 电 an")
    fork = engine.generate(prompt, SAMPLED, 7, forced=(232, 139, 185), parent=("0" * 16, 1))
    list(fork)
    assert not red(fork.trace())
    stopped = engine.generate(prompt, SAMPLED, 7, forced=(232, 139))
    next(stopped), next(stopped)
    stopped.close()
    trace = stopped.trace()
    assert trace.finish == "cancelled" and trace.steps[-1].pending
    assert not red(trace)


# --- red -------------------------------------------------------------------------------------


def with_step(trace: Trace, i: int, **changes) -> Trace:
    steps = list(trace.steps)
    steps[i] = dataclasses.replace(steps[i], **changes)
    return dataclasses.replace(trace, steps=tuple(steps))


def with_candidates(trace: Trace, i: int, name: str, change) -> Trace:
    array = getattr(trace.steps[i].candidates, name).copy()
    change(array)
    candidates = dataclasses.replace(trace.steps[i].candidates, **{name: array})
    return with_step(trace, i, candidates=candidates)


def with_lines(trace: Trace, i: int, first, then: int | None = None) -> Trace:
    """The list of step i: its lines `first` in that order, then the rest as they were."""
    c = trace.steps[i].candidates
    first = list(first)
    lines = first + list(range(len(first) if then is None else then, len(c.ids)))
    mixed = dataclasses.replace(
        c, ids=c.ids[lines], raw=tuple(c.raw[k] for k in lines), special=c.special[lines],
        logits=c.logits[lines], probs=c.probs[:, lines], kept=c.kept[:, lines],
    )  # fmt: skip
    return with_step(trace, i, candidates=mixed)


def add(where, by):
    def change(array):
        array[where] += by

    return change


def flip(where):
    def change(array):
        array[where] = ~array[where]

    return change


def last_kept(trace: Trace, i: int) -> int:
    return int(np.flatnonzero(trace.steps[i].candidates.kept[-1])[-1])


TAMPERED = {
    "a prompt's id": (
        lambda t: dataclasses.replace(
            t, prompt=(dataclasses.replace(t.prompt[0], id=97), *t.prompt[1:])
        ),
        None,
    ),
    "a prompt token's provenance": (
        lambda t: dataclasses.replace(
            t, prompt=(dataclasses.replace(t.prompt[0], source="user"), *t.prompt[1:])
        ),
        {"prompt"},
    ),
    "the templated text": (
        lambda t: dataclasses.replace(t, templated_text=t.templated_text + " "), {"prompt"},
    ),
    "a message": (
        lambda t: dataclasses.replace(t, messages=(Message("user", "the"),)), {"prompt"},
    ),
    "the text": (lambda t: dataclasses.replace(t, text=t.text + "a"), {"text"}),
    "what became visible": (lambda t: with_step(t, 1, emitted="zz"), {"text"}),
    "the bytes held": (lambda t: with_step(t, 1, pending=b"\xe7"), {"text"}),
    "a token's bytes": (
        lambda t: with_step(t, 2, token=dataclasses.replace(t.steps[2].token, raw=b"zz")),
        {"text"},
    ),
    "a candidate's mark": (lambda t: with_candidates(t, 2, "special", flip(4)), {"text"}),
    "a logit": (lambda t: with_candidates(t, 3, "logits", add(0, 0.01)), {"logits", "uncached"}),
    "two candidates' ids exchanged": (
        lambda t: with_candidates(t, 3, "ids", lambda a: a.__setitem__([7, 8], a[[8, 7]])), None,
    ),
    "two lines exchanged": (lambda t: with_lines(t, 3, [*range(7), 8, 7]), {"listed"}),
    "a line twice": (lambda t: with_lines(t, 3, [*range(8), 7]), None),
    "a line left out": (lambda t: with_lines(t, 3, range(7), 8), None),
    "a probability": (
        lambda t: with_candidates(t, 3, "probs", add((0, 20), 0.003)),
        {"prob_sum", "prob_values"},
    ),
    "a probability out of the tail": (
        lambda t: with_candidates(
            with_candidates(t, 3, "probs", add((0, 20), 0.003)), 3, "tail", add(0, -0.003)
        ),
        {"prob_values"},
    ),
    "the tail": (
        lambda t: with_candidates(t, 3, "tail", add(0, 0.01)), {"prob_sum", "prob_values"},
    ),
    "the last token kept": (
        lambda t: with_candidates(t, 0, "kept", flip((-1, last_kept(t, 0)))), {"kept"},
    ),
    "the first token cut": (
        lambda t: with_candidates(t, 0, "kept", flip((-1, last_kept(t, 0) + 1))), {"kept"},
    ),
    "how many were kept": (lambda t: with_candidates(t, 4, "kept_count", add(2, 1)), {"kept"}),
    "the entropy": (
        lambda t: with_step(t, 5, entropy_bits=t.steps[5].entropy_bits + 0.002), {"entropy"},
    ),
    "the log-probability": (
        lambda t: with_step(t, 5, logprob=t.steps[5].logprob - 0.002), {"logprob"},
    ),
    "a rank too high": (lambda t: with_step(t, 5, rank=t.steps[5].rank + 1), {"rank"}),
    "a rank too low": (lambda t: with_step(t, 5, rank=t.steps[5].rank - 1), {"rank"}),
    "no draw": (lambda t: with_step(t, 6, draw=None), {"seed"}),
    "a draw moved a little": (
        lambda t: with_step(t, 6, draw=t.steps[6].draw * (1 + 1e-12)), {"seed"},
    ),
    "another draw": (
        lambda t: with_step(t, 6, draw=(t.steps[6].draw + 0.5) % 1), {"seed", "draw"},
    ),
    "another seed": (
        lambda t: dataclasses.replace(t, params=dataclasses.replace(t.params, seed=7)), {"seed"},
    ),
    "another temperature": (
        lambda t: dataclasses.replace(t, params=dataclasses.replace(t.params, temperature=0.9)),
        None,
    ),
    "another top-p": (
        lambda t: dataclasses.replace(t, params=dataclasses.replace(t.params, top_p=0.7)), None,
    ),
    "a stage left out": (
        lambda t: dataclasses.replace(t, params=dataclasses.replace(t.params, min_p=0.0)), None,
    ),
    "the cache's bytes": (
        lambda t: with_step(t, 7, cache_bytes=t.steps[7].cache_bytes + 1), {"cache"},
    ),
    "positions before": (lambda t: with_step(t, 7, cache_before=3), {"cache"}),
    "positions after": (lambda t: with_step(t, 0, cache_after=3), {"cache"}),
    "the end": (lambda t: dataclasses.replace(t, finish="eos"), {"text"}),
}  # fmt: skip
# What makes several numbers false at once: these at least, and none of the model's own inside.
AT_LEAST = {
    "a prompt's id": {"prompt", "logits", "uncached"},
    "two candidates' ids exchanged": {"text", "logits", "uncached"},
    "a line twice": {"listed", "prob_sum"},
    "a line left out": {"listed", "prob_sum"},
    "another temperature": {"prob_values"},
    "another top-p": {"kept", "prob_values"},
    "a stage left out": {"kept", "prob_values"},
}


@pytest.mark.parametrize("what", TAMPERED)
def test_a_falsehood_turns_its_own_check_red(what):
    change, wanted = TAMPERED[what]
    trace = change(recorded())
    found = red(trace)
    if wanted is None:
        assert found >= AT_LEAST[what] and not found & (INSIDES | {"lens"})
    else:
        assert found == wanted


def test_a_chosen_token_exchanged_is_seen_everywhere():
    trace = recorded(SamplingParams())
    step = trace.steps[4]
    other = int(step.candidates.ids[1])
    false = with_step(trace, 4, token=dataclasses.replace(step.token, id=other))
    assert red(false) >= {"text", "greedy", "logprob", "rank", "logits", "uncached"}


def test_not_a_number_is_red():
    trace = recorded()
    assert red(with_step(trace, 2, entropy_bits=math.nan)) == {"entropy"}
    nan = with_candidates(trace, 2, "tail", lambda a: a.__setitem__(0, math.nan))
    assert red(nan) == {"prob_sum", "prob_values"}


@pytest.mark.parametrize("family", ["gemma3", "mistral"])
def test_a_sliding_cache_is_held_to_its_windows(family):
    trace = recorded(family=family)
    found = next(c for c in check(looking.engine(family), trace) if c.name == "cache")
    assert found.detail == "check.detail.cache_sliding" and found.values["sliding"] > 0
    whole = found.values["per_position"] * trace.steps[-1].cache_after
    assert found.values["formula"] == trace.steps[-1].cache_bytes < whole
    assert red(with_step(trace, len(trace.steps) - 1, cache_bytes=whole), family) == {"cache"}


# Falsehoods inside of the model's pass, as `test_mutations` makes them: what check sees each.


def test_a_residual_scaled_turns_additivity_red(monkeypatch):
    real = Recorder._leave
    monkeypatch.setattr(Recorder, "_leave", lambda self, i, x: real(self, i, x * 1.01))
    assert red(recorded()) >= {"residual"}


def test_a_mask_shifted_turns_causality_red(monkeypatch):
    real = attention.hear

    def shifted(call, out):
        heard = real(call, out)
        return dataclasses.replace(heard, allowed=heard.allowed.roll(1, dims=1))

    monkeypatch.setattr(attention, "hear", shifted)
    assert red(recorded()) == {"attention_causal", "attention_output"}


def test_weights_that_do_not_sum_turn_the_rows_red(monkeypatch):
    real = attention.attend

    def short(heard, rows):
        scores, weights = real(heard, rows)
        return scores, weights * 0.999

    monkeypatch.setattr(attention, "attend", short)
    assert red(recorded()) == {"attention_sum", "attention_output"}


def test_a_head_left_out_turns_the_sums_of_heads_red(monkeypatch):
    real = attention.hear

    def left_out(call, out):
        heard = real(call, out)
        masked = heard.out.clone()
        masked[:, 2] = 0
        return dataclasses.replace(heard, out=masked)

    monkeypatch.setattr(attention, "hear", left_out)
    assert red(recorded()) == {"attention_output", "attribution", "heads"}


def test_the_final_norm_dropped_turns_lens_and_logits_red(monkeypatch):
    real = Recorder._head

    def dropped(self, x):
        last = real(self, x)
        self.normed = self.streams[-1]
        return last

    monkeypatch.setattr(Recorder, "_head", dropped)
    assert red(recorded()) == {"logits", "attribution", "lens"}


def test_a_scale_forgotten_turns_the_embedding_red(monkeypatch):
    monkeypatch.setattr("playground.inside.summing.embedding_scale", lambda parts: 1.0)
    assert red(recorded(family="gemma3"), "gemma3") == {"embedding"}


def test_another_model_of_the_same_shape_is_red():
    other = Engine(tiny.loaded("llama", seed=6, lively=True))
    found = {c.name: c.ok for c in check(other, recorded())}
    wrong = {n for n, ok in found.items() if ok is False}
    assert wrong >= {"logits", "uncached", "prob_values", "entropy"}
    assert not wrong & {"prompt", "text", "prob_sum", "seed", "cache", *INSIDES}


def test_a_model_of_another_shape_is_refused():
    with pytest.raises(PlaygroundError, match="recorded with"):
        check(looking.engine("gpt2"), recorded())


# --- by hand ---------------------------------------------------------------------------------


def test_a_draw_past_the_list_is_found_in_the_whole_order():
    engine = looking.engine("llama")
    prompt = template.chat(engine.vocabulary, [Message("user", looking.QUESTION)])
    run = engine.generate(prompt, SamplingParams(temperature=3.0, seed=1), 12, n_candidates=3)
    list(run)
    trace = run.trace()
    past = [s for s in trace.steps if s.rank > 4]
    assert past, "nothing was put to the test"
    assert not red(trace)
    i = past[0].index
    assert red(with_step(trace, i, draw=(past[0].draw + 0.4) % 1)) == {"seed", "draw"}


def test_missed_on_a_table_made_by_hand():
    step = recorded().steps[0]
    probs = np.array([[0.5, 0.25, 0.125]])
    candidates = dataclasses.replace(
        step.candidates, ids=[2, 0, 1], raw=(b"",) * 3, special=[False] * 3, logits=[3, 2, 1],
        probs=probs, kept=np.ones((1, 3), bool), kept_count=[4], tail=[0.125], stages=("logits",),
    )  # fmt: skip
    row = np.array([2.0, 1.0, 3.0, 0.0])
    token = dataclasses.replace(step.token, id=0)
    for u, wanted in ((0.5, 0), (0.6, 0), (0.7499, 0), (0.4, 0.1), (0.95, 0.2)):
        one = dataclasses.replace(step, candidates=candidates, token=token, rank=2, draw=u)
        assert missed(one, row, probs[0], 0.0) == pytest.approx(wanted)


@pytest.mark.parametrize(("at_edge", "count"), [((2.00001, 2.0), 3), ((2.00001, 2.00001), 4)])
def test_a_token_on_the_edge_may_fall_on_either_side_and_the_next_may_not(at_edge, count):
    params = SamplingParams(temperature=0.7, top_k=3)
    scores = torch.tensor([4.0, 3.0, *at_edge, -1.0])
    assert [int((s > -np.inf).sum()) for s in chain(scores, params)] == [5, 5, count]
    trace = recorded()
    made = checks.Picking(dataclasses.replace(trace, params=params), measure.tolerances("float32"))
    kept = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 0, 1, 0]], dtype=bool)
    stages = chain(torch.tensor([4.0, 3.0, 2.0, 2.00001, -1.0]), params)
    probs = [np.exp(s) / np.exp(s).sum() for s in stages]
    candidates = dataclasses.replace(
        trace.steps[0].candidates, ids=np.arange(5), raw=(b"",) * 5, special=[False] * 5,
        logits=[4.0, 3.0, 2.0, 2.00001, -1.0], probs=np.stack(probs), kept=kept,
        kept_count=[5, 5, 3], tail=[0, 0, 0], stages=("logits", "temperature", "top_k"),
    )  # fmt: skip
    step = dataclasses.replace(trace.steps[0], candidates=candidates)
    step = dataclasses.replace(step, token=dataclasses.replace(step.token, id=0))
    made.take(step, scores)
    found = {c.name: c for c in made.verdicts()}
    assert found["kept"].ok and found["prob_values"].ok
    wrong = kept.copy()
    wrong[2] = [1, 0, 1, 1, 0]
    made.take(
        dataclasses.replace(step, candidates=dataclasses.replace(candidates, kept=wrong)), scores
    )
    assert {c.name: c.measured for c in made.verdicts()}["kept"] == 1


def test_a_verdict_that_does_not_follow_from_its_numbers_cannot_be_made():
    assert judged("kept", 0, 0, "count", "x").ok and not judged("kept", 1, 0, "count", "x").ok
    assert judged("lens", math.nan, 1, "nats", "x").measured == math.inf
    assert unchecked("lens", "nats", "why").ok is None
    for ok, measured, tolerance, unit in (
        (True, 2.0, 1.0, "nats"), (False, 1.0, 2.0, "nats"), (True, math.nan, 1.0, "nats"),
        (True, None, None, "nats"), (None, 1.0, 2.0, "nats"), (True, 1.0, 2.0, "apples"),
        (True, 1.0, math.inf, "nats"),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            Check("lens", ok, measured, tolerance, unit, "x")


def test_progress_rises_to_the_end_and_stop_stops():
    told: list[float] = []
    engine, trace = looking.engine("llama"), recorded()
    check(engine, trace, on_progress=lambda stage, done: told.append(done))
    assert told == sorted(told) and told[0] >= 0 and told[-1] <= 1 and len(set(told)) > 10
    for after in (0, 5, len(told) - 2):
        asked: list[int] = []

        def stop(asked=asked, after=after) -> bool:
            asked.append(1)
            return len(asked) > after

        with pytest.raises(Stopped):
            check(engine, trace, should_stop=stop)


def test_every_check_and_unit_has_its_texts():
    for lang in ("en", "zh"):
        known = texts(lang)
        assert all(f"check.{n}.{part}" in known for n in NAMES for part in ("title", "how"))
        assert all(f"check.unit.{unit}" in known for unit in UNITS)
        for family in ("llama", "gemma3", UNKNOWN):
            for c in check(looking.engine(family), looking.trace(family)):
                assert "{" not in say(lang, c.detail, **c.values)


# --- the command -----------------------------------------------------------------------------


@pytest.fixture
def llama(monkeypatch):
    monkeypatch.setattr(models, "load", lambda n, **o: tiny.loaded("llama", lively=True))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_command_prints_every_check(capsys, llama, tmp_path, lang):
    file = tmp_path / "t.trace.json"
    store.save(recorded(), file)
    assert main(["check", str(file), "--lang", lang]) == 0
    out, err = capsys.readouterr()
    assert not err and all(say(lang, f"check.{n}.title") in out for n in NAMES)
    assert say(lang, "check.ok.false") not in out.splitlines()[0]
    assert say(lang, "cli.check.green", held=22, skipped=1, steps=9) in out


def test_the_command_as_json(capsys, llama, tmp_path):
    file = tmp_path / "t.trace.json.gz"
    store.save(recorded(), file)
    assert main(["check", str(file), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] and told["intact"] and told["id"] == store.trace_id(recorded())
    assert [c["name"] for c in told["checks"]] == list(NAMES)
    greedy = next(c for c in told["checks"] if c["name"] == "greedy")
    assert (greedy["ok"], greedy["measured"], greedy["tolerance"]) == (None, None, None)


def test_the_command_says_no(capsys, llama, tmp_path):
    file = tmp_path / "t.trace.json"
    store.save(with_step(recorded(), 5, entropy_bits=9.0), file)
    assert main(["check", str(file)]) == 1
    out = capsys.readouterr().out
    line = next(x for x in out.splitlines() if x.startswith("Entropy"))
    assert "FAILED" in line and "step 5" in line and "1 of 23" in out and "OK" not in out
    assert main(["check", str(file), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert [c["name"] for c in told["checks"] if c["ok"] is False] == ["entropy"]


def test_the_command_says_no_to_a_damaged_file(capsys, llama, tmp_path):
    file = tmp_path / "t.trace.json"
    data = store.to_json(recorded())
    data["steps"][0]["timing"]["forward_ms"] += 1
    file.write_text(json.dumps(data), "utf-8")
    assert main(["check", str(file)]) == 1
    out = capsys.readouterr().out
    assert "checksum" in out and "OK" not in out


def test_errors_of_the_command_are_one_line_and_code_2(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(models, "load", lambda n, **o: tiny.loaded("gpt2"))
    file = tmp_path / "t.trace.json"
    store.save(recorded(), file)
    for argv in (["check", str(file)], ["check", "/no/such/file"], ["check"]):
        assert main(argv) == 2
        out, err = capsys.readouterr()
        assert not out and err.count("\n") == 1
