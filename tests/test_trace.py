"""The record's own promises: owned, frozen, checked."""

from __future__ import annotations

import dataclasses
from dataclasses import replace

import numpy as np
import pytest

from playground.trace import Candidates, Timing, piece_text, same
from tests import made


def candidates(c=3, s=2, **changes):
    values = dict(
        ids=np.arange(c), raw=tuple(b"%d" % i for i in range(c)), special=np.zeros(c, bool),
        logits=np.arange(c, dtype="f4"), probs=np.full((s, c), 0.25, "f4"),
        kept=np.ones((s, c), bool), kept_count=np.full(s, c), tail=np.zeros(s, "f4"),
        stages=("logits", "temperature")[:s],
    )  # fmt: skip
    return Candidates(**values | changes)


def test_arrays_are_owned_and_read_only():
    big = np.zeros((100, 3), dtype="f4")
    made = candidates(probs=big[:2])
    assert made.probs.base is None
    with pytest.raises(ValueError, match="read-only"):
        made.probs[0, 0] = 1


@pytest.mark.parametrize("name", ["ids", "special", "logits", "kept_count", "tail"])
def test_a_wrong_axis_is_refused_by_name(name):
    with pytest.raises(ValueError, match=name):
        candidates(**{name: np.zeros(7)})


def test_swapped_axes_are_refused():
    with pytest.raises(ValueError, match="probs"):
        candidates(probs=np.zeros((3, 2)))


def test_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        candidates().stages = ()


def test_same_sees_one_bit():
    one = candidates()
    tail = np.zeros(2, "f4")
    tail[1] = np.nextafter(np.float32(0), np.float32(1))
    assert same(one, candidates())
    assert not same(one, candidates(tail=tail))
    assert not same(1, True) and not same([1], (1,))


@pytest.mark.parametrize(
    ("times", "rate"),
    [([100.0, 150.0, 200.0], 20.0), ([5.0, 5.0], None), ([0.0, 5e-324], None), ([7.0], None)],
)
def test_the_decode_rate_leaves_the_prefill_out(times, rate):
    trace = made.example()
    steps = tuple(
        replace(trace.steps[0], index=i, timing=Timing(1.0, 1.0, ms)) for i, ms in enumerate(times)
    )
    assert replace(trace, steps=steps).tokens_per_second == rate


@pytest.mark.parametrize(
    ("raw", "text"),
    [(b"open", "open"), ("电".encode(), "电"), (b"\xe7\x94", "\\xe7\\x94"), ("�".encode(), "�")],
)
def test_incomplete_bytes_never_show_as_a_replacement_character(raw, text):
    assert piece_text(raw) == text
