"""The recorded examples that the page opens with: real, whole, small."""

from __future__ import annotations

import dataclasses
import gzip
import logging
import threading

import numpy as np
import pytest

from playground import bundling, examples, store
from playground.text import texts
from playground.trace import same
from playground.ui.recorded import Recorded

NAMES = [example.name for example in examples.EXAMPLES]


def loaded(name: str):
    return store.load(examples.trace_path(examples.FOLDER, name))


def test_every_example_has_a_title_and_its_files_and_no_other_lies_there():
    for lang in ("en", "zh"):
        assert all(f"example.{name}.title" in texts(lang) for name in NAMES)
    made = {path.name for path in examples.FOLDER.iterdir()}
    wanted = {f"{name}.{kind}.json.gz" for name in NAMES for kind in ("trace", "rows", "inside")}
    pairs = {f"{pair.name}.pair.json.gz" for pair in examples.PAIRS}
    assert made == wanted | pairs | {"letters.json.gz"}


@pytest.mark.parametrize("example", examples.EXAMPLES, ids=NAMES)
def test_an_example_is_a_whole_run_of_the_real_model(example):
    trace, intact = loaded(example.name)
    assert intact
    assert trace.model.name == "smollm2-135m" and trace.model.n_params == 134_515_008
    assert [m.content for m in trace.messages if m.role == "user"] == [example.prompt]
    assert trace.params == example.params and trace.max_tokens == example.max_tokens
    assert trace.finish in ("eos", "length") and len(trace.steps) >= 5


@pytest.mark.parametrize("example", examples.EXAMPLES, ids=NAMES)
def test_the_embedding_panel_needs_no_model(example):
    trace, _ = loaded(example.name)
    rows = store.load_rows(examples.rows_path(examples.FOLDER, example.name))
    assert {row.id for row in rows} == {t.id for t in trace.prompt} | set(trace.ids)
    raw = {t.id: t.raw for t in (*trace.prompt, *(s.token for s in trace.steps))}
    for row in rows:
        assert row.model == trace.model and row.raw == raw[row.id]
        assert [n.metric for n in row.neighbours] == ["cosine", "euclidean", "dot"]


def test_stages_of_sampling_are_shown_and_files_are_small():
    sampled = [e for e in examples.EXAMPLES if not e.params.greedy]
    assert len(sampled) >= 2
    for example in sampled:
        step = loaded(example.name).trace.steps[0]
        assert step.candidates.stages == ("logits", "temperature", "top_k", "top_p")
        assert step.draw is not None
    for path in examples.FOLDER.iterdir():
        assert path.stat().st_size <= (2_000_000 if ".inside." in path.name else 600_000)


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    return Recorded(examples.FOLDER, NAMES)


@pytest.mark.parametrize("example", examples.EXAMPLES, ids=NAMES)
def test_the_inside_is_that_of_the_run_and_every_check_holds(example, recorded):
    bundle, intact = store.load_inside(examples.inside_path(examples.FOLDER, example.name))
    trace = loaded(example.name).trace
    found = bundle.inspection
    assert intact and bundle.trace_id == store.trace_id(trace)
    assert same(recorded.inside(bundle.trace_id), bundle)
    assert found.model == trace.model and found.missing == ()
    assert tuple(found.chosen) == trace.ids and found.n_prompt == len(trace.prompt)
    assert tuple(found.ids) == (*(t.id for t in trace.prompt), *trace.ids[:-1])
    unseen = {c.name for c in bundle.checks if c.ok is None}
    assert unseen == {"draw" if example.params.greedy else "greedy"}
    assert all(c.ok for c in bundle.checks if c.name not in unseen) and len(bundle.checks) == 23
    # the arrays themselves say so too
    for step, logit in zip(trace.steps, found.attribution.logit, strict=True):
        listed = step.candidates
        at = listed.logits[listed.ids == step.token.id]
        assert abs(float(at[0]) - float(logit)) < 1e-3
    probs = [np.exp(step.logprob) for step in trace.steps]
    assert np.allclose(found.lens.prob[-1], probs, atol=1e-4)
    assert found.logits_gap < 1e-3 and bundle.uncached.logits_gap.max() < 1e-3


@pytest.mark.parametrize("example", examples.EXAMPLES, ids=NAMES)
def test_the_inside_has_what_the_views_need(example, recorded):
    trace = loaded(example.name).trace
    bundle = recorded.inside(store.trace_id(trace))
    found = bundle.inspection
    assert [*found.lens.layers] == [*range(31)]
    layers = [d.layer for d in found.details]
    order = bundling.layer_order(found)
    assert len(layers) >= 3 and layers == sorted(order[: len(layers)])
    for detail in found.details:
        assert all(getattr(detail, n) is not None for n in ("q", "k", "v", "q_raw", "k_raw", "cos"))
        assert detail.weights is None and detail.neurons.shape == (len(trace.steps), 10)
        listed = [n.id for n in bundle.neurons if n.layer == detail.layer]
        assert listed == bundling.listed(detail)
    weights = bundle.weights
    assert weights.embedding == 49_152 * 576 and weights.head == 0 and weights.itemsize == 4
    step = bundling.telling_step(trace)
    assert {a.step for a in bundle.ablations} == {step} and step < 8
    hidden = [a.hide for a in bundle.ablations if a.hide is not None]
    assert hidden == [*range(found.n_prompt)]
    assert [a.ffn for a in bundle.ablations if a.ffn is not None] == [*range(30)]
    heads = sorted(a.head for a in bundle.ablations if a.head is not None)
    assert heads == [(layer, head) for layer in layers for head in range(9)]
    assert len(bundle.uncached.ms) == len(trace.steps) and (bundle.uncached.ms > 0).all()


# --- as the page reads them -----------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """One example in a folder of its own."""
    for path in (examples.trace_path, examples.inside_path):
        source = path(examples.FOLDER, "strawberry")
        (tmp_path / source.name).write_bytes(source.read_bytes())
    return tmp_path


def test_an_inside_is_read_once_whoever_asks(folder, monkeypatch):
    reads, real = [], store.load_inside
    monkeypatch.setattr(store, "load_inside", lambda path: (reads.append(path), real(path))[1])
    recorded = Recorded(folder)
    trace_id = recorded.get("strawberry")[0]
    assert reads == []
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(recorded.inside(trace_id))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all(bundle is found[0] for bundle in found)
    assert found[0].trace_id == trace_id and len(reads) == 1
    # asked before its trace was: by an id alone, as after a restart
    assert Recorded(folder).inside(trace_id).trace_id == trace_id


def test_a_run_without_an_inside_has_none(folder):
    assert Recorded(folder).inside("0" * 16) is None
    (folder / "strawberry.inside.json.gz").unlink()
    recorded = Recorded(folder)
    assert recorded.inside(recorded.get("strawberry")[0]) is None


@pytest.mark.parametrize("how", ["cut", "edited", "of another run"])
def test_a_damaged_inside_is_logged_and_not_shown(folder, caplog, how):
    path = folder / "strawberry.inside.json.gz"
    data = path.read_bytes()
    if how == "cut":
        path.write_bytes(data[:-100])
    elif how == "edited":
        path.write_bytes(gzip.compress(gzip.decompress(data).replace(b'_ms":', b'_ms":1', 1)))
    else:
        bundle = store.loads_inside(data).bundle
        store.save_inside(dataclasses.replace(bundle, trace_id="0" * 16), path)
    recorded = Recorded(folder)
    trace_id = recorded.get("strawberry")[0]
    with caplog.at_level(logging.WARNING):
        assert recorded.inside(trace_id) is None
        assert recorded.inside(trace_id) is None
    assert [path.name in record.getMessage() for record in caplog.records] == [True]
