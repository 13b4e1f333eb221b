"""The server as a visitor, a program and an attacker meet it: real HTTP, a scripted model."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from gradio_client import Client, handle_file

import app
from playground import store
from playground.inspection.packed import pack_arrays
from playground.ui import page
from playground.ui.recorded import Recorded
from playground.vocabularies import Tokenizers
from tests import fake_inside
from tests.fakes import EOS, FakeHost, prompt_of, row_of
from tests.test_tokenroom import QWEN, SMOL, at_hand, library
from tests.test_ui import finished

ROOT = Path(__file__).parent.parent


class Server:
    """The page on a free port, with a host whose script the tests may change."""

    def __init__(self, folder: Path) -> None:
        self.host = FakeHost(queue_size=5)
        store.save(finished(self.host, "Is it?"), folder / "one.trace.json.gz")
        store.save_rows([row_of(65), row_of(EOS)], folder / "one.rows.json.gz")
        self.page = page.build(self.host, Recorded(folder), models=("scripted", "other"))
        _, self.url, _ = self.page.launch(
            server_port=app.free_port("127.0.0.1"), prevent_thread_lock=True, quiet=True
        )
        self.http = httpx.Client(base_url=self.url, timeout=20)
        self.client = self.connect()

    def connect(self) -> Client:
        return Client(self.url, verbose=False)

    def post(self, path: str, **how):
        return self.http.post(f"/gradio_api/{path}", **how)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("examples"))
    yield server
    server.page.close()


@pytest.fixture
def server(served):
    served.host.options = {}
    served.host.script = [*"It is 苹果. ✓".encode(), EOS]
    yield served
    served.host.options = {}


def messages(job) -> list[dict]:
    return [json.loads(item) for item in job]


def run(client: Client, prompt, **fields) -> list[dict]:
    return messages(client.submit(prompt=prompt, api_name="/run", **fields))


def call(server: Server, *data) -> list[dict]:
    """The messages of /run by plain HTTP: whatever the values, as no client would send them."""
    fields = [*data, *["q", "", "chat", "auto", 0, 0, 1, 0, 0, 9][len(data) :]]
    joined = server.post(
        "call/run",
        content=json.dumps({"data": fields}),
        headers={"content-type": "application/json"},
    )
    text = server.http.get(f"/gradio_api/call/run/{joined.json()['event_id']}").text
    return [json.loads(json.loads(data)[0]) for data in re.findall(r"data: (\[.*\])", text)]


# ---- the API ----


def test_the_endpoints_are_those_that_are_meant(server):
    named = server.client.view_api(return_format="dict", print_info=False)["named_endpoints"]
    assert set(named) == {
        "/run", "/open", "/trace", "/tokens", "/embedding", "/models", "/ledger", "/cut", "/ways",
        "/compare", "/languages", "/train", "/templates",
    }  # fmt: skip
    fields = [p["parameter_name"] for p in named["/run"]["parameters"]]
    assert fields[:3] == ["prompt", "system", "mode"] and fields[-1] == "max_tokens"


def test_run_streams_every_step_once_and_ends_with_a_trace(server):
    told = [m for m in run(server.client, "苹果?") if m["type"] != "progress"]
    # gradio_client gives the last value once more, as the result
    while told[-1] == told[-2]:
        told.pop()
    assert [m["type"] for m in told] == ["start", *["step"] * (len(told) - 2), "end"]
    trace = store.from_json(server.client.predict(told[-1]["trace_id"], api_name="/trace"))
    assert trace.text == "It is 苹果. ✓" and trace.messages[0].content == "苹果?"
    assert [m["step"]["tok"]["id"] for m in told[1:-1]] == list(trace.ids)


def test_sampling_fields_reach_the_run(server):
    *_, end = run(server.client, "q", mode="raw", temperature=0.5, top_k=3, seed=2**60)
    assert end["trace"]["params"] == {
        "temperature": 0.5, "top_k": 3, "top_p": 1, "min_p": 0, "seed": 2**60,
    }  # fmt: skip
    assert end["trace"]["raw_prompt"] == "q"


def test_tokens_embedding_models(server):
    client = server.client
    tokens = client.predict("苹 a", api_name="/tokens")
    assert [t["bytes"] for t in tokens] == ["e8", "8b", "b9", "20", "61"]
    row = store.row_from_json(client.predict(65, 3, api_name="/embedding"))
    assert row.id == 65 and len(row.neighbours[0].ids) == 3
    assert [m["name"] for m in client.predict(api_name="/models")["models"]] == [
        "scripted",
        "other",
    ]


def test_open_takes_a_file(server, tmp_path):
    path = tmp_path / "mine.trace.json.gz"
    trace = finished(FakeHost(), "mine")
    store.save(trace, path)
    message = json.loads(server.client.predict(handle_file(path), api_name="/open"))
    assert message["type"] == "load" and message["trace"]["id"] == store.trace_id(trace)
    again = server.client.predict(store.trace_id(trace), api_name="/trace")
    assert again["checksum"][:16] == store.trace_id(trace)


@pytest.fixture
def tokenizers(server, monkeypatch):
    """The server has the two real tokenizers in memory."""
    monkeypatch.setattr(server.host, "_tokenizers", Tokenizers(("scripted",), at_hand=at_hand))
    return server.client


DEEP = "It's 程序员Left 电"


def test_tokens_in_depth_are_those_of_the_library(tokenizers):
    for model in (SMOL, QWEN):
        wanted = library(model, DEEP)
        found = tokenizers.predict(DEEP, model, api_name="/ledger")
        assert found["ids"] == wanted
        assert b"".join(map(bytes.fromhex, found["hexes"])) == DEEP.encode()
        found = tokenizers.predict(text=DEEP, model=model, api_name="/cut")
        assert [i for story in found["stories"] for i in story["ids"]] == found["ids"] == wanted
        found = tokenizers.predict(DEEP, model, api_name="/ways")
        assert [p[0] for p in found["pieces"]] == wanted
    assert "stories" not in tokenizers.predict(DEEP, SMOL, False, api_name="/cut")
    found = tokenizers.predict(DEEP, [SMOL, QWEN], api_name="/compare")
    assert [c["ids"] for c in found["columns"]] == [library(m, DEEP) for m in (SMOL, QWEN)]
    found = tokenizers.predict([QWEN], api_name="/languages")
    assert all(row["counts"] == [len(library(QWEN, row["text"]))] for row in found["rows"])
    found = tokenizers.predict("low lower lowest low", 2, api_name="/train")
    assert found["merges"] == [["l", "o", 4, 16], ["lo", "w", 4, 12]]


def test_templates_by_name(tokenizers):
    chat = [{"role": "user", "content": "Hi?<|im_end|>"}]
    forms = tokenizers.predict(chat, QWEN, api_name="/templates")["forms"]
    taken = tokenizers.predict(chat, QWEN, None, True, api_name="/templates")["forms"]
    assert [f["name"] for f in forms][:2] == ["own", "chatml"]
    assert [t["id"] for t in taken[0]["tokens"]] == library(QWEN, taken[0]["text"])
    assert len(taken[0]["tokens"]) < len(forms[0]["tokens"])
    off = tokenizers.predict(chat, QWEN, False, api_name="/templates")["forms"]
    assert off[0]["text"].endswith("<think>\n\n</think>\n\n")


def test_without_a_model_the_one_at_hand_is_taken(tokenizers):
    found = tokenizers.predict("电", api_name="/ledger")
    assert found["ids"] == library(SMOL, "电")
    assert tokenizers.predict("电", None, True, api_name="/ledger")["joined"]


@pytest.mark.parametrize(("api_name", "data", "said"), [
    ("/ledger", ("a", "gpt2"), "not among"), ("/ledger", ({"a": 1}, SMOL), "must be text"),
    ("/ledger", ("x" * 1001, SMOL), "1001 characters; up to 1000"),
    ("/ledger", ("a", SMOL, "yes"), "control"), ("/cut", ("a", "../x"), "not among"),
    ("/cut", (5, SMOL), "must be text"), ("/cut", ("a", SMOL, 7), "stories"),
    ("/ways", ("a", ["x"]), "must be text"), ("/compare", ("a", []), "each once"),
    ("/compare", ("a", "qwen3-0.6b"), "each once"), ("/languages", ([SMOL] * 9,), "each once"),
    ("/train", ("", 3), "no text"), ("/train", ("a", 10**6), "whole number"),
    ("/templates", ([], SMOL), "turns"), ("/templates", ([{"role": "x"}], SMOL), "malformed"),
])  # fmt: skip
def test_what_the_laboratory_can_not_do_is_one_sentence(tokenizers, api_name, data, said):
    with pytest.raises(Exception, match=said) as caught:
        tokenizers.predict(*data, api_name=api_name)
    assert "Traceback" not in str(caught.value) and "playground" not in str(caught.value)


def test_the_page_asks_the_laboratory_over_http(tokenizers, server):
    ask = worker(server, "reader")
    assert ask("work", op="lab")["result"]["default"] == SMOL
    got = until_done(ask, op="ledger", model=QWEN, text=DEEP)["result"]
    assert got["ids"] == library(QWEN, DEEP)
    got = until_done(ask, op="cut", model=SMOL, text="a\ud83d")["result"]
    assert got["text"] == "a\ufffd"
    for bad in ({"op": "cut"}, {"op": "ledger", "model": SMOL, "text": "x" * 1001}, {"op": "cuts"}):
        assert set(ask("work", **bad)["error"]) == {"en", "zh"}
    assert ask("halt", op="ledger", model=QWEN, text=DEEP) == {"halted": False}


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("data", [
    ["q", "", "chat", "auto", NAN], ["q", "", "chat", "auto", INF], ["q", "", "x"],
    ["q", "", "chat", "auto", 1, 0, 1.5], ["q", "", "chat", "auto", 0, 0, 1, 0, 0, 10**9],
    ["q", "", "chat", "auto", 1, 0, 1, 0, None], ["q", {"a": 1}], [{"a": 1}], [["x"]], [5],
    [None], [""], ["   "],
])  # fmt: skip
def test_wrong_fields_are_one_error_and_the_page_lives(server, data):
    told = call(server, *data)
    assert told and {m["type"] for m in told} == {"error"}
    assert call(server, "q")[-1]["type"] == "end"


@pytest.mark.parametrize("api_name", ["/trace", "/tokens", "/embedding"])
def test_wrong_values_of_the_api_are_one_sentence(server, api_name):
    with pytest.raises(Exception) as caught:
        server.client.predict({"x": ["y"]}, api_name=api_name)
    assert "Traceback" not in str(caught.value) and "playground" not in str(caught.value)
    assert "must be" in str(caught.value) or "asked for by its id" in str(caught.value)


@pytest.mark.parametrize("text", [
    "\ud800x", "x\udfff", "<img onerror=1>${x}{{y}}</script>", "\0\x1b", "👩‍👩‍👧‍👦",
    "\u202eabc",
])  # fmt: skip
def test_odd_text_keeps_the_stream_up(server, text):
    assert call(server, text)[-1]["type"] == "end"
    assert call(server, "q")[-1]["type"] == "end"


# ---- sizes ----


def test_a_prompt_that_is_too_long_is_told_so_at_once(server):
    start = time.perf_counter()
    (error, *_) = run(server.client, "x" * 1_000_000)
    assert "1000000 characters; the limit is 1000" in error["text"]["en"]
    assert time.perf_counter() - start < 3


def test_twenty_megabytes_are_turned_away(server):
    body = json.dumps({"data": ["x" * 20_000_000], "fn_index": 0, "session_hash": "s"})
    answer = server.post("queue/join", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 413 and "larger" in answer.json()["detail"]


def test_uploads_have_a_limit(server):
    answer = server.post("upload", files={"files": ("a.json", b"x" * (33 * 1024 * 1024))})
    assert answer.status_code == 413
    junk = server.post("upload", files={"files": ("a.json", b"{}")})
    assert junk.status_code == 200


# ---- ends ----


def wait_until(true, seconds: float) -> float:
    start = time.perf_counter()
    while not true():
        assert time.perf_counter() - start < seconds, "too late"
        time.sleep(0.01)
    return time.perf_counter() - start


def test_cancelling_a_job_ends_the_run_within_a_step(server):
    server.host.script, server.host.options = [97], {"pace_s": 0.05}
    job = server.client.submit("q", max_tokens=128, api_name="/run")
    wait_until(lambda: len(job.outputs()) > 3, 5)
    ran = server.host.runs[-1]
    job.cancel()
    wait_until(ran.closed.is_set, 1)
    n = len(ran.steps)
    time.sleep(0.3)
    assert len(ran.steps) <= n + 1 < 128
    server.host.options = {}
    assert run(server.connect(), "q")[-1]["type"] == "end"


def test_a_dropped_connection_ends_the_run_and_frees_the_line(server):
    server.host.script, server.host.options = [97], {"pace_s": 0.05}
    body = {"data": ["q", "", "chat", "auto", 0, 0, 1, 0, 0, 128]}
    event = server.post("call/run", json=body).json()["event_id"]
    with server.http.stream("GET", f"/gradio_api/call/run/{event}") as stream:
        for line in stream.iter_lines():
            if '"step' in line:
                break
    ran = server.host.runs[-1]
    assert wait_until(ran.closed.is_set, 3) < 1
    assert len(ran.steps) < 128
    server.host.options, server.host.script = {}, [97, EOS]
    assert run(server.client, "q")[-1]["type"] == "end"


def test_twenty_at_once_each_gets_an_own_answer_or_is_told_to_come_back(server):
    server.host.options = {"pace_s": 0.01}

    def one(k: int) -> list[dict]:
        return call(server, f"question {k}")

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(one, range(20)))
    ended = [(k, a) for k, a in enumerate(answers) if a[-1]["type"] == "end"]
    refused = [a for a in answers if a[-1]["type"] == "error"]
    assert len(ended) + len(refused) == 20 and len(ended) >= 1 + server.host.limits.queue_size
    assert all("Try again" in a[-1]["text"]["en"] for a in refused)
    for k, answer in ended:
        start = next(m for m in answer if m["type"] == "start")
        assert start["trace"]["messages"] == [{"role": "user", "content": f"question {k}"}]
        assert {m["run"] for m in answer if "run" in m} == {start["run"]}


def test_nobody_waits_for_a_long_run_to_look_something_up(server):
    server.host.script, server.host.options = [97], {"pace_s": 0.05}
    job = server.client.submit("q", max_tokens=100, api_name="/run")
    wait_until(lambda: len(job.outputs()) > 1, 5)
    start = time.perf_counter()
    assert server.connect().predict(65, api_name="/embedding")["id"] == 65
    assert not job.done() and time.perf_counter() - start < 5
    job.cancel()


# ---- what is not meant ----


@pytest.mark.parametrize("path", [
    "gradio_api/file=/etc/passwd", "gradio_api/file=../../etc/passwd", "file=/etc/passwd",
    "gradio_api/file=%2e%2e%2f%2e%2e%2fetc/passwd", "gradio_api/file=/proc/self/environ",
    "gradio_api/file=http://169.254.169.254/", "gradio_api/file=file:///etc/passwd",
    "gradio_api/proxy=http://169.254.169.254/", "gradio_api/file=app.py", "gradio_api/file/app.py",
    "static/../../../app.py", "static/%2e%2e/%2e%2e/app.py", "assets/..%2f..%2fapp.py",
    "app.py", "playground/host.py", ".git/config", "bot/../app.py", "bot/trace/../../app.py",
    "bot/trace/%2e%2e%2f%2e%2e%2fapp.py", "docs", "redoc", "openapi.json", "monitoring",
    "monitoring/summary", "gradio_api/runs", "gradio_api/deep_link?session_hash=x",
    "gradio_api/vibe-code", "gradio_api/dev/reload", "gradio_api/custom_component/1/client/x/y",
])  # fmt: skip
def test_files_and_forgotten_routes_are_closed(server, path):
    # Sent as it is: a client that tidies `..` up would test itself.
    answer = server.http.get(httpx.URL(server.url, raw_path=b"/" + path.encode()))
    assert answer.status_code in (403, 404)
    assert "root:" not in answer.text and "Traceback" not in answer.text
    assert "import " not in answer.text


@pytest.mark.parametrize("path", [
    "vibe-edit", "process_recording", "run/run", "api/run", "run/trace", "api/predict",
    "run-history/connect", "stream/x",
])  # fmt: skip
def test_posts_that_are_not_meant_are_closed(server, path):
    assert server.post(path, json={"data": []}).status_code == 404


def join(**change) -> dict:
    data = ["q", "", "chat", "auto", 0, 0, 1, 0, 0, 9]
    body = {"data": data, "fn_index": 0, "session_hash": "abc"} | change
    return {k: v for k, v in body.items() if v != "absent"}


def served_function(component_id: object, name: str) -> dict:
    return {"component_id": component_id, "fn_name": name, "session_hash": "x", "data": 1}


@pytest.mark.parametrize(("path", "body"), [
    ("queue/join", join(fn_index=9999)), ("queue/join", join(fn_index=-1)),
    ("queue/join", join(fn_index="run")), ("queue/join", join(fn_index=None)),
    ("queue/join", join(fn_index=True)), ("queue/join", join(fn_index=1.5)),
    ("queue/join", join(data=[])), ("queue/join", join(data="q")), ("queue/join", join(data=None)),
    ("queue/join", join(session_hash=5)), ("queue/join", join(session_hash="absent")),
    ("queue/join", []), ("queue/join", "x"), ("queue/join", None), ("queue/join", {}),
    ("call/unknown", {"data": []}), ("call/switch", {"data": ["other"]}), ("call/run", {}),
    ("call/run", {"data": []}), ("call/run", {"data": {}}), ("call/run", []),
    ("call/v2/unknown", {}), ("call/v2/run", []), ("call/v2/run", {}),
    ("call/v2/run", {"prompt": "q", "nonsense": 1}), ("call/v2/trace", {}),
    ("component_server", {}), ("component_server", []),
    ("component_server", served_function(10**6, "status")),
    ("component_server", served_function("1", "status")),
    ("component_server", served_function(1, "postprocess")),
    ("component_server", served_function(1, "__init__")),
    ("cancel", {}), ("cancel", []), ("reset", {}),
])  # fmt: skip
def test_malformed_calls_are_the_callers_fault(server, path, body):
    answer = server.post(path, json=body)
    assert 400 <= answer.status_code < 500, answer.text
    assert "Traceback" not in answer.text and "site-packages" not in answer.text


@pytest.mark.parametrize(
    "raw", [b"{", b"\xff\xfe", b"[" * 100_000, b'{"data": [1e999', b"\x1f\x8b"]
)
def test_broken_json_is_the_callers_fault(server, raw):
    for path in ("queue/join", "call/run", "component_server"):
        answer = server.post(path, content=raw, headers={"content-type": "application/json"})
        assert 400 <= answer.status_code < 500


def test_other_kinds_of_content_are_refused(server):
    for kind in ("text/plain", "application/x-www-form-urlencoded", None):
        headers = {"content-type": kind} if kind else {}
        answer = server.post("queue/join", content=json.dumps(join()), headers=headers)
        assert 400 <= answer.status_code < 500
    answer = server.post("component_server", files={"f": b"x"}, data={"component_id": "1"})
    assert answer.status_code == 400


@pytest.mark.parametrize("origin", ["https://evil.example", "null"])
def test_other_sites_get_no_leave_to_read(server, origin):
    preflight = server.http.options("/gradio_api/queue/join", headers={
        "origin": origin, "access-control-request-method": "POST",
        "access-control-request-headers": "content-type",
    })  # fmt: skip
    assert "access-control-allow-origin" not in preflight.headers
    page_ = server.http.get("/config", headers={"origin": origin})
    assert "access-control-allow-origin" not in page_.headers


def test_errors_carry_no_paths(server):
    def broken(*_):
        raise OSError("/root/secret/model.safetensors")

    kept = server.host.run
    server.host.run = broken
    try:
        told = json.dumps(run(server.client, "my private prompt"))
    finally:
        server.host.run = kept
    assert "secret" not in told and "private" not in told and "Traceback" not in told


# ---- the page and its files ----


def test_the_page_is_whole_and_asks_nobody_else(server):
    text = server.http.get("/").text
    assert "BOT_INITIAL" in text and "一颗 token 的诞生" in text
    script = server.http.get("/bot/plotly.min.js?v=1")
    assert script.status_code == 200 and "javascript" in script.headers["content-type"]
    assert "immutable" in script.headers["cache-control"] and b"Plotly" in script.content
    for path in ("theme.css", "favicon.ico", "gradio_api/info", "config"):
        assert server.http.get(f"/{path}").status_code == 200


@pytest.mark.parametrize("path", ["/", "/config"])
def test_the_page_is_sent_compressed_to_whoever_can_unpack_it(server, path):
    got = server.http.get(path, headers={"Accept-Encoding": "gzip"})
    assert got.headers["content-encoding"] == "gzip"
    assert int(got.headers["content-length"]) < len(got.content) / 3
    plain = server.http.get(path, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert "BOT_INITIAL" in got.text and abs(len(got.text) - len(plain.text)) < 100


def test_a_trace_downloads_under_a_safe_name(server, tmp_path):
    *_, end = run(server.client, 'quote" \n../name')
    answer = server.http.get(f"/bot/trace/{end['trace_id']}")
    assert answer.headers["content-disposition"] == (
        f'attachment; filename="{end["trace_id"]}.trace.json"'
    )
    loaded, intact = store.loads(answer.content)
    assert intact and store.trace_id(loaded) == end["trace_id"]
    gone = server.http.get("/bot/trace/" + "0" * 16)
    assert gone.status_code == 404 and set(gone.json()["error"]) == {"en", "zh"}


def test_server_functions_answer_over_http(server):
    config = server.http.get("/config").json()
    (mount,) = [c for c in config["components"] if c["props"].get("server_fns")]

    def ask(name: str, data: object) -> dict:
        body = {"component_id": mount["id"], "fn_name": name, "session_hash": "x", "data": data}
        return server.post("component_server/", json=body).json()

    trace = ask("example", "one")["trace"]
    assert ask("payload", trace["id"])["trace"]["steps"] == trace["steps"]
    assert ask("embedding", [trace["id"], 65])["row"]["id"] == 65
    assert set(ask("example", "../one")["error"]) == {"en", "zh"}
    assert ask("status", [])["status"]["info"]["name"] == "scripted"


def worker(server: Server, who: str):
    """How a browser asks about the inside of a run: `work` and `halt` over HTTP."""
    config = server.http.get("/config").json()
    (mount,) = [c for c in config["components"] if c["props"].get("server_fns")]

    def ask(name: str, **request) -> dict:
        body = {
            "component_id": mount["id"], "fn_name": name, "session_hash": who,
            "data": request | {"who": who},
        }  # fmt: skip
        # As ASCII: a browser sends half a character as an escape.
        headers = {"content-type": "application/json"}
        return server.post("component_server/", content=json.dumps(body), headers=headers).json()

    return ask


def until_done(ask, **request) -> dict:
    for _ in range(200):
        told = ask("work", **request)
        if told.get("state") not in ("waiting", "running"):
            return told
    raise AssertionError(told)


def test_the_inside_of_a_run_is_asked_for_over_http(server):
    *_, end = run(server.client, "Inside?")
    ask = worker(server, "browser")
    got = until_done(ask, op="inside", trace=end["trace_id"])["result"]
    assert got["trace"] == end["trace_id"] and got["layers"] == [0, 1, 2]
    head = ask("work", op="head", trace=end["trace_id"], layer=1, head=2)["result"]
    assert (head["layer"], head["head"]) == (1, 2)
    found = fake_inside.inspection_of(store.from_json(server.client.predict(
        end["trace_id"], api_name="/trace"
    )))  # fmt: skip
    assert got["stream"] == json.loads(json.dumps(pack_arrays(found.stream)))
    for bad in ({}, {"op": "x"}, {"op": "head", "trace": end["trace_id"], "layer": 1e9}):
        assert set(ask("work", **bad)["error"]) == {"en", "zh"}
    assert ask("halt", op="inside", trace=end["trace_id"]) == {"halted": False}


def test_two_browsers_ask_at_once_one_halts_and_the_other_gets_it(server):
    *_, end = run(server.client, "Both?")
    server.host.looks, server.host.look_s = [], 0.1
    one, two = worker(server, "one"), worker(server, "two")
    request = {"op": "uncached", "trace": end["trace_id"]}
    try:
        with ThreadPoolExecutor(2) as pool:
            told = list(pool.map(lambda ask: ask("work", **request)["state"], (one, two)))
        assert "done" not in told
        assert one("halt", **request) == {"halted": True}
        # The other one waits for it; it was begun once, and was not stopped.
        got = until_done(two, **request)["result"]
        assert got["recorded"] is False and server.host.looks == [("uncached",)]
        # When nobody is left it is stopped.
        two("work", op="check", trace=end["trace_id"])
        two("halt")
        wait_until(lambda: server.page.inside.looking.jobs._busy == 0, 1)
        assert len(server.page.inside.looking.jobs) == 0
    finally:
        server.host.look_s = 0.0


def test_an_unknown_session_is_told_so_and_nothing_is_logged(server, caplog):
    for path in ("queue/data?session_hash=nobody", "call/run/nothing"):
        answer = server.http.get(f"/gradio_api/{path}")
        assert answer.status_code == 200 and "404" in answer.text
    assert "Traceback" not in caplog.text and "Exception" not in caplog.text


def test_behind_a_proxy_under_a_path(tmp_path):
    host = FakeHost()
    built = page.build(host, Recorded(tmp_path))
    _, url, _ = built.launch(
        server_port=app.free_port("127.0.0.1"), root_path="/token", prevent_thread_lock=True,
        quiet=True,
    )  # fmt: skip
    try:
        text = httpx.get(url, headers={"x-forwarded-host": "example.org"}).text
        assert '"root":"http' in text and "/token" in text
        # relative to the page, so it is below the same path
        assert 'BOT_PLOTLY_URL=\\"bot/plotly.min.js' in text or '"bot/plotly' in text
        assert httpx.get(f"{url}bot/plotly.min.js").status_code == 200
    finally:
        built.close()


# ---- starting ----


def test_options_come_from_flags_and_variables():
    def read(environ: dict[str, str], *argv: str):
        return app.parser(environ).parse_args(argv)

    assert (read({}).host, read({}).port, read({}).model) == ("127.0.0.1", 7860, "auto")
    assert read({"SPACE_ID": "a/b"}).host == "0.0.0.0"
    given = {"PORT": "81", "MODELS": "a, b,,c", "FREE_MODELS": "yes", "STORE_MB": "3"}
    options = read({f"BIRTH_OF_A_TOKEN_{k}": v for k, v in given.items()}, "--port", "82")
    assert (options.port, options.models, options.free_models) == (82, ("a", "b", "c"), True)
    limits = app.build_host(options).limits
    assert (limits.store_bytes, limits.max_prompt_chars) == (3 * 2**20, 32768)
    assert (limits.max_new_tokens, limits.queue_size) == (512, 20)


@pytest.mark.parametrize("argv", [
    ["--port", "x"], ["--port", "65536"], ["--threads", "0"], ["--queue-size", "-1"],
    ["--free-models", "maybe"], ["--device", "tpu"], ["--nonsense"], ["--max-new-tokens", "1.5"],
])  # fmt: skip
def test_wrong_options_are_said_and_exit_with_2(argv, capsys):
    with pytest.raises(SystemExit) as ended:
        app.parser({}).parse_args(argv)
    assert ended.value.code == 2 and "error" in capsys.readouterr().err


def test_help_explains_every_option_and_its_variable(capsys):
    for lang in ("en", "zh"):
        with pytest.raises(SystemExit):
            app.main(["--lang", lang, "--help"])
        shown = capsys.readouterr().out
        variables = set(re.findall(r"BIRTH_OF_A_TOKEN_\w+", shown.replace("\n", "")))
        flags = {flag for flag in re.findall(r"--[a-z-]+", shown)} - {"--help", "--lang"}
        assert len(variables) == len(flags) == 14


def test_a_port_that_is_taken_is_said(served):
    port = served.url.rstrip("/").rsplit(":", 1)[1]
    done = subprocess.run(
        [sys.executable, "app.py", "--port", port], cwd=ROOT, capture_output=True, text=True,
        timeout=120, env=os.environ | {"HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@contextlib.contextmanager
def started(*argv: str):
    with subprocess.Popen(
        [sys.executable, "app.py", "--port", "0", *argv], cwd=ROOT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=os.environ | {"HF_HUB_OFFLINE": "1", "PYTHONUNBUFFERED": "1"},
    ) as process:  # fmt: skip
        timer = threading.Timer(120, process.kill)
        timer.start()
        try:
            yield process
        finally:
            process.kill()
            timer.cancel()


def test_a_model_that_is_missing_leaves_the_page_alive_and_ctrl_c_is_clean(tmp_path):
    with started("--model", str(tmp_path / "nothing")) as process:
        url = re.search(r"http://\S+", process.stdout.readline())[0]
        assert httpx.get(url).status_code == 200
        client = Client(url, verbose=False)
        wait_until(lambda: client.predict(api_name="/models")["status"]["state"] == "failed", 60)
        (error, *_) = run(client, "q")
        assert error["type"] == "error" and error["text"]["zh"]
        # Where it was looked for is the operator's to know.
        told = json.dumps([error, client.predict(api_name="/models")]) + httpx.get(url).text
        assert "nothing" in told and str(tmp_path) not in told
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert "Traceback" not in process.stderr.read()


def test_prompt_of_the_scripted_host_is_consistent():
    from playground.ask import Ask

    prompt = prompt_of(Ask("苹a"))
    for token in prompt.tokens:
        covered = prompt.templated_text[token.start : token.end].encode()
        assert token.raw in covered
