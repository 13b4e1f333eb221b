"""The traced loop against transformers' own `generate`, on four families and in bad weather."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import torch
from transformers import GenerationConfig

from playground import template
from playground.engine import Engine
from playground.errors import PlaygroundError
from playground.run import cache_bytes
from playground.trace import Message, SamplingParams, same
from tests.tiny import FAMILIES, loaded

QUESTION = "Is the answer 电 or 🙂 than the other?"
SAMPLED = SamplingParams(temperature=0.9, top_k=60, top_p=0.97, seed=4)


@pytest.fixture(params=FAMILIES)
def engine(request) -> Engine:
    return Engine(loaded(request.param))


@pytest.fixture
def llama() -> Engine:
    return Engine(loaded("llama"))


def ask(engine: Engine, text: str = QUESTION):
    return template.chat(engine.vocabulary, [Message("user", text)])


def finished(run):
    steps = list(run)
    return steps, run.trace()


def generate(engine: Engine, prompt, n: int, **settings) -> list[int]:
    ids = torch.tensor([[t.id for t in prompt.tokens]])
    config = GenerationConfig(
        max_new_tokens=n, eos_token_id=sorted(engine.eos_ids), pad_token_id=0, **settings
    )
    out = engine.model.generate(ids, generation_config=config)
    return out[0, ids.shape[1] :].tolist()


def test_greedy_ids_are_those_of_generate(engine):
    prompt = ask(engine)
    steps, trace = finished(engine.generate(prompt, SamplingParams(), 40))
    assert list(trace.ids) == generate(engine, prompt, 40, do_sample=False)
    assert trace.finish == ("eos" if trace.ids[-1] in engine.eos_ids else "length")
    assert [s.phase for s in steps] == ["prefill"] + ["decode"] * (len(steps) - 1)


def test_recorded_logits_are_those_of_generate(engine):
    prompt = ask(engine)
    _, trace = finished(engine.generate(prompt, SamplingParams(), 12))
    ids = torch.tensor([[t.id for t in prompt.tokens]])
    config = GenerationConfig(
        max_new_tokens=12, eos_token_id=sorted(engine.eos_ids), pad_token_id=0
    )
    out = engine.model.generate(
        ids, generation_config=config, output_logits=True, return_dict_in_generate=True
    )
    for step, logits in zip(trace.steps, out.logits, strict=True):
        theirs = logits[0].numpy()[step.candidates.ids]
        np.testing.assert_array_equal(step.candidates.logits, theirs)


def test_cached_equals_uncached_and_chunked_prefill_equals_whole(engine):
    prompt = ask(engine)
    _, trace = finished(engine.generate(prompt, SamplingParams(), 20))
    _, chunked = finished(engine.generate(prompt, SamplingParams(), 20, prefill_chunk=7))
    assert trace.ids == chunked.ids
    ids = [t.id for t in prompt.tokens]
    for step, other in zip(trace.steps, chunked.steps, strict=True):
        with torch.inference_mode():
            bare = engine.model(torch.tensor([ids]), use_cache=False).logits[0, -1].float().numpy()
        listed = step.candidates.ids
        np.testing.assert_allclose(step.candidates.logits, bare[listed], rtol=1e-4, atol=1e-3)
        np.testing.assert_allclose(
            step.candidates.logits, other.candidates.logits, rtol=1e-4, atol=1e-3
        )
        ids.append(step.token.id)


def test_cache_is_counted_in_positions_and_true_bytes(engine):
    prompt = ask(engine)
    run = engine.generate(prompt, SamplingParams(), 5)
    info, n = engine.info, len(prompt.tokens)
    for i, step in enumerate(run):
        assert (step.cache_before, step.cache_after) == ((0, n) if i == 0 else (n + i - 1, n + i))
        if run.finish is None:
            assert step.cache_bytes == cache_bytes(run._cache)
        formula = 2 * info.n_layers * info.n_kv_heads * info.d_head * step.cache_after * 4
        if info.family.startswith("gemma3"):  # its sliding layers let old positions go
            assert step.cache_bytes < formula
        else:
            assert step.cache_bytes == formula


def test_watching_leaves_the_logits_bit_equal(llama):
    prompt = ask(llama)
    ids = torch.tensor([[t.id for t in prompt.tokens]])
    with torch.inference_mode():
        before = llama.model(ids, logits_to_keep=1).logits
        finished(llama.generate(prompt, SAMPLED, 10))
        assert torch.equal(before, llama.model(ids, logits_to_keep=1).logits)


def test_text_is_that_of_decoding_all_ids_at_once(engine):
    for seed in range(6):
        params = SamplingParams(temperature=1.0, seed=seed)
        _, trace = finished(engine.generate(ask(engine), params, 30))
        body = trace.ids[:-1] if trace.finish == "eos" else trace.ids
        whole = engine.vocabulary.tokenizer.decode(
            body, skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
        assert trace.text == whole == "".join(s.emitted for s in trace.steps)


def test_every_end_token_ends_the_run(llama):
    prompt = ask(llama)
    _, free = finished(llama.generate(prompt, SamplingParams(), 8))
    other = Engine(llama_with_ends(llama, {free.ids[3], 10**6}))
    steps, trace = finished(other.generate(prompt, SamplingParams(), 8))
    cut = free.ids.index(free.ids[3]) + 1
    assert trace.finish == "eos" and trace.ids == free.ids[:cut]
    assert steps[-1].emitted == "" or steps[-1].pending
    assert trace.text == llama.vocabulary.decode(trace.ids[:-1])


def llama_with_ends(engine: Engine, ends):
    from dataclasses import replace

    return replace(loaded("llama"), eos_ids=frozenset(ends))


def test_same_seed_same_ids_alone_and_in_company(llama):
    prompt = ask(llama)
    alone = [finished(llama.generate(prompt, SAMPLED, 25))[1] for _ in range(2)]
    assert alone[0].ids == alone[1].ids
    company: dict[int, tuple[int, ...]] = {}

    def work(seed: int) -> None:
        params = SamplingParams(temperature=0.9, top_k=60, top_p=0.97, seed=seed)
        company[seed] = finished(llama.generate(prompt, params, 25))[1].ids

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(2, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert company[4] == alone[0].ids
    assert len(set(company.values())) > 1


def test_two_runs_in_turns_never_see_each_other(llama):
    one, two = ask(llama), ask(llama, "a much longer text than the other one, about an other thing")
    alone = [finished(llama.generate(p, SAMPLED, 15))[1] for p in (one, two)]
    runs = [llama.generate(p, SAMPLED, 15) for p in (one, two)]
    for _ in range(15):
        for run in runs:
            next(run, None)
    for run, trace in zip(runs, alone, strict=True):
        for step, expected in zip(run.trace().steps, trace.steps, strict=True):
            assert same(step.candidates, expected.candidates)


def test_closing_stops_before_the_next_forward(llama, monkeypatch):
    forwards = count_forwards(llama, monkeypatch)
    run = llama.generate(ask(llama), SamplingParams(temperature=1.0), 20)
    next(run), next(run)
    run.close()
    assert list(run) == [] and len(forwards) == 2
    assert run.finish == "cancelled" and run._cache is None
    assert len(run.trace().steps) == 2


def test_closing_in_the_prefill_stops_after_the_chunk(llama, monkeypatch):
    forwards = count_forwards(llama, monkeypatch)
    seen: list[tuple[int, int]] = []

    def on_prefill(done: int, total: int) -> None:
        seen.append((done, total))
        run.close()

    run = llama.generate(ask(llama), SamplingParams(), 5, prefill_chunk=10, on_prefill=on_prefill)
    assert list(run) == [] and len(forwards) == 1 and seen[0][0] == 10
    assert run.finish == "cancelled" and run._cache is None


def count_forwards(engine: Engine, monkeypatch) -> list[int]:
    calls: list[int] = []
    real = engine.model.forward

    def counted(*args, **kwargs):
        calls.append(1)
        return real(*args, **kwargs)

    monkeypatch.setattr(engine.model, "forward", counted)
    return calls


def test_prompt_and_answer_beyond_the_context_are_refused_before_any_work(llama, monkeypatch):
    forwards = count_forwards(llama, monkeypatch)
    prompt = ask(llama)
    n_ctx = llama.info.max_context
    with pytest.raises(PlaygroundError, match=f"{len(prompt.tokens)} tokens.*{n_ctx} positions"):
        llama.generate(prompt, SamplingParams(), n_ctx)
    assert forwards == []
    finished(llama.generate(prompt, SamplingParams(), 2))


def test_the_last_position_of_the_context_ends_the_run(llama):
    prompt = ask(llama)
    room = llama.info.max_context - len(prompt.tokens)
    run = llama.generate(prompt, SamplingParams(temperature=100.0, seed=1), room)
    run._engine = Engine(llama_with_ends(llama, set()))
    steps, trace = finished(run)
    assert trace.finish == "context" and len(steps) == room
    assert steps[-1].cache_after == llama.info.max_context - 1


@pytest.mark.parametrize("bad", [0, -1, 1.0, True, None, "3"])
def test_bad_token_limits_are_refused(llama, bad):
    with pytest.raises(PlaygroundError, match="token limit"):
        llama.generate(ask(llama), SamplingParams(), bad)


@pytest.mark.parametrize("bad", [-1, 283, 10**6, 1.0, True, "1"])
def test_ids_that_are_no_rows_are_refused(llama, bad):
    with pytest.raises(PlaygroundError, match="token id"):
        llama.generate(ask(llama), SamplingParams(), 3, forced=[bad])
    with pytest.raises(PlaygroundError, match="token id"):
        llama.embedding(bad)


def test_top_k_beyond_the_vocabulary_is_refused(llama):
    with pytest.raises(PlaygroundError, match="284"):
        llama.generate(ask(llama), SamplingParams(temperature=1.0, top_k=284), 3)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_logits_that_are_not_finite_end_the_run_and_only_the_run(llama, monkeypatch, value):
    real = llama.model.forward
    calls = []

    def broken(*args, **kwargs):
        out = real(*args, **kwargs)
        calls.append(1)
        if len(calls) == 3:
            out.logits = torch.full_like(out.logits, value)
        return out

    monkeypatch.setattr(llama.model, "forward", broken)
    run = llama.generate(ask(llama), SamplingParams(temperature=1.0), 9)
    next(run), next(run)
    with pytest.raises(PlaygroundError, match="step 2"):
        next(run)
    assert run.finish == "error" and len(run.trace().steps) == 2
    finished(llama.generate(ask(llama), SamplingParams(), 3))


def test_out_of_memory_is_said_and_the_next_run_works(llama, monkeypatch):
    run = llama.generate(ask(llama), SamplingParams(), 9)
    next(run)
    with monkeypatch.context() as patch:

        def full(*args, **kwargs):
            raise torch.OutOfMemoryError

        patch.setattr(llama.model, "forward", full)
        with pytest.raises(PlaygroundError, match="memory at step 1"):
            next(run)
    assert run.finish == "error" and run._cache is None
    finished(llama.generate(ask(llama), SamplingParams(), 3))


def test_inference_mode_is_on_whichever_thread_steps_and_nothing_needs_grad(llama):
    assert not any(p.requires_grad for p in llama.model.parameters())
    run = llama.generate(ask(llama), SAMPLED, 12)
    modes: list[bool] = []
    hook = llama.model.register_forward_pre_hook(
        lambda *_: modes.append(torch.is_inference_mode_enabled())
    )
    try:
        for _ in range(6):
            thread = threading.Thread(target=lambda: next(run, None))
            thread.start()
            thread.join()
    finally:
        hook.remove()
    assert modes == [True] * len(modes) and modes
    assert not torch.is_inference_mode_enabled()


def test_forced_tokens_are_taken_and_recorded_as_such(llama):
    prompt = ask(llama)
    _, free = finished(llama.generate(prompt, SAMPLED, 12))
    other = next(i for i in range(97, 120) if i != free.ids[3])
    run = llama.generate(prompt, SAMPLED, 12, forced=[*free.ids[:3], other], parent=("ab", 3))
    steps, fork = finished(run)
    assert fork.ids[:4] == (*free.ids[:3], other) and fork.parent == ("ab", 3)
    assert [s.phase for s in steps[:5]] == ["forced"] * 4 + ["decode"]
    assert all(s.draw is None for s in steps[:4])
    for mine, theirs in zip(steps[:4], free.steps[:4], strict=True):
        np.testing.assert_array_equal(mine.candidates.logits[:20], theirs.candidates.logits[:20])
    # later draws are those of the parent
    assert steps[5].draw == free.steps[5].draw


def test_the_clock_does_not_count_the_readers_pauses(llama):
    import time

    run = llama.generate(ask(llama), SamplingParams(temperature=1.0), 5)
    start = time.perf_counter()
    for _ in run:
        time.sleep(0.2)
    wall = 1000 * (time.perf_counter() - start)
    trace = run.trace()
    work = sum(s.timing.forward_ms + s.timing.pick_ms for s in trace.steps)
    assert trace.steps[-1].timing.done_ms == pytest.approx(work)
    assert work < wall - 150 * len(trace.steps)


def test_embedding_row_is_the_tables_and_neighbours_are_brute_force(engine):
    table = engine.model.get_input_embeddings().weight.detach().double().numpy()
    row = engine.embedding(104, n=9)
    np.testing.assert_array_equal(row.values, table[104].astype("f4"))
    assert row.norm == pytest.approx(np.linalg.norm(table[104]))
    norms = np.linalg.norm(table, axis=1)
    norms[norms == 0] = np.inf  # a row of zeros (padding) has no direction: cosine 0
    near = {
        "cosine": table @ table[104] / norms / np.linalg.norm(table[104]),
        "euclidean": -np.linalg.norm(table - table[104], axis=1),
        "dot": table @ table[104],
    }
    orders = {}
    for name, values in near.items():
        orders[name] = [i for i in np.argsort(-values, kind="stable") if i != 104]
    for found in row.neighbours:
        assert found.ids.tolist() == orders[found.metric][:9]
        expected = np.abs(near["euclidean"]) if found.metric == "euclidean" else near[found.metric]
        np.testing.assert_allclose(found.score, expected[found.ids], rtol=1e-4, atol=1e-6)
        for place, metric in enumerate(near):
            assert found.rank_in[place].tolist() == [1 + orders[metric].index(i) for i in found.ids]
        assert [engine.vocabulary.raw(int(i)) for i in found.ids] == list(found.raw)
