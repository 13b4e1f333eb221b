"""`trace`: one run of a model, seen as it goes, then as a table, and kept in a file."""

from __future__ import annotations

import argparse
import math
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from playground import store
from playground.cli.show import emit, emit_json, piece, streamed, table
from playground.cli.tokens import messages, show_notes
from playground.errors import PlaygroundError
from playground.text import say
from playground.trace import SamplingParams, Step, Trace

if TYPE_CHECKING:
    from playground.engine import Engine
    from playground.run import Run
    from playground.template import Prompt

INTERRUPTED = 130


def run(args: argparse.Namespace) -> int:
    """Run the model on the prompt. Returns the exit code."""
    if args.system is not None and args.raw:
        raise PlaygroundError("error.cli_system_needs_chat")
    if args.no_thinking and args.raw:
        raise PlaygroundError("error.cli_thinking_needs_chat")
    # All that can be refused is refused before the model is loaded.
    params = SamplingParams(args.temperature, args.top_k, args.top_p, args.min_p, args.seed)
    if args.max_tokens < 1:
        raise PlaygroundError("error.max_tokens", value=args.max_tokens, limit="∞")
    out = None if args.out is None else Path(args.out)
    if out is not None and (out.is_dir() or not out.parent.is_dir()):
        raise PlaygroundError("error.cli_out", file=ascii(str(out)))

    engine = load_engine(args.model, args.lang)
    prompt = make_prompt(engine, args)
    going = engine.generate(prompt, params, args.max_tokens)
    try:
        watch(going, (lambda step: None) if args.json else show_piece)
    finally:
        # A run that failed half-way is kept too: its record says where it ended.
        trace = going.trace()
        saved = out is not None and bool(trace.steps)
        if out is not None and saved:
            store.save(trace, out)
    if args.json:
        emit_json(store.to_json(trace), indent=None)
    else:
        emit("\n")
        emit(step_table(trace, args.lang))
        emit()
        show_summary(trace, args.lang)
        show_notes(trace.notes, args.lang, sys.stdout)
        if saved:
            emit(say(args.lang, "cli.trace.saved", file=out, id=store.trace_id(trace)))
    return INTERRUPTED if trace.finish == "cancelled" else 0


def load_engine(
    name: str, lang: str, *, device: str = "auto", dtype: str = "auto", threads: int | None = None
) -> Engine:
    """The model `name`, ready; how far loading is shows where somebody sits at a terminal."""
    from playground import models
    from playground.engine import Engine

    with progress_line(lang) as report:
        loaded = models.load(name, device=device, dtype=dtype, threads=threads, progress=report)
        return Engine(loaded)


@contextmanager
def progress_line(lang: str) -> Iterator[Callable[[str, float | None], None]]:
    """A callback that keeps one line of stderr up to date; silent where it is no terminal."""
    if not sys.stderr.isatty():
        yield lambda stage, fraction: None
        return

    def report(stage: str, fraction: float | None) -> None:
        part = "" if fraction is None else f" {fraction:.0%}"
        emit(f"\r\x1b[K{say(lang, f'stage.{stage}')}{part}", end="", file=sys.stderr)

    try:
        yield report
    finally:
        clear_line()


def clear_line() -> None:
    """Take away what `progress_line` shows, so that other lines can follow."""
    if sys.stderr.isatty():
        emit("\r\x1b[K", end="", file=sys.stderr)


def make_prompt(engine: Engine, args: argparse.Namespace) -> Prompt:
    from playground import template

    if args.raw:
        return template.raw(engine.vocabulary, args.prompt)
    thinking = False if args.no_thinking else None
    return template.chat(engine.vocabulary, messages(args.prompt, args.system), thinking=thinking)


def watch(going: Run, show: Callable[[Step], None]) -> None:
    """Step the run to its end. Ctrl-C ends it before the next forward; a second one at once."""
    main_thread = threading.current_thread() is threading.main_thread()
    before = (signal.getsignal(signal.SIGINT) if main_thread else None) or signal.SIG_DFL

    def stop(number: int, frame: object) -> None:
        going.close()
        signal.signal(signal.SIGINT, before)

    if main_thread:
        signal.signal(signal.SIGINT, stop)
    try:
        for step in going:
            show(step)
    finally:
        going.close()
        if main_thread:
            signal.signal(signal.SIGINT, before)


def show_piece(step: Step) -> None:
    emit(streamed(step.emitted), end="")


def step_table(trace: Trace, lang: str) -> str:
    """One line a run of the model."""
    names = ("run", "phase", "id", "token", "p", "rank", "bits", "u", "kept", "ms", "cache", "seen")
    head = [say(lang, f"cli.trace.{name}") for name in names]
    lines = [
        (
            str(step.index + 1),
            say(lang, f"cli.phase.{step.phase}"),
            str(step.token.id),
            piece(step.token.text),
            f"{math.exp(step.logprob):.4f}",
            str(step.rank),
            f"{step.entropy_bits:.3f}",
            "" if step.draw is None else f"{step.draw:.4f}",
            str(step.candidates.kept_count[-1]) if len(step.candidates.stages) > 1 else "",
            f"{step.timing.forward_ms + step.timing.pick_ms:.1f}",
            str(step.cache_after),
            piece(step.emitted) + (f" +{step.pending.hex(' ')}" if step.pending else ""),
        )
        for step in trace.steps
    ]
    return table(head, lines, left=(1, 3, 11))


def show_summary(trace: Trace, lang: str) -> None:
    def figure(value: float | None) -> str:
        return "–" if value is None else f"{value:.1f}"

    emit(
        say(
            lang, "cli.trace.summary", prompt=len(trace.prompt), steps=len(trace.steps),
            finish=say(lang, f"cli.finish.{trace.finish}"), first=figure(trace.first_token_ms),
            visible=figure(trace.first_visible_ms), rate=figure(trace.tokens_per_second),
        )
    )  # fmt: skip
