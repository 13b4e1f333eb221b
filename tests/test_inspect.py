"""The inside of every step, against references made apart; and mutations that must be seen."""

from __future__ import annotations

import copy
import dataclasses
import threading

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AutoModelForCausalLM, CohereConfig, DynamicCache

from playground import models as room
from playground import template
from playground.engine import Engine
from playground.errors import PlaygroundError
from playground.inside import attention, columns, logit_lens, readout
from playground.inspection import Inspection, Stopped
from playground.inspection.arrays import own_arrays
from playground.trace import Message, SamplingParams
from tests import tiny
from tests.looking import (
    alike,
    engine,
    fed,
    inspection,
    log_softmax,
    recorded,
    refer,
    reference,
    run,
    trace,
    twin,
)
from tests.tiny import INSIDE, UNKNOWN

families = pytest.mark.parametrize("family", INSIDE)
every = pytest.mark.parametrize("family", (*INSIDE, UNKNOWN))
ROUNDING = 2e-5  # float32, of numbers up to about 10


def rows_of_head(family: str, x: Inspection) -> np.ndarray:
    """f64[P, D]: the chosen tokens' rows of the head."""
    table = engine(family).model.get_output_embeddings().weight
    return table.detach().double().numpy()[x.chosen]


# --- what it must equal -----------------------------------------------------------------------


@every
def test_its_logits_are_the_recorded_ones(family):
    x = inspection(family)
    assert x.gaps.logits.shape == (len(trace(family).steps),)
    assert 0 < x.logits_gap < 1e-4
    assert x.gaps.head <= 1e-4
    assert (
        x.n_prompt == len(trace(family).prompt) and x.ids.tolist() == fed(trace(family))[0].tolist()
    )
    assert tuple(x.chosen) == trace(family).ids


@families
def test_every_measured_gap_is_rounding(family):
    gaps = inspection(family).gaps
    assert gaps.embedding == 0
    for name in ("stream", "attention_sum", "attention_output", "heads", "attribution"):
        values = getattr(gaps, name)
        assert np.isfinite(values).all() and values.max() < ROUNDING, name
    assert (gaps.attention_future == 0).all()


@every
def test_the_lens_is_the_norm_and_head_on_the_librarys_hidden_states(family):
    x, ref = inspection(family), reference(family)
    n, last = len(x.chosen), len(ref.hidden) - 1
    assert x.lens.layers.tolist() == list(range(last + 1))
    cap = getattr(engine(family).model.config, "final_logit_softcapping", None)
    for row, hidden in enumerate(ref.hidden):
        scores = run(ref.parts.head, run(ref.parts.final_norm, hidden[-n:]))
        scores = cap * np.tanh(scores / cap) if cap else scores
        logprobs = log_softmax(scores)
        order = np.argsort(-scores, axis=1, kind="stable")
        assert x.lens.ids[row].tolist() == order[:, :5].tolist()
        np.testing.assert_allclose(
            x.lens.probs[row], np.exp(np.take_along_axis(logprobs, order[:, :5], 1)), rtol=2e-4
        )
        own = logprobs[np.arange(n), x.chosen]
        np.testing.assert_allclose(x.lens.logprob[row], own, atol=2e-4)
        np.testing.assert_allclose(x.lens.prob[row], np.exp(own), rtol=2e-4)
        ranks = 1 + (scores > scores[np.arange(n), x.chosen][:, None]).sum(axis=1)
        assert x.lens.rank[row].tolist() == ranks.tolist()
        bits = -(np.exp(logprobs) * logprobs).sum(axis=1) / np.log(2)
        np.testing.assert_allclose(x.lens.entropy_bits[row], bits, atol=2e-4)


@every
def test_the_last_row_of_the_lens_is_the_models_own_output(family):
    x, told = inspection(family), trace(family)
    for i, step in enumerate(told.steps):
        assert x.lens.rank[-1, i] == step.rank
        assert x.lens.logprob[-1, i] == pytest.approx(step.logprob, abs=1e-4)
        assert x.lens.entropy_bits[-1, i] == pytest.approx(step.entropy_bits, abs=1e-4)
        assert x.lens.ids[-1, i].tolist() == step.candidates.ids[:5].tolist()
        np.testing.assert_allclose(x.lens.probs[-1, i], step.candidates.probs[0][:5], rtol=1e-4)


@families
def test_norms_and_cosines_are_of_what_each_block_wrote(family):
    x, ref, info = inspection(family), reference(family), engine(family).info
    n, rows = len(x.chosen), rows_of_head(family, inspection(family))
    writes: dict[str, list[np.ndarray]] = {"attn": [], "ffn": []}
    handles = []
    for block in ref.parts.blocks:
        for name, module in (("attn", block.attn_write), ("ffn", block.ffn_write)):
            handles.append(
                module.register_forward_hook(
                    lambda _m, _a, out, name=name: writes[name].append(
                        (out[0] if isinstance(out, tuple) else out)[0].double().numpy()
                    )
                )
            )
    with torch.inference_mode():
        ref.model(fed(trace(family)), use_cache=False)
    for handle in handles:
        handle.remove()
    assert len(writes["attn"]) == len(writes["ffn"]) == info.n_layers
    for i in range(info.n_layers):
        attn, ffn = writes["attn"][i], writes["ffn"][i]
        np.testing.assert_allclose(
            ref.hidden[i + 1], ref.hidden[i] + attn + ffn, atol=1e-4 * abs(ref.hidden[i + 1]).max()
        )
        for written, norms, cosines in (
            (attn, x.stream.attn_norms[i], x.stream.attn_cosine[i]),
            (ffn, x.stream.ffn_norms[i], x.stream.ffn_cosine[i]),
        ):
            lengths = np.linalg.norm(written, axis=1)
            np.testing.assert_allclose(norms, lengths, rtol=1e-4)
            expected = (written[-n:] * rows).sum(1) / lengths[-n:] / np.linalg.norm(rows, axis=1)
            np.testing.assert_allclose(cosines, expected, atol=1e-4)
        if family != "gpt_neox":
            np.testing.assert_allclose(
                x.stream.mid_norms[i], np.linalg.norm(ref.hidden[i] + attn, axis=1), rtol=1e-4
            )
    for at, hidden in enumerate(ref.hidden):
        np.testing.assert_allclose(x.stream.norms[at], np.linalg.norm(hidden, axis=1), rtol=1e-4)
        end = hidden[x.n_prompt - 1]
        np.testing.assert_allclose(x.stream.prompt_end[at], end, atol=1e-4 * abs(end).max())


def test_a_parallel_residual_has_no_stream_between_and_says_so():
    x = inspection("gpt_neox")
    assert x.stream.mid_norms is None
    assert [(m.part, m.reason) for m in x.missing] == [("mid_norms", "missing.parallel")]
    assert not inspection("gpt_neox-sequential").missing


@families
def test_what_enters_the_first_block_is_the_tables_rows(family):
    x, model = inspection(family), engine(family).model
    rows = model.get_input_embeddings().weight.detach().double().numpy()[x.ids]
    if family.startswith("gemma"):
        rows = rows * np.sqrt(rows.shape[1])
    if family == "gpt2":
        added = model.transformer.wpe.weight.detach().double().numpy()[: len(x.ids)]
        np.testing.assert_array_equal(x.stream.position_rows, added.astype("f4"))
        rows = rows + added
    else:
        assert x.stream.position_rows is None
    np.testing.assert_allclose(x.stream.norms[0], np.linalg.norm(rows, axis=1), rtol=1e-6)


def decoded(model, layers, told) -> list[list[np.ndarray]]:
    """What leaves each layer at the last position, run by run, with a cache as in the loop."""
    seen: list[list[np.ndarray]] = []
    handles = [
        layer.register_forward_hook(
            lambda _m, _a, out: seen[-1].append(
                (out[0] if isinstance(out, tuple) else out)[0, -1].double().numpy()
            )
        )
        for layer in layers
    ]
    cache = DynamicCache(config=model.config)
    try:
        with torch.inference_mode():
            for ids in [[t.id for t in told.prompt], *([i] for i in told.ids[:-1])]:
                seen.append([])
                model(torch.tensor([ids]), cache=cache, use_cache=True)
    finally:
        for handle in handles:
            handle.remove()
    return seen


@families
def test_hidden_states_of_the_one_pass_are_those_of_decoding_step_by_step(family):
    recorder, x = recorded(family)[0], inspection(family)
    seen = decoded(reference(family).model, reference(family).parts.layers, trace(family))
    assert len(seen) == len(x.chosen)
    for step, by_layer in enumerate(seen):
        for at, vector in enumerate(by_layer, start=1):
            size, position = np.linalg.norm(vector), x.position(step)
            assert np.linalg.norm(recorder.streams[at][step].numpy() - vector) < 1e-4 * size
            assert x.stream.norms[at, position] == pytest.approx(size, rel=1e-4)
    np.testing.assert_array_equal(x.stream.final, recorder.streams[-1])
    np.testing.assert_array_equal(x.stream.prompt_end, recorder.streams[:, 0])


@every
def test_the_histogram_counts_every_score_once(family):
    x, logits = inspection(family), reference(family).logits
    n = len(x.chosen)
    for edges, counts, row in zip(x.histogram.edges, x.histogram.counts, logits[-n:], strict=True):
        assert counts.sum() == tiny.ROWS
        assert edges[0] == pytest.approx(row.min(), abs=1e-4)
        assert edges[-1] == pytest.approx(row.max(), abs=1e-4)
        theirs, _ = np.histogram(row, edges.astype("f8"))
        assert abs(counts - theirs).sum() <= 6  # a score on an edge may fall to either side


@every
def test_every_token_named_has_its_bytes(family):
    x, vocabulary = inspection(family), engine(family).vocabulary
    named = {*x.ids.tolist(), *x.chosen.tolist(), *x.lens.ids.ravel().tolist()}
    assert set(x.pieces) == named
    assert all(x.pieces[i] == vocabulary.raw(i) for i in named)
    assert x.special == {i for i in named if vocabulary.special(i)}


# --- attribution ------------------------------------------------------------------------------


def frozen(norm, x: np.ndarray, unit_offset: bool):
    """(a function of one part, the bias): the norm with the scale that it takes of x [P, D]."""
    gain = norm.weight.double().numpy() + unit_offset
    centred = isinstance(norm, torch.nn.LayerNorm)
    eps = getattr(norm, "variance_epsilon", None) or norm.eps
    off = x - x.mean(-1, keepdims=True) if centred else x
    scale = np.sqrt((off**2).mean(-1, keepdims=True) + eps)
    bias = norm.bias.double().numpy() if centred else np.zeros(x.shape[-1])

    def part(y: np.ndarray) -> np.ndarray:
        return gain * (y - y.mean(-1, keepdims=True) if centred else y) / scale

    return part, bias


@families
def test_every_part_of_the_attribution_is_that_of_float64_laid_out_in_full(family):
    x, ref, model = inspection(family), reference(family), engine(family).model
    a, rows, n = x.attribution, rows_of_head(family, x), len(x.chosen)
    offset = family.startswith("gemma")
    end, norm_bias = frozen(ref.parts.final_norm, x.stream.final.astype("f8"), offset)

    def score(written: np.ndarray) -> np.ndarray:
        return (end(written) * rows).sum(-1)

    table = model.get_input_embeddings().weight.detach().double().numpy()
    embedded = table[x.ids[-n:]] * (np.sqrt(table.shape[1]) if offset else 1)
    np.testing.assert_allclose(a.embedding, score(embedded), atol=1e-4)
    total = score(embedded) + (norm_bias * rows).sum(-1)
    np.testing.assert_allclose(a.norm_bias, (norm_bias * rows).sum(-1), atol=1e-4)
    if family == "gpt2":
        np.testing.assert_allclose(a.position, score(x.stream.position_rows[-n:]), atol=1e-4)
        total += score(x.stream.position_rows[-n:])
    else:
        assert a.position is None
    for detail, block in zip(x.details, ref.parts.blocks, strict=True):
        writes = detail.head_writes.astype("f8")
        bias = getattr(block.o_proj, "bias", None)
        bias = np.zeros_like(writes[0]) if bias is None else np.tile(bias.double().numpy(), (n, 1))
        if block.attn_norm is not None:
            post, nothing = frozen(block.attn_norm, writes.sum(0) + bias, offset)
            assert not nothing.any()
            writes, bias = np.stack([post(w) for w in writes]), post(bias)
        heads = np.stack([score(w) for w in writes])
        np.testing.assert_allclose(a.heads[detail.layer], heads, atol=1e-4)
        np.testing.assert_allclose(a.attn_bias[detail.layer], score(bias), atol=1e-4)
        attn = heads.sum(0) + score(bias)
        np.testing.assert_allclose(a.attn[detail.layer], attn, atol=1e-4)
        total += attn + a.ffn[detail.layer]
    np.testing.assert_allclose(a.total, total, atol=1e-3)
    assert (a.head_bias == 0).all()


@families
def test_the_attribution_adds_up_to_the_models_logit(family):
    x, logits = inspection(family), reference(family).logits
    n, a = len(x.chosen), inspection(family).attribution
    own = logits[-n:][np.arange(n), x.chosen]
    np.testing.assert_allclose(a.capped, own, atol=1e-4)
    parts = [a.embedding, a.heads.sum((0, 1)), a.attn_bias.sum(0), a.ffn.sum(0), a.norm_bias]
    added = sum(p.astype("f8") for p in (*parts, a.head_bias))
    added = added if a.position is None else added + a.position
    np.testing.assert_allclose(added, a.logit, atol=1e-4)
    np.testing.assert_allclose(a.total, a.logit, atol=ROUNDING)
    if family == "gemma2":  # said, and handled: the parts make the score before the cap
        assert a.cap == 17.0 and abs(a.logit - a.capped).max() > 0.05
        np.testing.assert_allclose(a.cap * np.tanh(a.logit / a.cap), a.capped, atol=1e-5)
    else:
        assert a.cap is None
        np.testing.assert_array_equal(a.logit, a.capped)


@pytest.mark.parametrize("family", ["gpt2", "gpt_neox"])
def test_what_the_attribution_is_off_by_is_noise_for_float64_shrinks_it(family):
    given = tiny.loaded(family, lively=True)
    looked = Engine(dataclasses.replace(given, model=copy.deepcopy(given.model).double()))
    wide = looked.inspect(trace(family), lens=())
    assert wide.gaps.attribution.max() < 1e-12 and wide.gaps.heads.max() < 1e-12
    assert wide.gaps.attention_output.max() < 1e-12
    narrow = inspection(family).attribution
    np.testing.assert_allclose(wide.attribution.heads, narrow.heads, atol=1e-4)


# --- what the caller asks for ---------------------------------------------------------------


def test_only_the_layers_asked_for_are_kept_and_read_out():
    x = engine("gemma3").inspect(trace("gemma3"), layers=[5, 2], lens=[3, 0, 3])
    assert [d.layer for d in x.details] == [2, 5] and x.detail(5) is x.details[1]
    assert x.detail(3) is None
    assert x.lens.layers.tolist() == [0, 3, 7] and x.lens.settled is None
    whole = inspection("gemma3").lens
    np.testing.assert_allclose(x.lens.logprob, whole.logprob[[0, 3, 7]], atol=1e-5)
    assert not engine("gemma3").inspect(trace("gemma3"), lens=()).details


def test_progress_rises_and_stop_works_in_the_pass_and_in_the_lens(monkeypatch):
    monkeypatch.setattr(readout, "_SCORES_AT_ONCE", 1)  # many chunks
    looked, told, seen = engine("llama"), trace("llama"), []
    looked.inspect(told, on_progress=lambda stage, done: seen.append((stage, done)))
    for stage in ("forward", "lens"):
        fractions = [f for s, f in seen if s == stage]
        assert len(fractions) >= 3 and fractions == sorted(fractions)
        assert fractions[0] >= 0 and fractions[-1] <= 1
    assert [s for s, _ in seen] == sorted(s for s, _ in seen)  # forward, then lens
    assert seen[-1] == ("lens", 1.0)
    for at in range(1, len(seen) + 1):
        asked: list[int] = []

        def stop(asked=asked, at=at) -> bool:
            asked.append(1)
            return len(asked) >= at

        with pytest.raises(Stopped):
            looked.inspect(told, should_stop=stop)
        assert len(asked) == at
    assert alike(looked.inspect(told, layers=range(3), should_stop=lambda: False), again("llama"))


def again(family: str) -> Inspection:
    looked = engine(family)
    return looked.inspect(trace(family), layers=range(looked.info.n_layers))


class Largest(TorchDispatchMode):
    """The most rows of scores [M, V], and of attention weights [H, Q, T], in any new tensor."""

    def __init__(self, n_positions: int, parameters: set[int]) -> None:
        super().__init__()
        self.n_positions, self.parameters = n_positions, parameters
        self.scores = self.weights = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for made in out if isinstance(out, (tuple, list)) else (out,):
            if isinstance(made, torch.Tensor) and made.data_ptr() not in self.parameters:
                if made.shape[-1:] == (tiny.ROWS,):
                    self.scores = max(self.scores, made.numel() // tiny.ROWS)
                elif "softmax" in str(func) and made.shape[-1] == self.n_positions:
                    self.weights = max(self.weights, made.numel())
        return out


@pytest.mark.parametrize("whole", [True, False], ids=["rows", "columns"])
def test_memory_is_bounded_however_many_positions_and_layers(monkeypatch, whole):
    if whole:
        monkeypatch.setattr(logit_lens, "fits", lambda *_: False)
    looked, told, n = engine("mistral"), trace("mistral"), len(fed(trace("mistral"))[0])
    parameters = {p.data_ptr() for p in looked.model.parameters()}

    def most() -> tuple[int, int]:
        with Largest(n, parameters) as watched:
            x = looked.inspect(told)
        np.testing.assert_allclose(x.lens.logprob, inspection("mistral").lens.logprob, atol=1e-5)
        np.testing.assert_allclose(x.heads.sink, inspection("mistral").heads.sink, atol=1e-5)
        return watched.scores, watched.weights

    p, n_layers = len(told.steps), looked.info.n_layers
    assert most() == (p * n_layers, 6 * p * n)  # all at once, for they are few
    monkeypatch.setattr(readout, "_SCORES_AT_ONCE", 1)  # the least: 8 rows
    monkeypatch.setattr(columns, "ROWS", 8)
    monkeypatch.setattr(attention, "_AT_ONCE", 6 * 2 * n)  # two query positions of six heads
    assert most() == (8, 6 * 2 * n) and p > 8


def test_a_run_that_was_stopped_half_way_is_looked_into_as_far_as_it_came():
    looked, told = engine("qwen3"), trace("qwen3")
    part = dataclasses.replace(told, steps=told.steps[:1], finish="cancelled")
    x = looked.inspect(part)
    assert len(x.ids) == len(told.prompt) and x.chosen.tolist() == [told.ids[0]]
    np.testing.assert_allclose(x.stream.final[0], inspection("qwen3").stream.final[0], atol=1e-4)


@every
def test_one_token_and_one_step_are_enough(family):
    looked = engine(family)
    run_ = looked.generate(template.raw(looked.vocabulary, "a"), SamplingParams(), 1)
    list(run_)
    x = looked.inspect(run_.trace(), layers=[0])
    assert (x.ids.shape, x.chosen.shape) == ((1,), (1,)) and x.logits_gap < 1e-5
    assert (x.details[0].weights == 1).all() and (x.heads.sink == 1).all()
    assert (x.heads.entropy_bits == 0).all() and (x.heads.peak == 0).all()
    assert looked.ablate(run_.trace(), 0, hide=0).kl_bits < 1e-9  # there is no later position


def test_what_can_not_be_looked_into_is_refused_in_a_sentence():
    looked, told = engine("llama"), trace("llama")
    with pytest.raises(PlaygroundError, match="no answer yet"):
        looked.inspect(dataclasses.replace(told, steps=(), text=""))
    with pytest.raises(PlaygroundError, match=r"recorded with tiny-qwen3.*tiny-llama"):
        looked.inspect(trace("qwen3"))
    for bad in (3, -1, 1.0, True, "1"):
        with pytest.raises(PlaygroundError, match=r"no layer.*0 … 2"):
            looked.inspect(told, layers=[bad])
    with pytest.raises(PlaygroundError, match=r"no place 4.*3 the end"):
        looked.inspect(told, lens=[4])
    longer = dataclasses.replace(told, prompt=told.prompt * 5)
    with pytest.raises(PlaygroundError, match="built for 160"):
        looked.inspect(longer)
    strange = dataclasses.replace(told.prompt[0], id=tiny.ROWS)
    with pytest.raises(PlaygroundError, match="token id"):
        looked.inspect(dataclasses.replace(told, prompt=(strange, *told.prompt[1:])))


def test_scores_that_are_not_finite_are_refused(monkeypatch):
    looked, told = engine("llama"), trace("llama")
    monkeypatch.setattr(
        looked.model.model.norm, "forward", lambda x: torch.full_like(x, float("nan"))
    )
    with pytest.raises(PlaygroundError, match="not finite"):
        looked.inspect(told)


def test_records_hold_owned_frozen_arrays_whose_sizes_agree():
    x = inspection("llama")
    for record in (x, x.stream, x.lens, x.heads, x.attribution, x.histogram, x.gaps, *x.details):
        for name in record.AXES:
            array = getattr(record, name)
            if array is not None:
                assert array.flags.owndata and not array.flags.writeable
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, next(iter(record.AXES)), None)
    with pytest.raises(ValueError, match="axis P"):
        dataclasses.replace(x.lens, rank=x.lens.rank[:, 1:])
    with pytest.raises(ValueError, match="axis L"):
        dataclasses.replace(x, heads=inspection("qwen3").heads)
    with pytest.raises(ValueError, match="shape"):
        dataclasses.replace(x.stream, final=x.stream.final[0])
    assert own_arrays(x) is None


@pytest.mark.parametrize("family", ["llama", "gemma2", "gpt_neox", "olmo2", UNKNOWN])
@pytest.mark.parametrize("dtype, rounding", [(torch.bfloat16, 2**-7), (torch.float16, 2**-10)])
def test_half_precision_is_looked_into_with_gaps_of_its_own_size(family, dtype, rounding):
    given = tiny.loaded(family, lively=True)
    model = copy.deepcopy(given.model).to(dtype)
    looked = Engine(dataclasses.replace(given, model=model))
    told = short(looked)
    x = looked.inspect(told, layers=range(looked.info.n_layers))
    assert x.logits_gap < 20 * rounding and x.gaps.head < 4 * rounding
    for name in ("stream", "attention_output", "heads", "attribution"):
        gap = getattr(x.gaps, name)
        assert gap is None or gap.max() < 8 * rounding, name
    assert {m.part for m in x.missing} <= {"mid_norms", "writes"}
    assert looked.ablate(told, 1, hide=4, head=(1, 1)).kl_bits > 0


# --- a family that fits none ----------------------------------------------------------------


def test_an_unknown_family_gives_what_can_be_had_and_says_what_is_missing():
    x = inspection(UNKNOWN)
    assert [(m.part, m.reason) for m in x.missing] == [("writes", "missing.family")]
    assert x.attribution is None and x.stream.attn_norms is None and x.gaps.stream is None
    assert x.heads is not None and x.details[0].neurons is None and x.details[0].q_raw is None
    assert len(x.lens.layers) == 4 and x.lens.settled is not None
    for call in (lambda e: e.neuron(0, 0), lambda e: e.ablate(trace(UNKNOWN), 0, ffn=1)):
        with pytest.raises(PlaygroundError, match="gptj"):
            call(engine(UNKNOWN))


@pytest.fixture(scope="module")
def cohere() -> Engine:
    """A family that is not in the table and scales its scores after the head."""
    torch.manual_seed(1)
    config = CohereConfig(
        vocab_size=tiny.ROWS, hidden_size=48, intermediate_size=76, num_hidden_layers=3,
        num_attention_heads=4, num_key_value_heads=2, logit_scale=0.25, pad_token_id=0,
        bos_token_id=None, eos_token_id=tiny.tokenizer().eos_token_id,
    )  # fmt: skip
    model = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa")
    return Engine(room.wrap(model, tiny.tokenizer(), name="tiny-cohere", source="memory"))


def short(looked: Engine):
    prompt = template.chat(looked.vocabulary, [Message("user", "and?")])
    told = looked.generate(prompt, SamplingParams(), 5)
    list(told)
    return told.trace()


def test_scores_changed_after_the_head_are_compared_but_not_explained(cohere):
    x = cohere.inspect(short(cohere))
    assert x.logits_gap < 1e-5 and x.gaps.head > 1e-3
    assert {(m.part, m.reason) for m in x.missing} >= {("lens", "missing.head")}
    assert (
        x.lens.layers.tolist() == [3] and x.histogram.counts.sum(axis=1).tolist() == [tiny.ROWS] * 5
    )


def test_a_norm_that_does_not_give_what_the_head_got_is_not_used(cohere, monkeypatch):
    cohere.model.logit_scale = 1.0
    try:
        told = short(cohere)
        assert len(cohere.inspect(told).lens.layers) == 4
        monkeypatch.setattr(cohere.model.model, "norm", torch.nn.LayerNorm(48))
        real = cohere.model.model.forward

        def twice(*args, **kwargs):
            out = real(*args, **kwargs)
            out.last_hidden_state = out.last_hidden_state * 2
            return out

        monkeypatch.setattr(cohere.model.model, "forward", twice)
        x = cohere.inspect(short(cohere))
        assert {(m.part, m.reason) for m in x.missing} >= {("lens", "missing.final_norm")}
        assert x.lens.layers.tolist() == [3]
    finally:
        cohere.model.logit_scale = 0.25


def test_attention_of_its_own_is_left_out_with_a_reason(monkeypatch):
    looked = engine("llama")
    monkeypatch.setattr("playground.inside.attention.hear", lambda call, out: None)
    x = looked.inspect(trace("llama"), layers=[1])
    assert x.heads is None and x.gaps.attention_output is None
    assert [(m.part, m.reason) for m in x.missing] == [("heads", "missing.attention")]
    assert x.attribution.heads is None and x.attribution.attn_bias is None
    assert x.gaps.attribution.max() < ROUNDING  # what attention wrote is still known as a whole
    detail = x.details[0]
    assert detail.q is None and detail.q_raw is not None and detail.neurons is not None


# --- in company ------------------------------------------------------------------------------


def test_two_that_look_and_two_that_generate_at_once_are_bit_equal_to_alone():
    looked = engine("gemma3")
    told, other = trace("gemma3"), trace("gemma3", 9, "something else entirely", 5)
    prompt = template.chat(looked.vocabulary, [Message("user", "and a third one")])
    params = SamplingParams(temperature=0.9, seed=8)

    def generated() -> list[np.ndarray]:
        return [s.candidates.logits for s in looked.generate(prompt, params, 12)]

    alone = [again("gemma3"), looked.inspect(other, layers=[4]), generated()]
    company: dict[int, object] = {}
    jobs = (
        lambda: again("gemma3"), lambda: looked.inspect(other, layers=[4]), generated, generated,
    )  # fmt: skip

    def work(i: int) -> None:
        for _ in range(3):
            company[i] = jobs[i]()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert alike(company[0], alone[0]) and alike(company[1], alone[1])
    for one in (company[2], company[3]):
        assert len(one) == len(alone[2])
        assert all((a == b).all() for a, b in zip(one, alone[2], strict=True))
    assert told is not other


# --- the real model ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real(smollm):
    prompt = template.chat(smollm.vocabulary, [Message("user", "How many r are in strawberry?")])
    told = smollm.generate(prompt, SamplingParams(), 12)
    list(told)
    return told.trace(), smollm.inspect(told.trace(), layers=[0, 11, 29])


def test_real_every_gap_is_rounding(real):
    _, x = real
    assert x.logits_gap < 1e-3 and x.gaps.head < 1e-3 and x.gaps.embedding == 0
    assert x.gaps.attribution.max() < 1e-3 and x.gaps.heads.max() < 1e-3
    for name in ("stream", "attention_sum", "attention_output"):
        assert getattr(x.gaps, name).max() < ROUNDING, name
    assert (x.gaps.attention_future == 0).all() and not x.missing


def test_real_attention_and_hidden_states_are_the_librarys(smollm, real):
    told, x = real
    model = twin(smollm.model)
    ref = refer(model, fed(told), "llama")
    n = len(x.chosen)
    for detail in x.details:
        np.testing.assert_allclose(detail.weights, ref.attentions[detail.layer], atol=1e-5)
    for layer, weights in enumerate(ref.attentions):
        np.testing.assert_allclose(x.heads.sink[layer], weights[:, -n:, 0], atol=1e-5)
    for at, hidden in enumerate(ref.hidden):
        np.testing.assert_allclose(x.stream.norms[at], np.linalg.norm(hidden, axis=1), rtol=1e-4)
        scores = run(ref.parts.head, run(ref.parts.final_norm, hidden[-n:]))
        own = log_softmax(scores)[np.arange(n), x.chosen]
        np.testing.assert_allclose(x.lens.logprob[at], own, atol=2e-3)
        top = np.argsort(-scores, axis=1)[:, 0]
        assert (x.lens.ids[at, :, 0] == top).mean() > 0.99  # near ties may fall either way
    assert x.lens.ids[-1, :, 0].tolist() == list(told.ids)  # greedy
    assert (x.lens.settled > 0).all() and (x.lens.settled <= 30).all()


def test_real_hidden_states_are_those_of_decoding_step_by_step(smollm, real):
    told, x = real
    seen = decoded(smollm.model, smollm.model.model.layers, told)
    for step, by_layer in enumerate(seen):
        norms = [np.linalg.norm(vector) for vector in by_layer]
        np.testing.assert_allclose(x.stream.norms[1:, x.position(step)], norms, rtol=1e-4)
        assert np.linalg.norm(x.stream.final[step] - by_layer[-1]) < 1e-4 * norms[-1]
    for at, vector in enumerate(seen[0], start=1):
        off = np.linalg.norm(x.stream.prompt_end[at] - vector)
        assert off < 1e-4 * np.linalg.norm(vector)


def test_real_heads_sink_into_the_first_position(real):
    _, x = real
    assert x.heads.sink.mean() > 0.3  # the sink of the field's literature, measured


def test_real_ablation_moves_the_distribution_and_a_neuron_speaks(smollm, real):
    told, _ = real
    word = next(i for i, t in enumerate(told.prompt) if b"berry" in t.raw or b"raw" in t.raw)
    hidden = smollm.ablate(told, 0, hide=word)
    assert 0 < hidden.kl_bits < 50
    assert smollm.ablate(told, 0, ffn=0).kl_bits > hidden.kl_bits
    assert len(smollm.neuron(20, 100).up_raw) == 10
