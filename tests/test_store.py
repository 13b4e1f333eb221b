"""Trace files: equal to the bit there and back, and nothing hostile gets in."""

from __future__ import annotations

import copy
import gzip
import json
import os
import re
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from playground import store
from playground.errors import PlaygroundError
from playground.store import files, strict
from playground.trace import same
from tests import made

quiet = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def refused(data: object, **options) -> PlaygroundError:
    """The one error that reading `data` (bytes, or a value to encode) gives."""
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    with pytest.raises(PlaygroundError) as caught:
        store.loads(raw, **options)
    for lang in ("en", "zh"):
        sentence = caught.value.say(lang)
        assert "\n" not in sentence and len(sentence) < 400
        assert not re.search(r"\{\w+\}", sentence), "a field was not filled in"
        sentence.encode()
    return caught.value


@quiet
@given(made.traces())
def test_a_trace_comes_back_equal_to_the_bit(trace):
    data = store.dumps(trace)
    again, intact = store.loads(data)
    assert intact and same(again, trace)
    assert store.dumps(again) == data
    assert store.trace_id(again) == store.trace_id(trace) == json.loads(data)["id"]


@quiet
@given(made.embedding_rows())
def test_an_embedding_row_comes_back_equal_to_the_bit(row):
    text = json.dumps(store.row_to_json(row), allow_nan=False)
    assert same(store.row_from_json(json.loads(text)), row)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=400))
def test_float32_as_decimals_is_exact_and_short(patterns):
    array = np.array(patterns, "u4").view("f4")
    array = array[np.isfinite(array)]
    listed = json.loads(json.dumps(store._decimals(array)))
    assert np.array(listed, "f8").astype("f4").tobytes() == array.tobytes()
    assert all(len(repr(x)) <= 24 for x in listed)
    tenth = store._decimals(np.array([0.1, -0.0, 1e-45, 3.4028235e38], "f4"))
    assert json.dumps(tenth) == "[0.1, -0.0, 1e-45, 3.4028235e+38]"


def test_the_keys_are_the_field_names():
    data = store.to_json(made.example())
    assert list(data)[:3] == ["schema", "id", "checksum"]
    assert data["ids"] == [5, 42, 7] == [s["token"]["id"] for s in data["steps"]]
    assert data["prompt"][0] == {
        "id": 3, "raw": "e8", "text": "\\xe8", "start": 0, "end": 1, "special": False,
        "source": "user",
    }  # fmt: skip
    step = data["steps"][1]
    assert step["candidates"]["ids"] == [42, 60, 61, 62, 63]
    assert step["candidates"]["raw"] == ["61", "e88b", "2062", "3c623e", ""]
    assert len(step["candidates"]["probs"]) == 4 and len(step["candidates"]["probs"][0]) == 5
    assert step["timing"] == {"forward_ms": 2.5, "pick_ms": 0.25, "done_ms": 5.5}
    assert data["params"]["top_k"] == 20 and data["messages"][0]["role"] == "user"


def test_nan_is_never_written():
    trace = made.example()
    object.__setattr__(trace.steps[0], "entropy_bits", float("nan"))
    with pytest.raises(ValueError, match="NaN"):
        store.dumps(trace)


def test_the_checksum_is_over_the_content():
    data = store.to_json(made.example())
    other = json.dumps(dict(reversed(data.items())), indent=1)
    whole = other.replace("2.5,", "2.50,").replace('"top_p": 0.9', '"top_p": 9e-1')
    assert whole != other and store.loads(whole.encode()).intact
    assert store.trace_id(made.example()) == data["id"] == data["checksum"][:16]


def edited(change) -> dict:
    data = copy.deepcopy(store.to_json(made.example()))
    change(data)
    return data


def put(path: str, value: object):
    """A change that sets the place `path` (`steps[0].token.id`) to `value`."""
    *way, last = [int(k) if k.isdigit() else k for k in re.findall(r"\w+", path)]

    def change(data):
        for key in way:
            data = data[key]
        data[last] = value

    return change


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("steps[1].candidates.probs[3][2]", 0.125), ("steps[1].candidates.logits[0]", 3.0),
        ("steps[2].timing.done_ms", 1), ("text", "aab"), ("params.seed", 12),
        ("messages[0].content", "x"), ("prompt[0].id", 9), ("model.name", "other"),
        ("steps[0].candidates.kept[0][0]", False), ("steps[0].draw", None), ("versions.torch", "3"),
    ],
)  # fmt: skip
def test_one_changed_value_is_told(path, value):
    """R30: a tampered file loads, and is flagged."""
    trace, intact = store.loads(json.dumps(edited(put(path, value))).encode())
    assert not intact
    assert not same(trace, made.example())


def test_a_changed_id_of_the_answer_is_told():
    def change(data):
        data["steps"][1]["token"]["id"] = data["ids"][1] = 60

    assert not store.loads(json.dumps(edited(change)).encode()).intact


WRONG = [
    # path, value, what the sentence must name
    ("steps[1].token.id", "42", "steps[1].token.id"),
    ("steps[1].token.id", 42.0, "steps[1].token.id"),
    ("steps[1].token.id", True, "steps[1].token.id"),
    ("steps[1].token.id", -1, "steps[1].token.id"),
    ("steps[1].token.id", made.ROWS, "steps[1].token.id"),
    ("steps[1].token.id", 11, "steps[1].token.id"),  # not among the candidates
    ("prompt[1].id", made.ROWS, "prompt[1].id"),
    ("prompt[0].end", 99, "prompt[0].end"),
    ("prompt[0].start", 2, "prompt[0].start"),
    ("prompt[0].start", None, "prompt[0].start"),
    ("prompt", [], "prompt"),
    ("prompt", {}, "prompt"),
    ("prompt[0]", [], "prompt[0]"),
    ("prompt[0].raw", "E8", "prompt[0].raw"),
    ("prompt[0].raw", "e", "prompt[0].raw"),
    ("prompt[0].raw", "zz", "prompt[0].raw"),
    ("prompt[0].raw", "00" * 9000, "prompt[0].raw"),
    ("prompt[0].source", "evil", "prompt[0].source"),
    ("prompt[0].source", ["user"], "prompt[0].source"),
    ("prompt[0].special", 1, "prompt[0].special"),
    ("prompt[0].text", "\ud800", "prompt[0].text"),
    ("text", "a\udfffb", "text"),
    ("text", None, "text"),
    ("text", ["a"], "text"),
    ("templated_text", "x" * 4_000_001, "templated_text"),
    ("messages", None, "messages"),
    ("raw_prompt", "x", "messages"),
    ("messages[0].role", "tool", "messages[0].role"),
    ("thinking", "yes", "thinking"),
    ("ids", [5, 42], "ids"),
    ("ids", [5, 60, 7], "ids[1]"),
    ("ids[2]", "7", "ids[2]"),
    ("id", "0" * 16, "id"),
    ("checksum", "0" * 63, "checksum"),
    ("finish", "done", "finish"),
    ("max_tokens", 0, "max_tokens"),
    ("max_tokens", 1.5, "max_tokens"),
    ("parent", ["../../etc/passwd", 1], "parent[0]"),
    ("parent", [1], "parent"),
    ("params.temperature", -1, "params.temperature"),
    ("params.temperature", 0.001, "temperature"),
    ("params.top_p", 1.5, "params.top_p"),
    ("params.top_k", 1.5, "params.top_k"),
    ("params.seed", 2**63, "params.seed"),
    ("model.vocab_rows", 0, "model.vocab_rows"),
    ("model.vocab_rows", 2**40, "model.vocab_rows"),
    ("model.vocab_rows", 50, "steps[0].candidates.ids[1]"),
    ("model.name", "x" * 5000, "model.name"),
    ("model.tied", None, "model.tied"),
    ("steps[0].index", 1, "steps[0].index"),
    ("steps[0].phase", "", "steps[0].phase"),
    ("steps[0].rank", 0, "steps[0].rank"),
    ("steps[0].rank", made.ROWS + 1, "steps[0].rank"),
    ("steps[0].logprob", 0.5, "steps[0].logprob"),
    ("steps[0].draw", 1.0, "steps[0].draw"),
    ("steps[0].draw", -0.1, "steps[0].draw"),
    ("steps[0].entropy_bits", -1, "steps[0].entropy_bits"),
    ("steps[0].entropy_bits", None, "steps[0].entropy_bits"),
    ("steps[0].cache_after", -1, "steps[0].cache_after"),
    ("steps[1].cache_before", 999, "steps[1].cache_before"),
    ("steps[0].timing.pick_ms", "1", "steps[0].timing.pick_ms"),
    ("steps[0].timing", None, "steps[0].timing"),
    ("steps[0].candidates.ids[3]", made.ROWS, "steps[0].candidates.ids[3]"),
    ("steps[0].candidates.ids[3]", 60, "steps[0].candidates.ids"),
    ("steps[0].candidates.ids", [5, 60, 61], "steps[0].candidates.ids"),
    ("steps[0].candidates.logits", [1, 2, 3, 4], "steps[0].candidates.logits"),
    ("steps[0].candidates.logits[2]", "1", "steps[0].candidates.logits[2]"),
    ("steps[0].candidates.logits[2]", 1e39, "steps[0].candidates.logits[2]"),
    ("steps[0].candidates.probs[1][4]", 1.01, "steps[0].candidates.probs[1][4]"),
    ("steps[0].candidates.probs[1][4]", -0.01, "steps[0].candidates.probs[1][4]"),
    ("steps[0].candidates.probs[1][4]", None, "steps[0].candidates.probs[1][4]"),
    ("steps[0].candidates.probs[1]", [0.1], "steps[0].candidates.probs[1]"),
    ("steps[0].candidates.probs", [], "steps[0].candidates.probs"),
    ("steps[0].candidates.kept[0][0]", 1, "steps[0].candidates.kept[0][0]"),
    ("steps[0].candidates.kept_count[0]", made.ROWS + 1, "steps[0].candidates.kept_count[0]"),
    ("steps[0].candidates.tail[3]", 2, "steps[0].candidates.tail[3]"),
    ("steps[0].candidates.stages[0]", "top_p", "steps[0].candidates.stages"),
    ("steps[0].candidates.stages[1]", "<b>", "steps[0].candidates.stages[1]"),
    ("notes", [["note.nfc"]], "notes[0]"),
    ("notes", [["<img>", {}]], "notes[0][0]"),
    ("notes", [["note.nfc", {"a": 1.5}]], "notes[0][1].a"),
    ("versions", {"__proto__": "x"}, "versions"),
    ("versions", {"torch": 2}, "versions.torch"),
    ("versions", {f"k{i}": "" for i in range(65)}, "versions"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "value", "named"), WRONG, ids=[f"{p}={v!r:.20}" for p, v, _ in WRONG]
)
def test_a_wrong_field_is_refused_by_name(path, value, named):
    assert re.search(rf"(^| ){re.escape(named)}( |$)", str(refused(edited(put(path, value)))))


def places(value: object, path: str = ""):
    """The path of every object in a JSON value."""
    if isinstance(value, dict):
        yield path
        for key, item in value.items():
            yield from places(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for i, item in enumerate(value[:1]):
            yield from places(item, f"{path}[{i}]")


FREE = ("notes", "versions")  # objects with keys of their own
OBJECTS = [p for p in places(store.to_json(made.example())) if not p.startswith(FREE)]


def at(data: dict, path: str) -> dict:
    for key in re.findall(r"\w+", path):
        data = data[int(key) if key.isdigit() else key]
    return data


@pytest.mark.parametrize("path", OBJECTS)
def test_every_object_has_exactly_its_keys(path):
    error = refused(edited(lambda data: at(data, path).update({"__proto__": {"x": 1}})))
    assert error.key == "error.trace_unknown" and error.values["path"] == (path or "JSON")
    for name in at(store.to_json(made.example()), path):
        error = refused(edited(lambda data, name=name: at(data, path).pop(name)))
        assert error.values["name"] == name


GOOD = store.dumps(made.example())


@pytest.mark.parametrize(
    ("data", "key"),
    [
        (b"", "error.trace_json"),
        (b"null", "error.trace_object"),
        (b"[]", "error.trace_object"),
        (b"{}", "error.trace_missing"),
        (b"\x80\x04K\x01.", "error.trace_json"),  # a pickle
        (b"\xef\xbb\xbf" + GOOD, "error.trace_json"),
        (GOOD + GOOD, "error.trace_json"),
        (GOOD[:-20], "error.trace_json"),
        (GOOD.decode().encode("utf-16"), "error.trace_json"),
        (GOOD.replace("苹".encode(), b"\xe8\x8b"), "error.trace_json"),
        (b"[" * 100_000, "error.trace_depth"),
        (b'{"a":' * 100_000, "error.trace_depth"),
        (b"[" * 17 + b"]" * 17, "error.trace_depth"),
        (b'{"schema":1,"a":"' + b"[" * 100 + b'"}', "error.trace_missing"),
        (b'"' + b'\\"' * 3_000_000, "error.trace_json"),
        (b"[" + b"0," * 4_000_001 + b"0]", "error.trace_values"),
        (b"[]," * 1_000_001, "error.trace_values"),
        (b"NaN", "error.trace_number"),
        (b"[-Infinity]", "error.trace_number"),
        (GOOD.replace(b'"entropy_bits":1.5', b'"entropy_bits":NaN', 1), "error.trace_number"),
        (GOOD.replace(b'"entropy_bits":1.5', b'"entropy_bits":1e999', 1), "error.trace_number"),
        (GOOD.replace(b'"max_tokens":3', b'"max_tokens":' + b"9" * 5000), "error.trace_number"),
        (GOOD.replace(b'"max_tokens":3', b'"max_tokens":' + b"9" * 30), "error.trace_range"),
        (GOOD.replace(b"1.5,", b"0." + b"1" * 99 + b",", 1), "error.trace_number"),
        (GOOD.replace(b'"text":"aaa"', b'"text":"aaa","text":"aaa"'), "error.trace_duplicate"),
        (GOOD.replace(b'"schema":1', b'"schema":2', 1), "error.trace_future"),
        (GOOD.replace(b'"schema":1', b'"schema":0', 1), "error.trace_range"),
        (GOOD.replace(b'"schema":1', b'"schema":"1"', 1), "error.trace_whole"),
        (GOOD.replace(b'"text":"aaa"', b'"text":"\\ud83d"'), "error.trace_surrogate"),
    ],
)  # fmt: skip
def test_hostile_bytes_are_refused_quickly(data, key):
    start = time.perf_counter()
    assert refused(data).key == key
    assert time.perf_counter() - start < 5


def test_a_future_schema_is_told_before_anything_else():
    assert refused({"schema": 7, "all": "new"}).values == {"schema": 7, "known": 1}


def test_the_size_is_capped_before_parsing_and_before_unpacking():
    limit = 200_000
    assert refused(b" " * (limit + 1), max_bytes=limit).key == "error.trace_size"
    bomb = gzip.compress(b"[" * 50_000_000, mtime=0)
    assert len(bomb) < limit
    assert refused(bomb, max_bytes=limit).key == "error.trace_size"
    padded = GOOD + b" " * (limit - len(GOOD))
    assert store.loads(gzip.compress(padded), max_bytes=limit).intact
    assert refused(gzip.compress(padded + b" "), max_bytes=limit).key == "error.trace_size"


def test_unpacking_stops_at_the_cap(monkeypatch):
    seen = []
    real = strict.zlib.decompressobj

    class Spy:
        def __init__(self, **options):
            self.inner = real(**options)

        def decompress(self, data, limit):
            out = self.inner.decompress(data, limit)
            seen.append(len(out))
            return out

    monkeypatch.setattr(strict.zlib, "decompressobj", Spy)
    refused(gzip.compress(b"[" * 9_000_000), max_bytes=70_000)
    assert seen == [70_001]


@pytest.mark.parametrize("spoil", ["cut", "crc", "tail", "garbage"])
def test_damaged_gzip_is_refused(spoil):
    packed = gzip.compress(GOOD)
    damaged = {
        "cut": packed[: len(packed) // 2],
        "crc": packed[:-5] + bytes([packed[-5] ^ 1]) + packed[-4:],
        "tail": packed + gzip.compress(b"more"),
        "garbage": b"\x1f\x8bgarbage",
    }[spoil]
    assert refused(damaged).key == "error.trace_gzip"


@quiet
@given(st.integers(0, len(GOOD) - 1), st.binary(min_size=1, max_size=4))
def test_random_damage_is_told_or_flagged(place, bytes_):
    data = GOOD[:place] + bytes_ + GOOD[place + len(bytes_) :]
    try:
        trace, intact = store.loads(data)
    except PlaygroundError:
        return
    # the damage may also have hit the checksum alone
    assert same(trace, made.example()) or not intact


@pytest.mark.parametrize("name", ["t.trace.json", "t.trace.json.gz", "苹果 a.gz"])
def test_a_file_is_written_whole_and_always_alike(tmp_path, name):
    path = tmp_path / name
    store.save(made.example(), path)
    first = path.read_bytes()
    assert first.startswith(strict.GZIP_MAGIC) == name.endswith(".gz")
    time.sleep(0.01)
    store.save(made.example(), str(path))
    assert path.read_bytes() == first
    assert [p.name for p in tmp_path.iterdir()] == [name]
    trace, intact = store.load(path)
    assert intact and same(trace, made.example())
    os.umask(mask := os.umask(0))
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "t.trace.json"
    store.save(made.example(), path)
    before = path.read_bytes()

    def full(fd):
        raise OSError(28, "No space left")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(PlaygroundError, match="No space"):
        store.save(made.example(), path)
    assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("what", ["missing", "folder", "fifo", "nul"])
def test_what_is_no_file_is_told(tmp_path, what):
    path = tmp_path / "x"
    if what == "folder":
        path.mkdir()
    elif what == "fifo":
        os.mkfifo(path)
    with pytest.raises(PlaygroundError) as caught:
        store.load(Path("a\0b") if what == "nul" else path)
    assert "\n" not in str(caught.value) and str(tmp_path) not in str(caught.value)


def test_rows_of_a_table_come_back(tmp_path):
    from hypothesis import find

    rows = [find(made.embedding_rows(), lambda row: row.neighbours[0].raw) for _ in range(2)]
    path = tmp_path / "r.rows.json.gz"
    store.save_rows(rows, path)
    again = store.load_rows(path)
    assert len(again) == 2 and all(map(same, again, rows))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("rows[0].id", made.ROWS), ("rows[0].values", [0.0] * 5), ("rows[0].norm", None),
        ("rows[0].neighbours[1].metric", "l1"), ("rows[0].neighbours[1].rank_in", [[], []]),
        ("rows[0].neighbours[1].score", [1.0] * 50), ("schema", 2),
    ],
)  # fmt: skip
def test_a_wrong_row_is_refused(tmp_path, path, value):
    from hypothesis import find

    row = find(made.embedding_rows(), lambda row: row.neighbours[1].raw)
    data = {"schema": 1, "rows": [store.row_to_json(row)]}
    put(path, value)(data)
    file = tmp_path / "r.json"
    file.write_text(json.dumps(data), "utf-8")
    with pytest.raises(PlaygroundError):
        store.load_rows(file)
