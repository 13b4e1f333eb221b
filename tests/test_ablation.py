"""What would have been, what a neuron says, what the cache spares: against doing it by hand."""

from __future__ import annotations

import copy
from functools import partial

import numpy as np
import pytest
import torch

from playground.capture import locate
from playground.errors import PlaygroundError
from playground.inside.ablation import Taken
from playground.inspection import Stopped
from playground.inspection.experiment import contrast
from playground.trace import same
from tests.looking import (
    allowed,
    engine,
    fed,
    inspection,
    log_softmax,
    reference,
    trace,
    twin,
    window,
)
from tests.tiny import INSIDE

families = pytest.mark.parametrize("family", INSIDE)


def scores_of(model, ids: torch.Tensor, mask=None) -> np.ndarray:
    with torch.inference_mode():
        return model(ids, attention_mask=mask, use_cache=False).logits[0, -1].double().numpy()


@families
@pytest.mark.parametrize("step", [0, 6])
def test_a_hidden_token_is_one_that_no_later_position_attends_to(family, step):
    looked, told = engine(family), trace(family)
    ids = fed(told)[:, : len(told.prompt) + step]
    n, hide = ids.shape[1], len(told.prompt) - 3
    found = looked.ablate(told, step, hide=hide)
    ref = reference(family)
    seen: list[torch.Tensor] = []

    def closed(module, args, kwargs, layer):
        open_to = allowed(n, wide[layer])
        open_to[hide + 1 :, hide] = False
        mask = torch.zeros(n, n).masked_fill(~torch.tensor(open_to), torch.finfo(torch.float32).min)
        seen.append(mask)
        return args, {**kwargs, "attention_mask": mask[None, None]}

    wide = [window(family, i) for i in range(looked.info.n_layers)]
    handles = [
        block.attn.register_forward_pre_hook(partial(closed, layer=i), with_kwargs=True)
        for i, block in enumerate(ref.parts.blocks)
    ]
    try:
        after = scores_of(ref.model, ids)
    finally:
        for handle in handles:
            handle.remove()
    before = scores_of(ref.model, ids)
    assert len(seen) == looked.info.n_layers
    np.testing.assert_allclose(found.logits_before, before[found.ids], atol=1e-4)
    np.testing.assert_allclose(found.logits_after, after[found.ids], atol=1e-4)
    compared(found, before, after, told.ids[step])
    assert abs(found.logits_after - found.logits_before).max() > 1e-3
    assert (found.hide, found.head, found.ffn, found.step) == (hide, None, None, step)


def compared(found, before: np.ndarray, after: np.ndarray, chosen: int) -> None:
    """Everything that is said of two score vectors, worked out again."""
    log_p, log_q = log_softmax(before), log_softmax(after)
    assert found.kl_bits == pytest.approx(
        float((np.exp(log_p) * (log_p - log_q)).sum() / np.log(2)), rel=1e-3, abs=1e-6
    )
    np.testing.assert_allclose(found.probs_before, np.exp(log_p)[found.ids], rtol=1e-3)
    np.testing.assert_allclose(found.probs_after, np.exp(log_q)[found.ids], rtol=1e-3)
    for scores, ranks, bits in (
        (before, found.rank_before, found.entropy_bits_before),
        (after, found.rank_after, found.entropy_bits_after),
    ):
        assert ranks.tolist() == [1 + int((scores > scores[i]).sum()) for i in found.ids]
        logs = log_softmax(scores)
        assert bits == pytest.approx(-(np.exp(logs) * logs).sum() / np.log(2), abs=1e-3)
        assert set(np.argsort(-scores)[:20]) <= set(found.ids.tolist())
    assert chosen in found.ids and found.chosen == chosen
    assert (np.diff(found.logits_before) <= 0).all()


@families
def test_a_head_knocked_out_is_its_columns_of_o_proj_set_to_zero(family):
    looked, told, step = engine(family), trace(family), 4
    ids = fed(told)[:, : len(told.prompt) + step]
    layer, head, width = looked.info.n_layers - 1, 1, looked.info.d_head
    found = looked.ablate(told, step, head=(layer, head))
    model = copy.deepcopy(reference(family).model)
    block = locate(model, looked.info.family).blocks[layer]
    columns = slice(head * width, (head + 1) * width)
    with torch.no_grad():
        if family == "gpt2":
            block.o_proj.weight[columns] = 0
        else:
            block.o_proj.weight[:, columns] = 0
    before, after = scores_of(reference(family).model, ids), scores_of(model, ids)
    np.testing.assert_allclose(found.logits_after, after[found.ids], atol=1e-4)
    compared(found, before, after, told.ids[step])
    assert found.kl_bits > 1e-5 and found.head == (layer, head)


@families
def test_a_layers_ffn_knocked_out_writes_nothing(family):
    looked, told, step, layer = engine(family), trace(family), 2, 1
    ids = fed(told)[:, : len(told.prompt) + step]
    found = looked.ablate(told, step, ffn=layer)
    model = twin(looked.model)
    block = locate(model, looked.info.family).blocks[layer]
    block.ffn_write.register_forward_hook(lambda _m, _a, out: out * 0)
    before, after = scores_of(reference(family).model, ids), scores_of(model, ids)
    np.testing.assert_allclose(found.logits_after, after[found.ids], atol=1e-4)
    compared(found, before, after, told.ids[step])
    assert found.kl_bits > 1e-4 and found.ffn == layer


def test_what_is_not_there_can_not_be_taken_away():
    looked, told = engine("llama"), trace("llama")
    n = len(told.prompt)
    for asked, sentence in (
        ({}, "Nothing was taken away"),
        ({"hide": n + 2}, f"no position {n + 2}.*0 … {n + 1}"),
        ({"hide": -1}, "no position -1"),
        ({"head": (3, 0)}, "no layer 3"),
        ({"head": (0, 6)}, "no head 6.*0 … 5"),
        ({"ffn": 3}, "no layer 3"),
    ):
        with pytest.raises(PlaygroundError, match=sentence):
            looked.ablate(told, 2, **asked)
    with pytest.raises(PlaygroundError, match=f"no step {len(told.steps)}"):
        looked.ablate(told, len(told.steps), ffn=0)


def test_many_at_once_are_each_what_it_is_alone():
    looked, told = engine("qwen3"), trace("qwen3")
    wanted = [Taken(hide=3), Taken(head=(1, 2)), Taken(ffn=0), Taken(2, (0, 0), 1)]
    seen, forwards = [], []
    hook = looked.model.register_forward_hook(lambda *_: forwards.append(1))
    try:
        many = looked.ablations(told, 4, wanted, on_progress=lambda *told: seen.append(told))
    finally:
        hook.remove()
    assert len(forwards) == 5  # the pass without any of them is made once
    assert seen == [("ablate", i / 4) for i in range(4)]
    for found, taken in zip(many, wanted, strict=True):
        assert (found.hide, found.head, found.ffn) == taken
        assert same(found, looked.ablate(told, 4, **taken._asdict()))
    assert looked.ablations(told, 4, []) == ()


def test_few_candidates_are_the_leading_ones_and_the_choice():
    looked, told = engine("qwen3"), trace("qwen3")
    (found,) = looked.ablations(told, 4, [Taken(ffn=0)], n_candidates=3)
    for logits in (found.logits_before, found.logits_after):
        assert sum(logits >= np.sort(logits)[-3]) == 3
    whole = looked.ablate(told, 4, ffn=0)
    assert 3 <= len(found.ids) <= 7 < len(whole.ids)
    assert set(found.ids) <= set(whole.ids) and found.chosen in found.ids
    leading = set(whole.ids[np.argsort(-whole.logits_before)[:3]])
    leading |= set(whole.ids[np.argsort(-whole.logits_after)[:3]])
    assert set(found.ids) == leading | {found.chosen}
    assert found.kl_bits == whole.kl_bits


def test_many_can_be_stopped_and_refused_before_any_work():
    looked, told = engine("qwen3"), trace("qwen3")
    asked = iter([False, True])
    with pytest.raises(Stopped):
        looked.ablations(told, 0, [Taken(ffn=0)] * 3, should_stop=lambda: next(asked))
    with pytest.raises(PlaygroundError, match="no layer 9"):
        looked.ablations(told, 0, [Taken(ffn=0), Taken(ffn=9)], should_stop=lambda: 1 / 0)


@families
def test_a_neurons_row_is_read_out_by_brute_force(family):
    looked, ref = engine(family), reference(family)
    layer, neuron_id = 1, 71
    found = looked.neuron(layer, neuron_id, k=7)
    block, offset = ref.parts.blocks[layer], family.startswith("gemma")
    weight = block.down.weight.double().numpy()
    row = weight[neuron_id] if family == "gpt2" else weight[:, neuron_id]
    assert found.row_norm == pytest.approx(np.linalg.norm(row), rel=1e-5)
    if block.ffn_norm is not None:
        row = row * (block.ffn_norm.weight.double().numpy() + offset)
    if isinstance(ref.parts.final_norm, torch.nn.LayerNorm):
        row = row - row.mean()
    row = row * (ref.parts.final_norm.weight.double().numpy() + offset)
    scores = ref.parts.head.weight.double().numpy() @ row
    order = np.argsort(-scores)
    assert found.up_ids.tolist() == order[:7].tolist()
    assert found.down_ids.tolist() == order[::-1][:7].tolist()
    np.testing.assert_allclose(found.up, scores[order[:7]], rtol=1e-4)
    np.testing.assert_allclose(found.down, scores[order[::-1][:7]], rtol=1e-4)
    raws = tuple(looked.vocabulary.raw(int(i)) for i in found.up_ids)
    assert found.up_raw == raws and (found.layer, found.id) == (layer, neuron_id)
    with pytest.raises(PlaygroundError, match="no FFN neuron"):
        looked.neuron(layer, looked.info.d_ffn)


def test_a_neurons_reading_is_what_its_write_adds_to_the_score():
    x, looked = inspection("llama"), engine("llama")
    detail, step = x.details[2], 5
    found = looked.neuron(2, int(detail.neurons[step, 0]), k=3)
    scale = np.sqrt((x.stream.final[step].astype("f8") ** 2).mean() + 1e-6)
    row = looked.model.model.layers[2].mlp.down_proj.weight[:, found.id].double().numpy()
    gain = looked.model.model.norm.weight.double().numpy()
    table = looked.model.lm_head.weight.double().numpy()
    written = row * detail.activation[step, 0]
    direct = table[found.up_ids] @ (gain * written / scale)
    np.testing.assert_allclose(found.up * detail.activation[step, 0] / scale, direct, rtol=1e-4)


@pytest.mark.parametrize("family", ["llama", "gemma2", "gpt2"])
def test_uncached_is_the_same_answer_measured_step_by_step(family):
    looked, told, seen = engine(family), trace(family), []
    found = looked.uncached(told, on_progress=lambda stage, done: seen.append((stage, done)))
    assert found.logits_gap.max() < 1e-4 and (found.ms > 0).all()
    n = len(told.prompt)
    assert found.positions.tolist() == list(range(n, n + len(told.steps)))
    assert [f for _, f in seen] == sorted(f for _, f in seen) and len(seen) == len(told.steps)
    with pytest.raises(Stopped):
        looked.uncached(told, should_stop=lambda: True)


def test_contrast_is_the_cosine_of_the_last_prompt_positions():
    one = inspection("llama")
    other = engine("llama").inspect(trace("llama", 5, "Is 电 or 🙂 othar?"), lens=())
    found = contrast(one, other)
    a, b = one.stream.prompt_end.astype("f8"), other.stream.prompt_end.astype("f8")
    for at in range(len(a)):
        cosine = a[at] @ b[at] / np.linalg.norm(a[at]) / np.linalg.norm(b[at])
        assert found.cosine[at] == pytest.approx(cosine, abs=1e-6)
    # the last token is the same one: they start as one and part where attention reads the word
    assert found.cosine[0] == pytest.approx(1) and found.distance[0] == pytest.approx(0)
    assert found.cosine[-1] < 0.9999
    np.testing.assert_allclose(contrast(one, one).cosine, 1, atol=1e-6)
    with pytest.raises(PlaygroundError, match="tiny-llama and tiny-qwen3"):
        contrast(one, inspection("qwen3"))
