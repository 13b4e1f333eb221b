"""The recorded examples that the page opens with: real, whole, small."""

from __future__ import annotations

import pytest

from playground import examples, store
from playground.text import texts

NAMES = [example.name for example in examples.EXAMPLES]


def loaded(name: str):
    return store.load(examples.trace_path(examples.FOLDER, name))


def test_every_example_has_a_title_and_its_files_and_no_other_lies_there():
    for lang in ("en", "zh"):
        assert all(f"example.{name}.title" in texts(lang) for name in NAMES)
    made = {path.name for path in examples.FOLDER.iterdir()}
    wanted = {f"{name}.{kind}.json.gz" for name in NAMES for kind in ("trace", "rows")}
    assert made == wanted


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
    assert all(path.stat().st_size < 600_000 for path in examples.FOLDER.iterdir())
