"""`models`: what can be loaded, and whether it lies on this machine already."""

from __future__ import annotations

import argparse
import dataclasses

from playground.cli.show import emit, emit_json, table, visible
from playground.text import say


def run(args: argparse.Namespace) -> int:
    """Print the models by name. Returns the exit code."""
    from playground.models import rows

    found = rows()
    if args.json:
        emit_json([dataclasses.asdict(row) for row in found])
        return 0
    lang = args.lang

    def here(local: bool, tokenizer_only: bool) -> str:
        state = "here" if local else "tokenizer" if tokenizer_only else "away"
        return say(lang, f"cli.models.{state}")

    head = [say(lang, f"cli.models.{name}") for name in ("name", "source", "where", "size")]
    lines = [
        (
            visible(row.name),
            visible(f"{row.kind}: {row.location}"),
            here(row.local, row.tokenizer_only),
            "–" if row.size_bytes is None else f"{row.size_bytes / 1e6:,.0f} MB",
        )
        for row in found
    ]
    emit(table(head, lines, left=(0, 1, 2)))
    return 0
