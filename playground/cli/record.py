"""`record`: make the recorded examples of the page again."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from playground import store
from playground.cli.show import emit, emit_json, streamed
from playground.cli.trace import load_engine
from playground.errors import PlaygroundError
from playground.examples import Example, record, rows_path, trace_path
from playground.text import say
from playground.trace import Trace


def run(args: argparse.Namespace) -> int:
    """Record all examples. Returns the exit code."""
    folder = Path(args.out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise PlaygroundError("error.cli_out", file=ascii(args.out)) from None
    made: list[dict[str, Any]] = []

    def done(example: Example, trace: Trace) -> None:
        files = (trace_path(folder, example.name), rows_path(folder, example.name))
        made.append(
            {
                "name": example.name, "id": store.trace_id(trace), "text": trace.text,
                "finish": trace.finish, "bytes": [f.stat().st_size for f in files],
            }
        )  # fmt: skip
        if not args.json:
            size = sum(made[-1]["bytes"]) / 1000
            emit(say(args.lang, "cli.record.done", name=example.name, kb=f"{size:.0f}",
                     finish=say(args.lang, f"cli.finish.{trace.finish}")))  # fmt: skip
            emit(streamed(trace.text) + "\n")

    record(load_engine(args.model, args.lang), folder, done)
    if args.json:
        emit_json(made)
    return 0
