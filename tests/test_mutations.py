"""Mutations of what is captured or computed: each must be seen by one of the measured gaps.

A check that nothing can fail proves nothing; these are the ways in which a look inside goes wrong.
"""

from __future__ import annotations

import dataclasses

import pytest

from playground.inside import attention
from playground.inside.attention import Heard
from playground.inside.recording import Recorder
from playground.inspection import Inspection
from tests.looking import engine, inspection, trace
from tests.tiny import INSIDE, UNKNOWN

every = pytest.mark.parametrize("family", (*INSIDE, UNKNOWN))


def looked_at(family: str = "llama") -> Inspection:
    return engine(family).inspect(trace(family), lens=())


@pytest.mark.parametrize("family", ["llama", "gemma3", "gpt2", "olmo2", "gpt_neox"])
def test_mutation_a_residual_scaled_by_1_01_fails_additivity(family, monkeypatch):
    real = Recorder._leave
    monkeypatch.setattr(Recorder, "_leave", lambda self, i, x: real(self, i, x * 1.01))
    x = looked_at(family)
    assert (x.gaps.stream > 5e-3).all()
    # a norm hides the scale of what it is given: the lens alone would let this pass
    assert x.lens.rank.tolist() == inspection(family).lens.rank[-1:].tolist()


@pytest.mark.parametrize("family", ["llama", "qwen3", "gemma3", "gpt2", "phi3"])
def test_mutation_two_axes_swapped_fails_attention_and_the_heads_sum(family, monkeypatch):
    real = attention.hear

    def swapped(call, out):
        heard = real(call, out)
        mixed = heard.out.transpose(0, 1).reshape(heard.out.shape)  # heads as positions
        return dataclasses.replace(heard, out=mixed)

    monkeypatch.setattr(attention, "hear", swapped)
    gaps = looked_at(family).gaps
    assert (gaps.attention_output > 0.1).all() and (gaps.heads > 0.01).all()


@pytest.mark.parametrize("family", ["llama", "qwen2", "mistral", "phi3"])
def test_mutation_query_heads_on_the_wrong_kv_head_fails_attention(family, monkeypatch):
    real = attention.hear

    def swapped(call, out):
        heard = real(call, out)
        return dataclasses.replace(heard, k=heard.k.flip(0), v=heard.v.flip(0))

    monkeypatch.setattr(attention, "hear", swapped)
    assert (looked_at(family).gaps.attention_output > 0.1).all()


@pytest.mark.parametrize("family", ["llama", "gemma2", "gemma3", "gpt2", "olmo2"])
def test_mutation_the_final_norm_dropped_fails_logits_and_attribution(family, monkeypatch):
    real = Recorder._head

    def dropped(self, x):
        last = real(self, x)
        self.normed = self.streams[-1]
        return last

    monkeypatch.setattr(Recorder, "_head", dropped)
    x = looked_at(family)
    assert x.logits_gap > 1e-3 and x.gaps.head > 1e-3
    assert x.gaps.attribution.max() > 1e-3


@every
def test_mutation_a_position_shifted_by_one_fails_logits_and_attribution(family, monkeypatch):
    real = Recorder._head

    def shifted(self, x):
        return real(self, x.roll(1, dims=1))

    monkeypatch.setattr(Recorder, "_head", shifted)
    x = looked_at(family)
    if family == UNKNOWN:  # its scores are the model's own; norm and head are found out
        assert x.gaps.head > 1e-2
        assert ("lens", "missing.final_norm") in {(m.part, m.reason) for m in x.missing}
    else:
        assert x.logits_gap > 1e-2 and x.gaps.attribution.max() > 1e-2


@pytest.mark.parametrize("family", ["llama", "gemma3", "gpt2", "mistral"])
def test_mutation_a_mask_shifted_by_one_fails_causality(family, monkeypatch):
    real = attention.hear

    def shifted(call, out) -> Heard:
        heard = real(call, out)
        return dataclasses.replace(heard, allowed=heard.allowed.roll(1, dims=1))

    monkeypatch.setattr(attention, "hear", shifted)
    gaps = looked_at(family).gaps
    assert (gaps.attention_future > 1e-3).any() and (gaps.attention_output > 0.01).all()


@pytest.mark.parametrize("family", ["gemma2", "gemma3", "gpt2"])
def test_mutation_the_embeddings_scale_or_position_forgotten_fails_the_table(family, monkeypatch):
    if family == "gpt2":
        real = Recorder._enter

        def without(self, i, x):
            real(self, i, x - self.position if i == 0 else x)

        monkeypatch.setattr(Recorder, "_enter", without)
    else:
        monkeypatch.setattr("playground.inside.summing.embedding_scale", lambda parts: 1.0)
    assert looked_at(family).gaps.embedding > 0.01


def test_mutation_one_head_left_out_fails_the_heads_sum(monkeypatch):
    real = attention.hear

    def left_out(call, out):
        heard = real(call, out)
        masked = heard.out.clone()
        masked[:, 2] = 0
        return dataclasses.replace(heard, out=masked)

    monkeypatch.setattr(attention, "hear", left_out)
    assert (looked_at("llama").gaps.heads > 1e-3).all()
