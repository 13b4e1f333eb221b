"""`verify`: run a trace's model again on its prompt and settings; do the numbers come again?"""

from __future__ import annotations

import argparse
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playground import store
from playground.cli.compare import TOLERANCES, Difference, common_steps, compare
from playground.cli.show import emit, emit_json, table, visible
from playground.cli.trace import load_engine
from playground.errors import PlaygroundError
from playground.text import say
from playground.trace import Trace

if TYPE_CHECKING:
    from playground.engine import Engine

SAME, DIFFERENT = 0, 1


def run(args: argparse.Namespace) -> int:
    """Verify a file. Returns the exit code: 0 when all came out again and the file is intact."""
    trace, intact = store.load(Path(args.file))
    engine = same_engine(trace, args.lang)
    again = rerun(engine, trace)
    found = compare(trace, again)
    model = model_differences(trace, again)
    ok = intact and all(d.ok for d in found)
    if args.json:
        emit_json(report(trace, again, intact, found, model, ok))
    else:
        show(trace, again, intact, found, model, ok, args.lang)
    return SAME if ok else DIFFERENT


def same_engine(trace: Trace, lang: str) -> Engine:
    """The trace's model, as like the one that made it as this machine allows.

    What can not be had here (a GPU, that many threads) is told with the result.
    """
    return load_engine(
        trace.model.name,
        lang,
        device="cpu" if trace.model.device == "cpu" else "auto",
        dtype=trace.model.dtype if trace.model.dtype in TOLERANCES else "auto",
        threads=_setting(trace, "threads", 0) or None,
    )


def rerun(engine: Engine, trace: Trace) -> Trace:
    """The run of `trace` once more: same prompt, settings, candidates and chunks.

    A run that was cancelled is stopped at the same step. Raises PlaygroundError when the model
    can not do it, unless the recorded run ended in an error as well.
    """
    from playground import template
    from playground.engine import N_CANDIDATES, PREFILL_CHUNK

    if trace.messages is None:
        prompt = template.raw(engine.vocabulary, trace.raw_prompt or "")
    else:
        prompt = template.chat(engine.vocabulary, trace.messages, thinking=trace.thinking)
    forced = [step.token.id for step in trace.steps if step.phase == "forced"]
    again = engine.generate(
        prompt, trace.params, trace.max_tokens, forced=forced, parent=trace.parent,
        n_candidates=_setting(trace, "n_candidates", N_CANDIDATES),
        prefill_chunk=_setting(trace, "prefill_chunk", PREFILL_CHUNK),
    )  # fmt: skip
    # One step more than recorded is enough to know that it goes on where it ended.
    most = len(trace.steps) + (trace.finish != "cancelled")
    try:
        while len(again.trace().steps) < most:
            next(again)
    except StopIteration:
        pass
    except PlaygroundError:
        if trace.finish != "error":
            raise
    finally:
        again.close()
    return again.trace()


def _setting(trace: Trace, name: str, default: int) -> int:
    value = trace.versions.get(name, "")
    return int(value) if re.fullmatch("[1-9][0-9]{0,5}", value) else default


def model_differences(old: Trace, new: Trace) -> dict[str, list[Any]]:
    """Facts of the model and of the libraries that are not what they were: the reason, perhaps,
    when numbers differ; no failure by themselves."""
    pairs: dict[str, list[Any]] = {}
    for name in ("name", "revision", "device", "dtype", "n_params", "vocab_rows"):
        was, now = getattr(old.model, name), getattr(new.model, name)
        if was != now:
            pairs[f"model.{name}"] = [was, now]
    for name in sorted({*old.versions, *new.versions}):
        was, now = old.versions.get(name), new.versions.get(name)
        if was != now:
            pairs[f"versions.{name}"] = [was, now]
    return pairs


def report(
    old: Trace,
    new: Trace,
    intact: bool,
    found: tuple[Difference, ...],
    model: dict[str, list[Any]],
    ok: bool,
) -> dict[str, Any]:
    return {
        "ok": ok,
        "intact": intact,
        "id": store.trace_id(old),
        "model": old.model.name,
        "steps": len(old.steps),
        "compared_steps": common_steps(old, new),
        "changed": model,
        "fields": [
            {
                "field": d.field, "ok": d.ok, "compared": d.compared, "different": d.different,
                # JSON has no infinity: null, as in a trace file.
                "largest": None if d.largest == math.inf else d.largest,
                "at": d.at, "tolerance": d.tolerance,
            }
            for d in found
        ],
    }  # fmt: skip


def show(
    old: Trace,
    new: Trace,
    intact: bool,
    found: tuple[Difference, ...],
    model: dict[str, list[Any]],
    ok: bool,
    lang: str,
) -> None:
    names = ("field", "compared", "different", "largest", "tolerance", "at")
    head = [say(lang, f"cli.verify.{name}") for name in names]
    lines = [
        (
            d.field, f"{d.compared:,}", f"{d.different:,}",
            "" if d.largest is None else f"{d.largest:.2e}",
            say(lang, "cli.verify.exact") if d.tolerance is None else f"{d.tolerance:g}",
            d.at or "",
        )
        for d in found
    ]  # fmt: skip
    emit(table(head, lines, left=(0, 5)))
    emit()
    for name, (was, now) in model.items():
        emit(visible(say(lang, "cli.verify.changed", name=name, was=was, now=now)))
    if not intact:
        emit(say(lang, "cli.verify.damaged"))
    if old.ids != new.ids:
        emit(say(lang, "cli.verify.parts", step=common_steps(old, new)))
    elif not all(d.ok for d in found):
        bad = ", ".join(d.field for d in found if not d.ok)
        emit(say(lang, "cli.verify.differs", fields=bad))
    if ok:
        emit(say(lang, "cli.verify.same", steps=len(old.steps), prompt=len(old.prompt)))
