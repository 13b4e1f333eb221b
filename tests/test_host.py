"""The model behind the page: background loading, switching, limits, living on."""

from __future__ import annotations

import dataclasses
import threading
import time

import pytest
import torch

from playground import models
from playground.ask import Ask, Limits
from playground.checks import check
from playground.errors import PlaygroundError
from playground.host import Host
from playground.inspection import Stopped
from playground.trace import Trace, same
from tests.looking import alike
from tests.tiny import loaded


@pytest.fixture
def loads(monkeypatch):
    """`models.load` that gives tiny models, waits for a gate, and can be told to fail."""
    gate = threading.Event()
    gate.set()

    def load(name, *, progress, **_):
        progress("read", 0.5)
        assert gate.wait(10)
        if name == "broken":
            raise PlaygroundError("error.model_failed", name=name)
        if name == "crash":
            raise RuntimeError("/secret/path")
        return loaded(name)

    monkeypatch.setattr(models, "load", load)
    return gate


def wait(host: Host, state: str) -> None:
    for _ in range(500):
        if host.status().state == state:
            return
        time.sleep(0.01)
    raise AssertionError(host.status())


def ready(*allowed: str, **options) -> Host:
    host = Host("llama", allowed=allowed, **options)
    host.start()
    wait(host, "ready")
    return host


def test_loading_is_seen_and_then_ready(loads):
    loads.clear()
    host = Host("llama")
    assert host.status().state == "idle"
    host.start()
    while host.status().stage != "read":
        time.sleep(0.01)
    assert (host.status().state, host.status().fraction) == ("loading", 0.5)
    with pytest.raises(PlaygroundError, match="still loading"):
        host.run(Ask("hi"))
    loads.set()
    wait(host, "ready")
    assert host.status().info.n_layers == 3
    assert len(list(host.run(Ask("hi", max_tokens=3)))) <= 3


def test_a_model_that_fails_leaves_the_old_one_at_work(loads):
    host = ready("broken", "crash")
    for name in ("broken", "crash"):
        host.switch(name)
        wait(host, "failed")
        status = host.status()
        assert "could not be loaded" in str(status.error) and "secret" not in str(status.error)
        assert status.info.name == "tiny-llama"
        assert list(host.run(Ask("hi", max_tokens=2)))


def test_after_a_failure_the_model_at_hand_is_chosen_again_at_once(loads, monkeypatch):
    monkeypatch.setattr("playground.template.knows_thinking", lambda _: True)
    host = ready("broken")
    engine = host._engine
    loads.clear()
    host.switch("broken")
    assert host.status().state == "loading" and host.status().thinking
    loads.set()
    wait(host, "failed")
    assert host.status().thinking
    loads.clear()
    host.switch("llama")
    assert host.status().state == "ready" and host.status().error is None
    assert host._engine is engine


def test_a_first_model_that_fails_is_what_a_run_says(loads):
    host = Host("broken")
    host.start()
    wait(host, "failed")
    with pytest.raises(PlaygroundError, match="could not be loaded"):
        host.run(Ask("hi"))


def test_switching_obeys_the_operator(loads):
    host = ready("qwen3")
    for bad in ("gpt2", None, 3, "../x"):
        with pytest.raises(PlaygroundError, match="not among"):
            host.switch(bad)
    host.switch("qwen3")
    wait(host, "ready")
    assert host.status().info.name == "tiny-qwen3"
    free = ready(free=True)
    free.switch("gpt2")
    wait(free, "ready")
    assert free.status().info.name == "tiny-gpt2"


def test_a_second_switch_waits_its_turn(loads):
    host = ready("qwen3", "gpt2")
    loads.clear()
    host.switch("qwen3")
    with pytest.raises(PlaygroundError, match="still loading"):
        host.switch("gpt2")
    # a browser may ask twice for one choice
    host.switch("qwen3")
    # the old model serves meanwhile
    assert list(host.run(Ask("hi", max_tokens=2)))
    loads.set()
    wait(host, "ready")


def test_a_huge_prompt_is_refused_by_its_length_alone(loads, monkeypatch):
    host = ready(limits=Limits(max_prompt_chars=1000))
    monkeypatch.setattr(host, "_prompt", lambda *_: pytest.fail("the text was read"))
    for text in ("x" * 1001, "电" * 20_000_000):
        start = time.perf_counter()
        with pytest.raises(PlaygroundError, match="1000"):
            host.run(Ask(text))
        with pytest.raises(PlaygroundError, match="1000"):
            host.tokens(Ask("a", system=text))
        assert time.perf_counter() - start < 0.1


@pytest.mark.parametrize("bad", [0, -1, 513, 10**9, 2.0, True, None])
def test_token_limits_are_the_servers(loads, bad):
    with pytest.raises(PlaygroundError, match="1 … 512"):
        ready().run(Ask("hi", max_tokens=bad))


@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
def test_blank_prompts_are_refused_in_both_modes(loads, blank):
    host = ready()
    for chat in (True, False):
        with pytest.raises(PlaygroundError, match="empty"):
            host.run(Ask(blank, chat=chat))


# ---- looking inside ----


def wrote(host: Host, question: str = "hi") -> Trace:
    run = host.run(Ask(question, chat=False, max_tokens=4))
    list(run)
    return run.trace()


def test_every_look_needs_a_model(loads):
    trace, host = wrote(ready()), Host("llama")
    for look in (
        lambda: host.inspect(trace), host.weights, lambda: host.neuron(0, 0),
        lambda: host.ablate(trace, 0, 0), lambda: host.uncached(trace),
        lambda: host.checks(trace),
    ):  # fmt: skip
        with pytest.raises(PlaygroundError, match="still loading"):
            look()


def test_looks_are_the_engines_own(loads):
    host = ready()
    trace, engine = wrote(host), host._engine
    seen = []
    found = host.inspect(trace, lambda stage, done: seen.append(stage))
    assert alike(found, engine.inspect(trace, layers=range(3), weights=False))
    assert list(dict.fromkeys(seen)) == ["forward", "lens"]
    assert host.inspect(trace, layers=[1], lens=()).details[0].layer == 1
    assert same(host.neuron(2, 5), engine.neuron(2, 5)) and host.weights() == engine.weights()
    assert same(
        host.ablate(trace, 1, 0, (1, 2), 0), engine.ablate(trace, 1, hide=0, head=(1, 2), ffn=0)
    )
    assert len(host.uncached(trace).ms) == len(trace.steps)
    assert [c.name for c in host.checks(trace)] == [c.name for c in check(engine, trace)]
    for look in (host.inspect, host.uncached, host.checks):
        with pytest.raises(Stopped):
            look(trace, None, lambda: True)


def test_another_models_run_is_refused(loads):
    host = ready("qwen3")
    trace = wrote(host)
    tuned = dataclasses.replace(trace, model=dataclasses.replace(trace.model, source="tuned"))
    moved = dataclasses.replace(trace.model, device="cuda", dtype="bfloat16")
    host.switch("qwen3")
    wait(host, "ready")
    with pytest.raises(PlaygroundError, match="recorded with tiny-llama; the model at hand is"):
        host.inspect(trace)
    host.switch("llama")
    wait(host, "ready")
    # Of the same sizes, but not the same weights.
    for look in (host.inspect, host.uncached, host.checks, lambda t: host.ablate(t, 0, 0)):
        with pytest.raises(PlaygroundError, match="Load tiny-llama"):
            look(tuned)
    assert host.inspect(dataclasses.replace(trace, model=moved)).model == host.status().info


@pytest.mark.parametrize("look", [
    lambda host, trace: host.inspect(trace), lambda host, trace: host.ablate(trace, 0, 0),
    lambda host, trace: host.uncached(trace), lambda host, trace: host.checks(trace),
    lambda host, trace: host.neuron(0, 0),
])  # fmt: skip
def test_a_lack_of_memory_is_said_and_the_next_look_works(loads, monkeypatch, look):
    host = ready()
    trace = wrote(host)

    def full(*_, **__):
        raise torch.OutOfMemoryError

    with monkeypatch.context() as lacking:
        lacking.setattr("torch.Tensor.topk", full)
        lacking.setattr("torch.nn.functional.embedding", full)
        with pytest.raises(PlaygroundError, match="ran out of memory"):
            look(host, trace)
    assert look(host, trace)


def test_a_look_goes_on_with_the_model_it_began_with(loads):
    host = ready("qwen3")
    trace, engine = wrote(host), host._engine

    def switch(stage: str, done: float) -> None:
        if host._engine is engine:
            host.switch("qwen3")
            wait(host, "ready")

    found = host.inspect(trace, switch)
    assert host._engine is not engine and found.model == engine.info
    assert alike(found, engine.inspect(trace, layers=range(3), weights=False))


def test_system_turn_and_raw_text_reach_the_model_as_asked(loads):
    host = ready()
    chat = host.tokens(Ask("hi", system="be kind"))
    assert [m.role for m in chat.messages] == ["system", "user"]
    raw = host.tokens(Ask("hi", chat=False))
    assert raw.raw_prompt == "hi" and raw.templated_text == "hi"
    assert host.embedding(104).raw == b"h"
