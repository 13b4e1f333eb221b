"""Picking: equal to transformers' own processors, and to small tables done by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM

from playground.errors import PlaygroundError
from playground.sampling import NonFiniteLogits, choose, leading, pick, warpers
from playground.trace import SamplingParams


class Pieces:
    def raw(self, token_id: int) -> bytes:
        return str(token_id).encode()

    def special(self, token_id: int) -> bool:
        return token_id == 1


def take(logits, u=0.5, n=50, forced=None, **params):
    return pick(
        torch.as_tensor(logits, dtype=torch.float32), SamplingParams(**params), Pieces(),
        u=u, n_candidates=n, forced=forced,
    )  # fmt: skip


def library_processors(params: SamplingParams):
    """The list that `generate` itself would build for these settings."""
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=7, hidden_size=4, intermediate_size=4, num_hidden_layers=1,
            num_attention_heads=1, num_key_value_heads=1,
        )
    )  # fmt: skip
    config = GenerationConfig(
        do_sample=True, temperature=float(params.temperature), top_k=params.top_k,
        top_p=float(params.top_p), min_p=float(params.min_p) or None,
    )  # fmt: skip
    return model._get_logits_processor(config, input_ids_seq_length=1, device="cpu")


logit_lists = st.lists(
    st.one_of(st.integers(-3, 3).map(float), st.floats(-12, 12, width=32)), min_size=3, max_size=90
)
sampled = st.builds(
    SamplingParams,
    temperature=st.sampled_from([0.01, 0.3, 0.7, 1.0, 1.7, 100.0]),
    top_k=st.sampled_from([0, 1, 2, 5, 40, 1000]),
    top_p=st.sampled_from([0.05, 0.5, 0.8, 0.95, 1.0]),
    min_p=st.sampled_from([0.0, 0.02, 0.3, 1.0]),
)


@settings(max_examples=250, deadline=None)
@given(logits=logit_lists, params=sampled, u=st.floats(0, 1, exclude_max=True))
def test_kept_set_and_probabilities_are_those_of_generate(logits, params, u):
    scores = torch.tensor(logits, dtype=torch.float32)
    theirs = library_processors(params)(torch.zeros((1, 1), dtype=torch.long), scores[None])[0]
    got = pick(scores, params, Pieces(), u=u, n_candidates=len(logits))
    c = got.candidates
    assert set(c.ids[c.kept[-1]].tolist()) == set(torch.nonzero(theirs > -math.inf)[:, 0].tolist())
    np.testing.assert_array_equal(c.probs[-1], torch.softmax(theirs, -1).numpy()[c.ids])
    assert c.kept_count[-1] == int((theirs > -math.inf).sum())
    assert c.kept[-1][list(c.ids).index(got.token_id)]


@settings(max_examples=150, deadline=None)
@given(logits=logit_lists, params=sampled, n=st.integers(1, 12))
def test_listed_and_tail_sum_to_one_at_every_stage(logits, params, n):
    c = take(logits, n=n, **{f: getattr(params, f) for f in params.__dataclass_fields__}).candidates
    np.testing.assert_allclose(c.probs.sum(1, dtype=np.float64) + c.tail, 1, atol=2e-6)


@settings(max_examples=150, deadline=None)
@given(logits=logit_lists, n=st.integers(1, 100))
def test_leading_is_a_stable_sort(logits, n):
    scores = torch.tensor(logits, dtype=torch.float32)
    by_hand = sorted(range(len(logits)), key=lambda i: (-float(scores[i]), i))[:n]
    assert leading(scores, n).tolist() == by_hand


@pytest.mark.parametrize(("p", "kept"), [(0.001, 1), (0.7, 2), (0.8, 2), (0.95, 3), (1.0, 4)])
def test_top_p_keeps_the_boundary_token(p, kept):
    logits = np.log(np.array([0.5, 0.3, 0.15, 0.05]))
    c = take(logits, temperature=1.0, top_p=p).candidates
    assert c.kept_count[-1] == kept
    assert c.kept[-1].tolist() == [i < kept for i in range(4)]


def test_top_k_keeps_all_of_a_tie():
    c = take([2.0, 2.0, 2.0, 1.0], temperature=1.0, top_k=1).candidates
    assert c.stages == ("logits", "top_k")
    assert c.kept[-1].tolist() == [True, True, True, False]


def test_stages_named_in_the_librarys_order_and_only_when_on():
    assert [n for n, _ in warpers(SamplingParams())] == []
    assert [n for n, _ in warpers(SamplingParams(temperature=1.0))] == []
    full = SamplingParams(temperature=0.7, top_k=4, top_p=0.9, min_p=0.1)
    assert [n for n, _ in warpers(full)] == ["temperature", "top_k", "top_p", "min_p"]


def test_greedy_is_argmax_and_draws_nothing():
    got = take([0.0, 3.0, 1.0])
    assert (got.token_id, got.draw, got.rank) == (1, None, 1)
    assert got.candidates.stages == ("logits",)


@pytest.mark.parametrize(("u", "id_"), [(0.0, 2), (0.49, 2), (0.51, 0), (0.79, 0), (0.96, 1)])
def test_the_draw_can_be_redone_by_hand(u, id_):
    # probabilities .3 .05 .5 .15 in id order; by falling probability the edges are .5 .8 .95 1
    got = take(np.log([0.3, 0.05, 0.5, 0.15]), u=u, temperature=1.0)
    assert got.token_id == id_
    assert got.draw == u


def test_a_draw_beyond_the_listed_falls_on_the_same_token_as_with_all_listed():
    logits = torch.randn(400, generator=torch.Generator().manual_seed(3))
    for u in (0.2, 0.6, 0.9, 0.999, 1 - 1e-12):
        one = take(logits, u=u, n=3, temperature=1.0)
        all_ = take(logits, u=u, n=400, temperature=1.0)
        assert one.token_id == all_.token_id
        assert one.token_id in one.candidates.ids


def test_boundary_and_choice_are_listed_even_when_far_down():
    logits = torch.linspace(1, 0, 300)
    got = take(logits, u=0.7, n=5, temperature=1.0, top_p=0.5)
    c = got.candidates
    boundary = c.kept_count[-1] - 1
    assert boundary > 5 and boundary in c.ids and got.token_id in c.ids
    assert list(c.logits) == sorted(c.logits, reverse=True)


def test_draw_frequencies_fit_the_probabilities():
    """Chi-square over 20,000 draws against the recorded probabilities."""
    logits = torch.tensor([1.2, 0.3, -0.5, 2.0, 0.0, -1.0, 0.9])
    params = SamplingParams(temperature=0.8, top_p=0.97)
    c = pick(logits, params, Pieces(), u=0.0).candidates
    random = torch.Generator().manual_seed(11)
    probs = torch.zeros(7)
    probs[c.ids.tolist()] = torch.tensor(c.probs[-1].tolist())
    counts = np.zeros(7)
    n = 20_000
    for u in torch.rand(n, generator=random, dtype=torch.float64).tolist():
        counts[choose(logits, probs, torch.tensor(c.ids.tolist()), u)] += 1
    expected = n * probs.double().numpy()
    live = expected > 0
    assert counts[~live].sum() == 0
    chi2 = float(((counts - expected)[live] ** 2 / expected[live]).sum())
    # 99.9 % point of chi-square with (kept - 1) degrees of freedom (Wilson-Hilferty)
    df = live.sum() - 1
    limit = df * (1 - 2 / (9 * df) + 3.09 * math.sqrt(2 / (9 * df))) ** 3
    assert chi2 < limit


def test_entropy_rank_and_logprob_against_float64():
    logits = torch.randn(1500, generator=torch.Generator().manual_seed(2)) * 3
    got = take(logits, forced=77)
    exact = torch.log_softmax(logits.double(), -1)
    entropy = float(-(exact.exp() * exact).sum() / math.log(2))
    assert got.entropy_bits == pytest.approx(entropy, abs=1e-5)
    assert got.logprob == pytest.approx(float(exact[77]), abs=1e-5)
    assert got.rank == sorted(logits.tolist(), reverse=True).index(float(logits[77])) + 1
    assert got.draw is None and got.token_id == 77


def test_logits_are_left_unchanged():
    logits = torch.randn(64, generator=torch.Generator().manual_seed(1))
    before = logits.clone()
    take(logits, temperature=0.5, top_k=3, top_p=0.5, min_p=0.1)
    assert torch.equal(logits, before)


@pytest.mark.parametrize("bad", [[math.nan, 1, 2], [1, math.inf, 2], [-math.inf] * 3])
def test_numbers_that_are_no_distribution_are_refused(bad):
    with pytest.raises(NonFiniteLogits):
        take(bad)


def test_masked_rows_are_never_listed():
    c = take([0.0, -math.inf, 1.0]).candidates
    assert c.ids.tolist() == [2, 0]
    assert c.kept_count.tolist() == [2]


@pytest.mark.parametrize(
    "bad",
    [
        {"temperature": v} for v in (-1, math.nan, math.inf, 1e-40, 1e9, "1", None, True)
    ] + [{"top_p": v} for v in (0, -0.1, 1.5, math.nan, "x")]
    + [{"top_k": v} for v in (-1, 1.5, 10**9, math.nan, True)]
    + [{"min_p": v} for v in (-0.1, 1.1, math.nan)]
    + [{"seed": v} for v in (-1, 2**63, 1.0, None)],
)  # fmt: skip
def test_settings_out_of_range_are_refused_by_name(bad):
    with pytest.raises(PlaygroundError, match=next(iter(bad))):
        SamplingParams(**bad)
