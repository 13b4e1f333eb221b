"""The look of the candidates' chart, defined once: each trace's style, the layout, the sizes, and
which rows are drawn.

The browser gets it as data (`template`) and fills in the arrays of the step shown, as
`playground.views.candidates` does here. Colours are named by the page's variables, which the
browser looks up and `painted` replaces.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from playground.trace import Step

SIZES: dict[str, Any] = {
    "row": 25, "head": 46, "foot": 24,  # pixels: of a row, above the rows and below them
    "left": 208, "left_narrow": 156, "right": 8,
    "score": 0.16, "score_least": 120,  # of the logits' column: part of the plot, pixels
    "number": 62, "between": 12,  # pixels of a column's numbers, before its bars, and of its gap
    "tops": [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1],
}  # fmt: skip
_CLEAR = "rgba(0,0,0,0)"
_HATCH = {"shape": "/", "size": 5, "solidity": 0.35, "fillmode": "overlay"}


def _bar(axis: str, fill: str, line: str | None = None, **more: Any) -> dict[str, Any]:
    """Bars on axis "x" or "x2"; `width` in rows: 19 of 25 pixels, so that edges are sharp."""
    outline = {"color": line, "width": 1.2} if line else {"width": 0}
    return {
        "type": "bar", "orientation": "h", "width": 0.76, "hoverinfo": "skip", "xaxis": axis,
        "yaxis": "y", "marker": {"color": fill, "line": outline, **more},
    }  # fmt: skip


TRACES: dict[str, dict[str, Any]] = {
    "score": _bar("x", "--bot-edge"),
    "score_chosen": _bar("x", "--bot-accent"),
    "kept": _bar("x2", "--bot-edge"),
    "chosen": _bar("x2", "--bot-accent"),
    "cut": _bar("x2", _CLEAR, "--bot-muted"),
    "rest": _bar("x2", "--bot-muted", "--bot-muted", pattern=_HATCH),
}
_AXIS = {"visible": False, "fixedrange": True, "automargin": False}
LAYOUT: dict[str, Any] = {
    "barmode": "overlay", "showlegend": False, "dragmode": False, "hovermode": False,
    "autosize": False, "paper_bgcolor": _CLEAR, "plot_bgcolor": _CLEAR,
    "margin": {"t": SIZES["head"], "b": SIZES["foot"], "l": SIZES["left"], "r": SIZES["right"],
               "pad": 0},
    "xaxis": {**_AXIS, "anchor": "y"},
    "xaxis2": {**_AXIS, "anchor": "y"},
    "yaxis": {**_AXIS, "anchor": "x"},
}  # fmt: skip
CONFIG = {"staticPlot": True, "displayModeBar": False, "responsive": False}


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
