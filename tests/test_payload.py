"""What the browser gets is what the trace holds, to the bit, small and in a straight line."""

from __future__ import annotations

import base64
import json
import math
import struct

import numpy as np
import pytest
import torch
from hypothesis import given, settings

from playground import store
from playground.examples import EXAMPLES, FOLDER, trace_path
from playground.sampling import pick
from playground.trace import SamplingParams, Step, Timing, Token
from playground.ui import wire
from playground.views.payload import kept_payload, step_payload, trace_payload
from tests import made


def floats(text: str) -> list[float]:
    data = base64.b64decode(text)
    return list(struct.unpack(f"<{len(data) // 4}f", data))


def spread(values, which, c):
    """The client's rule (`BOT.arrays`), written again: cut candidates have probability 0."""
    places = list(range(c)) if which == "all" else which
    places = list(range(places)) if isinstance(places, int) else places
    kept = [k in places for k in range(c)]
    if len(values) == c:
        return values, kept
    row = [0.0] * c
    for k, value in zip(places, values, strict=True):
        row[k] = value
    return row, kept


def bits(array):
    return np.asarray(array, dtype="<f4").tobytes()


def assert_step(sent, step):
    had, c = step.candidates, len(step.candidates.ids)
    assert sent["ids"] == had.ids.tolist() and sent["stages"] == list(had.stages)
    assert tuple(
        p.encode() if isinstance(p, str) else bytes.fromhex(*p) for p in sent["pieces"]
    ) == (had.raw)
    assert [k in sent["special"] for k in range(c)] == had.special.tolist()
    assert bits(floats(sent["logits"])) == bits(had.logits)
    assert bits(floats(sent["tail"])) == bits(had.tail)
    assert sent["kept_count"] == had.kept_count.tolist()
    for s in range(len(had.stages)):
        probs, kept = spread(floats(sent["probs"][s]), sent["kept"][s], c)
        assert bits(probs) == bits(had.probs[s]) and kept == had.kept[s].tolist()
    assert sent["i"] == step.index and sent["phase"] == step.phase
    assert sent["entropy"] == step.entropy_bits and sent["rank"] == step.rank
    assert sent["logprob"] == (step.logprob if math.isfinite(step.logprob) else None)
    assert sent["draw"] == step.draw
    assert sent["cache"] == [step.cache_before, step.cache_after, step.cache_bytes]
    timing = step.timing
    assert sent["ms"] == [timing.forward_ms, timing.pick_ms, timing.done_ms]
    assert sent["emitted"] == step.emitted and bytes.fromhex(sent["pending"]) == step.pending
    common = {"start": None, "end": None, "special": False, "source": "generated"}
    assert_token(common | sent["tok"], step.token)


def assert_token(sent, token):
    assert bytes.fromhex(sent["hex"]) == token.raw
    for name in ("id", "start", "end", "special", "source"):
        assert sent[name] == getattr(token, name), name


@settings(max_examples=60, deadline=None)
@given(made.traces())
def test_every_number_arrives_to_the_bit(trace):
    sent = json.loads(json.dumps(trace_payload(trace, "0123456789abcdef"), allow_nan=False))
    assert len(sent["steps"]) == sent["n_steps"] == len(trace.steps)
    for got, step in zip(sent["steps"], trace.steps, strict=True):
        assert_step(got, step)
    assert len(sent["prompt"]) == len(trace.prompt)
    for got, token in zip(sent["prompt"], trace.prompt, strict=True):
        assert_token(got, token)
    for name in ("schema", "raw_prompt", "thinking", "templated_text", "max_tokens", "finish",
                 "text", "first_token_ms", "first_visible_ms", "tokens_per_second"):  # fmt: skip
        assert sent[name] == getattr(trace, name), name
    assert sent["model"]["vocab_rows"] == made.ROWS and sent["model"]["d_ffn"] == 11
    assert sent["params"]["seed"] == trace.params.seed
    assert sent["params"]["top_p"] == trace.params.top_p
    assert sent["parent"] == (None if trace.parent is None else list(trace.parent))
    assert sent["notes"] == [[key, dict(values)] for key, values in trace.notes]
    if trace.messages is None:
        assert sent["messages"] is None
    else:
        pairs = [(m["role"], m["content"]) for m in sent["messages"]]
        assert pairs == [(m.role, m.content) for m in trace.messages]


def test_the_start_has_the_prompt_and_the_end_has_the_outcome():
    trace = made.example()
    start = trace_payload(trace, None, steps=False, finished=False)
    assert start["steps"] == [] and start["finish"] is None and start["n_steps"] is None
    assert len(start["prompt"]) == 2
    end = trace_payload(trace, "abc", steps=False)
    assert "steps" not in end and "prompt" not in end
    assert end["finish"] == "length" and end["n_steps"] == 3 and end["id"] == "abc"
    assert end["intact"] is True
    assert trace_payload(trace, "abc", intact=False)["intact"] is False


@pytest.mark.parametrize(
    ("kept", "sent"),
    [
        ([True, True, True], "all"),
        ([True, True, False], 2),
        ([False, False, False], 0),
        ([True, False, True], [0, 2]),
        ([False, True, True], [1, 2]),
    ],
)
def test_kept_has_the_shortest_form_that_says_it(kept, sent):
    assert kept_payload(np.array(kept)) == sent


def test_a_file_that_gives_cut_candidates_a_probability_is_shown_as_it_is():
    step = made.example().steps[0]  # its probabilities are above 0 for the cut ones too
    assert not step.candidates.kept.all()
    sent = step_payload(step)
    assert [len(floats(p)) for p in sent["probs"]] == [5, 5, 5, 5]
    assert_step(sent, step)


class Pieces:
    def raw(self, token_id):
        return b" piece%d" % (token_id % 100)

    def special(self, token_id):
        return False


def sampled_steps(n):
    """Steps as the engine makes them, of 20 candidates out of 5,003 rows."""
    generator = torch.Generator().manual_seed(3)
    params = SamplingParams(temperature=0.7, top_k=17, top_p=0.9, min_p=0.01)
    for i in range(n):
        logits = torch.randn(5003, generator=generator) * 3
        made_ = pick(logits, params, Pieces(), u=0.61, n_candidates=20)
        token = Token(made_.token_id, b" piece", " piece", None, None, False, "generated")
        yield Step(
            i, "decode", token, made_.candidates, made_.entropy_bits, made_.rank, made_.logprob,
            made_.draw, i + 30, i + 31, 46080 * (i + 31), Timing(31.123456789, 1.23456789, 1e5 / 3),
            " piece", b"",
        )  # fmt: skip


def test_a_step_of_twenty_candidates_is_below_two_kilobytes():
    sizes = []
    for step in sampled_steps(40):
        assert len(step.candidates.stages) == 5 and len(step.candidates.ids) >= 20
        sent = step_payload(step)
        assert_step(sent, step)
        sizes.append(len(json.dumps(sent, separators=(",", ":"))))
    assert max(sizes) < 2000, max(sizes)
    # a step's size does not depend on how many went before it
    assert max(sizes[30:]) < 1.1 * max(sizes[:10])


@pytest.mark.parametrize("name", [example.name for example in EXAMPLES])
def test_a_real_run_takes_less_than_2_kib_a_step(name):
    """50 candidates a step; the sampled ones with four stages."""
    trace = store.load(trace_path(FOLDER, name)).trace
    size = sum(len(wire.dump(step_payload(step)).encode()) for step in trace.steps)
    assert size / len(trace.steps) < 2048
