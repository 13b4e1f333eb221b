"""The candidates of one step as a Plotly figure: rows are tokens, columns are stages.

The figure has the bars and nothing else, and what is written around them (`words`) stands beside
it as plain strings with their pixels: Plotly lays every label out by asking the page for its
size, which costs more than all the bars. The browser fills in the same in
assets/js/candidates_chart.js; a test holds both equal. All columns of probabilities share one
axis: column k starts at `base` k × pitch, so a bar's length is the recorded number itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

from playground.text import say
from playground.trace import Trace
from playground.views import style
from playground.views.style_candidates import (
    CONFIG,
    LAYOUT,
    SIZES,
    TRACES,
    leading,
    painted,
    shown_rows,
    template,
)
from playground.views.style_text import percent, plain, significant

__all__ = ["figure", "leading", "shown_rows", "template"]

Only = Literal["score"] | int | None


def figure(
    trace: Trace,
    i: int,
    *,
    rows: int = 20,
    only: Only = None,
    zoom: bool = False,
    lang: str = "en",
    colours: Mapping[str, str] | None = None,
    width: int = 960,
) -> dict[str, Any]:
    """Step i as plain JSON types: {data, layout, config} for Plotly, and {words, draw}.

    words: {shown: places of the rows, rest: names of the rows below them, columns: [{at, left,
    width, title, sub, numbers, cut, ticks}]}, `at` "score" or a stage's number, pixels from the
    chart's left edge, a number for each row, `cut` the last row kept where the stage cuts, ticks
    [[pixel, text]]. draw: None, or {parts: [[place, from, probability]], rest: [from,
    probability] or None, u}, from 0 to 1.

    rows: candidates to draw, 0 for all. only: one column in place of all side by side. zoom: end
    the columns at the largest probability in place of 1. colours: name of a page's variable →
    colour; the light page's where None. Raises IndexError.
    """
    filling = _Filling(trace, i, rows, only, zoom, lang, width)
    data = [{**look, "name": name, **filling.arrays[name]} for name, look in TRACES.items()]
    layout = {**LAYOUT, **filling.layout}
    for axis, more in filling.axes.items():
        layout[axis] = {**LAYOUT[axis], **more}
    known = {**style.LIGHT, **(colours or {})}
    return {
        "data": painted(data, known),
        "layout": {**layout, "template": "none"},
        "config": CONFIG,
        "words": {"shown": filling.shown, "rest": filling.rest, "columns": filling.columns},
        "draw": filling.draw,
    }


class _Filling:
    """One step's arrays, by the names of TRACES, and what of the layout depends on the step."""

    def __init__(
        self, trace: Trace, i: int, rows: int, only: Only, zoom: bool, lang: str, width: int
    ) -> None:
        self.trace, self.step, self.lang, self.only = trace, trace.steps[i], lang, only
        c = self.step.candidates
        self.shown = shown_rows(self.step, rows)
        self.hidden = sorted({*range(len(c.ids))} - {*self.shown})
        self.chosen = next((k for k, t in enumerate(c.ids) if t == self.step.token.id), -1)
        self.stages = [s for s in range(len(c.stages)) if only is None or only == s]
        self.top = self._top() if zoom else 1.0
        self.left = SIZES["left_narrow"] if only is not None else SIZES["left"]
        self.plot = width - self.left - SIZES["right"]
        self.arrays: dict[str, dict[str, list[float]]] = {
            name: {"x": [], "y": [], "base": []} for name in TRACES
        }
        self.axes: dict[str, dict[str, Any]] = {}
        self.columns: list[dict[str, Any]] = []
        unlisted = f"{trace.model.vocab_rows - len(c.ids):,}"
        self.rest = [self.say("more_row", n=len(self.hidden))] if self.hidden else []
        self.rest.append(self.say("tail_row", n=unlisted))
        beside = max(SIZES["score_least"], math.floor(self.plot * SIZES["score"]))
        self.score = beside if only is None else self.plot
        self._scores()
        self._stages()
        self.draw = self._draw()
        lines = len(self.shown) + len(self.rest)
        self.axes["yaxis"] = {"range": [lines - 0.5, -0.5]}
        margin = {**LAYOUT["margin"], "l": self.left}
        height = SIZES["row"] * lines + margin["t"] + margin["b"]
        self.layout = {"width": width, "height": height, "margin": margin}

    def say(self, key: str, **values: object) -> str:
        return say(self.lang, f"panel.candidates.{key}", **values)

    def _top(self) -> float:
        c = self.step.candidates
        most = max((float(p) for row in c.probs for p in row[self.shown]), default=1.0)
        tops: list[float] = SIZES["tops"]
        return next(top for top in tops if top >= most or top == 1)

    def _bar(self, trace: str, x: float, y: float, base: float) -> None:
        for key, value in (("x", x), ("y", y), ("base", base)):
            self.arrays[trace][key].append(value)

    def _scores(self) -> None:
        """The raw logits: f32[C], bars from 0."""
        c = self.step.candidates
        # A forced token may have been masked: its logit is -inf, and a bar can not say that.
        finite = [float(v) for v in c.logits if math.isfinite(v)] or [0.0]
        low = min(0.0, 10.0 * math.floor(min(finite) / 10))
        high = max(0.0, 10.0 * math.ceil(max(finite) / 10))
        span = high - low or 1
        long = self.score - SIZES["number"] - SIZES["between"]
        before = SIZES["number"] * (span / long)
        self.axes["xaxis"] = {
            "range": [low - before, low - before + self.score * (span / long)],
            "domain": [0, self.score / self.plot],
        }
        if self.only not in (None, "score"):
            return
        for y, k in enumerate(self.shown):
            logit = float(c.logits[k])
            if math.isfinite(logit):
                self._bar("score_chosen" if k == self.chosen else "score", logit, y, 0)
        from_ = self.left + SIZES["number"]
        self.columns.append({
            "at": "score", "left": self.left, "width": self.score,
            "title": self.say("score"), "sub": self.say("score_sub"),
            "numbers": [significant(float(c.logits[k])) for k in self.shown], "cut": None,
            "ticks": [
                [from_ + (v - low) * (long / span), f"{v:.0f}" if abs(v) < 1e6 else significant(v)]
                for v in sorted({low, 0.0, high})
            ],
        })  # fmt: skip

    def stage_title(self, s: int) -> str:
        """ "top-k 20": the stage's name with its setting."""
        name = self.step.candidates.stages[s]
        value = getattr(self.trace.params, name, 0)
        return self.say(f"stage.{name}", value=plain(value))

    def _stages(self) -> None:
        """Every stage's probabilities f32[S, C], one column each; what it cut, hollow, with the
        length that it had before; then all that has no row of its own."""
        c, rows = self.step.candidates, len(self.shown)
        start = self.score if self.only is None else 0
        n = max(1, len(self.stages))
        wide = math.floor((self.plot - start) / n)
        long = wide - SIZES["number"] - SIZES["between"]
        before, pitch = SIZES["number"] * (self.top / long), wide * (self.top / long)
        self.axes["xaxis2"] = {
            "range": [-before, n * pitch - before],
            "domain": [start / self.plot, (start + n * wide) / self.plot],
        }
        for column, s in enumerate(self.stages):
            base, last, numbers = column * pitch, -1, [""] * rows
            for y, k in enumerate(self.shown):
                p = float(c.probs[s, k])
                if c.kept[s, k]:
                    last = y
                    trace, numbers[y] = ("chosen" if k == self.chosen else "kept"), percent(p)
                elif s and c.kept[s - 1, k]:
                    p, trace, numbers[y] = float(c.probs[s - 1, k]), "cut", "✕"
                else:
                    continue
                self._bar(trace, p, y, base)
            more = [sum(float(c.probs[s, k]) for k in self.hidden)] if self.hidden else []
            for y, p in enumerate([*more, float(c.tail[s])], rows):
                # Too long for a stretched scale: no bar is better than one that ends too soon.
                fits = p <= self.top or self.top == 1
                if fits:
                    self._bar("rest", p, y, base)
                numbers.append(percent(p) if fits else f"» {percent(p)}")
            cuts = s > 0 and c.kept_count[s] < c.kept_count[s - 1] and last < rows - 1
            left = self.left + start + column * wide
            self.columns.append({
                "at": s, "left": left, "width": wide, "title": self.stage_title(s),
                "sub": self.say("keeps", n=f"{int(c.kept_count[s]):,}"),
                "numbers": numbers, "cut": last if cuts else None,
                "ticks": [
                    [left + SIZES["number"], "0"],
                    [left + SIZES["number"] + long, percent(self.top)],
                ],
            })  # fmt: skip

    def _draw(self) -> dict[str, Any] | None:
        """The last stage laid end to end in the order of the draw, and u on it."""
        c, u = self.step.candidates, self.step.draw
        if u is None:
            return None
        n = len(c.ids) if c.tail[-1] == 0 else leading(self.step)
        running, parts = 0.0, []
        for k in range(n):
            p = float(c.probs[-1, k])
            if c.kept[-1, k]:
                parts.append([k, running, p])
                running += p
        rest = sum((float(p) for p in c.probs[-1, n:]), float(c.tail[-1]))
        return {"parts": parts, "rest": [running, rest] if rest > 0 else None, "u": u}
