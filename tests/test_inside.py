"""Questions about the inside of a run: who answers, what is refused, what is kept, who waits."""

from __future__ import annotations

import base64
import dataclasses
import json
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from playground import examples, store
from playground.errors import PlaygroundError
from playground.host import Host, Status
from playground.inspection.attend import attend
from playground.inspection.bundle import Bundle
from playground.text import LANGUAGES
from playground.ui import wire
from playground.ui.desk import Desk
from playground.ui.inside import Inside, rows_at_once
from playground.ui.looking import Looking, layers_at_once
from playground.ui.recorded import Recorded
from playground.views import inside as views
from tests import fake_inside
from tests.fakes import INFO, LAYERS, FakeHost
from tests.test_jobs import Clock, until
from tests.test_ui import finished

OTHER = dataclasses.replace(INFO, source="elsewhere")


class Scene:
    """A desk with one run of the scripted model, one recorded, and its browsers."""

    def __init__(self, folder, **limits) -> None:
        self.host = FakeHost(**limits)
        self.clock = Clock()
        self.trace = finished(self.host, "Is it?")
        recorded = finished(self.host, "Recorded?")
        store.save(recorded, folder / "one.trace.json.gz")
        self.recorded = Recorded(folder)
        self.desk = Desk(self.host, self.recorded)
        self.id, self.recorded_id = store.trace_id(self.trace), store.trace_id(recorded)
        self.desk.vault.put(self.id, self.trace)
        self.host.looks = []
        bundle = Bundle(
            self.recorded_id, fake_inside.inspection_of(recorded, [1]), None,
            (fake_inside.neuron_of(1, 4),), (fake_inside.ablation_of(recorded, 0, 2, None, None),),
            fake_inside.uncached_of(recorded), fake_inside.checks_of(recorded),
        )  # fmt: skip
        found = {self.recorded_id: bundle}
        self.recorded.inside = found.get
        self.bundle = bundle
        self.build()

    def build(self, **options) -> None:
        self.looking = Looking(self.desk, **({"wait_s": 0.05, "clock": self.clock} | options))
        self.inside = Inside(self.looking)

    def ask(self, op: str, who: str = "me", trace: str | None = None, **fields) -> dict:
        return self.inside.work(
            {"op": op, "who": who, "trace": self.id if trace is None else trace, **fields}
        )

    def get(self, op: str, who: str = "me", trace: str | None = None, **fields):
        """Ask until it is there, as a browser does."""
        for _ in range(400):
            told = self.ask(op, who, trace, **fields)
            if told["state"] == "done":
                return told["result"]
        raise AssertionError(told)

    def away(self) -> None:
        self.host.set(info=None, state="idle")


@pytest.fixture
def scene(tmp_path):
    made = Scene(tmp_path)
    yield made
    made.inside.close()


def plain(value):
    return json.loads(wire.dump(value))


# ---- a run of the model at hand ----


def test_the_inside_of_a_run_is_what_the_model_said(scene):
    got = scene.get("inside")
    found = fake_inside.inspection_of(scene.trace)
    weights = fake_inside.weights_of(INFO)
    assert plain(got) == plain(
        views.inside_payload(found, scene.id, range(LAYERS), weights, recorded=False)
    )
    assert scene.host.looks == [("inspect", (0, 1, 2), None)]


def test_progress_is_told_and_waiters_are_counted(scene):
    scene.host.look_s = 0.05
    scene.build(wait_s=0)
    first = scene.ask("inside")
    assert first["state"] in ("running", "waiting")
    for k in (1, 2):
        scene.ask("ablate", step=0, hide=k)
    assert scene.ask("ablate", step=0, hide=2) == {"state": "waiting", "ahead": 2}
    seen = []
    while (told := scene.ask("inside"))["state"] != "done":
        seen.append(told)
        time.sleep(0.01)
    stages = list(dict.fromkeys(told.get("stage") for told in seen))
    assert stages[-2:] == ["forward", "lens"]
    assert all(0 <= told["fraction"] < 1 for told in seen if told["fraction"] is not None)


def test_after_one_look_every_head_and_layer_is_at_hand(scene):
    scene.get("inside")
    scene.host.look_fails = AssertionError("the model was asked again")
    for layer in range(LAYERS):
        detail = fake_inside.detail_of(scene.trace, layer)
        for head in range(INFO.n_heads):
            got = scene.ask("head", layer=layer, head=head)
            assert plain(got["result"]) == plain(views.head_payload(detail, attend(detail, head)))
        got = scene.ask("ffn", layer=float(layer))
        assert plain(got["result"]) == plain(views.ffn_payload(detail))


def test_a_head_brings_the_look_it_needs(scene):
    got = scene.get("head", layer=2, head=3)
    assert (got["layer"], got["head"], got["kv"]) == (2, 3, 1)
    assert len(scene.host.looks) == 1
    scene.get("inside")
    assert len(scene.host.looks) == 1


def test_the_other_questions_are_answered_once_and_kept(scene):
    neuron = plain(views.neuron_payload(fake_inside.neuron_of(2, 5)))
    ablated = fake_inside.ablation_of(scene.trace, 3, 1, (2, 0), 1)
    hidden = fake_inside.ablation_of(scene.trace, 3, 0, None, None)
    for _ in range(2):
        assert plain(scene.get("neuron", layer=2, id=5)) == neuron
        got = scene.get("ablate", step=3, hide=1, head=[2, 0], ffn=1)
        assert plain(got) == plain(views.ablation_payload(ablated))
        got = scene.get("ablate", step=3, hide=0, head=None)
        assert plain(got) == plain(views.ablation_payload(hidden))
        got = scene.get("uncached")
        expected = views.uncached_payload(fake_inside.uncached_of(scene.trace))
        assert got == {"uncached": expected, "recorded": False}
        got = scene.get("check")
        assert [c["ok"] for c in got["checks"]] == [True, None, False]
        assert (got["recorded"], got["intact"]) == (False, True)
    assert sorted(look[0] for look in scene.host.looks) == [
        "ablate", "ablate", "checks", "neuron", "uncached",
    ]  # fmt: skip


def test_a_changed_file_is_said_beside_its_checks(scene):
    scene.desk.vault.put(scene.id, scene.trace, intact=False)
    assert scene.get("check")["intact"] is False


# ---- what is refused ----

WHO = {"who": "me"}


@pytest.mark.parametrize("request_", [
    None, [], "inside", 5, {}, {"op": "inside"}, WHO, WHO | {"op": "explode"}, WHO | {"op": None},
    WHO | {"op": ["inside"]}, WHO | {"op": "__class__"}, {"op": "inside", "who": ""},
    {"op": "inside", "who": 5}, {"op": "inside", "who": "x" * 65}, {"op": "inside", "who": "a b"},
    {"op": "inside", "who": "me\n"}, {str(k): k for k in range(17)} | WHO | {"op": "inside"},
    WHO | {"op": "inside", "x": {5, 6}}, WHO | {"op": "ablate", "step": 0, "head": [1]},
    WHO | {"op": "ablate", "step": 0, "head": {"a": 1}},
])  # fmt: skip
def test_a_request_of_another_form_is_malformed(scene, request_):
    if isinstance(request_, dict) and request_.get("op") in ("inside", "ablate"):
        request_ = request_ | {"trace": scene.id}
    with pytest.raises(PlaygroundError, match="malformed"):
        scene.inside.work(request_)
    assert scene.host.looks == []


BAD = [None, -1, 1.5, "0", True, [], {}, float("nan"), 10**30]


@pytest.mark.parametrize(("op", "fields", "name", "limit"), [
    ("head", {"layer": 0, "head": 0}, "layer", LAYERS), ("ffn", {"layer": 0}, "layer", LAYERS),
    ("head", {"layer": 0, "head": 0}, "head", 4), ("neuron", {"layer": 0, "id": 0}, "id", 31),
    ("neuron", {"layer": 0, "id": 0}, "layer", LAYERS), ("ablate", {"hide": 0}, "step", 18),
    ("ablate", {"step": 2, "ffn": 0}, "hide", 16), ("ablate", {"step": 2}, "ffn", LAYERS),
])  # fmt: skip
def test_numbers_have_their_ranges(scene, op, fields, name, limit):
    for value in [*BAD, limit]:
        if value is None and op == "ablate" and name != "step":
            continue
        with pytest.raises(PlaygroundError, match=f"{name} must be a whole number"):
            scene.ask(op, **(fields | {name: value}))
    assert scene.host.looks == []
    scene.get(op, **(fields | {name: limit - 1}))


def test_an_ablation_takes_something_away(scene):
    with pytest.raises(PlaygroundError, match="Nothing was taken away"):
        scene.ask("ablate", step=0)
    for head in ([LAYERS, 0], [0, 4], [0, None], ["0", 0]):
        with pytest.raises(PlaygroundError, match="whole number"):
            scene.ask("ablate", step=0, head=head)


@pytest.mark.parametrize("op", ["inside", "head", "ffn", "neuron", "ablate", "uncached", "check"])
def test_the_run_must_be_here(scene, op):
    for trace in ("0" * 16, "../etc/passwd", 5, {}, ["x"]):
        with pytest.raises(PlaygroundError, match=r"sixteen|no longer"):
            scene.ask(op, trace=trace)


def test_a_run_without_an_answer_has_no_inside(scene):
    empty = dataclasses.replace(scene.trace, steps=(), text="")
    scene.desk.vault.put("a" * 16, empty)
    with pytest.raises(PlaygroundError, match="no answer yet"):
        scene.ask("inside", trace="a" * 16)


# ---- recorded ----


def test_what_was_recorded_needs_no_model(scene):
    scene.away()
    of = {"trace": scene.recorded_id}
    got = scene.ask("inside", **of)["result"]
    assert (got["recorded"], got["layers"], got["weights"]) == (True, [1], None)
    detail = scene.bundle.inspection.details[0]
    got = scene.ask("head", layer=1, head=2, **of)["result"]
    assert plain(got) == plain(views.head_payload(detail, attend(detail, 2)))
    assert scene.ask("ffn", layer=1, **of)["result"]["layer"] == 1
    assert scene.ask("neuron", layer=1, id=4, **of)["result"]["id"] == 4
    assert scene.ask("ablate", step=0, hide=2, **of)["result"]["hide"] == 2
    assert scene.ask("uncached", **of)["result"]["recorded"] is True
    got = scene.ask("check", **of)["result"]
    assert got["recorded"] and got["intact"] and len(got["checks"]) == 3
    assert scene.host.looks == []


NOT_RECORDED = [
    ("head", {"layer": 0, "head": 0}), ("ffn", {"layer": 2}), ("neuron", {"layer": 1, "id": 5}),
    ("ablate", {"step": 0, "hide": 1}), ("ablate", {"step": 0, "hide": 2, "ffn": 0}),
]  # fmt: skip


@pytest.mark.parametrize(("op", "fields"), NOT_RECORDED)
def test_what_was_not_recorded_needs_its_model(scene, op, fields):
    of = {"trace": scene.recorded_id} | fields
    for change in ({"info": None, "state": "idle"}, {"info": OTHER}, {"info": None}):
        scene.host.set(**change)
        with pytest.raises(PlaygroundError) as caught:
            scene.ask(op, **of)
        assert "scripted" in caught.value.say("en") and "scripted" in caught.value.say("zh")
    scene.host.set(info=None, state="loading", name="slow")
    with pytest.raises(PlaygroundError, match="slow is still loading"):
        scene.ask(op, **of)
    assert scene.host.looks == []
    scene.host.set(info=INFO)
    scene.get(op, **of)


def test_with_its_model_all_of_a_recorded_run_can_be_had(scene):
    of = {"trace": scene.recorded_id}
    assert scene.ask("inside", **of)["result"]["layers"] == [0, 1, 2]
    trace = scene.recorded.get("one")[1]
    for layer in (0, 2):
        detail = fake_inside.detail_of(trace, layer)
        got = scene.get("head", layer=layer, head=1, **of)
        assert plain(got) == plain(views.head_payload(detail, attend(detail, 1)))
    # One look without reading the stream out: that was recorded.
    assert scene.host.looks == [("inspect", (0, 1, 2), ())]
    # On another device or in another precision it is the same model.
    scene.host.set(info=dataclasses.replace(INFO, device="cuda", dtype="bfloat16"))
    assert scene.ask("inside", **of)["result"]["layers"] == [0, 1, 2]
    scene.host.set(info=OTHER)
    assert scene.ask("inside", **of)["result"]["layers"] == [1]


# ---- who waits ----


def test_two_browsers_ask_and_one_goes_away(scene):
    scene.host.look_s = 0.1
    request = {"op": "inside", "trace": scene.id}
    for who in ("one", "two"):
        assert scene.inside.work(request | {"who": who})["state"] != "done"
    assert scene.inside.halt(request | {"who": "one"}) == {"halted": True}
    assert scene.inside.halt(request | {"who": "one"}) == {"halted": False}
    assert scene.get("inside", "two")["trace"] == scene.id
    assert len(scene.host.looks) == 1


def test_when_both_go_away_the_model_is_free(scene):
    scene.host.look_s = 0.05
    request = {"op": "uncached", "trace": scene.id}
    for who in ("one", "two"):
        scene.inside.work(request | {"who": who})
    scene.inside.halt({"trace": scene.id, "op": "uncached", "who": "one"})
    assert len(scene.looking.jobs) == 1
    scene.inside.halt({"who": "two"})
    until(lambda: scene.looking.jobs._busy == 0, 1)
    assert len(scene.looking.jobs) == 0 and len(scene.looking.results._books) == 0
    assert scene.get("uncached")["recorded"] is False


def test_giving_one_head_up_does_not_give_the_look_up(scene):
    scene.host.look_s = 0.05
    scene.ask("inside")
    scene.ask("head", layer=0, head=0)
    scene.inside.halt({"op": "head", "who": "me", "trace": scene.id, "layer": 0, "head": 0})
    scene.get("inside")
    assert len(scene.host.looks) == 1


def test_a_browser_that_closed_is_missed(scene):
    scene.host.look_s = 0.05
    scene.ask("check")
    scene.clock.now += 11
    until(lambda: scene.looking.jobs._busy == 0, 1)
    assert len(scene.looking.jobs) == 0


def test_halting_trusts_nothing_either(scene):
    for bad in (None, [], {}, {"who": ""}, {"op": "inside"}, {"who": "me", "x": {1, 2}}):
        with pytest.raises(PlaygroundError, match="malformed"):
            scene.inside.halt(bad)
    assert scene.inside.halt({"who": "nobody"}) == {"halted": False}
    assert scene.inside.halt({"who": "nobody", "op": "explode"}) == {"halted": False}


# ---- what may happen meanwhile ----


def test_a_lack_of_memory_is_said_and_the_next_look_works(scene):
    scene.host.look_fails = PlaygroundError("error.inspect_memory", device="cpu")
    for op in ("inside", "uncached", "check"):
        with pytest.raises(PlaygroundError, match="ran out of memory"):
            scene.get(op)
    scene.host.look_fails = None
    assert scene.get("inside")["trace"] == scene.id and scene.get("uncached")
    assert len(scene.looking.jobs) == 0


def test_a_model_switched_while_a_job_waits_is_noticed(scene):
    scene.host.look_s = 0.05
    scene.ask("uncached")
    scene.ask("inside")
    scene.ask("ablate", step=0, hide=0)  # two work, this one waits
    scene.host.set(info=OTHER)
    with pytest.raises(PlaygroundError, match="Load scripted"):
        scene.get("ablate", step=0, hide=0)
    # What had begun goes on with the model it had.
    assert scene.get("inside")["model"]["source"] == INFO.source
    scene.host.look_s = 0
    assert scene.get("uncached")["recorded"] is False
    # What is known of the run stays known, whatever is loaded now.
    assert scene.ask("head", layer=1, head=1)["state"] == "done"
    with pytest.raises(PlaygroundError, match="Load scripted"):
        scene.ask("neuron", layer=1, id=1)


def test_a_model_switched_while_a_neuron_is_read_out_is_noticed(scene):
    read = scene.host.neuron

    def switched(*of):
        scene.host.set(info=OTHER)
        return read(*of)

    scene.host.neuron = switched
    with pytest.raises(PlaygroundError, match="Load scripted"):
        scene.get("neuron", layer=0, id=0)
    scene.host.neuron = read
    scene.host.set(info=INFO)
    assert scene.get("neuron", layer=0, id=0)["id"] == 0


def test_a_run_that_the_vault_lets_go_is_still_looked_into(scene):
    scene.host.look_s = 0.02
    scene.ask("inside")
    scene.desk.vault._kept.clear()
    with pytest.raises(PlaygroundError, match="no longer"):
        scene.desk.find(scene.id)
    assert scene.get("inside")["trace"] == scene.id
    assert scene.get("head", layer=1, head=1)["layer"] == 1
    assert scene.get("ablate", step=0, hide=0)["hide"] == 0
    scene.clock.now += scene.host.limits.store_ttl_s + 1
    with pytest.raises(PlaygroundError, match="no longer"):
        scene.ask("inside")


def test_a_look_that_was_let_go_is_taken_again(scene):
    scene.get("inside")
    scene.looking.looked._books.clear()
    assert scene.get("head", layer=2, head=2)["head"] == 2
    assert [look[0] for look in scene.host.looks] == ["inspect", "inspect"]


def test_of_a_long_run_a_few_layers_are_kept_at_a_time(scene):
    one = 4 * (len(scene.trace.prompt) + len(scene.trace.steps) - 1) * 3 * (12 + 8 + 2)
    assert layers_at_once(INFO, one // (4 * 66), 2 * one) == 2
    assert layers_at_once(INFO, 10**6, 2 * one) == 1 and layers_at_once(INFO, 1, 10**9) == LAYERS
    # room for two layers' details in a third of it, and for the looks themselves
    scene.build(looked_bytes=6 * one + 100)
    assert scene.get("inside")["layers"] == [0, 1, 2]
    for layer in (2, 1, 0, 2):
        detail = fake_inside.detail_of(scene.trace, layer)
        got = scene.get("head", layer=layer, head=0)
        assert plain(got) == plain(views.head_payload(detail, attend(detail, 0)))
    assert {look[1:] for look in scene.host.looks} == {((0, 1), None), ((2,), ())}


def test_a_shelf_too_small_for_a_look_still_answers(scene):
    scene.build(looked_bytes=1)
    assert scene.get("inside")["layers"] == [0, 1, 2]
    assert scene.get("head", layer=1, head=0)["layer"] == 1
    assert scene.looking.looked.size == 0


def test_a_long_runs_head_travels_in_part(scene, monkeypatch):
    assert rows_at_once(74, 40) == 74 and rows_at_once(1024, 5) == 1024
    assert rows_at_once(4096, 5) == 256 and rows_at_once(8192, 512) == 512
    assert rows_at_once(8192, 400) == 400 and rows_at_once(2**30, 9) == 4
    monkeypatch.setattr("playground.ui.inside.SCORES", 5 * 31)
    whole = attend(fake_inside.detail_of(scene.trace, 1), 2)
    got = scene.get("head", layer=1, head=2)
    n = rows_at_once(31, 18)
    assert n == 18 and got["scores"]["s"] == got["weights"]["s"] == [n, 31]
    rows = np.frombuffer(np.ascontiguousarray(whole.rows[-n:]), "i4")
    assert got["rows"] == views.pack(rows, "i4")
    last = attend(fake_inside.detail_of(scene.trace, 1), 2, n)
    for name in ("scores", "weights", "out"):
        assert np.allclose(getattr(last, name), getattr(whole, name)[-n:], rtol=1e-6, atol=1e-7)
    full = dataclasses.replace(
        fake_inside.detail_of(scene.trace, 1), rows=np.arange(31),
        scores=np.repeat(whole.scores[None], 4, 0), weights=np.repeat(whole.weights[None], 4, 0),
    )  # fmt: skip
    assert np.array_equal(attend(full, 2, 7).weights, whole.weights[-7:])
    assert attend(full, 2, 99).rows.tolist() == list(range(31))


def test_many_browsers_ask_many_things_at_once(scene):
    scene.host.look_s = 0.001
    scene.build(wait_s=0.01)
    wrong = []

    def browse(n: int) -> None:
        random = np.random.default_rng(n)
        for _ in range(12):
            layer, k = int(random.integers(LAYERS)), int(random.integers(4))
            op, fields, mine = [
                ("head", {"layer": layer, "head": k}, lambda r: (r["layer"], r["head"])),
                ("neuron", {"layer": layer, "id": k}, lambda r: (r["layer"], r["id"])),
                ("ablate", {"step": layer, "hide": k}, lambda r: (r["step"], r["hide"])),
            ][int(random.integers(3))]
            try:
                if mine(scene.get(op, f"b{n}", **fields)) != (layer, k):
                    wrong.append((op, fields))
            except PlaygroundError as error:
                if error.key != "error.jobs_full":
                    wrong.append(error)

    with ThreadPoolExecutor(10) as pool:
        list(pool.map(browse, range(10)))
    assert not wrong
    until(lambda: len(scene.looking.jobs) == 0)
    asked = [look for look in scene.host.looks if look[0] != "inspect"]
    assert len(asked) == len(set(asked)) and len(scene.host.looks) - len(asked) == 1


def test_every_refusal_is_one_sentence_in_both_languages():
    for error in (
        PlaygroundError("error.inside_needs_model", name="/srv/models/mine"),
        PlaygroundError("error.jobs_full", waiting=24),
    ):
        both = wire.both(error)
        assert set(both) == set(LANGUAGES) and "/srv" not in json.dumps(both)
        assert "{" not in json.dumps(list(both.values()))


# ---- the real model ----


def test_on_the_real_model_a_recorded_run_is_seen_as_the_engine_sees_it(smollm):
    host = Host("smollm2-135m")
    host._engine = smollm
    host._status = host._ready_status = Status("ready", "smollm2-135m", info=smollm.info)
    recorded = Recorded(examples.FOLDER)
    trace_id, trace, _ = recorded.get("is-openai-open")
    recorded.inside = lambda _: None  # as if only the run had been recorded
    inside = Inside(Looking(Desk(host, recorded), wait_s=1))

    def get(op: str, **fields) -> dict:
        while True:
            told = inside.work({"op": op, "who": "me", "trace": trace_id, **fields})
            if told["state"] == "done":
                return told["result"]

    try:
        got = get("inside")
        assert got["layers"] == list(range(30)) and got["recorded"] is False
        assert sum(v for k, v in got["weights"].items() if k in (
            "embedding", "position", "attention", "ffn", "head", "other"
        )) == smollm.info.n_params  # fmt: skip
        direct = smollm.inspect(trace, layers=[17], lens=())
        start = time.perf_counter()
        head = get("head", layer=17, head=5)
        assert time.perf_counter() - start < 0.15
        again = np.frombuffer(base64.b64decode(head["weights"]["b"]), "<f4")
        n = len(direct.ids)
        assert np.abs(again.reshape(n, n) - direct.details[0].weights[5]).max() < 1e-5
        assert views.pack(direct.details[0].q[5], "f4") == head["q"]
        alone = smollm.neuron(3, 700)
        assert plain(get("neuron", layer=3, id=700)) == plain(views.neuron_payload(alone))
        request = {"op": "check", "who": "me", "trace": trace_id}
        assert inside.work(request)["state"] == "running"
        assert inside.halt(request) == {"halted": True}
        start = time.perf_counter()
        until(lambda: inside.looking.jobs._busy == 0, 5)
        assert time.perf_counter() - start < 3
    finally:
        inside.close()
