"""`record`: make the recorded examples of the page again."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from playground import store
from playground.cli.show import emit, emit_json, streamed
from playground.cli.trace import clear_line, load_engine, progress_line
from playground.errors import PlaygroundError
from playground.examples import (
    Example,
    PairExample,
    inside_path,
    letters_path,
    pair_path,
    record,
    record_letters,
    record_pairs,
    rows_path,
    trace_path,
)
from playground.inspection.bundle import Bundle
from playground.inspection.pair import Pair
from playground.text import say
from playground.trace import Trace

GREEN, RED = 0, 1


def run(args: argparse.Namespace) -> int:
    """Record everything. Returns the exit code: 1 when a check failed on an example."""
    folder = Path(args.out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise PlaygroundError("error.cli_out", file=ascii(args.out)) from None
    made: list[dict[str, Any]] = []
    pairs: list[dict[str, Any]] = []

    def done(example: Example, trace: Trace, bundle: Bundle) -> None:
        paths = (trace_path, rows_path, inside_path)
        verdicts = Counter(check.ok for check in bundle.checks)
        made.append(
            {
                "name": example.name, "id": store.trace_id(trace), "text": trace.text,
                "finish": trace.finish,
                "bytes": [path(folder, example.name).stat().st_size for path in paths],
                "layers": [detail.layer for detail in bundle.inspection.details],
                "neurons": len(bundle.neurons), "ablations": len(bundle.ablations),
                "checks": {"held": verdicts[True], "red": verdicts[False],
                           "skipped": verdicts[None]},
            }
        )  # fmt: skip
        if not args.json:
            clear_line()
            show(made[-1], args.lang)

    def paired(example: PairExample, pair: Pair) -> None:
        size = pair_path(folder, example.name).stat().st_size
        pairs.append({"name": example.name, "parts_at": pair.parts_at, "bytes": [size]})
        if not args.json:
            clear_line()
            emit(say(args.lang, "cli.record.pair", name=example.name, kb=f"{size / 1000:.0f}"))
            emit(streamed(f"A:{pair.a.trace.text}\nB:{pair.b.trace.text}\n"))

    def lettered() -> None:
        size = letters_path(folder).stat().st_size
        pairs.append({"name": "letters", "bytes": [size]})
        if not args.json:
            clear_line()
            emit(say(args.lang, "cli.record.letters", kb=f"{size / 1000:.0f}"))

    engine = load_engine(args.model, args.lang)
    with progress_line(args.lang) as report:
        record(engine, folder, done, inside_only=args.inside, on_progress=report)
        if not args.inside:
            record_pairs(engine, folder, paired, report)
            record_letters(engine, folder)
            lettered()
    if args.json:
        emit_json(made + pairs)
    return RED if any(example["checks"]["red"] for example in made) else GREEN


def show(made: dict[str, Any], lang: str) -> None:
    trace, rows, inside = made["bytes"]
    finish = say(lang, f"cli.finish.{made['finish']}")
    emit(say(lang, "cli.record.done", name=made["name"], kb=f"{(trace + rows) / 1000:.0f}",
             finish=finish))  # fmt: skip
    emit(streamed(made["text"]))
    emit(say(lang, "cli.record.inside", kb=f"{inside / 1000:.0f}",
             layers=", ".join(map(str, made["layers"])), **made["checks"]) + "\n")  # fmt: skip
