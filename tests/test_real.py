"""The real SmolLM2 and the real Qwen3 vocabulary: published numbers and parity."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from transformers import GenerationConfig

from playground import template
from playground.trace import Message, SamplingParams


def ask(engine, text):
    return template.chat(engine.vocabulary, [Message("user", text)])


def finished(run):
    list(run)
    return run.trace()


def generate(engine, prompt, n, **settings):
    ids = torch.tensor([[t.id for t in prompt.tokens]])
    config = GenerationConfig(
        max_new_tokens=n, eos_token_id=sorted(engine.eos_ids), pad_token_id=0, **settings
    )
    out = engine.model.generate(
        ids, generation_config=config, output_logits=True, output_scores=True,
        return_dict_in_generate=True,
    )  # fmt: skip
    return out.sequences[0, ids.shape[1] :].tolist(), out


def test_what_it_is(smollm):
    info = smollm.info
    assert (info.n_params, info.n_layers, info.d_model) == (134_515_008, 30, 576)
    assert (info.n_heads, info.n_kv_heads, info.d_head) == (9, 3, 64)
    assert (info.vocab_rows, info.d_ffn, info.tied) == (49_152, 1536, True)
    assert smollm.eos_ids == {2}


def test_the_lesson_it_gets_wrong(smollm):
    trace = finished(
        smollm.generate(ask(smollm, "How many r are in strawberry?"), SamplingParams(), 20)
    )
    assert trace.text == "The answer is 1."
    assert trace.finish == "eos"


@pytest.mark.parametrize("text", ["Is OpenAI open?", "苹果最常见的颜色是什么？", "👩‍👩‍👧‍👦"])
def test_greedy_ids_and_logits_are_those_of_generate(smollm, text):
    prompt = ask(smollm, text)
    trace = finished(smollm.generate(prompt, SamplingParams(), 24))
    ids, out = generate(smollm, prompt, 24, do_sample=False)
    assert list(trace.ids) == ids
    for step, logits in zip(trace.steps, out.logits, strict=True):
        np.testing.assert_allclose(
            step.candidates.logits, logits[0].numpy()[step.candidates.ids], atol=1e-3, rtol=1e-5
        )


def test_sampled_distribution_is_that_of_generate_at_every_step(smollm):
    prompt = ask(smollm, "Tell me about tea.")
    params = SamplingParams(temperature=0.8, top_k=40, top_p=0.9, min_p=0.01, seed=3)
    trace = finished(smollm.generate(prompt, params, 10))
    # generate's own scores along the very same tokens
    for i, step in enumerate(trace.steps):
        so_far = torch.tensor([[*(t.id for t in prompt.tokens), *trace.ids[:i]]])
        config = GenerationConfig(
            max_new_tokens=1, do_sample=True, temperature=0.8, top_k=40, top_p=0.9, min_p=0.01,
            pad_token_id=0,
        )  # fmt: skip
        out = smollm.model.generate(
            so_far, generation_config=config, output_scores=True, return_dict_in_generate=True
        )
        theirs = torch.softmax(out.scores[0][0], -1).numpy()
        c = step.candidates
        assert set(c.ids[c.kept[-1]]) == set(np.flatnonzero(theirs))
        np.testing.assert_allclose(c.probs[-1], theirs[c.ids], atol=1e-4)


def test_chinese_is_spelled_byte_by_byte_and_never_half(smollm):
    trace = finished(smollm.generate(ask(smollm, "苹果最常见的颜色是什么？"), SamplingParams(), 30))
    whole = smollm.vocabulary.tokenizer.decode(
        trace.ids[:-1] if trace.finish == "eos" else trace.ids, skip_special_tokens=False
    )
    assert "".join(s.emitted for s in trace.steps) == trace.text == whole
    assert any(s.pending for s in trace.steps)
    assert all("�" not in s.emitted for s in trace.steps[:-1])


def test_the_embedding_rows_near_a_word_are_found_in_float64_too(smollm):
    table = smollm.model.get_input_embeddings().weight.detach().double()
    id_ = smollm.vocabulary.encode(" open")[0].id
    row = smollm.embedding(id_, n=10)
    unit = table / table.norm(dim=1, keepdim=True)
    cosine = unit @ unit[id_]
    cosine[id_] = -2
    best = cosine.topk(10)
    found = next(n for n in row.neighbours if n.metric == "cosine")
    assert found.ids.tolist() == best.indices.tolist()
    np.testing.assert_allclose(found.score, best.values.numpy(), atol=1e-6)
