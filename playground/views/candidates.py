"""The candidates of one step as a Plotly figure: rows are tokens, columns are stages.

The browser fills in the same arrays in assets/js/candidates_chart.js; a test holds both equal.
All columns of probabilities share one axis: column k starts at `base` k × pitch, so a bar's
length is the recorded number itself and no axis is drawn per column (which is what makes a
redraw cheap). The texts of tokens come from `style_text`, safe for Plotly's own markup.
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
from playground.views.style_text import escape, percent, piece, plain, significant, unit

__all__ = ["figure", "leading", "shown_rows", "template"]

Only = Literal["score", "draw"] | int | None


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
    """The whole figure of step i as plain JSON types: {data, layout, config}.

    rows: candidates to draw, 0 for all. only: one column ("score", a stage's number or "draw")
    in place of all side by side. zoom: end the columns at the largest probability in place of 1.
    colours: name of a page's variable → colour; the light page's where None. Raises IndexError.
    """
    filling = _Filling(trace, i, rows, only, zoom, lang, width)
    data = [{**look, "name": name, **filling.arrays[name]} for name, look in TRACES.items()]
    layout = {**LAYOUT, **filling.layout}
    for axis, more in filling.axes.items():
        layout[axis] = {**LAYOUT[axis], **more}
    known = {**style.LIGHT, "--bot-mono": style.MONO, "--bot-sans": style.SANS, **(colours or {})}
    return {
        "data": painted(data, known),
        "layout": {**painted(layout, known), "template": "none"},
        "config": CONFIG,
    }


class _Filling:
    """One step's arrays, by the names of TRACES, and what of the layout depends on the step."""

    def __init__(
        self, trace: Trace, i: int, rows: int, only: Only, zoom: bool, lang: str, width: int
    ) -> None:
        self.trace, self.step, self.lang, self.only = trace, trace.steps[i], lang, only
        self.held = trace.steps[i - 1].pending if i > 0 else b""
        c = self.step.candidates
        self.shown = [] if only == "draw" else shown_rows(self.step, rows)
        self.hidden = sorted({*range(len(c.ids))} - {*self.shown})
        self.chosen = next((k for k, t in enumerate(c.ids) if t == self.step.token.id), -1)
        self.lead = leading(self.step)
        self.stages = [s for s in range(len(c.stages)) if only is None or only == s]
        self.more = [sum((float(row[k]) for k in self.hidden), 0.0) for row in c.probs]
        self.top = self._top() if zoom else 1.0
        self.left = SIZES["left_narrow"] if only is not None else SIZES["left"]
        self.plot = width - self.left - SIZES["right"]
        self.arrays: dict[str, dict[str, Any]] = {
            name: {"x": [], "y": [], **({"base": [], "hovertext": []} if look["type"] == "bar" else
                   {} if look["mode"] == "lines" else {"text": []})}
            for name, look in TRACES.items()
        }  # fmt: skip
        self.axes: dict[str, dict[str, Any]] = {}
        self.names = [self._name(k, 200) for k in range(len(c.ids))]
        self._scores()
        self._stages()
        self._draw()
        self._frame()

    def say(self, key: str, **values: object) -> str:
        return say(self.lang, f"panel.candidates.{key}", **values)

    def _top(self) -> float:
        c = self.step.candidates
        most = max((float(p) for row in c.probs for p in row[self.shown]), default=1.0)
        tops: list[float] = SIZES["tops"]
        return next(top for top in tops if top >= most or top == 1)

    def _scale(self, width: float, end: float) -> tuple[float, float]:
        """(units before the bars, for their numbers; units of the whole column) of a column of
        `width` pixels whose longest bar has `end` units."""
        unit_ = end / (width - SIZES["number"] - SIZES["between"])
        return SIZES["number"] * unit_, width * unit_

    def _name(self, k: int, most: int) -> str:
        raw = self.step.candidates.raw[k]
        if not raw:
            return escape(self.say("no_token"))
        return piece(raw, b"" if self.step.candidates.special[k] else self.held, most)

    def _add(self, trace: str, x: float | None, y: float | None, **more: Any) -> None:
        for key, value in {"x": x, "y": y, **more}.items():
            self.arrays[trace][key].append(value)

    def _bar(self, trace: str, x: float, y: float, base: float, name: str, value: str) -> None:
        self._add(trace, x, y, base=base, hovertext=f"{name}<br>{value}")

    def _column(self, trace: str, x: float, numbers: list[str]) -> None:
        """Numbers below one another, one for each row, as one text: see `style_candidates`."""
        lines = "<br>".join(number or "\u00a0" for number in numbers)
        text = f'<span style="font-size:{SIZES["value"]}px">{lines}</span>'
        self._add(trace, x, (len(numbers) - 1) / 2, text=text)

    def _label(self, k: int, y: int) -> str:
        """A row's label: the choice's star, the piece, its id; its rank where rows are skipped."""
        star = "★ " if k == self.chosen else ""
        rank = k + 1 if k < self.lead else self.step.rank if k == self.chosen else None
        skipped = rank is not None and rank != y + 1
        small = f" {self.step.candidates.ids[k]}{f' #{rank:,}' if skipped else ''}"
        faint = f'<span style="font-size:10px;fill-opacity:0.7">{small}</span>'
        name = f"{star}{self._name(k, SIZES['label'])}"
        return f"{f'<b>{name}</b>' if star else name}{faint}"

    def _scores(self) -> None:
        """The raw logits: f32[C], bars from 0."""
        c = self.step.candidates
        # A forced token may have been masked: its logit is -inf, and a bar can not say that.
        finite = [float(v) for v in c.logits if math.isfinite(v)] or [0.0]
        low = min(0.0, 10.0 * math.floor(min(finite) / 10))
        high = max(0.0, 10.0 * math.ceil(max(finite) / 10))
        span = high - low or 1
        part = SIZES["score_to"] if self.only is None else 1
        before, whole = self._scale(self.plot * part, span)
        ticks = sorted({low, 0.0, high})
        self.axes["xaxis"] = {
            "range": [low - before, low - before + whole],
            "tickvals": ticks,
            "ticktext": [f"{v:.0f}" if abs(v) < 1e6 else significant(v) for v in ticks],
        }
        if self.only not in (None, "score"):
            return
        numbers: list[str] = []
        for y, k in enumerate(self.shown):
            logit = float(c.logits[k])
            trace = "score_chosen" if k == self.chosen else "score"
            value = f"{self.say('score')}: {significant(logit, 5)}"
            if math.isfinite(logit):
                self._bar(trace, logit, y, 0, self._hover(k), value)
            numbers.append(significant(logit))
        self._column("score_values", low - 0.06 * before, numbers)
        self._add("score_head", low + 0.06 * before, -0.55, text=self._head("score", "score_sub"))

    def _hover(self, k: int) -> str:
        return f"{self.names[k]} · id {self.step.candidates.ids[k]}"

    def _head(self, title: str, sub: str, **values: object) -> str:
        return f"<b>{self.say(title, **values)}</b><br>{self.say(sub, **values)}"

    def stage_title(self, s: int) -> str:
        """ "top-k 20": the stage's name with its setting (a number, so no escaping)."""
        name = self.step.candidates.stages[s]
        value = getattr(self.trace.params, name, 0)
        return self.say(f"stage.{name}", value=plain(value))

    def _stages(self) -> None:
        """Every stage's probabilities f32[S, C], one column each; what it cut, hollow, with the
        length that it had before; then all that has no row of its own."""
        c, rows = self.step.candidates, len(self.shown)
        part = 1 - SIZES["probs_from"] if self.only is None else 1
        columns = max(1, len(self.stages))
        self.before, self.pitch = self._scale(self.plot * part / columns, self.top)
        for column, s in enumerate(self.stages):
            base, title = column * self.pitch, self.stage_title(s)
            last, numbers = -1, [""] * rows
            for y, k in enumerate(self.shown):
                p = float(c.probs[s, k])
                if c.kept[s, k]:
                    last = y
                    trace, words = ("chosen" if k == self.chosen else "kept"), percent(p)
                elif s and c.kept[s - 1, k]:
                    p, trace, words = float(c.probs[s - 1, k]), "cut", "✕"
                else:
                    continue
                hover = f"{title}: {percent(p) if trace != 'cut' else self.say('cut_here')}"
                self._bar(trace, p, y, base, self._hover(k), hover)
                numbers[y] = words
            if s and c.kept_count[s] < c.kept_count[s - 1] and last < rows - 1:
                for x in (base - 0.85 * self.before, base + self.top, None):
                    self._add("boundary", x, None if x is None else last + 0.5)
            rest = (
                [(self.more[s], self.say("more_hover", n=len(self.hidden)))] if self.hidden else []
            )
            rest.append((float(c.tail[s]), self.say("tail_hover", n=f"{self._unlisted():,}")))
            for y, (p, name) in enumerate(rest, rows):
                # Too long for a stretched scale: no bar is better than one that ends too soon.
                fits = p <= self.top or self.top == 1
                if fits:
                    self._bar("rest", p, y, base, name, f"{title}: {percent(p)}")
                numbers.append(percent(p) if fits else f"» {percent(p)}")
            self._column("values", base - 0.06 * self.before, numbers)
            head = f"<b>{title}</b><br>{self.say('keeps', n=f'{int(c.kept_count[s]):,}')}"
            self._add("heads", base + 0.06 * self.before, -0.55, text=head)

    def _unlisted(self) -> int:
        return self.trace.model.vocab_rows - len(self.step.candidates.ids)

    def _draw(self) -> None:
        """The last stage laid end to end in the order of the draw, and u on it."""
        c, u = self.step.candidates, self.step.draw
        self.drawn = u is not None and self.only in (None, "draw")
        if u is None or not self.drawn:
            return
        n = len(c.ids) if c.tail[-1] == 0 else self.lead
        running = 0.0
        for k in range(n):
            p = float(c.probs[-1, k])
            if not c.kept[-1, k]:
                continue
            trace = "segment_chosen" if k == self.chosen else "segments"
            value = f"{unit(running)} … {unit(running + p)}"
            self._bar(trace, p, 0, running, self._hover(k), value)
            units = math.floor(p * self.plot / 8) - 1
            if units >= 3:
                names = "segment_name_chosen" if k == self.chosen else "segment_names"
                self._add(names, running + p / 2, 0, text=self._name(k, units))
            running += p
        rest = sum((float(p) for p in c.probs[-1, n:]), float(c.tail[-1]))
        if rest > 0:
            self._bar("segment_rest", rest, 0, running, self.say("draw_rest"), percent(rest))
        self._add("u", u, 0.85, text=f" u = {unit(u)} ")
        self._add("u", u, -0.5, text="")
        self.arrays["u"]["textposition"] = "middle right" if u < 0.75 else "middle left"

    def _frame(self) -> None:
        """Ranges, domains and ticks: pixels of each part over the pixels of all."""
        rows = len(self.shown)
        labels = [self._label(k, y) for y, k in enumerate(self.shown)]
        if rows:
            if self.hidden:
                labels.append(escape(self.say("more_row", n=len(self.hidden))))
            labels.append(escape(self.say("tail_row", n=f"{self._unlisted():,}")))
        above = SIZES["row"] * (len(labels) - 0.4 + SIZES["head"]) if rows else 0
        below = SIZES["draw"] * 1.8 if self.drawn else 0
        gap = SIZES["gap"] if above and below else 0
        whole = above + below + gap
        score, probs = self.only in (None, "score") and rows > 0, bool(self.stages)
        both = score and probs
        columns, pitch = len(self.stages), self.pitch
        self.axes["xaxis"] |= {"domain": [0, SIZES["score_to"] if both else 1], "visible": score}
        self.axes["xaxis2"] = {
            "domain": [SIZES["probs_from"] if both else 0, 1], "visible": probs,
            "range": [-self.before, max(1, columns) * pitch - self.before],
            "tickvals": [x for k in range(columns) for x in (k * pitch, k * pitch + self.top)],
            "ticktext": ["0", percent(self.top)] * columns,
        }  # fmt: skip
        self.axes["xaxis3"] = {"visible": self.drawn}
        self.axes["yaxis"] = {
            "domain": [(below + gap) / whole, 1] if rows else [0.99, 1], "visible": rows > 0,
            "range": [len(labels) - 0.4, -SIZES["head"]], "ticktext": labels,
            "tickvals": list(range(len(labels))),
        }  # fmt: skip
        self.axes["yaxis2"] = {
            "domain": [0, below / whole] if self.drawn else [0, 0.01], "visible": self.drawn,
            "ticktext": [escape(self.say("draw_row"))],
        }  # fmt: skip
        margin = {**LAYOUT["margin"], "l": self.left}
        height = math.floor(whole + 0.5) + margin["t"] + margin["b"]
        self.layout = {
            "width": self.plot + self.left + SIZES["right"],
            "height": height,
            "margin": margin,
        }
