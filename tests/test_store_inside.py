"""Files of the inside of a run: equal to the bit there and back, and nothing hostile gets in."""

from __future__ import annotations

import base64
import copy
import dataclasses
import gzip
import json
import math
import re
import time
from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from playground import store
from playground.bundling import layer_order, make_inside, telling_step
from playground.errors import PlaygroundError
from playground.inspection.attend import attend
from playground.inspection.bundle import Bundle
from playground.inspection.check import judged
from playground.inspection.rotation import rotated
from playground.store import read_inside
from playground.store.arrays import Arrays, Limit
from playground.trace import same
from playground.views import inside as views
from tests import looking
from tests.tiny import INSIDE, UNKNOWN

quiet = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


@cache
def bundle(family: str = "llama") -> Bundle:
    return make_inside(looking.engine(family), looking.trace(family, 4))


@cache
def encoded(family: str = "llama") -> bytes:
    return store.dumps_inside(bundle(family))


@cache
def few() -> Bundle:
    """With one or two of everything: what hostile files are made of."""
    whole = bundle()
    one = {(a.hide is None, a.head is None, a.ffn is None): a for a in whole.ablations}
    return dataclasses.replace(whole, neurons=whole.neurons[:2], ablations=tuple(one.values()))


GOOD = store.dumps_inside(few())


def with_inspection(**changes: object) -> Bundle:
    return dataclasses.replace(
        bundle(), inspection=dataclasses.replace(bundle().inspection, **changes)
    )


def with_detail(**changes: object) -> Bundle:
    first, *others = bundle().inspection.details
    return with_inspection(details=(dataclasses.replace(first, **changes), *others))


# --- there and back --------------------------------------------------------------------------


@pytest.mark.parametrize("family", [*INSIDE, UNKNOWN])
def test_a_bundle_comes_back_equal_to_the_bit(family):
    data = encoded(family)
    again, intact = store.loads_inside(data)
    assert intact and same(again, bundle(family))
    assert store.dumps_inside(again) == data
    assert store.loads_inside(gzip.compress(data)).intact


@pytest.mark.parametrize("family", ["gemma3", "gpt2", "phi3"])
def test_details_with_their_weights_come_back_too(family):
    looked = looking.engine(family)
    found = looked.inspect(looking.trace(family, 4), layers=[0, looked.info.n_layers - 1])
    whole = dataclasses.replace(bundle(family), inspection=found)
    assert np.isneginf(found.details[0].scores).any()
    assert same(store.loads_inside(store.dumps_inside(whole)).bundle, whole)


def words(family: str) -> dict[str, list[str]]:
    """By array, in which details of the file it is a word."""
    details = json.loads(encoded(family))["inspection"]["details"]
    names = ("q", "k", "cos", "sin")
    return {n: [d[n] if isinstance(d[n], str) else "" for d in details] for n in names}


def test_what_follows_to_the_bit_is_not_stored():
    """The rotation is the model's own operations in their order: whole, partial, normed, none."""
    for family in ("llama", "qwen3", "phi3", "gpt_neox", "olmo2", "gpt2"):
        found = words(family)
        assert set(found["q"]) == set(found["k"]) == {"rotated"}
        angles = [""] * len(found["q"]) if family == "gpt2" else ["", *["same"] * 9]
        assert found["cos"] == found["sin"] == angles[: len(found["q"])]
    # two kinds of layers, two kinds of angles
    assert words("gemma3")["cos"] == ["", "same", "same", "same", "same", "", ""]


def test_what_does_not_follow_is_stored_whole():
    q = bundle().inspection.details[0].q.copy()
    q[1, 2, 3] = np.nextafter(q[1, 2, 3], np.float32(9))
    changed = with_detail(q=q)
    assert same(store.loads_inside(store.dumps_inside(changed)).bundle, changed)
    assert store.dumps_inside(changed).count(b'"rotated"') == encoded().count(b'"rotated"') - 1


def test_rotation_is_that_of_the_definition():
    x = np.array([[[1, 2, 3, 4, 5]]], "f4")
    angle = np.array([0.3, 1.1, 0.3, 1.1])
    cos, sin = np.cos(angle)[None], np.sin(angle)[None]
    turned = rotated(x, cos, sin)[0, 0]
    for i in range(2):
        pair = complex(x[0, 0, i], x[0, 0, i + 2]) * np.exp(1j * angle[i])
        assert np.allclose([turned[i], turned[i + 2]], [pair.real, pair.imag])
    assert turned[4] == 5


def test_extreme_numbers_come_back():
    norms = bundle().inspection.stream.norms.copy()
    norms.flat[:5] = np.array([0.0, 1e-45, 3.4028235e38, 1.1754944e-38, 0.1], "f4")
    final = bundle().inspection.stream.final.copy()
    final.flat[:3] = np.array([-0.0, -3.4028235e38, -1e-45], "f4")
    stream = dataclasses.replace(bundle().inspection.stream, norms=norms, final=final)
    lens = bundle().inspection.lens
    logprob = lens.logprob.copy()
    logprob[0, 0] = -math.inf
    changed = with_inspection(stream=stream, lens=dataclasses.replace(lens, logprob=logprob))
    assert same(store.loads_inside(store.dumps_inside(changed)).bundle, changed)


def test_a_red_check_stays_red_and_infinity_far():
    checks = (
        judged("lens", math.inf, 1e-3, "nats", "check.detail.worst", step=1, compared=2),
        judged("rank", 3, 0, "count", "check.detail.first", step=0, compared=7, part=0.5, of="x"),
    )
    changed = dataclasses.replace(bundle(), checks=checks)
    again = store.loads_inside(store.dumps_inside(changed)).bundle
    assert same(again.checks, checks) and again.checks[0].measured == math.inf


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_nan_and_infinity_are_never_written(bad):
    v = bundle().inspection.details[0].v.copy()
    v[0, 0, 0] = bad
    with pytest.raises(ValueError, match="NaN"):
        store.dumps_inside(with_detail(v=v))
    with pytest.raises(ValueError):
        store.dumps_inside(with_inspection(forward_ms=bad))


def test_a_file_is_written_whole(tmp_path):
    path = tmp_path / "x.inside.json.gz"
    store.save_inside(bundle(), path)
    assert path.read_bytes()[:2] == b"\x1f\x8b" and [*tmp_path.iterdir()] == [path]
    again, intact = store.load_inside(path)
    assert intact and same(again, bundle())
    first = path.read_bytes()
    store.save_inside(again, str(path))
    assert path.read_bytes() == first
    with pytest.raises(PlaygroundError):
        store.load_inside(tmp_path / "none")


# --- nothing hostile gets in -----------------------------------------------------------------


def refused(data: object) -> PlaygroundError:
    """The one error that reading `data` (bytes, or a value) gives."""
    with pytest.raises(PlaygroundError) as caught:
        store.loads_inside(data) if isinstance(data, bytes) else read_inside.bundle(data)
    for lang in ("en", "zh"):
        sentence = caught.value.say(lang)
        assert "\n" not in sentence and len(sentence) < 400
        assert not re.search(r"\{\w+\}", sentence), "a field was not filled in"
    return caught.value


def way(path: str) -> list[str | int]:
    return [int(k) if k.isdigit() else k for k in re.findall(r"\w+", path)]


def at(data, path: str):
    for key in way(path):
        data = data[str(key) if isinstance(data, dict) else key]
    return data


def put(path: str, value: object) -> dict:
    """The file's value with the place `path` set to `value`."""
    data = json.loads(GOOD)
    *to, last = way(path)
    place = data
    for key in to:
        place = place[str(key) if isinstance(place, dict) else key]
    place[last] = value
    return data


def packed(values: object, kind: str = "<f4") -> dict:
    array = np.array(values, kind)
    coded = base64.b64encode(array.tobytes()).decode()
    return {"t": kind[1:], "s": list(array.shape), "b": coded}


def changed(path: str, change) -> dict:
    """The packed array at `path` with `change` done to it."""
    got = at(json.loads(GOOD), path)
    kind = {"f4": "<f4", "f8": "<f8", "i4": "<i4", "u1": "|u1"}[got["t"]]
    array = np.frombuffer(base64.b64decode(got["b"]), kind).reshape(got["s"]).copy()
    out = change(array)
    return put(path, packed(array if out is None else out, kind))


def flat(value):
    def change(array):
        array.flat[-1] = value

    return change


WRONG = [
    # path, value, what the sentence must name
    ("trace_id", "x" * 16, "trace_id"),
    ("trace_id", "../../etc/passwd", "trace_id"),
    ("weights", {}, "weights"),
    ("weights.ffn", -1, "weights.ffn"),
    ("weights.ffn", 7, "weights"),  # the parts are not the whole any more
    ("inspection", None, "inspection"),
    ("inspection.n_prompt", 0, "inspection.n_prompt"),
    ("inspection.n_prompt", 3, "inspection.ids"),
    ("inspection.forward_ms", None, "inspection.forward_ms"),
    ("inspection.model.n_layers", 4, "inspection.stream.norms.s"),
    ("inspection.model.n_layers", 0, "inspection.model.n_layers"),
    ("inspection.model.n_kv_heads", 4, "inspection.model.n_kv_heads"),
    ("inspection.model.n_kv_heads", 0, "inspection.model.n_kv_heads"),
    ("inspection.model.d_model", 47, "inspection.stream.prompt_end.s"),
    ("inspection.model.vocab_rows", 20, "inspection.ids"),
    ("inspection.ids", None, "inspection.ids"),
    ("inspection.ids.t", "f4", "inspection.ids.t"),
    ("inspection.ids.s", [1, 2], "inspection.ids.s"),
    ("inspection.ids.s", [-1], "inspection.ids.s[0]"),
    ("inspection.ids.s", [True], "inspection.ids.s[0]"),
    ("inspection.ids.b", "AAAA", "inspection.ids.b"),
    ("inspection.ids.b", 5, "inspection.ids.b"),
    ("inspection.stream.norms", None, "inspection.stream.norms"),
    ("inspection.lens.layers", packed([0, 1, 2, 3, 4], "<i4"), "inspection.lens.layers"),
    ("inspection.lens.layers", packed([0, 1, 1, 3], "<i4"), "inspection.lens.layers"),
    ("inspection.lens.layers", packed([0, 1, 3], "<i4"), "inspection.lens.ids.s"),
    ("inspection.heads.windows", [None, None], "inspection.heads.windows"),
    ("inspection.heads.windows", [0, None, None], "inspection.heads.windows[0]"),
    ("inspection.attribution.cap", 0, "inspection.attribution.cap"),
    ("inspection.gaps.head", -1.0, "inspection.gaps.head"),
    ("inspection.gaps.head", None, "inspection.gaps.head"),
    ("inspection.missing", [{"part": "all", "reason": "missing.family", "values": {}}],
     "inspection.missing[0].part"),
    ("inspection.missing", [{"part": "lens", "reason": "missing.none", "values": {}}],
     "inspection.missing[0].reason"),
    ("inspection.missing", [{"part": "lens", "reason": "error.context", "values": {}}],
     "inspection.missing[0].reason"),
    ("inspection.missing", [{"part": "lens", "reason": "missing.family", "values": {"a": []}}],
     "inspection.missing[0].values.a"),
    ("inspection.pieces", {"1": "61"}, "inspection.special"),
    ("inspection.pieces", {"01": "61"}, "inspection.pieces"),
    ("inspection.pieces", {"283": "61"}, "inspection.pieces"),
    ("inspection.pieces", {"-1": "61"}, "inspection.pieces"),
    ("inspection.special", [2**31], "inspection.special"),
    ("inspection.special", [5, 5], "inspection.special"),
    ("inspection.details[1].layer", 0, "inspection.details[1].layer"),
    ("inspection.details[1].layer", 3, "inspection.details[1].layer"),
    ("inspection.details[0].window", 0, "inspection.details[0].window"),
    ("inspection.details[0].softcap", 0, "inspection.details[0].softcap"),
    ("inspection.details[0].scaling", None, "inspection.details[0].scaling"),
    ("inspection.details[0].v", None, "inspection.details[0].v"),
    ("inspection.details[0].v", "rotated", "inspection.details[0].v"),
    ("inspection.details[0].v", "same", "inspection.details[0].v"),
    ("inspection.details[0].layer", "same", "inspection.details[0].layer"),
    ("inspection.details[0].q", "same", "inspection.details[0].q"),
    ("inspection.details[0].q", "other", "inspection.details[0].q"),
    ("inspection.details[0].q_raw", None, "inspection.details[0].q"),
    ("inspection.details[0].cos", "same", "inspection.details[0].cos"),
    ("inspection.details[0].cos", None, "inspection.details[0].q"),
    ("inspection.details[0].cos", "rotated", "inspection.details[0].cos"),
    ("inspection.details[0].neurons", None, "inspection.details[0].neurons"),
    ("inspection.details[0].activation", None, "inspection.details[0].activation"),
    ("inspection.details", [{}], "inspection.details[0]"),
    ("neurons[0].layer", 3, "neurons[0].layer"),
    ("neurons[0].id", 88, "neurons[0].id"),
    ("neurons[0].up_raw", [], "neurons[0].up_raw"),
    ("neurons[0].up_raw[0]", "zz", "neurons[0].up_raw[0]"),
    ("neurons[0].row_norm", -1, "neurons[0].row_norm"),
    ("neurons[0].down", packed([1.0]), "neurons[0].down.s"),
    ("ablations[0].step", 4, "ablations[0].step"),
    ("ablations[0].hide", None, "ablations[0]"),
    ("ablations[0].hide", 999, "ablations[0].hide"),
    ("ablations[0].head", [0, 6], "ablations[0].head[1]"),
    ("ablations[0].head", [0], "ablations[0].head"),
    ("ablations[0].ffn", 3, "ablations[0].ffn"),
    ("ablations[0].chosen", 282, "ablations[0].chosen"),
    ("ablations[0].raw", [], "ablations[0].raw"),
    ("ablations[0].kl_bits", -0.1, "ablations[0].kl_bits"),
    ("uncached.ms", None, "uncached.ms"),
    ("uncached.positions", packed([1, 2], "<i4"), "uncached.positions.s"),
    ("checks[0].name", "none", "checks[0].name"),
    ("checks[0].name", "x.y", "checks[0].name"),
    ("checks[0].ok", False, "checks[0].ok"),
    ("checks[0].ok", None, "checks[0].ok"),
    ("checks[0].ok", 1, "checks[0].ok"),
    ("checks[0].measured", None, "checks[0].ok"),
    ("checks[0].unit", "metres", "checks[0].unit"),
    ("checks[0].detail", "check.detail.none", "checks[0].detail"),
    ("checks[0].detail", "error.context", "checks[0].detail"),
    ("checks[0].values", {"at": None}, "checks[0].values.at"),
    ("checks[0].values", {"<b>": 1}, "checks[0].values"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "value", "named"), WRONG, ids=[f"{p}={v!r:.20}" for p, v, _ in WRONG]
)
def test_a_wrong_field_is_refused_by_name(path, value, named):
    assert re.search(rf"(^| ){re.escape(named)}( |$)", str(refused(put(path, value))))


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("inspection.ids", flat(283)), ("inspection.ids", flat(-1)),
        ("inspection.chosen", flat(283)),
        ("inspection.lens.ids", flat(283)), ("inspection.lens.probs", flat(1.1)),
        ("inspection.lens.probs", flat(-0.1)), ("inspection.lens.rank", flat(0)),
        ("inspection.lens.rank", flat(284)), ("inspection.lens.logprob", flat(0.5)),
        ("inspection.lens.logprob", flat(math.inf)), ("inspection.lens.prob", flat(math.nan)),
        ("inspection.lens.settled", flat(-2)), ("inspection.lens.entropy_bits", flat(-1)),
        ("inspection.stream.norms", flat(-1)), ("inspection.stream.norms", flat(math.inf)),
        ("inspection.stream.attn_cosine", flat(1.1)), ("inspection.stream.final", flat(math.nan)),
        ("inspection.stream.final", flat(-math.inf)),
        ("inspection.heads.peak", flat(999)), ("inspection.heads.peak", flat(-1)),
        ("inspection.heads.sink", flat(2)), ("inspection.histogram.counts", flat(-1)),
        ("inspection.histogram.counts", flat(284)), ("inspection.gaps.stream", flat(-1)),
        ("inspection.details[0].v", flat(math.nan)), ("inspection.details[0].v", flat(-math.inf)),
        ("inspection.details[0].neurons", flat(88)), ("inspection.details[0].neurons", flat(-1)),
        ("neurons[0].up_ids", flat(283)), ("ablations[0].ids", flat(-1)),
        ("ablations[0].rank_after", flat(0)), ("ablations[0].probs_after", flat(1.5)),
        ("ablations[0].special", flat(2)), ("ablations[0].logits_before", flat(math.inf)),
        ("uncached.ms", flat(-1)), ("uncached.ms", flat(math.nan)),
        ("uncached.positions", flat(0)),
    ],
)  # fmt: skip
def test_a_number_that_can_not_be_is_refused(path, change):
    error = refused(changed(path, change))
    assert error.key == "error.trace_range" and error.values["path"] == path


def test_every_token_that_is_named_has_its_bytes():
    data = json.loads(GOOD)
    for token_id in data["inspection"]["pieces"].keys() - set(
        map(str, data["inspection"]["special"])
    ):
        pieces = dict(data["inspection"]["pieces"])
        del pieces[token_id]
        error = refused(put("inspection.pieces", pieces))
        assert error.key == "error.trace_missing" and str(error.values["name"]) == token_id


def test_minus_infinity_is_a_score_that_may_be():
    for path in ("inspection.lens.logprob", "ablations[0].logits_after"):
        assert not store.loads_inside(json.dumps(changed(path, flat(-math.inf))).encode()).intact


def test_an_array_has_the_sizes_that_all_agree_on():
    """Every axis of every array, one longer: refused, unless nothing else has that axis."""
    alone = set()
    for path in PLACES:
        if at(json.loads(GOOD), path).keys() != {"t", "s", "b"}:
            continue
        for axis in range(len(at(json.loads(GOOD), path)["s"])):
            data = changed(path, lambda a, axis=axis: np.concatenate(
                (a, np.take(a, [-1], axis=axis)), axis=axis))  # fmt: skip
            try:
                read_inside.bundle(data)
            except PlaygroundError as error:
                assert error.key in ("error.trace_shape", "error.trace_contradiction")
            else:
                alone.add(path)
    assert not alone


def places(value: object, path: str = ""):
    """The path of every object in a JSON value, of lists the first."""
    if isinstance(value, dict):
        yield path
        for key, item in value.items():
            yield from places(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for i, item in enumerate(value[:1]):
            yield from places(item, f"{path}[{i}]")


FREE = re.compile(r"inspection\.(pieces|missing)|.*values")  # keys of their own
PLACES = [p for p in places(json.loads(GOOD)) if not FREE.match(p)]


@pytest.mark.parametrize("path", PLACES)
def test_every_object_has_exactly_its_keys(path):
    data = json.loads(GOOD)
    at(data, path)["__proto__"] = {"x": 1}
    error = refused(data)
    assert error.key == "error.trace_unknown" and error.values["path"] == (path or "JSON")
    for name in at(json.loads(GOOD), path):
        data = json.loads(GOOD)
        del at(data, path)[name]
        assert refused(data).values["name"] == name


def swap(old: bytes, new: bytes) -> bytes:
    assert GOOD.count(old) >= 1
    return GOOD.replace(old, new, 1)


@pytest.mark.parametrize(
    ("data", "key"),
    [
        (b"", "error.trace_json"),
        (b"null", "error.trace_object"),
        (b"{}", "error.trace_missing"),
        (b"[" * 100_000, "error.trace_depth"),
        (gzip.compress(b"[" * 80_000_000), "error.trace_size"),
        (gzip.compress(GOOD)[:-9], "error.trace_gzip"),
        (swap(b'"n_prompt":', b'"n_prompt":NaN,"x":'), "error.trace_number"),
        (swap(b'"forward_ms":', b'"forward_ms":1e999,"x":'), "error.trace_number"),
        (swap(b'"n_prompt":', b'"n_prompt":1,"n_prompt":'), "error.trace_duplicate"),
        (swap(b'"schema":1', b'"schema":2'), "error.trace_future"),
        (swap(b'"schema":1', b'"schema":"1"'), "error.trace_whole"),
        (b'{"schema":99,"all":"new"}', "error.trace_future"),
        (store.dumps(looking.trace("llama", 4)), "error.trace_missing"),
    ],
)
def test_hostile_bytes_are_refused_quickly(data, key):
    start = time.perf_counter()
    assert refused(data).key == key
    assert time.perf_counter() - start < 5


def spoilt(coded: str) -> dict[str, str]:
    """The same length, and yet not what base64 of these bytes is."""
    return {
        "blank": " " + coded[1:], "newline": coded[:-1] + "\n", "alphabet": "-" + coded[1:],
        "padding": coded[:-1] + "=", "middle": coded[:4] + "==" + coded[6:],
        "wide": "Ａ" + coded[1:],
    }  # fmt: skip


def test_base64_is_exactly_that():
    coded = at(json.loads(GOOD), "inspection.stream.norms")["b"]
    for name, text in spoilt(coded).items():
        if text == coded:
            continue
        error = refused(put("inspection.stream.norms.b", text))
        assert error.values["path"] == "inspection.stream.norms.b", name
    # bits behind the last byte, which a lenient reader drops
    assert base64.b64decode("AAAAAB==") == base64.b64decode("AAAAAA==")
    one = {"t": "f4", "s": [1], "b": "AAAAAB=="}
    read = Arrays({}).of(Case)["x"]
    with pytest.raises(PlaygroundError):
        read(one, "x")
    assert read({**one, "b": "AAAAAA=="}, "x") == 0


class Case:
    AXES = {"x": ("f4", "N"), "y": ("f4", "NM"), "z": ("f4", "L")}  # noqa: RUF012


def test_one_axis_may_be_one_longer_than_another():
    readers = Arrays({"L": 2}).of(Case)
    assert readers["y"](packed(np.zeros((4, 3))), "y").shape == (4, 3)
    for name, shape in (("x", 5), ("z", 3), ("y", (4, 2))):
        with pytest.raises(PlaygroundError, match="must have"):
            readers[name](packed(np.zeros(shape)), name)
    with pytest.raises(PlaygroundError):
        readers["x"]({"t": "f4", "s": [0], "b": ""}, "x")
    with pytest.raises(TypeError):
        Arrays({}).of(Case, q=Limit())


def test_a_shape_that_is_too_large_is_refused_before_it_is_made():
    start = time.perf_counter()
    shape = at(json.loads(GOOD), "inspection.lens.ids.s")
    data = put("inspection.lens.ids.s", [*shape[:2], 2**31 - 1])
    assert refused(data).values["path"] == "inspection.lens.ids"
    arrays = Arrays({}, budget=100)
    read, apart = arrays.of(Case)["x"], arrays.apart("N").of(Case)["x"]
    read(packed(np.zeros(12)), "x")
    apart(packed(np.zeros(13)), "x")  # another size, and the last byte of the budget
    for reader, n in ((read, 12), (apart, 13)):
        with pytest.raises(PlaygroundError, match="longer"):
            reader(packed(np.zeros(n)), "x")
    assert time.perf_counter() - start < 1


def test_arrays_that_are_words_count_as_what_they_become(monkeypatch):
    """A small file must not become many large arrays."""
    taken = []
    real = Arrays.spend
    monkeypatch.setattr(
        Arrays, "spend", lambda self, n, path: (taken.append((path, n)), real(self, n, path))
    )
    store.loads_inside(GOOD)
    spent, details = dict(taken), few().inspection.details
    assert spent["inspection.details[0].q"] == details[0].q.nbytes
    assert spent["inspection.details[2].cos"] == details[2].cos.nbytes


@quiet
@given(st.integers(0, len(GOOD) - 1), st.binary(min_size=1, max_size=4))
def test_random_damage_is_told_or_flagged(place, bytes_):
    data = GOOD[:place] + bytes_ + GOOD[place + len(bytes_) :]
    try:
        again, intact = store.loads_inside(data)
    except PlaygroundError:
        return
    assert same(again, few()) or not intact


def everywhere(value: object, path: tuple[str | int, ...] = ()):
    """The way to every value inside a JSON value; of long lists only the first ones."""
    items = value.items() if isinstance(value, dict) else ()
    items = list(enumerate(value[:2])) if isinstance(value, list) else items
    for key, item in items:
        yield (*path, key)
        yield from everywhere(item, (*path, key))


WAYS = list(everywhere(json.loads(GOOD)))
JUNK = (None, True, 0, 1, -1, 2**53, 1.5, -0.0, 1e300, "", "same", "rotated", "AAAA", [], [1], {},
        {"t": "f4", "s": [1], "b": "AAAAAA=="})  # fmt: skip


@quiet
@given(st.lists(st.tuples(st.sampled_from(WAYS), st.sampled_from(JUNK)), min_size=1, max_size=2))
def test_whatever_loads_can_be_shown(changes):
    data = json.loads(GOOD)
    for to, value in changes:
        place = data
        try:
            for key in to[:-1]:
                place = place[key]
            place[to[-1]] = copy.deepcopy(value)
        except (KeyError, IndexError, TypeError):
            return  # the first change took away where the second would have been
    try:
        again = read_inside.bundle(data)
    except PlaygroundError:
        return
    show(again)


def show(found: Bundle) -> None:
    """What the page makes of it."""
    looked = found.inspection
    layers = [d.layer for d in looked.details]
    payload = [
        views.inside_payload(looked, found.trace_id, layers, found.weights, recorded=True),
        *map(views.ffn_payload, looked.details),
        *map(views.neuron_payload, found.neurons),
        *map(views.ablation_payload, found.ablations),
        *map(views.check_payload, found.checks),
    ]
    for detail in looked.details:
        for head in range(looked.model.n_heads):
            attended = attend(detail, head)
            if attended is not None:
                payload.append(views.head_payload(detail, attended))
    if found.uncached is not None:
        payload.append(views.uncached_payload(found.uncached))
    json.dumps(payload, allow_nan=False)


# --- what goes into a file -------------------------------------------------------------------


def test_a_bundle_is_what_the_engine_says():
    engine, trace, found = looking.engine("llama"), looking.trace("llama", 4), bundle()
    assert found.trace_id == store.trace_id(trace)
    again = engine.inspect(trace, layers=range(3), weights=False)
    assert looking.alike(found.inspection, again)
    assert found.weights == engine.weights()
    listed = {(d.layer, int(i)) for d in again.details for i in d.neurons.flat}
    assert [(n.layer, n.id) for n in found.neurons] == sorted(listed)
    assert same(found.neurons[5], engine.neuron(*sorted(listed)[5], 8))
    step = telling_step(trace)
    taken = [(a.hide, a.head, a.ffn) for a in found.ablations]
    assert {a.step for a in found.ablations} == {step}
    wanted = [(i, None, None) for i in range(len(trace.prompt))]
    wanted += [(None, None, layer) for layer in range(3)]
    wanted += [(None, (layer, h), None) for layer in range(3) for h in range(6)]
    assert sorted(taken, key=str) == sorted(wanted, key=str)
    one = next(a for a in found.ablations if a.head == (1, 4))
    other = engine.ablate(trace, step, head=(1, 4))
    assert one.kl_bits == other.kl_bits and set(one.ids) <= set(other.ids)
    assert len(found.uncached.ms) == len(trace.steps)
    assert {c.ok for c in found.checks} == {True, None}
    assert len(found.checks) == 23


def test_what_the_family_hides_is_left_out():
    found = bundle(UNKNOWN)
    assert found.weights is None and found.neurons == ()
    assert all(a.ffn is None for a in found.ablations)
    assert bundle("gpt2").weights is not None


def test_only_as_many_layers_as_fit_in_their_order():
    engine, trace = looking.engine("gemma3"), looking.trace("gemma3", 4)
    order = layer_order(bundle("gemma3").inspection)
    assert sorted(order) == list(range(7)) and order[0] == 0
    size = len(gzip.compress(encoded("gemma3"), mtime=0))
    seen = []
    small = make_inside(
        engine, trace, max_bytes=int(0.6 * size), on_progress=lambda *told: seen.append(told)
    )
    n = len(small.inspection.details)
    assert 1 <= n < 7
    assert [d.layer for d in small.inspection.details] == sorted(order[:n])
    assert {x.layer for x in small.neurons} == set(order[:n])
    assert {a.head[0] for a in small.ablations if a.head} == set(order[:n])
    assert len(gzip.compress(store.dumps_inside(small), mtime=0)) <= 0.6 * size
    fractions = [fraction for stage, fraction in seen if stage == "record"]
    assert len(fractions) == len(seen) and fractions == sorted(fractions)
    assert fractions[0] >= 0 and 0.9 < fractions[-1] <= 1


def test_layers_are_chosen_by_what_their_heads_do():
    found = bundle("gemma3").inspection
    shape = found.heads.peak.shape
    peak, weight = np.zeros(shape, "i4"), np.full(shape, 0.9, "f4")
    sink = np.full(shape, 0.5, "f4")
    peak[5, 1], weight[5, 1] = 2, 0.8  # one sharp head
    peak[3, :], weight[3, :] = 2, 0.7  # many, less sharp
    peak[2, 0] = found.n_prompt - 1 + np.arange(shape[2])  # its own position does not count
    sink[4] = 0.6
    heads = dataclasses.replace(found.heads, peak=peak, peak_weight=weight, sink=sink)
    order = layer_order(dataclasses.replace(found, heads=heads))
    assert order == [0, 5, 4, 3, 1, 2, 6]
    assert layer_order(dataclasses.replace(found, heads=None)) == list(range(7))
