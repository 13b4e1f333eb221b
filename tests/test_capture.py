"""What is captured is what ran, and nothing is left behind: on every family of the table."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import torch

from playground import capture
from playground.engine import Engine
from playground.errors import PlaygroundError
from playground.inside.watching import Watch
from playground.inspection import Inspection, Stopped
from tests import tiny
from tests.looking import (
    alike,
    allowed,
    engine,
    fed,
    inspection,
    recorded,
    reference,
    run,
    trace,
    window,
)
from tests.tiny import INSIDE, UNKNOWN

families = pytest.mark.parametrize("family", INSIDE)
every = pytest.mark.parametrize("family", (*INSIDE, UNKNOWN))


def traces_left(model) -> list[str]:
    """Names of modules that carry a hook or a config that is not the model's."""
    left = []
    for name, module in model.named_modules():
        hooks = (module._forward_hooks, module._forward_pre_hooks, module._backward_hooks)
        if any(hooks) or module.__dict__.get("config", model.config) is not model.config:
            left.append(name)
    return left


def test_the_table_has_every_family_of_the_issue():
    assert set(capture.PLACES) == {
        "llama", "qwen2", "qwen3", "gemma2", "gemma3", "mistral", "phi3", "gpt2", "gpt_neox",
        "olmo2",
    }  # fmt: skip
    assert {engine(f).info.family for f in INSIDE} == set(capture.PLACES)


@families
def test_parts_are_where_the_table_says(family):
    info, model = engine(family).info, engine(family).model
    parts = capture.locate(model, info.family)
    assert len(parts.layers) == len(parts.blocks) == info.n_layers and not parts.missing
    assert (parts.position is not None) == (family == "gpt2")
    for block in parts.blocks:
        assert (block.between is None) == (family == "gpt_neox")
        assert (block.attn_norm is not None) == (family in ("gemma2", "gemma3", "olmo2"))
        assert (block.qk_norm is not None) == (family in ("qwen3", "gemma3", "olmo2"))
        out = block.down.weight.shape
        assert sorted(out) == sorted((info.d_model, info.d_ffn))


def test_a_model_under_another_familys_name_is_not_taken_for_it():
    parts = capture.locate(engine("gpt2").model, "llama")
    assert parts.places is None and parts.blocks is None
    assert [m.part for m in parts.missing] == ["writes"]
    assert parts.final_norm is engine("gpt2").model.transformer.ln_f


def test_an_unknown_family_keeps_its_layers_norm_and_attention():
    model = engine(UNKNOWN).model
    parts = capture.locate(model, UNKNOWN)
    assert parts.layers == tuple(model.transformer.h) and parts.blocks is None
    assert parts.final_norm is model.transformer.ln_f
    assert parts.attention == tuple(block.attn for block in model.transformer.h)


def test_a_model_without_a_head_is_refused():
    with pytest.raises(PlaygroundError, match="no output head"):
        capture.locate(engine("llama").model.model, "llama")


@every
def test_watching_leaves_the_logits_bit_equal(family):
    looked, ids = engine(family), fed(trace(family))
    n = len(trace(family).steps)
    with torch.inference_mode():
        bare = looked.model(ids, use_cache=False, logits_to_keep=n).logits[0]
    recorder, output = recorded(family)
    if recorder.whole_head:
        assert torch.equal(output, bare)
    else:  # the head was let read the last position only
        with torch.inference_mode():
            last = looked.model(ids, use_cache=False, logits_to_keep=1).logits[0]
            assert torch.equal(output, last)
            scores = looked.model.get_output_embeddings()(recorder.normed)
            cap = getattr(looked.model.config, "final_logit_softcapping", None)
            if cap:
                scores = torch.tanh(scores / cap) * cap
        assert torch.equal(scores, bare)


@every
def test_nothing_is_left_behind(family):
    looked = engine(family)
    before = traces_left(looked.model)
    looked.inspect(trace(family), layers=[0], lens=())
    assert before == traces_left(looked.model) == []


def test_nothing_is_left_behind_by_a_stop_or_an_error(monkeypatch):
    looked, told = engine("llama"), trace("llama")
    asked = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) > 2

    with pytest.raises(Stopped):
        looked.inspect(told, layers=[0, 1], should_stop=stop)
    assert traces_left(looked.model) == [] and not looked.lock.locked()

    def full(*args, **kwargs):
        raise torch.OutOfMemoryError

    with monkeypatch.context() as patch:
        patch.setattr(looked.model.model.layers[1].mlp, "forward", full)
        with pytest.raises(PlaygroundError, match="memory"):
            looked.inspect(told)
    assert traces_left(looked.model) == [] and not looked.lock.locked()
    looked.inspect(told, lens=())


def test_a_forward_of_another_thread_is_neither_seen_nor_touched():
    looked, ids = engine("llama"), fed(trace("llama"))
    with torch.inference_mode():
        expected = looked.model(ids, use_cache=False).logits
    seen: list[int] = []
    results: list[torch.Tensor] = []

    def other() -> None:
        with torch.inference_mode():
            results.append(looked.model(ids, use_cache=False).logits)

    parts = capture.locate(looked.model, "llama")
    with Watch() as watch:
        for layer, block in zip(parts.layers, parts.blocks, strict=True):
            watch.enters(layer, lambda x: seen.append(1) or torch.zeros_like(x))
            watch.leaves(layer, lambda x: seen.append(1) or torch.zeros_like(x))
            watch.attends(block.attn, lambda call: seen.append(1))
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert seen == [] and torch.equal(results[0], expected)


def test_two_engines_on_one_model_do_not_see_each_other():
    told = trace("llama")
    one, other = (
        Engine(tiny.loaded("llama", lively=True)),
        Engine(tiny.loaded("llama", lively=True)),
    )
    assert one.model is other.model and one.lock is not other.lock
    found: list[Inspection] = []

    def look(looked: Engine) -> None:
        for _ in range(4):
            found.append(looked.inspect(told, layers=range(3)))

    threads = [threading.Thread(target=look, args=(looked,)) for looked in (one, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and all(alike(x, inspection("llama")) for x in found)
    assert traces_left(one.model) == []


def test_what_a_watch_gives_back_takes_the_place_of_what_it_saw():
    looked, ids = engine("llama"), fed(trace("llama"))
    with torch.inference_mode():
        plain = looked.model(ids, use_cache=False).logits
        with Watch() as watch:
            watch.leaves(looked.model.model.layers[0], lambda x: x * 2)
            watch.enters(looked.model.model.layers[1], lambda x: x / 2)
            same = looked.model(ids, use_cache=False).logits
        with Watch() as watch:
            watch.enters(looked.model.model.layers[1], torch.zeros_like)
            other = looked.model(ids, use_cache=False).logits
    assert torch.equal(same, plain) and not torch.allclose(other, plain)


@every
def test_the_stream_is_the_librarys_hidden_states(family):
    recorder, _ = recorded(family)
    theirs, n = reference(family), len(trace(family).steps)
    assert len(recorder.streams) == len(theirs.hidden)
    for mine, norms, hidden in zip(recorder.streams, recorder.norms, theirs.hidden, strict=True):
        np.testing.assert_allclose(mine, hidden[-n:], rtol=1e-4, atol=1e-4 * abs(hidden).max())
        np.testing.assert_allclose(norms, np.linalg.norm(hidden, axis=1), rtol=1e-4)


@every
def test_attention_weights_are_those_of_eager_attention(family):
    x, theirs = inspection(family), reference(family).attentions
    for detail, weights in zip(x.details, theirs, strict=True):
        assert detail.rows.tolist() == list(range(len(x.ids)))
        np.testing.assert_allclose(detail.weights, weights, atol=1e-5)


@every
def test_attention_is_causal_and_no_wider_than_its_window(family):
    x = inspection(family)
    n = len(x.ids)
    for detail in x.details:
        open_to = allowed(n, window(family, detail.layer))
        assert (np.isfinite(detail.scores) == open_to).all()
        assert (detail.weights[:, ~open_to] == 0).all()
        np.testing.assert_allclose(detail.weights.sum(axis=-1), 1, atol=1e-5)
        assert x.heads.windows[detail.layer] == window(family, detail.layer)
    widths = {window(family, i) for i in range(len(x.details))}
    sliding = {"gemma2": {9, None}, "gemma3": {11, None}, "mistral": {13}}
    assert widths == sliding.get(family, {None}) and max(w or 0 for w in widths) < n


@families
def test_scores_are_the_dot_products_of_q_and_k_scaled_and_capped(family):
    x, config = inspection(family), engine(family).model.config
    groups = engine(family).info.n_heads // engine(family).info.n_kv_heads
    n = len(x.ids)
    for detail in x.details:
        q, k = detail.q.astype("f8"), detail.k.astype("f8")
        scale = getattr(config, "query_pre_attn_scalar", q.shape[-1]) ** -0.5
        for head in range(len(q)):
            scores = q[head] @ k[head // groups].T * scale
            if family == "gemma2":
                scores = config.attn_logit_softcapping * np.tanh(
                    scores / config.attn_logit_softcapping
                )
            seen = allowed(n, window(family, detail.layer))
            np.testing.assert_allclose(detail.scores[head][seen], scores[seen], atol=1e-4)
        assert detail.scaling == pytest.approx(scale)
        assert detail.softcap == (6.0 if family == "gemma2" else None)


def split_qkv(family: str, block, entered: np.ndarray) -> list[np.ndarray]:
    """q, k, v [heads, T, E] straight from the projections of the eager twin."""
    info = engine(family).info
    outs = [run(module, entered) for module in block.qkv]
    n = len(entered)
    if family.startswith("gpt_neox"):
        per_head = outs[0].reshape(n, info.n_heads, 3 * info.d_head)
        outs = [per_head[..., i * info.d_head : (i + 1) * info.d_head] for i in range(3)]
        return [o.transpose(1, 0, 2) for o in outs]
    if len(outs) == 1:
        q, kv = info.n_heads * info.d_head, info.n_kv_heads * info.d_head
        outs = [outs[0][:, :q], outs[0][:, q : q + kv], outs[0][:, q + kv :]]
    return [o.reshape(n, -1, info.d_head).transpose(1, 0, 2) for o in outs]


def attention_input(family: str, ref, i: int) -> np.ndarray:
    """What the attention of layer i reads, from the library's hidden state."""
    layer, hidden = ref.parts.layers[i], ref.hidden[i]
    names = {"gpt2": "ln_1", "olmo2": None}
    name = names.get(family, "input_layernorm")
    return hidden if name is None else run(layer.get_submodule(name), hidden)


@families
def test_q_k_v_are_what_the_projections_give(family):
    x, ref = inspection(family), reference(family)
    for detail, block in zip(x.details, ref.parts.blocks, strict=True):
        entered = attention_input(family, ref, detail.layer)
        q, k, v = split_qkv(family, block, entered)
        np.testing.assert_allclose(detail.q_raw, q, atol=1e-3)
        np.testing.assert_allclose(detail.k_raw, k, atol=1e-3)
        np.testing.assert_allclose(detail.v, v, atol=1e-3)


@families
def test_q_k_norm_is_the_rms_of_a_head_or_of_all_heads_together(family):
    x, ref = inspection(family), reference(family)
    for detail, block in zip(x.details, ref.parts.blocks, strict=True):
        if block.qk_norm is None:
            assert detail.q_normed is None and detail.k_normed is None
            continue
        for raw, normed, norm in (
            (detail.q_raw, detail.q_normed, block.qk_norm[0]),
            (detail.k_raw, detail.k_normed, block.qk_norm[1]),
        ):
            vectors = raw.astype("f8").transpose(1, 0, 2)  # [T, heads, E]
            vectors = vectors.reshape(len(vectors), -1) if family == "olmo2" else vectors
            gain = norm.weight.double().numpy() + (family == "gemma3")
            expected = vectors / np.sqrt((vectors**2).mean(-1, keepdims=True) + 1e-6) * gain
            expected = expected.reshape(len(raw[0]), len(raw), -1).transpose(1, 0, 2)
            np.testing.assert_allclose(normed, expected, atol=1e-3)


@families
def test_rotation_turns_pairs_by_position_and_leaves_the_rest(family):
    x, config = inspection(family), engine(family).model.config
    for detail in x.details:
        if family == "gpt2":
            assert detail.cos is None
            np.testing.assert_array_equal(detail.q, detail.q_raw)
            np.testing.assert_array_equal(detail.k, detail.k_raw)
            continue
        rope = config.rope_parameters
        rope = rope.get(config.layer_types[detail.layer], rope) if family == "gemma3" else rope
        width = detail.q.shape[-1]
        turned = int(width * rope.get("partial_rotary_factor", 1.0))
        half = turned // 2
        angle = np.arange(len(x.ids))[:, None] * rope["rope_theta"] ** (-np.arange(half) / half)
        assert detail.cos.shape == (len(x.ids), turned)
        np.testing.assert_allclose(detail.cos, np.cos(np.tile(angle, 2)), atol=1e-4)
        np.testing.assert_allclose(detail.sin, np.sin(np.tile(angle, 2)), atol=1e-4)
        for before, after in (
            (detail.q_raw if detail.q_normed is None else detail.q_normed, detail.q),
            (detail.k_raw if detail.k_normed is None else detail.k_normed, detail.k),
        ):
            pairs = before[..., :half] + 1j * before[..., half:turned]
            pairs = pairs * np.exp(1j * angle)
            expected = np.concatenate([pairs.real, pairs.imag, before[..., turned:]], axis=-1)
            np.testing.assert_allclose(after, expected, atol=1e-3)


@families
def test_heads_through_o_proj_add_up_to_what_attention_wrote(family):
    x, ref = inspection(family), reference(family)
    for detail, block in zip(x.details, ref.parts.blocks, strict=True):
        n_heads, n, width = detail.head_out.shape
        joined = detail.head_out.transpose(1, 0, 2).reshape(n, n_heads * width)
        whole = run(block.o_proj, joined)
        bias = run(block.o_proj, np.zeros((1, n_heads * width)))
        np.testing.assert_allclose(detail.head_writes.sum(axis=0) + bias, whole, atol=1e-3)
        alone = np.zeros_like(joined)
        alone[:, width : 2 * width] = joined[:, width : 2 * width]
        np.testing.assert_allclose(
            detail.head_writes[1], run(block.o_proj, alone) - bias, atol=1e-3
        )


def ffn_input(family: str, ref, i: int) -> np.ndarray:
    """What the FFN of layer i reads, from the library's modules and hidden states."""
    seen: list[torch.Tensor] = []
    module = ref.parts.blocks[i].up[0]
    handle = module.register_forward_hook(lambda _m, args, _o: seen.append(args[0]))
    try:
        with torch.inference_mode():
            ref.model(fed(trace(family)), use_cache=False)
    finally:
        handle.remove()
    return seen[0][0].double().numpy()


@families
def test_the_strongest_neurons_are_those_that_write_most(family):
    x, ref = inspection(family), reference(family)
    n = len(x.chosen)
    for detail, block in zip(x.details, ref.parts.blocks, strict=True):
        entered = ffn_input(family, ref, detail.layer)[-n:]
        outs = [run(module, entered) for module in block.up]
        if family == "phi3":
            outs = np.split(outs[0], 2, axis=1)
        act = (getattr(ref.parts.layers[detail.layer].mlp, name, None) for name in ACTS)
        act = next(a for a in act if a is not None)
        activation = run(act, outs[0])
        if len(outs) == 2:
            activation = activation * outs[1]
        weight = block.down.weight.double().numpy()
        weight = weight.T if family == "gpt2" else weight  # [D, F]
        written = np.abs(activation) * np.linalg.norm(weight, axis=0)
        order = np.argsort(-written, axis=1)[:, :10]
        np.testing.assert_array_equal(detail.neurons, order)

        def at(values, order=order):
            return np.take_along_axis(values, order, axis=1)

        np.testing.assert_allclose(detail.activation, at(activation), rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(detail.write_norms, at(written), rtol=1e-3)
        np.testing.assert_allclose(detail.up, at(outs[-1]), rtol=1e-3, atol=1e-4)
        if len(outs) == 2:
            np.testing.assert_allclose(detail.gate, at(outs[0]), rtol=1e-3, atol=1e-4)
        else:
            assert detail.gate is None


ACTS = ("act_fn", "activation_fn", "act")


@every
def test_the_heads_summary_is_that_of_the_eager_weights(family):
    x, theirs = inspection(family), reference(family).attentions
    n = len(x.chosen)
    for layer, weights in enumerate(theirs):
        weights = weights[:, -n:]
        np.testing.assert_allclose(x.heads.sink[layer], weights[:, :, 0], atol=1e-5)
        np.testing.assert_allclose(x.heads.peak_weight[layer], weights.max(-1), atol=1e-5)
        peaks = np.take_along_axis(weights, x.heads.peak[layer][..., None], axis=-1)[..., 0]
        np.testing.assert_allclose(peaks, weights.max(-1), atol=1e-5)
        bits = -(weights * np.log2(np.maximum(weights, 1e-300))).sum(-1)
        np.testing.assert_allclose(x.heads.entropy_bits[layer], bits, atol=1e-3)
        for norms, vectors in (
            (x.heads.key_norms, x.details[layer].k), (x.heads.value_norms, x.details[layer].v),
        ):  # fmt: skip
            np.testing.assert_allclose(norms[layer], np.linalg.norm(vectors, axis=-1), rtol=1e-5)


def test_rows_give_way_where_the_map_would_be_too_big(monkeypatch):
    looked, told = engine("llama"), trace("llama")
    n, p = len(fed(told)[0]), len(told.steps)
    whole = inspection("llama").details[1]
    for most, expected in ((6 * n * n, n), (6 * n * n - 1, p), (6 * n * 4, 4), (1, 1)):
        monkeypatch.setattr("playground.inside.detail.MOST", most)
        detail = looked.inspect(told, layers=[1], lens=()).details[0]
        assert detail.rows.tolist() == list(range(n - expected, n))
        np.testing.assert_allclose(detail.weights, whole.weights[:, -expected:], atol=1e-6)
        np.testing.assert_allclose(detail.scores, whole.scores[:, -expected:], atol=1e-5)
