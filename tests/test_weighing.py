"""What a model is made of and multiplies by, held against its parameters and a flop counter."""

from __future__ import annotations

import copy

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import DynamicCache

from tests import looking
from tests.tiny import INSIDE, UNKNOWN


def flops(model: torch.nn.Module, ids: list[int], cache: DynamicCache | None = None) -> int:
    """Of one forward, as torch counts its matrix products; without the rotary angles' own."""
    with torch.inference_mode(), FlopCounterMode(display=False) as counter:
        model(torch.tensor([ids]), cache=cache, use_cache=cache is not None, logits_to_keep=1)
    counts = counter.get_flop_counts()
    rotary = sum(sum(c.values()) for name, c in counts.items() if name.endswith("rotary_emb"))
    return counter.get_total_flops() - rotary


@pytest.mark.parametrize("family", INSIDE)
def test_the_parts_add_up_to_the_models_parameters(family):
    engine = looking.engine(family)
    w = engine.weights()
    total = w.embedding + w.position + w.attention + w.ffn + w.head + w.other
    assert total == engine.info.n_params == sum(p.numel() for p in engine.model.parameters())
    info = engine.info
    assert w.embedding == info.vocab_rows * info.d_model == w.head_macs
    assert (w.head == 0) == info.tied
    assert w.head in (0, info.vocab_rows * info.d_model)
    assert (w.position > 0) == (family == "gpt2")
    assert w.itemsize == 4
    n = info.n_layers
    q, kv = info.n_heads * info.d_head, info.n_kv_heads * info.d_head
    assert w.attention_macs == n * info.d_model * (2 * q + 2 * kv)
    assert w.ffn_macs == n * info.d_model * info.d_ffn * (2 if family[:3] == "gpt" else 3)
    assert w.pair_macs == n * 2 * q
    assert w.attention >= w.attention_macs and w.ffn >= w.ffn_macs
    # what is left over is norms: vectors
    assert w.other < 20 * n * info.d_model


@pytest.mark.parametrize("family", INSIDE)
def test_multiply_adds_are_what_a_forward_does(family):
    """One flop counter's flop is half a multiply-add. Eager attention multiplies every query with
    every key, the forbidden ones too; a decode step has one query."""
    engine = looking.engine(family)
    w, model = engine.weights(), looking.twin(engine.model)
    ids = [5, 90, 7, 200, 41, 8]
    n = len(ids)

    def macs(positions: int, pairs: int) -> int:
        each = w.attention_macs + w.ffn_macs
        return positions * each + pairs * w.pair_macs + w.head_macs

    cache = DynamicCache(config=model.config)
    assert flops(model, ids, cache) == 2 * macs(n, n * n)
    assert flops(model, [11], cache) == 2 * macs(1, n + 1)
    assert flops(model, ids) == 2 * macs(n, n * n)


def test_a_forgotten_bias_or_head_would_be_seen():
    """The counts are of these tensors: another table, another count."""
    engine = looking.engine("qwen2")
    before = engine.weights()
    assert before.attention > before.attention_macs  # q, k and v have biases
    assert before.ffn == before.ffn_macs
    other = copy.copy(engine)
    other.model = copy.deepcopy(engine.model)
    other.model.lm_head.weight = torch.nn.Parameter(other.model.lm_head.weight.clone())
    assert other.weights().head == before.embedding and before.head == 0
    assert other.weights().head_macs == before.head_macs


def test_half_precision_takes_half():
    engine = copy.copy(looking.engine("llama"))
    engine.model = copy.deepcopy(engine.model).to(torch.bfloat16)
    whole = looking.engine("llama").weights()
    assert engine.weights().itemsize == 2
    assert engine.weights().attention == whole.attention


def test_a_family_that_is_not_known_is_not_weighed():
    assert looking.engine(UNKNOWN).weights() is None


def test_smollm2(smollm):
    w = smollm.weights()
    assert w.embedding + w.attention + w.ffn + w.other == smollm.info.n_params == 134_515_008
    assert (w.embedding, w.head, w.head_macs) == (49_152 * 576, 0, 49_152 * 576)
    assert w.attention == w.attention_macs == 30 * 576 * (2 * 576 + 2 * 192)
    assert w.ffn == w.ffn_macs == 30 * 3 * 576 * 1536
    assert w.other == 61 * 576
    assert w.pair_macs == 30 * 2 * 576
