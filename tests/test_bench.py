"""The benchmark's arithmetic by hand, and its shape on a tiny model; never a speed."""

from __future__ import annotations

import dataclasses
import json
import time

import pytest
import torch

from playground import bench, benching, models, stopwatch
from playground.cli import main
from playground.trace import SamplingParams
from tests import tiny


def times(*pairs):
    return [stopwatch.Times(*pair) for pair in pairs]


def test_a_ratio_is_the_median_of_the_pairs_not_the_ratio_of_medians():
    ours = times((10.0, 1.0), (30.0, 9.0), (20.0, 2.0))
    theirs = times((20.0, 4.0), (20.0, 3.0), (5.0, 4.0))
    found = stopwatch.ratio("x", ours, theirs, 1.05)
    # pairs: 0.5, 1.5, 4.0 by the wall, 0.25, 3.0, 0.5 of the processor
    assert found == stopwatch.Ratio("x", 20.0, 20.0, 1.5, 0.5, 4.0, 0.5, 3, 1.05)
    assert found.ratio != found.ours_ms / found.theirs_ms


def test_an_even_number_of_pairs_takes_the_middle_of_two():
    assert (
        stopwatch.ratio("x", times((1.0, 1.0), (3.0, 1.0)), times((2.0, 1.0)) * 2, 1.0).ratio == 1
    )


def test_pairs_that_do_not_match_are_refused():
    with pytest.raises(ValueError):
        stopwatch.ratio("x", times((1.0, 1.0)), times((1.0, 1.0), (2.0, 1.0)), 1.0)


def test_both_clocks_run_and_only_work_costs_the_processor():
    slept = stopwatch.clock(lambda: time.sleep(0.05))
    assert slept.wall >= 50 and slept.cpu < 40
    worked = stopwatch.clock(lambda: sum(range(500_000)))
    assert worked.cpu > 0 and worked.per(4) == (worked.wall / 4, worked.cpu / 4)


def test_sides_take_turns_after_one_warm_up_each():
    order = []

    def side(name):
        def run():
            order.append(name)
            return float(len(order))

        return run

    ours, theirs = stopwatch.alternate(side("a"), side("b"), 3)
    assert "".join(order) == "ab" + "ab" + "ba" + "ab"
    assert (ours, theirs) == ([3, 6, 7], [4, 5, 8])


@pytest.fixture(scope="module")
def report() -> bench.Report:
    loaded = tiny.loaded("qwen3")
    return bench.measure(loaded, load_s=1.5, pairs=1, tokens=5, prefills=(9, 23), positions=21)


def test_every_row_of_the_issue_is_there(report):
    assert [(r.name, r.target) for r in report.ratios] == [
        ("greedy", 1.0), ("sampling", 1.0), ("prefill_9", 1.05), ("prefill_23", 1.05),
        ("inspect_layer", 2.0), ("inspect_all", 6.0), ("inspect_page", None),
        ("ledger", 10.0),
    ]  # fmt: skip
    assert all(min(r.ours_ms, r.theirs_ms, r.cpu_ratio) > 0 and r.pairs == 1 for r in report.ratios)
    assert all(r.low == r.ratio == r.high == r.ours_ms / r.theirs_ms for r in report.ratios)
    figures = {f.name: f for f in report.figures}
    assert figures.keys() == {
        "load_time", "decode_rate", "decode_bandwidth", "read_bandwidth", "bandwidth_share",
        "payload_time", "payload_size", "peak_memory",
    }  # fmt: skip
    assert figures["load_time"].value == 1.5
    assert all(f.value > 0 for f in figures.values())
    share = figures["decode_bandwidth"].value / figures["read_bandwidth"].value
    assert figures["bandwidth_share"].value == pytest.approx(share)
    assert report.model["name"] == "tiny-qwen3" and report.machine["threads"] >= 1
    json.dumps(dataclasses.asdict(report), allow_nan=False)


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_both_sides_do_the_same_work(family):
    made = bench.Bench(tiny.loaded(family), pairs=1, tokens=19)
    assert made.traced(SamplingParams()) == made.generate(SamplingParams())
    # no end token stops either side
    assert len(made.traced(bench.SAMPLED)) == len(made.generate(bench.SAMPLED)) == 19
    assert len(made.prompt_of(57).tokens) == 57


@pytest.mark.parametrize("family", ["llama", "gpt2", "gemma3"])
def test_a_look_inside_and_the_bare_forward_read_the_same_positions(family, monkeypatch):
    engine = bench.Bench(tiny.loaded(family), pairs=1, tokens=2).engine
    trace = benching.finished(engine, 43)
    assert len(trace.prompt) + len(trace.steps) - 1 == 43 and 1 < len(trace.prompt) <= 21
    assert {s.phase for s in trace.steps} == {"prefill", "decode"}
    seen = []
    real = engine.model.forward

    def forward(**asked):
        out = real(**asked)
        seen.append((asked["input_ids"].tolist(), asked.get("use_cache"), out.logits[0]))
        return out

    monkeypatch.setattr(engine.model, "forward", forward)
    benching.bare(engine, trace)
    by_name = {look.name: look.run() for look in benching.looks(engine, trace)}
    ids = [[*(t.id for t in trace.prompt), *trace.ids[:-1]]]
    assert len(seen) == 4 and all(row[:2] == (ids, False) for row in seen)
    # both end with the scores of all answering positions
    answers = seen[0][2].log_softmax(-1).gather(1, torch.tensor(trace.ids)[:, None])[:, 0]
    n, n_layers = len(trace.steps), engine.info.n_layers
    for found in by_name.values():
        assert torch.allclose(torch.tensor(found.lens.logprob[-1]), answers, atol=1e-4)
    kept = {name: [d.layer for d in found.details] for name, found in by_name.items()}
    assert kept == {
        "inspect_layer": [n_layers // 2], "inspect_all": [], "inspect_page": [*range(n_layers)],
    }  # fmt: skip
    rows = {name: found.lens.logprob.shape for name, found in by_name.items()}
    every = (n_layers + 1, n)
    assert rows == {"inspect_layer": (2, n), "inspect_all": every, "inspect_page": every}


def test_bytes_of_a_step_count_the_weights_that_are_read():
    tied, loose = (bench.Bench(tiny.loaded(f), pairs=1, tokens=2) for f in ("llama", "qwen3"))
    info = tied.engine.info
    assert info.tied and tied.bytes_per_token() == 4 * info.n_params
    info = loose.engine.info
    unread = (info.vocab_rows - 1) * info.d_model
    assert not info.tied and loose.bytes_per_token() == 4 * (info.n_params - unread)


def test_the_command_prints_both_forms(capsys, monkeypatch, report):
    names = {"prefill_9": "prefill_32", "prefill_23": "prefill_512"}
    shown = dataclasses.replace(
        report,
        ratios=tuple(dataclasses.replace(r, name=names.get(r.name, r.name)) for r in report.ratios),
        figures=(*report.figures[:-1], bench.Figure("peak_memory", None, "MiB")),
    )
    monkeypatch.setattr(models, "load", lambda name, **options: tiny.loaded("qwen3"))
    monkeypatch.setattr("playground.cli.bench.measure", lambda loaded, **options: shown)
    assert main(["bench", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ratios"][2]["name"] == "prefill_32"
    for lang, unknown in (("en", "not told here"), ("zh", "此系统不提供")):
        assert main(["bench", "--lang", lang]) == 0
        out = capsys.readouterr().out
        assert unknown in out and f"{shown.ratios[0].ratio:.3f}" in out and "512" in out
