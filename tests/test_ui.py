"""The page without a browser: what comes in, what goes out, what is kept, who waits."""

from __future__ import annotations

import asyncio
import json
import math
import re
import threading
import time
from contextlib import aclosing

import numpy as np
import pytest

from playground import store
from playground.ask import Ask
from playground.errors import PlaygroundError
from playground.text import LANGUAGES, texts
from playground.trace import SamplingParams, same
from playground.ui import bus, form, head, page, running, sources, wire
from playground.ui.ask import build_ask
from playground.ui.desk import Desk, same_model
from playground.ui.handlers import Handlers
from playground.ui.inside import Inside
from playground.ui.looking import Looking
from playground.ui.recorded import Recorded
from playground.ui.running import Runner
from playground.ui.turnstile import Turnstile
from playground.ui.vault import Vault, footprint
from playground.views import embedding as embedding_view
from playground.views import payload
from tests.fakes import EOS, INFO, FakeHost, FakeLimits, prompt_of, row_of

LIMITS = FakeLimits()


def finished(host: FakeHost, question: str = "hi", **params) -> object:
    run = host.run(Ask(question, params=SamplingParams(**params)))
    list(run)
    return run.trace()


@pytest.fixture
def recorded(tmp_path):
    trace = finished(FakeHost(), "Is it?")
    store.save(trace, tmp_path / "one.trace.json.gz")
    store.save_rows([row_of(65), row_of(EOS)], tmp_path / "one.rows.json.gz")
    store.save(finished(FakeHost(), "Or not?"), tmp_path / "another.trace.json.gz")
    return Recorded(tmp_path, ["one"])


@pytest.fixture
def host():
    return FakeHost()


@pytest.fixture
def desk(host, recorded):
    return Desk(host, recorded)


@pytest.fixture
def handlers(desk):
    return Handlers(desk, Runner(desk))


def collect(stream) -> list[dict]:
    async def all_of() -> list[str]:
        return [item async for item in stream]

    return [json.loads(item) for item in asyncio.run(all_of())]


# ---- what comes in ----


def test_a_plain_ask_is_what_was_typed():
    ask = build_ask(LIMITS, "q", "s", "raw", "off", 0.7, 20, 0.9, 0.1, 11, 40)
    params = SamplingParams(0.7, 20, 0.9, 0.1, 11)
    assert ask == Ask("q", "s", False, False, params, 40)


def test_greedy_records_the_settings_it_does_not_use_as_off():
    assert build_ask(LIMITS, "q", temperature=0, top_k=20, top_p=0.5).params == SamplingParams()


def test_whole_numbers_may_come_as_floats():
    ask = build_ask(LIMITS, "q", temperature=1, top_k=20.0, seed=7.0, max_tokens=9.0)
    assert (ask.params.top_k, ask.params.seed, ask.max_tokens) == (20, 7, 9)
    assert isinstance(ask.params.top_k, int)


WRONG = {
    "prompt": [None, {}, [], 5, True, {"text": "x"}, ["x"], "", "  \n\t "],
    "system": [{}, [], 5, True],
    "mode": [None, "", "Chat", 0, {}, [], "other"],
    "thinking": [None, True, "yes", 1, {}, []],
    "temperature": [-1, math.nan, math.inf, -math.inf, 1e-40, 1e9, "0.7", None, [], {}, True],
    "top_k": [-1, 1.5, math.nan, math.inf, 10**7, "5", None, [], True, 10**5000],
    "top_p": [0, -0.5, 1.5, math.nan, math.inf, "0.9", None, {}, True],
    "min_p": [-0.1, 1.1, math.nan, math.inf, "0", None, [], False],
    "seed": [-1, 0.5, math.nan, 2**63, 1e30, "1", None, {}, True, 10**5000],
    "max_tokens": [0, -1, 1.5, math.nan, math.inf, 129, 10**9, "64", None, [], True, 10**5000],
}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        pytest.param(field, value, id=f"{field}-{k}")
        for field, values in WRONG.items()
        for k, value in enumerate(values)
    ],
)
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_every_wrong_value_is_refused_in_one_sentence(field, value, temperature):
    fields = {"prompt": "q", "temperature": temperature, field: value}
    with pytest.raises(PlaygroundError) as caught:
        build_ask(LIMITS, **fields)
    for lang in LANGUAGES:
        sentence = caught.value.say(lang)
        assert "\n" not in sentence and len(sentence) < 200
        assert not re.search(r"\{\w+\}", sentence), "a field was not filled"


def test_blank_raw_text_is_text():
    assert build_ask(LIMITS, " ", mode="raw").prompt == " "
    with pytest.raises(PlaygroundError, match="empty"):
        build_ask(LIMITS, "", mode="raw")


def test_size_comes_first_and_costs_nothing():
    big = "苹" * 20_000_000
    start = time.perf_counter()
    with pytest.raises(PlaygroundError, match="20000001 characters; the limit is 1000"):
        build_ask(LIMITS, big, "s", mode=[], temperature=math.nan)
    assert time.perf_counter() - start < 0.1
    assert build_ask(LIMITS, "x" * 990, "y" * 10).prompt
    with pytest.raises(PlaygroundError, match="1001 characters"):
        build_ask(LIMITS, "x" * 990, "y" * 11)


# ---- what goes out ----


def test_lone_surrogates_never_leave():
    value = {"a\ud800": "x\udfff", "pair": "\ud83d\ude00", "fine": "😀\ufffd"}
    text = wire.dump(value)
    assert text.encode()
    assert json.loads(text) == {"a\ufffd": "x\ufffd", "pair": "😀", "fine": "😀\ufffd"}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_json_can_not_say_is_a_defect(value):
    with pytest.raises(ValueError):
        wire.dump({"x": value})


def test_the_same_message_twice_is_told_twice(handlers):
    """The page's framework passes over a value that equals the one before."""
    same = {"type": "error", "text": {"en": "no", "zh": "不"}}
    first, second = wire.message(same), wire.message(same)
    assert first != second
    assert json.loads(first) | {"serial": 0} == json.loads(second) | {"serial": 0}
    assert same == {"type": "error", "text": {"en": "no", "zh": "不"}}
    assert handlers.open(b"nothing") != handlers.open(b"nothing")


def test_data_can_not_leave_its_script():
    value = {"x": "</script><!--<script>&\u2028\u2029${a}`"}
    text = wire.in_script(value)
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == value


def test_errors_come_in_both_languages():
    both = wire.both(PlaygroundError("error.field_text", name="a\ud800", kind="{name}"))
    assert both == {
        "en": "a\ufffd must be text, not {name}.",
        "zh": "a\ufffd 必须是文字，而不是 {name}。",
    }


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("/root/models/tiny.gguf", "tiny.gguf"),
        ("/srv/a b/my model/", "my model"),
        ("open '/srv/a b/x'", "open 'x'"),
        ("no /srv/a/x here", "no x here"),
        ("C:\\\\Users\\\\me\\\\tiny", "tiny"),
        ("~/models/tiny", "tiny"),
        ("Qwen/Qwen3-0.6B", "Qwen/Qwen3-0.6B"),
        ("https://huggingface.co/a/b", "https://huggingface.co/a/b"),
        ("and/or 1/2", "and/or 1/2"),
    ],
)
def test_paths_of_the_server_are_its_own(told, shown):
    assert wire.public(told) == shown
    assert wire.both(PlaygroundError("error.model_failed", name=told))["en"].count(shown) == 1


# ---- what is kept ----


def test_footprint_counts_what_an_array_pins():
    trace = finished(FakeHost())
    arrays = [getattr(s.candidates, n) for s in trace.steps for n in ("ids", "logits", "probs")]
    size = footprint(trace)
    assert size > sum(a.nbytes for a in arrays) + sum(len(s.token.raw) for s in trace.steps)
    assert size < 20_000 * len(trace.steps) + 100_000
    big = np.zeros(100_000, "f4")
    assert footprint(big) >= big.nbytes and footprint(big[:5]) >= 20


def test_the_vault_keeps_its_budget_and_lets_the_oldest_go():
    trace = finished(FakeHost())
    size = footprint(trace)
    vault = Vault(int(3.5 * size), 100)
    for k in range(3):
        vault.put(f"{k:016x}", trace)
    vault.get(f"{0:016x}")
    vault.put(f"{3:016x}", trace)
    assert vault.size <= vault.max_bytes
    assert vault.get(f"{0:016x}")[1] is trace
    with pytest.raises(PlaygroundError, match="no longer"):
        vault.get(f"{1:016x}")


def test_a_trace_larger_than_the_budget_is_refused_and_pushes_nothing_out():
    small, large = finished(FakeHost("a")), finished(FakeHost("a" * 100))
    vault = Vault(footprint(small) + 10, 100)
    vault.put("a" * 16, small)
    with pytest.raises(PlaygroundError, match="more than this server keeps"):
        vault.put("b" * 16, large)
    assert vault.get("a" * 16)[1] is small


def test_traces_go_after_their_time():
    now = [0.0]
    trace = finished(FakeHost())
    vault = Vault(10**9, 60, clock=lambda: now[0])
    vault.put("a" * 16, trace)
    now[0] = 59
    vault.get("a" * 16)
    now[0] = 118
    assert vault.size > 0
    now[0] = 120
    assert vault.size == 0
    with pytest.raises(PlaygroundError):
        vault.get("a" * 16)


def test_steps_of_a_run_are_found_while_it_runs_and_after():
    vault = Vault(10**9, 60)
    trace = finished(FakeHost())
    vault.begin("r" * 16)
    for step in trace.steps[:3]:
        vault.append("r" * 16, step)
    assert vault.steps("r" * 16, 1) == trace.steps[1:3]
    vault.end("r" * 16, "t" * 16, trace)
    assert vault.steps("r" * 16, 2) == trace.steps[2:]
    assert vault.get("r" * 16)[0] == "t" * 16
    start = time.perf_counter()
    vault.wait("r" * 16, 5)
    assert time.perf_counter() - start < 1


def test_many_threads_do_not_break_the_vault():
    trace = finished(FakeHost())
    vault = Vault(5 * footprint(trace), 100)
    errors = []

    def work(k: int) -> None:
        try:
            for n in range(20):
                vault.begin(f"run{k}-{n}")
                vault.append(f"run{k}-{n}", trace.steps[0])
                vault.end(f"run{k}-{n}", f"{k}-{n}", trace)
        except Exception as error:  # pragma: no cover
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors and 0 < vault.size <= vault.max_bytes


# ---- who waits ----


def test_the_line_moves_in_order_and_has_an_end():
    async def scene() -> None:
        line = Turnstile(2)
        first, second, third = line.join(), line.join(), line.join()
        assert [line.place(t) for t in (first, second, third)] == [0, 1, 2]
        with pytest.raises(PlaygroundError) as full:
            line.join()
        assert "2 others" in str(full.value)
        line.leave(second)
        line.leave(second)
        await asyncio.wait_for(line.moved(third, 9), 1)
        assert line.place(third) == 1
        line.leave(first)
        assert line.place(third) == 0
        assert len(line) == 1

    asyncio.run(scene())


def test_waiting_ends_by_itself_to_feel_the_readers_pulse():
    async def scene() -> None:
        line = Turnstile(2)
        line.join()
        await asyncio.wait_for(line.moved(line.join(), 0.01), 1)

    asyncio.run(scene())


# ---- runs ----


def test_a_run_is_told_once_step_by_step_and_kept(handlers, desk):
    messages = collect(handlers.run("苹果?", temperature=0.8, top_k=5, seed=3))
    kinds = [m["type"] for m in messages if m["type"] != "progress"]
    assert kinds == ["start", *["step"] * (len(kinds) - 2), "end"]
    start, *steps, end = [m for m in messages if m["type"] != "progress"]
    assert start["trace"]["steps"] == [] and start["trace"]["finish"] is None
    assert [m["step"]["i"] for m in steps] == list(range(len(steps)))
    assert {m["run"] for m in messages} == {start["run"]}
    trace_id, trace, intact = desk.find(end["trace_id"])
    assert intact and trace_id == end["trace_id"] == store.trace_id(trace)
    assert [m["step"] for m in steps] == [payload.step_payload(s) for s in trace.steps]
    assert end["trace"]["finish"] == "eos" and "prompt" not in end["trace"]
    assert trace.params == SamplingParams(0.8, 5, 1.0, 0.0, 3)
    assert desk.find(start["run"])[1] is trace


def test_messages_grow_by_the_step_not_by_the_list(handlers, host):
    host.script = [97]
    messages = collect(handlers.run("q", max_tokens=100))
    sizes = [len(json.dumps(m)) for m in messages if m["type"] == "step"]
    assert len(sizes) == 100 and max(sizes) < 2000
    assert max(sizes) - min(sizes) < 200


def test_prefill_progress_is_told(handlers, host):
    host.options = {"prefill_s": 0.9, "chunks": 3}
    told = [m for m in collect(handlers.run("question")) if m["type"] == "progress"]
    assert told and all(0 < m["done"] <= m["total"] for m in told)
    assert [m["done"] for m in told] == sorted({m["done"] for m in told})


def test_a_long_chunk_of_prefill_is_told_again_to_feel_the_readers_pulse(
    handlers, host, monkeypatch
):
    monkeypatch.setattr(running, "PULSE_S", 0.05)
    monkeypatch.setattr(running, "PROGRESS_S", 0.02)
    host.options = {"prefill_s": 0.8, "chunks": 2}
    told = [m["done"] for m in collect(handlers.run("question")) if m["type"] == "progress"]
    assert told == sorted(told) and len(told) > len(set(told))


def test_what_can_not_be_run_is_one_error(handlers, host):
    assert [m["type"] for m in collect(handlers.run({"text": "x"}))] == ["error"]
    assert host.runs == []
    host.set(info=None, state="loading", name="slow")
    (message,) = collect(handlers.run("q"))
    assert "slow" in message["text"]["en"] and "slow" in message["text"]["zh"]
    host.set(info=INFO)
    assert collect(handlers.run("q"))[-1]["type"] == "end"


def test_a_failure_in_the_middle_keeps_what_there_was(handlers, host, desk):
    host.options = {"fail_at": 4}
    *_, error, end = collect(handlers.run("q"))
    assert error["type"] == "error" and "step 4" in error["text"]["en"]
    assert end["trace"]["finish"] == "error" and end["trace"]["n_steps"] == 4
    assert len(desk.find(end["trace_id"])[1].steps) == 4
    host.options = {}
    assert collect(handlers.run("q"))[-1]["trace"]["finish"] == "eos"


def test_a_bug_is_told_without_its_secrets(handlers, host, caplog):
    def broken(*_):
        raise RuntimeError("/etc/secret prompt")

    host.run = broken
    (message,) = collect(handlers.run("my prompt"))
    assert message["type"] == "error"
    assert "secret" not in json.dumps(message) and "prompt" not in message["text"]["en"]
    assert "RuntimeError" in caplog.text


async def drain(stream, n: int) -> list[dict]:
    return [json.loads(await anext(stream)) for _ in range(n)]


@pytest.mark.parametrize(("taken", "least"), [(1, 0), (4, 3)])
def test_closing_the_stream_ends_the_run_within_a_step(handlers, host, desk, taken, least):
    host.script, host.options = [97], {"pace_s": 0.05}

    async def scene() -> str:
        async with aclosing(handlers.run("q", max_tokens=100)) as stream:
            messages = await drain(stream, taken)
        return messages[0]["run"]

    run = asyncio.run(scene())
    desk.vault.wait(run, 5)
    assert least <= len(host.runs[0].steps) <= least + 1
    assert host.runs[0].closed.is_set()
    if least:
        assert desk.find(run)[1].finish == "cancelled"
    assert len(handlers.runner.turnstile) == 0


def test_cancelling_in_a_prefill_frees_the_line(handlers, host, desk):
    host.options = {"prefill_s": 20, "chunks": 2}

    async def scene() -> float:
        stream = handlers.run("q")
        await anext(stream)
        task = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0.1)
        start = time.perf_counter()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await stream.aclose()
        while host.runs[0].finish is None and time.perf_counter() - start < 5:
            await asyncio.sleep(0.01)
        host.options = {}
        assert len(handlers.runner.turnstile) == 0
        return time.perf_counter() - start

    assert asyncio.run(scene()) < 1
    assert host.runs[0].steps == []


def test_two_askers_take_turns_and_get_their_own(handlers, host):
    host.options = {"pace_s": 0.01}

    async def ask(question: str) -> list[dict]:
        return [json.loads(m) async for m in handlers.run(question)]

    async def scene() -> list[list[dict]]:
        return await asyncio.gather(*(ask(f"question {k}") for k in range(6)))

    answers = asyncio.run(scene())
    done = [a for a in answers if a[-1]["type"] == "end"]
    full = [a for a in answers if a[-1]["type"] == "error"]
    # one runs, queue_size wait, the others are told to come back
    assert len(done) == 1 + LIMITS.queue_size and len(full) == 6 - len(done)
    assert all("Try again" in a[0]["text"]["en"] and "再试" in a[0]["text"]["zh"] for a in full)
    asked = [next(m for m in a if m["type"] == "start")["trace"]["messages"] for a in done]
    assert len({m[0]["content"] for m in asked}) == len(done)
    places = [[m["place"] for m in a if m["type"] == "queue"] for a in done]
    assert all(p == sorted(p, reverse=True) for p in places)
    assert sorted(p[0] for p in places if p) == [1, 2, 3]


# ---- looking up ----


def test_recorded_examples_need_no_model(desk, recorded, host):
    host.set(info=None, state="idle")
    assert recorded.names == ("one", "another")
    shown = desk.example("one")
    assert shown["intact"] and len(shown["steps"]) == shown["n_steps"] > 3
    assert desk.payload(shown["id"]) == shown
    row = desk.embedding(65, trace=shown["id"])
    assert same(row, store.row_from_json(store.row_to_json(row_of(65))))


@pytest.mark.parametrize("name", ["", "../one", "/etc/passwd", "one.trace.json.gz", None, 5, []])
def test_names_pick_files_and_are_no_paths(desk, name):
    with pytest.raises(PlaygroundError, match="no recorded example"):
        desk.example(name)


@pytest.mark.parametrize("key", ["", "x" * 16, "A" * 16, "a" * 15, "../../etc/passwd", None, 7, {}])
def test_ids_are_ids(desk, key):
    for find in (desk.find, desk.payload, desk.file):
        with pytest.raises(PlaygroundError, match="sixteen"):
            find(key)
    with pytest.raises(PlaygroundError):
        desk.steps(key, 0)


def test_rows_of_another_model_are_not_passed_off(desk, host, recorded):
    trace_id = desk.example("one")["id"]
    assert desk.embedding(70, trace=trace_id).id == 70
    other = type(INFO)(**{f: getattr(INFO, f) for f in INFO.__slots__} | {"source": "elsewhere"})
    host.set(info=other)
    with pytest.raises(PlaygroundError, match="not the model loaded now"):
        desk.embedding(70, trace=trace_id)
    assert desk.embedding(65, trace=trace_id).id == 65
    assert same_model(INFO, INFO) and not same_model(INFO, other)


@pytest.mark.parametrize("token", [-1, 1.5, None, "7", True, [], 2**40, math.nan])
def test_wrong_token_ids_are_refused(desk, token):
    with pytest.raises(PlaygroundError, match="whole number"):
        desk.embedding(token)


@pytest.mark.parametrize("n", [0, 51, None, "5"])
def test_wrong_counts_of_neighbours_are_refused(desk, n):
    with pytest.raises(PlaygroundError, match="whole number"):
        desk.embedding(5, n)


def test_an_opened_file_comes_back_as_it_was(desk):
    trace = finished(FakeHost(), "苹果")
    shown = desk.open(store.dumps(trace))
    assert shown["intact"] and shown["id"] == store.trace_id(trace)
    trace_id, data = desk.file(shown["id"])
    assert data == store.dumps(trace) and trace_id == shown["id"]


def test_a_changed_file_is_flagged_wherever_it_is_shown(desk):
    data = json.loads(store.dumps(finished(FakeHost())))
    data["steps"][2]["rank"] += 1
    shown = desk.open(json.dumps(data).encode())
    assert shown["intact"] is False
    assert desk.payload(shown["id"])["intact"] is False


@pytest.mark.parametrize(
    "data", [b"", b"\x00", b"[" * 100_000, b'{"schema": NaN}', b"\x1f\x8b broken", b'{"a":1}']
)
def test_no_file_can_hurt(handlers, data):
    message = json.loads(handlers.open(data))
    assert message["type"] == "error" and set(message["text"]) == set(LANGUAGES)
    assert json.loads(handlers.open(None))["type"] == "error"


def test_tokens_have_the_command_lines_keys(handlers, host):
    (first, *_) = handlers.tokens("苹")
    assert first == {
        "id": 0xE8, "bytes": "e8", "text": "\\xe8", "start": 0, "end": 1, "special": False,
        "source": "user",
    }  # fmt: skip
    assert len(handlers.tokens("苹", mode="chat")) == len(prompt_of(Ask("苹")).tokens)


def test_the_apis_errors_are_one_sentence(handlers):
    import gradio as gr

    for call in (
        lambda: handlers.trace("nope"),
        lambda: handlers.tokens({}),
        lambda: handlers.tokens("x", model="unknown"),
        lambda: handlers.tokens("x", model=["unknown"]),
        lambda: handlers.embedding(10**6),
    ):
        with pytest.raises(gr.Error) as caught:
            call()
        assert caught.value.print_exception is False
        assert "\n" not in caught.value.message and "Traceback" not in caught.value.message


def test_models_say_nothing_of_where_they_are(handlers):
    answer = handlers.models()
    assert [row["name"] for row in answer["models"]] == ["scripted", "other"]
    assert "secret" not in json.dumps(answer)
    assert answer["status"]["info"]["name"] == "scripted"


def test_a_folder_is_offered_by_its_name(desk, host):
    host.names = ("scripted", "/srv/models/mine")
    handlers = Handlers(desk, Runner(desk), host.names)
    assert [m["name"] for m in handlers.models()["models"]] == ["scripted", "mine"]
    assert json.loads(handlers.switch("mine"))["status"]["name"] == "mine"
    assert host.status().name == "/srv/models/mine"


def test_switching_is_the_hosts_to_allow(handlers, host):
    assert json.loads(handlers.switch("nothing"))["type"] == "error"
    assert json.loads(handlers.switch({"a": 1}))["type"] == "error"
    message = json.loads(handlers.switch("other"))
    assert message["status"]["state"] == "loading" and message["status"]["fraction"] == 0.25


def test_server_functions_answer_and_never_raise(desk):
    inside = Inside(Looking(desk))
    functions = {fn.__name__: fn for fn in bus.server_functions(desk, inside)}
    assert set(functions) == {
        "embedding", "payload", "steps", "example", "status", "stopped", "work", "halt",
    }  # fmt: skip

    def call(name: str, data: object) -> dict:
        return json.loads(functions[name](data).body)

    trace_id = call("example", "one")["trace"]["id"]
    assert call("embedding", [trace_id, 65])["row"] == embedding_view.row_payload(row_of(65))
    assert call("payload", trace_id)["trace"]["id"] == trace_id
    assert call("stopped", trace_id)["trace"]["id"] == trace_id
    assert call("status", [])["status"]["state"] == "ready"
    bad = [None, [], {}, "x", 5, [1], [1, 2, 3], ["a" * 16, "b"], [None, None]]
    for name in set(functions) - {"status"}:
        for data in bad:
            assert set(call(name, data)["error"]) == set(LANGUAGES), (name, data)
    inside.close()


# ---- the page ----


@pytest.fixture
def built(host, recorded):
    return page.build(host, recorded, models=("scripted", "other"))


def test_every_event_is_meant_and_named(built):
    fns = built.blocks.fns.values()
    public = {fn.api_name for fn in fns if fn.api_visibility == "public" and fn.fn}
    assert public == {
        "run", "open", "trace", "tokens", "embedding", "models", "ledger", "cut", "ways",
        "compare", "languages", "train", "templates",
    }  # fmt: skip
    assert {fn.api_name for fn in fns if fn.fn} == public | {"switch"}
    assert all(fn.queue for fn in fns if fn.fn)
    assert all(fn.fn is None or fn.fn.__name__ != "<lambda>" for fn in fns)
    assert built.blocks.api_open is False


def test_both_languages_label_everything_that_has_a_label(built):
    (written,) = re.findall(r"window\.BOT_FORM=(.*?);</script>", built.options["head"])
    data = json.loads(written)
    labels = data["labels"]
    components = [b for b in built.blocks.blocks.values() if getattr(b, "elem_id", None)]
    labelled = [
        b for b in components
        if getattr(b, "label", None) or type(b).__name__ in ("Button", "UploadButton")
    ]  # fmt: skip
    assert len(labels) == len(labelled) == len({b.elem_id for b in labelled})
    for texts_of in labels:
        assert texts_of["en"].keys() == texts_of["zh"].keys() == set(texts_of["en"])
    assert set(data["kept"]) == {*form.ASKED, "sampling"}
    assert data["asked"] == list(form.ASKED)


def test_the_events_inputs_are_the_handlers_parameters(built):
    import inspect

    run = next(fn for fn in built.blocks.fns.values() if fn.api_name == "run")
    assert list(inspect.signature(run.fn).parameters) == list(form.ASKED)
    assert len(run.inputs) == len(form.ASKED)
    assert [b.elem_id for b in run.inputs] == [f"bot-{name}" for name in form.ASKED]


def test_the_head_carries_every_script_and_style(built):
    text = built.options["head"]
    folder = head.ASSETS
    assert {p.name for p in (folder / "js").glob("*.js")} == set(sources.SCRIPTS)
    assert {p.name for p in (folder / "css").glob("*.css")} == set(sources.STYLES)
    assert text.count("<script>") == text.count("</script>") == len(sources.SCRIPTS) + 1
    assert text.count("<style>") == text.count("</style>") == len(sources.STYLES)
    # A source that ends its own element, or begins a comment in it, would break the page.
    for path in [*(folder / "js").glob("*.js"), *(folder / "css").glob("*.css")]:
        source = path.read_text("utf-8")
        assert not re.search(r"</(script|style)|<!--", source, re.IGNORECASE), path.name
    for name in ("BOT_TEXT", "BOT_FIGURES", "BOT_PLOTLY_URL", "BOT_EXAMPLES", "BOT_INITIAL"):
        assert f"window.{name}=" in text
    assert head.plotly_file().is_file()
    assert not re.search(r"https?://(?!www\.w3\.org)", re.sub(r"/\*.*?\*/", "", text, flags=re.S))


def test_the_page_opens_with_the_first_example(built, recorded):
    initial = page._initial(built.desk)
    assert initial["id"] == recorded.get("one")[0]
    assert wire.in_script(initial) in built.options["head"]


def test_a_page_without_examples_opens_too(host, tmp_path):
    built = page.build(host, Recorded(tmp_path))
    assert "window.BOT_INITIAL=null;" in built.options["head"]


def test_no_user_text_can_become_a_template():
    for component in (bus.header(), bus.line(), bus.bus()):
        assert component.html_template == "" and component.css_template == ""
    for path in (head.ASSETS / "js").glob("*.js"):
        source = path.read_text("utf-8")
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
                     "new Function", "setTimeout(\"", "srcdoc"):  # fmt: skip
            assert word not in source, (path.name, word)


def test_texts_of_the_form_are_used_and_exist():
    sources = [p.read_text("utf-8") for p in (head.ASSETS / "js").glob("*.js")]
    used = set(re.findall(r'BOT\.t\(\s*"([\w.]+)"', " ".join(sources)))
    assert used and used <= texts("en").keys(), used - texts("en").keys()
