"""The candidates' chart: its arrays and words are the trace's, and both fillings are equal."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest
import torch
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from playground.sampling import pick
from playground.text import texts
from playground.trace import SamplingParams, Step, Timing, Token
from playground.ui.sources import SCRIPTS
from playground.views import style
from playground.views.candidates import figure, leading, shown_rows, template
from playground.views.payload import trace_payload
from playground.views.style_candidates import SIZES, painted
from playground.views.style_text import percent, significant
from tests import made

ASSETS = Path(__file__).parent.parent / "assets"
PARAMS = SamplingParams(temperature=0.8, top_k=11, top_p=0.9, min_p=0.02, seed=3)
EVIL = [
    b"<img src=x onerror=alert(1)>", b"<b>bold</b>", b"${alert(1)}", b"{{x}}", b"$x$", b"a<br>b",
    b"</text><script>alert(1)</script>", b"&lt;b&gt;", b"<a href='javascript:alert(1)'>x</a>",
    b"%{x}", "\u202eabc".encode(), b"<sup>2</sup>", b"\x00\x1b",
]  # fmt: skip


class Pieces:
    def raw(self, token_id):
        return EVIL[token_id] if token_id < len(EVIL) else b" same"  # many ids, one text

    def special(self, token_id):
        return token_id == 30


def step_of(picked, i=0, pending=b"", phase="decode"):
    raw = Pieces().raw(picked.token_id)
    token = Token(picked.token_id, raw, "", None, None, False, "generated")
    return Step(
        i, phase, token, picked.candidates, picked.entropy_bits, picked.rank, picked.logprob,
        picked.draw, i, i + 1, 64, Timing(1.0, 1.0, 2.0), "", pending,
    )  # fmt: skip


def traced(*steps, params=PARAMS, rows=97):
    base = made.example()
    model = replace(base.model, vocab_rows=rows)
    return replace(base, steps=steps, params=params, model=model)


def logits_of(seed, rows=97, scale=3.0):
    random = torch.Generator().manual_seed(seed)
    return torch.randn(rows, generator=random) * scale + 5


def sampled(seed=1, params=PARAMS, u=0.37, n=23, rows=97, scale=3.0, **more):
    logits = logits_of(seed, rows, scale)
    return step_of(pick(logits, params, Pieces(), u=u, n_candidates=n, **more))


def by_name(made_figure):
    return {trace["name"]: trace for trace in made_figure["data"]}


def columns(made_figure, name):
    """[(column, x, y)] of a trace's bars, which all share one axis."""
    bars = by_name(made_figure)[name]
    start, end = made_figure["layout"]["xaxis2"]["range"]
    pitch = (end - start) / max(1, len(stages_of(made_figure)))
    at = [round(base / pitch) for base in bars["base"]]
    assert bars["base"] == pytest.approx([k * pitch for k in at])
    return list(zip(at, bars["x"], bars["y"], strict=True))


def stages_of(made_figure):
    return [c for c in made_figure["words"]["columns"] if c["at"] != "score"]


def test_bars_are_the_records_numbers_and_rows_are_the_candidates():
    step = sampled()
    c = step.candidates
    whole = figure(traced(step), 0, rows=0)
    drawn = by_name(whole)
    chosen = list(c.ids).index(step.token.id)
    kept = [b for name in ("kept", "chosen") for b in columns(whole, name)]
    assert c.stages == ("logits", "temperature", "top_k", "top_p", "min_p")
    expected = [(s, float(c.probs[s, k]), k) for s, k in zip(*np.nonzero(c.kept), strict=True)]
    assert sorted(kept) == sorted(expected)
    assert {y for _, _, y in columns(whole, "chosen")} == {chosen}
    scores = dict(zip(drawn["score"]["y"], drawn["score"]["x"], strict=True))
    scores |= dict(zip(drawn["score_chosen"]["y"], drawn["score_chosen"]["x"], strict=True))
    assert [scores[k] for k in range(len(c.ids))] == [float(v) for v in c.logits]
    tail = [(s, float(p), len(c.ids)) for s, p in enumerate(c.tail)]
    assert columns(whole, "rest") == tail


def test_what_a_stage_cut_stays_hollow_with_its_length_before_the_cut():
    step = sampled()
    c = step.candidates
    cut = columns(figure(traced(step), 0, rows=0), "cut")
    expected = [
        (s, float(c.probs[s - 1, k]), k)
        for s in range(1, len(c.stages))
        for k in range(len(c.ids))
        if c.kept[s - 1, k] and not c.kept[s, k]
    ]
    assert cut == expected and len(cut) > 5


@pytest.mark.parametrize("rows", [4, 10, 20, 0])
@pytest.mark.parametrize("only", [None, 0, 2])
def test_every_column_adds_up_to_one(rows, only):
    step = sampled(seed=8)
    drawn = figure(traced(step), 0, rows=rows, only=only)
    sums: dict[int, float] = {}
    for name in ("kept", "chosen", "rest"):
        for column, x, _ in columns(drawn, name):
            sums[column] = sums.get(column, 0) + x
    assert len(sums) == (5 if only is None else 1)
    assert all(total == pytest.approx(1, abs=2e-6) for total in sums.values())


def test_the_boundary_stands_below_the_last_token_kept():
    step = sampled()
    c = step.candidates
    stages = stages_of(figure(traced(step), 0, rows=0))
    cuts = [s for s in range(1, 5) if c.kept_count[s] < c.kept_count[s - 1]]
    told = {column["at"]: column["cut"] for column in stages if column["cut"] is not None}
    assert told == {s: int(c.kept[s].sum()) - 1 for s in cuts} and len(cuts) >= 2
    assert [column["sub"] for column in stages] == [f"keeps {n}" for n in c.kept_count]


def test_the_words_stand_where_plotly_draws():
    """A column's zero and its end, in pixels, are where the axis puts them; the rows as well."""
    for options in (
        {},
        {"zoom": True, "width": 1171},
        {"only": 2, "width": 357},
        {"only": "score"},
    ):
        drawn = figure(traced(sampled(scale=0.4, n=60)), 0, **options)
        layout = drawn["layout"]
        left, right = layout["margin"]["l"], layout["width"] - layout["margin"]["r"]
        for column in drawn["words"]["columns"]:
            axis = layout["xaxis" if column["at"] == "score" else "xaxis2"]
            a, b = (left + (right - left) * part for part in axis["domain"])
            low, high = axis["range"]

            def pixel(x, a=a, b=b, low=low, high=high):
                return a + (x - low) / (high - low) * (b - a)

            (first, zero), *_, (last, end) = column["ticks"]
            if column["at"] == "score":
                expected = [pixel(float(zero)), pixel(float(end))]
            else:
                # the number of the column, then the scale's end
                k = [c["at"] for c in stages_of(drawn)].index(column["at"])
                base = k * (high - low) / len(stages_of(drawn))
                expected = [pixel(base), pixel(base + float(end.rstrip("%")) / 100)]
            assert [first, last] == pytest.approx(expected)
            assert column["left"] + SIZES["number"] == pytest.approx(first)
            assert column["left"] + column["width"] <= right + 1e-9
        rows = len(drawn["words"]["shown"]) + len(drawn["words"]["rest"])
        inner = layout["height"] - layout["margin"]["t"] - layout["margin"]["b"]
        assert inner == rows * SIZES["row"] and layout["margin"]["t"] == SIZES["head"]
        assert layout["yaxis"]["range"] == [rows - 0.5, -0.5]


def test_every_row_has_its_number_in_every_column():
    step = sampled()
    c = step.candidates
    for column in figure(traced(step), 0, rows=0)["words"]["columns"]:
        if column["at"] == "score":
            assert column["numbers"] == [significant(float(v)) for v in c.logits]
            continue
        s = column["at"]
        expected = [
            percent(float(c.probs[s, k])) if c.kept[s, k] else "✕" if c.kept[s - 1, k] else ""
            for k in range(len(c.ids))
        ]
        assert column["numbers"] == [*expected, percent(float(c.tail[s]))]


def order_of(logits):
    return logits.sort(descending=True, stable=True).indices.tolist()


@settings(max_examples=120, deadline=None)
@given(
    seed=st.integers(0, 999), n=st.integers(1, 30), u=st.floats(0, 1, exclude_max=True),
    temperature=st.sampled_from((0.3, 1.0, 4.0)), top_k=st.sampled_from((0, 1, 5, 40)),
    top_p=st.sampled_from((0.5, 0.95, 1.0)),
)  # fmt: skip
def test_the_leading_ones_are_the_first_of_the_whole_order(seed, n, u, temperature, top_k, top_p):
    params = SamplingParams(temperature, top_k, top_p)
    step = sampled(seed, params, u, n)
    order, lead = order_of(logits_of(seed)), leading(step)
    ids = step.candidates.ids.tolist()
    assert ids[:lead] == order[:lead]
    # No shorter than it must be: the list's own part has no gap.
    assert lead >= min(n, len(ids))


@settings(max_examples=120, deadline=None)
@given(
    seed=st.integers(0, 999), n=st.integers(1, 30), u=st.floats(0, 1, exclude_max=True),
    top_p=st.sampled_from((0.5, 0.95, 1.0)),
)  # fmt: skip
def test_u_falls_on_the_part_of_the_bar_that_is_the_choice(seed, n, u, top_p):
    step = sampled(seed, SamplingParams(1.5, 0, top_p), u, n)
    draw = figure(traced(step), 0)["draw"]
    # End to end, from 0 to 1, in the order of the list.
    laid = [part[1:] for part in draw["parts"]] + ([draw["rest"]] if draw["rest"] else [])
    ends = list(accumulate(x for _, x in laid))
    assert [base for base, _ in laid] == pytest.approx([0, *ends[:-1]], abs=1e-9)
    assert ends[-1] == pytest.approx(1, abs=2e-6)
    chosen = step.candidates.ids.tolist().index(step.token.id)
    base, x = next((part[1:] for part in draw["parts"] if part[0] == chosen), draw["rest"])
    assert base - 1e-6 <= u <= base + x + 1e-6
    assert draw["u"] == u


def test_no_draw_no_bar():
    greedy = sampled(params=SamplingParams())
    forced = sampled(forced=96, n=7)
    for step in (greedy, forced):
        assert step.draw is None and figure(traced(step), 0)["draw"] is None
    # The forced one was cut by top-k and is a row all the same.
    shown = figure(traced(forced), 0)["words"]["shown"]
    assert forced.candidates.ids.tolist().index(96) in shown


def test_a_masked_token_gets_no_bar_and_says_minus_infinity():
    logits = logits_of(4)
    logits[96] = -math.inf
    step = step_of(pick(logits, PARAMS, Pieces(), forced=96, n_candidates=9))
    drawn = figure(traced(step), 0)
    json.dumps(drawn, allow_nan=False)
    assert len(by_name(drawn)["score"]["x"]) == 9 and not by_name(drawn)["score_chosen"]["x"]
    assert "−∞" in drawn["words"]["columns"][0]["numbers"]


@pytest.mark.parametrize("rows", [3, 10, 20, 50])
def test_the_chart_keeps_its_height_and_shows_the_choice_and_the_boundary(rows):
    tall = set()
    for seed in range(25):
        step = sampled(seed, SamplingParams(3.0, 40, 1.0), (seed + 0.5) / 25, n=50)
        shown = shown_rows(step, rows)
        c = step.candidates
        assert len(shown) == rows and shown == sorted(set(shown))
        assert list(c.ids).index(step.token.id) in shown
        assert int(np.flatnonzero(c.kept[-1])[-1]) in shown
        tall.add(figure(traced(step), 0, rows=rows)["layout"]["height"])
    assert len(tall) == 1 if rows < 50 else True


def test_the_hidden_rows_are_counted_and_summed():
    step = sampled(n=23)
    drawn = figure(traced(step), 0, rows=10)
    said = [texts("en")[f"panel.candidates.{key}_row"] for key in ("more", "tail")]
    expected = [said[0].replace("{n}", "13"), said[1].replace("{n}", "74")]
    assert drawn["words"]["rest"] == expected
    hidden = sorted({*range(23)} - {*shown_rows(step, 10)})
    rest = columns(drawn, "rest")
    assert rest[0][1] == sum(float(p) for p in step.candidates.probs[0, hidden])
    assert rest[1][1] == float(step.candidates.tail[0])


def test_one_column_alone_and_the_stretched_scale():
    step = sampled(scale=0.4, n=60)
    narrow = figure(traced(step), 0, only=2, width=350)
    assert {c for c, *_ in columns(narrow, "kept")} == {0}
    assert not by_name(narrow)["score"]["x"] and len(narrow["words"]["columns"]) == 1
    assert narrow["layout"]["width"] == 350
    score = figure(traced(step), 0, only="score")
    assert by_name(score)["score"]["x"] and not by_name(score)["kept"]["x"]
    # The draw is the whole choice, whatever column is looked at.
    assert narrow["draw"] == score["draw"] == figure(traced(step), 0)["draw"] is not None
    wide = figure(traced(step), 0, zoom=True)
    scale = {column["ticks"][1][1] for column in stages_of(wide)}
    [top] = [t for t in SIZES["tops"] if {percent(t)} == scale]
    assert top < 1
    assert max(by_name(wide)["kept"]["x"] + by_name(wide)["rest"]["x"]) <= top
    # What is longer than the scale is a number and no bar.
    assert float(step.candidates.tail[0]) > top
    assert f"» {percent(float(step.candidates.tail[0]))}" in stages_of(wide)[0]["numbers"]
    # The numbers stay the record's; only the columns' distance changes.
    assert by_name(wide)["kept"]["x"] == by_name(figure(traced(step), 0))["kept"]["x"]
    assert wide["layout"]["xaxis2"]["range"][0] < 0


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0%"), (1.0, "100%"), (0.5, "50.0%"), (0.99999994, "99.9999940%"), (3e-7, "3.0×10⁻⁵%")],
)
def test_no_probability_is_rounded_to_certainty(value, shown):
    assert percent(value) == shown
    assert significant(-12.345) == "−12.3" and significant(-math.inf) == "−∞"


def test_the_look_is_data_and_plotly_knows_all_of_it():
    json.dumps(template(), allow_nan=False)
    for colours in (style.LIGHT, style.DARK):
        drawn = figure(traced(sampled()), 0, colours=colours)
        assert "--bot-" not in json.dumps(drawn)
        go.Figure(drawn["data"], drawn["layout"])  # raises for what it does not know
    look = painted(template()["traces"], style.LIGHT)
    assert not any("x" in trace for trace in look.values())


# ---- the same in the browser ----


@pytest.fixture(scope="module")
def browser_page(chromium):
    """A page with the client's chart and nothing else; an alert or a page error fails the test."""
    page = chromium.new_page(viewport={"width": 1200, "height": 800})
    problems = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda m: problems.append(m.text) if m.type == "error" else None)
    page.on("dialog", lambda dialog: problems.append("dialog"))
    page.on("request", lambda request: problems.append(request.url))
    page.set_content('<div id="box"></div>')
    data = {"BOT_TEXT": {lang: texts(lang) for lang in ("en", "zh")},
            "BOT_FIGURES": {"candidates": template()}}  # fmt: skip
    page.evaluate("(data) => Object.assign(window, data)", data)
    for name in SCRIPTS[: SCRIPTS.index("candidates_words.js") + 1]:
        page.add_script_tag(content=(ASSETS / "js" / name).read_text("utf-8"))
    yield page
    page.close()
    assert problems == []


FILL = """([trace, i, lang, options]) => {
  BOT.state.lang = lang;
  const made = BOT.candidatesFigure(trace, i, options);
  return JSON.stringify({...made,
    lead: BOT.leading(trace.steps[i]), shown: BOT.shownRows(trace.steps[i], options.rows)});
}"""
NAMES = {name: name for name in style.LIGHT}


def assert_same_filling(page, trace, i, lang="en", **options):
    options = {"rows": 20, "only": None, "zoom": False, "width": 960} | options
    sent = json.loads(json.dumps(trace_payload(trace, "0" * 16)))
    # JavaScript has no integers: past 2**53 it writes as one what is the nearest double
    got = json.loads(page.evaluate(FILL, [sent, i, lang, options]), parse_int=float)
    had = figure(trace, i, lang=lang, colours=NAMES, **options)
    assert got.pop("lead") == leading(trace.steps[i])
    assert got.pop("shown") == shown_rows(trace.steps[i], options["rows"])
    wanted = json.loads(json.dumps(had), parse_int=float)
    for mine, theirs in zip(wanted["data"], got["data"], strict=True):
        for key in mine:
            assert mine[key] == theirs[key], (mine["name"], key)
    for key, mine in wanted["layout"].items():
        assert mine == got["layout"][key], (key, mine, got["layout"][key])
    assert wanted == got


@pytest.mark.browser
def test_the_browser_fills_in_the_same_arrays(browser_page):
    step = sampled()
    second = replace(sampled(4, u=0.93, n=50), index=1)
    deep = replace(sampled(9, SamplingParams(4.0), u=0.97, n=6), index=2)
    odd = replace(sampled(5, forced=96, n=30), index=3)
    greedy = replace(sampled(6, SamplingParams()), index=4)
    trace = traced(replace(step, pending=b"\xe8\x8b"), second, deep, odd, greedy)
    for i in range(5):
        for lang in ("en", "zh"):
            assert_same_filling(browser_page, trace, i, lang, rows=10)
        assert_same_filling(browser_page, trace, i, rows=0, zoom=True, width=1234)
        for only in ("score", 0):
            assert_same_filling(browser_page, trace, i, only=only, width=355)


@pytest.mark.browser
@settings(
    max_examples=40, deadline=None, phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(trace=made.traces(), rows=st.sampled_from((0, 1, 3)), zoom=st.booleans())
def test_the_browser_fills_in_the_same_arrays_whatever_a_file_says(browser_page, trace, rows, zoom):
    for i in range(len(trace.steps)):
        assert_same_filling(browser_page, trace, i, rows=rows, zoom=zoom)


NAME = """([hexes, held, special]) => {
  const steps = [{pending: held}, {pieces: hexes.map((hex) => [hex]), special}];
  return hexes.map((_, k) => {
    const { bytes, text } = BOT.candidateName({steps}, 1, k);
    return bytes + text;
  });
}"""


@pytest.mark.browser
def test_a_sibling_is_named_in_the_light_of_the_bytes_held_before_it(browser_page):
    def names(hexes, held, special=()):
        browser_page.evaluate("BOT.state.lang = 'en'")
        return browser_page.evaluate(NAME, [hexes, held, list(special)])

    assert names(["8b", "61", "ff"], "e8") == ["⟨8b⟩ +1", "a", "⟨ff⟩"]
    assert names(["b9", "b9", "61"], "e88b", [1]) == ["⟨b9⟩ → 苹", "⟨b9⟩", "a"]
    assert names(["e88b", ""], "") == ["⟨e8 8b⟩ +1", texts("en")["panel.candidates.no_token"]]
    # cut at a whole character, however long a piece is
    [long] = names(["61" + "f09f9881" * 400], "")
    assert long == "a" + "😁" * 31 + "…"


@pytest.mark.browser
def test_no_sum_is_rounded_to_certainty(browser_page):
    values = [0, 1, 1 - 1e-9, 0.44702, 3e-7]
    shown = browser_page.evaluate("(v) => v.map(BOT.unit)", values)
    assert shown[:2] == ["0", "1"] and shown[3] == "0.44702"
    assert 0.9999 < float(shown[2]) < 1 and 0 < float(shown[4]) < 1e-6
