"""Comparing two runs: what is equal, what is near, what is not, by hand-made differences."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from playground.cli.compare import common_steps, compare
from playground.trace import Trace
from tests import made


def with_step(trace: Trace, i: int, **changes) -> Trace:
    """`trace` with step `i` changed; names of candidates' fields go there."""
    step = trace.steps[i]
    own = {f.name for f in dataclasses.fields(step)}
    inner = {k: v for k, v in changes.items() if k not in own}
    outer = {k: v for k, v in changes.items() if k in own}
    if inner:
        outer["candidates"] = dataclasses.replace(step.candidates, **inner)
    steps = list(trace.steps)
    steps[i] = dataclasses.replace(step, **outer)
    return dataclasses.replace(trace, steps=tuple(steps))


def failing(old: Trace, new: Trace) -> dict[str, object]:
    return {d.field: d for d in compare(old, new) if not d.ok}


BASE = made.example()


def test_a_trace_equals_itself():
    found = compare(BASE, made.example())
    assert all(d.ok and d.different == 0 for d in found)
    by_name = {d.field: d for d in found}
    assert by_name["steps.candidates.logits"].compared == 3 * 5
    assert by_name["steps.candidates.probs"].compared == 3 * 4 * 5
    assert by_name["steps.candidates.tail"].compared == 3 * 4
    assert by_name["ids"].compared == 3 and by_name["prompt"].compared == 2
    assert by_name["steps.logprob"].largest == 0 and by_name["steps.rank"].largest is None


def test_every_field_of_a_step_but_the_clock_is_looked_at():
    names = {d.field for d in compare(BASE, BASE)}
    step = {f.name for f in dataclasses.fields(BASE.steps[0])} - {"timing", "index", "candidates"}
    inner = {f.name for f in dataclasses.fields(BASE.steps[0].candidates)}
    assert {f"steps.{name}" for name in step} <= names
    assert {f"steps.candidates.{name}" for name in inner} <= names


C = BASE.steps[2].candidates


@pytest.mark.parametrize(
    ("changes", "field", "largest"),
    [
        ({"logits": C.logits + np.float32(0.002)}, "candidates.logits", 0.002),
        ({"probs": C.probs + np.float32(0.0002)}, "candidates.probs", 0.0002),
        ({"tail": C.tail + np.float32(0.0002)}, "candidates.tail", 0.0002),
        ({"kept": ~C.kept}, "candidates.kept", None),
        ({"kept_count": C.kept_count + 1}, "candidates.kept_count", None),
        ({"special": ~C.special}, "candidates.special", None),
        ({"raw": (b"z", *C.raw[1:])}, "candidates.raw", None),
        ({"stages": ("logits", "temperature", "top_k", "min_p")}, "candidates.stages", None),
        ({"entropy_bits": 1.51}, "entropy_bits", 0.01),
        ({"logprob": -0.71}, "logprob", 0.01),
        ({"logprob": -np.inf}, "logprob", np.inf),
        ({"logprob": np.nan}, "logprob", np.inf),
        ({"rank": 2}, "rank", None),
        ({"draw": 0.2500001}, "draw", None),
        ({"draw": None}, "draw", None),
        ({"cache_before": 9}, "cache_before", None),
        ({"cache_after": 9}, "cache_after", None),
        ({"cache_bytes": 9}, "cache_bytes", None),
        ({"emitted": "b"}, "emitted", None),
        ({"pending": b"\xe8"}, "pending", None),
        ({"phase": "forced"}, "phase", None),
    ],
)
def test_one_difference_is_found_and_named(changes, field, largest):
    bad = failing(BASE, with_step(BASE, 2, **changes))
    assert list(bad) == [f"steps.{field}"]
    difference = bad[f"steps.{field}"]
    assert difference.at == f"steps[2].{field}"
    if largest is not None:
        assert difference.largest == pytest.approx(largest, rel=1e-3)


@pytest.mark.parametrize(
    "changes",
    [
        {"logits": C.logits + np.float32(0.0009)}, {"probs": C.probs + np.float32(0.00009)},
        {"entropy_bits": 1.5009}, {"logprob": -0.7009},
    ],
)  # fmt: skip
def test_within_tolerance_is_told_but_passes(changes):
    new = with_step(BASE, 1, **changes)
    assert not failing(BASE, new)
    assert sum((d.largest or 0) > 0 for d in compare(BASE, new)) == 1


def test_the_order_of_candidates_counts_but_their_numbers_are_compared_by_id():
    order = [0, 2, 1, 3, 4]
    new = with_step(
        BASE, 1, ids=C.ids[order] * 0 + BASE.steps[1].candidates.ids[order],
        raw=tuple(C.raw[i] for i in order), logits=C.logits[order], probs=C.probs[:, order],
        kept=C.kept[:, order], special=C.special[order],
    )  # fmt: skip
    assert set(failing(BASE, new)) == {"steps.candidates.ids", "steps.candidates.raw"}


def test_past_the_first_other_id_nothing_is_compared():
    token = dataclasses.replace(BASE.steps[1].token, id=60, raw=b"\xe8\x8b")
    new = with_step(with_step(BASE, 1, token=token), 2, entropy_bits=9.0)
    assert common_steps(BASE, new) == 2
    assert set(failing(BASE, new)) == {"ids", "steps.token"}


def test_a_shorter_run_and_other_words_are_told():
    new = dataclasses.replace(
        BASE, steps=BASE.steps[:2], finish="eos", text="aa", templated_text="x",
        prompt=(*BASE.prompt[:1], dataclasses.replace(BASE.prompt[1], start=4)),
    )  # fmt: skip
    bad = failing(BASE, new)
    assert set(bad) == {"ids", "finish", "text", "templated_text", "prompt"}
    assert bad["ids"].at == "ids[2]" and bad["prompt"].at == "prompt[1]"


def test_the_tolerance_goes_with_the_dtype():
    half = dataclasses.replace(BASE, model=dataclasses.replace(BASE.model, dtype="bfloat16"))
    new = with_step(half, 2, logits=C.logits + np.float32(0.2))
    assert not failing(half, new)
    assert set(failing(BASE, new)) == {"steps.candidates.logits"}
