"""The look of the candidates' chart, defined once: each trace's style, the layout, the sizes, and
which rows are drawn.

The browser gets it as data (`template`) and fills in the arrays of the step shown; an export
fills them in here (`playground.views.candidates`). Colours and fonts are named by the page's
variables, which the browser looks up and `painted` replaces.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from playground.trace import Step

SIZES: dict[str, Any] = {
    "row": 25, "head": 2.1, "gap": 46, "draw": 30,  # pixels; head in rows
    "left": 208, "left_narrow": 156, "right": 8,
    "score_to": 0.16, "probs_from": 0.165,  # parts of the plot's width
    "number": 62, "between": 12,  # pixels of a column's numbers, before its bars, and of its gap
    "label": 14, "value": 12, "tops": [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1],
}  # fmt: skip
_FONT = {"family": "--bot-mono", "size": 13, "color": "--bot-ink"}
_SMALL = {"family": "--bot-sans", "size": 12, "color": "--bot-muted"}
# A whole column of numbers is one text, a line for each row: Plotly spaces lines by 1.3 times the
# font's size, so this size gives a row's height and a span inside the size to read.
_COLUMN = {**_SMALL, "size": SIZES["row"] / 1.3}
_BAR = {"type": "bar", "orientation": "h", "width": 0.74, "hoverinfo": "text"}
_CLEAR = "rgba(0,0,0,0)"
_HATCH = {"shape": "/", "size": 5, "solidity": 0.35, "fillmode": "overlay"}


def _bar(axes: tuple[str, str], fill: str, line: str = _CLEAR, **more: Any) -> dict[str, Any]:
    marker = {"color": fill, "line": {"color": line, "width": 1.2}, **more.pop("marker", {})}
    return {**_BAR, "xaxis": axes[0], "yaxis": axes[1], "marker": marker, **more}


def _words(axes: tuple[str, str], font: dict[str, Any], position: str) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "text", "xaxis": axes[0], "yaxis": axes[1], "textfont": font,
        "textposition": position, "hoverinfo": "skip", "cliponaxis": False,
    }  # fmt: skip


_SCORE, _PROB, _DRAW = ("x", "y"), ("x2", "y"), ("x3", "y2")
_RULE = {"type": "scatter", "mode": "lines", "hoverinfo": "skip", "cliponaxis": False}
TRACES: dict[str, dict[str, Any]] = {
    "score": _bar(_SCORE, "--bot-edge"),
    "score_chosen": _bar(_SCORE, "--bot-accent"),
    "kept": _bar(_PROB, "--bot-edge"),
    "chosen": _bar(_PROB, "--bot-accent"),
    "cut": _bar(_PROB, _CLEAR, "--bot-muted"),
    "rest": _bar(_PROB, "--bot-muted", "--bot-muted", marker={"pattern": _HATCH}),
    "boundary": {
        **_RULE, "xaxis": "x2", "yaxis": "y", "line": {"color": "--bot-warn", "width": 2},
    },
    "heads": _words(_PROB, {**_SMALL, "color": "--bot-ink"}, "top right"),
    "score_head": _words(_SCORE, {**_SMALL, "color": "--bot-ink"}, "top right"),
    "values": _words(_PROB, _COLUMN, "middle left"),
    "score_values": _words(_SCORE, _COLUMN, "middle left"),
    "segments": _bar(_DRAW, "--bot-accent-soft", "--bot-surface", width=1),
    "segment_chosen": _bar(_DRAW, "--bot-accent", "--bot-surface", width=1),
    "segment_rest": _bar(
        _DRAW, "--bot-muted", "--bot-surface", width=1, marker={"pattern": _HATCH}
    ),
    "segment_names": _words(_DRAW, {**_FONT, "color": "--bot-ink"}, "middle center"),
    "segment_name_chosen": _words(_DRAW, {**_FONT, "color": "--bot-accent-ink"}, "middle center"),
    "u": {
        **_RULE, "mode": "lines+markers+text", "xaxis": "x3", "yaxis": "y2",
        "line": {"color": "--bot-bad", "width": 2.5}, "textfont": {**_FONT, "color": "--bot-bad"},
        "marker": {
            "symbol": "triangle-down", "size": [12, 0.1], "color": "--bot-bad", "opacity": 1,
            "line": {"width": 0},
        },
    },
}  # fmt: skip

_AXIS = {
    "fixedrange": True, "zeroline": False, "ticklabeloverflow": "allow", "tickangle": 0,
    "tickfont": _SMALL, "gridcolor": "--bot-line", "automargin": False, "ticks": "",
}  # fmt: skip
LAYOUT: dict[str, Any] = {
    "barmode": "overlay", "showlegend": False, "dragmode": False, "hovermode": "closest",
    "autosize": False, "paper_bgcolor": _CLEAR, "plot_bgcolor": _CLEAR, "font": _SMALL,
    "margin": {"t": 4, "b": 26, "l": SIZES["left"], "r": SIZES["right"], "pad": 6},
    "hoverlabel": {
        "bgcolor": "--bot-raised", "bordercolor": "--bot-line", "align": "left", "namelength": 0,
        "font": {"family": "--bot-mono", "size": 12, "color": "--bot-ink"},
    },
    "xaxis": {**_AXIS, "anchor": "y", "showgrid": False},
    "xaxis2": {**_AXIS, "anchor": "y"},
    "xaxis3": {
        **_AXIS, "anchor": "y2", "range": [0, 1], "domain": [0, 1], "showgrid": False,
        "tickvals": [0, 0.25, 0.5, 0.75, 1], "ticktext": ["0", "0.25", "0.5", "0.75", "1"],
    },
    "yaxis": {**_AXIS, "anchor": "x", "showgrid": False, "tickfont": _FONT},
    "yaxis2": {
        **_AXIS, "anchor": "x3", "range": [-0.5, 1.3], "showgrid": False, "tickfont": _FONT,
        "tickvals": [0],
    },
}  # fmt: skip
CONFIG = {"displayModeBar": False, "responsive": False, "scrollZoom": False, "doubleClick": False}


def template() -> dict[str, Any]:
    """The look, for the browser: {traces: {name: style}, layout, config, sizes}."""
    return {"traces": TRACES, "layout": LAYOUT, "config": CONFIG, "sizes": SIZES}


def painted(value: Any, colours: Mapping[str, str]) -> Any:
    """`value` with every name of a variable ("--bot-…") replaced by what it stands for."""
    if isinstance(value, dict):
        return {k: painted(v, colours) for k, v in value.items()}
    if isinstance(value, list):
        return [painted(v, colours) for v in value]
    return colours[value] if isinstance(value, str) and value.startswith("--bot-") else value


def leading(step: Step) -> int:
    """How many of the listed candidates are surely the first of the whole order, no gap between.

    The list is the leading tokens, and the choice and the last kept token where those lie further
    down (`sampling._record`); a gap shows in the choice's rank or in the count of kept tokens.
    """
    c, n = step.candidates, len(step.candidates.ids)
    at = np.flatnonzero(c.ids == step.token.id)
    if at.size and step.rank - 1 > int((c.logits[: at[0]] > c.logits[at[0]]).sum()):
        n = int(at[0])
    kept = np.flatnonzero(c.kept[-1])
    if kept.size and c.kept_count[-1] < c.kept_count[0] and c.kept_count[-1] > kept.size:
        n = min(n, int(kept[-1]))
    return n


def shown_rows(step: Step, rows: int) -> list[int]:
    """The places to draw, always min(rows, C) of them so that the chart keeps its height: the
    first ones, and in place of the last ones the choice and the last token still kept, where
    those lie further down. rows 0: all."""
    c = step.candidates
    n = min(rows, len(c.ids)) if rows else len(c.ids)
    must = {int(k) for k in np.flatnonzero(c.ids == step.token.id)}
    kept = np.flatnonzero(c.kept[-1])
    if kept.size and c.kept_count[-1] < c.kept_count[0]:
        must.add(int(kept[-1]))
    # A chart of one row shows the choice.
    first = [k for k in range(len(c.ids)) if k not in must][: max(0, n - len(must))]
    return sorted([*first, *must])
