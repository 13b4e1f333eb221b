"""`check`: every invariant of a trace file, measured on its model."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playground import store
from playground.cli.show import emit, emit_json, table, visible
from playground.cli.trace import progress_line
from playground.cli.verify import same_engine
from playground.text import say
from playground.trace import Trace

if TYPE_CHECKING:
    from playground.inspection.check import Check

GREEN, RED = 0, 1


def run(args: argparse.Namespace) -> int:
    """Check a file. Returns the exit code: 0 when nothing failed and the file is intact."""
    trace, intact = store.load(Path(args.file))
    engine = same_engine(trace, args.lang)

    from playground.checks import check

    with progress_line(args.lang) as report:
        checks = check(engine, trace, on_progress=report)
    ok = intact and all(c.ok is not False for c in checks)
    if args.json:
        emit_json(as_json(trace, checks, intact, ok, args.lang))
    else:
        show(trace, checks, intact, ok, args.lang)
    return GREEN if ok else RED


def number(value: float | None) -> float | None:
    """JSON has no infinity: null, as in a trace file."""
    return value if value is not None and math.isfinite(value) else None


def as_json(
    trace: Trace, checks: tuple[Check, ...], intact: bool, ok: bool, lang: str
) -> dict[str, Any]:
    return {
        "ok": ok,
        "intact": intact,
        "id": store.trace_id(trace),
        "model": trace.model.name,
        "steps": len(trace.steps),
        "checks": [
            {
                "name": c.name, "ok": c.ok, "measured": number(c.measured),
                "tolerance": number(c.tolerance), "unit": c.unit,
                "detail": say(lang, c.detail, **c.values), "values": dict(c.values),
            }
            for c in checks
        ],
    }  # fmt: skip


def show(trace: Trace, checks: tuple[Check, ...], intact: bool, ok: bool, lang: str) -> None:
    head = [say(lang, f"cli.check.{n}") for n in ("name", "measured", "tolerance", "unit", "ok")]
    lines = [
        (
            say(lang, f"check.{c.name}.title"),
            figure(c.measured, c.unit),
            say(lang, "cli.verify.exact") if c.tolerance == 0 else figure(c.tolerance, c.unit),
            say(lang, f"check.unit.{c.unit}"),
            say(lang, f"check.ok.{str(c.ok).lower()}"),
            visible(say(lang, c.detail, **c.values)) if c.ok is not True else "",
        )
        for c in checks
    ]
    emit(table([*head, ""], lines, left=(0, 3, 4, 5)))
    emit()
    if not intact:
        emit(say(lang, "cli.verify.damaged"))
    red = sum(c.ok is False for c in checks)
    if red:
        emit(say(lang, "cli.check.red", red=red, count=len(checks)))
    if ok:
        held = sum(c.ok is True for c in checks)
        emit(say(lang, "cli.check.green", held=held, skipped=len(checks) - held,
                 steps=len(trace.steps)))  # fmt: skip


def figure(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if unit == "count" and math.isfinite(value) else f"{value:.2g}"
