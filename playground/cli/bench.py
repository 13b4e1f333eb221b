"""`bench`: the measurements of `playground.bench`, as a table or as JSON."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time

from playground.bench import Report, measure
from playground.cli.show import emit, emit_json, table, visible
from playground.cli.trace import clear_line, progress_line
from playground.text import say


def run(args: argparse.Namespace) -> int:
    """Measure and print. Returns the exit code."""
    start = time.perf_counter()
    from playground import models

    with progress_line(args.lang) as report:
        loaded = models.load(args.model, progress=report)
    load_s = time.perf_counter() - start

    def tell(name: str) -> None:
        if sys.stderr.isatty():
            emit(f"\r\x1b[K{name} …", end="", file=sys.stderr)

    found = measure(loaded, load_s=load_s, say=tell)
    clear_line()
    if args.json:
        emit_json(dataclasses.asdict(found))
    else:
        show(found, args.lang)
    return 0


def show(report: Report, lang: str) -> None:
    machine = ", ".join(f"{k} {v}" for k, v in report.machine.items() if v is not None)
    model = report.model
    emit(visible(say(lang, "cli.bench.on", model=model["name"], dtype=model["dtype"],
                     device=model["device"], machine=machine)))  # fmt: skip
    emit()
    names = ("name", "ours", "theirs", "ratio", "spread", "cpu", "pairs", "target")
    head = [say(lang, f"cli.bench.{name}") for name in names]
    lines = [
        (
            say(lang, f"cli.bench.row.{r.name}"), f"{r.ours_ms:.2f}", f"{r.theirs_ms:.2f}",
            f"{r.ratio:.3f}", f"{r.low:.3f} … {r.high:.3f}",
            f"{r.cpu_ratio:.3f}", str(r.pairs),
            "–" if r.target is None else f"≤ {r.target:.2f}",
        )
        for r in report.ratios
    ]  # fmt: skip
    emit(table(head, lines, left=(0,)))
    emit()
    figures = [
        (
            say(lang, f"cli.bench.row.{f.name}"),
            say(lang, "cli.bench.unknown") if f.value is None else f"{f.value:,.3g}",
            f.unit,
        )
        for f in report.figures
    ]
    emit(table(("", "", ""), figures, left=(0, 2)).lstrip("\n"))
