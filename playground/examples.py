"""The recorded examples that the page opens with, and how they are made.

Each is a real run of a real model: `NAME.trace.json.gz` is the run, `NAME.rows.json.gz` the
rows of the embedding table for every token of its prompt and answer, `NAME.inside.json.gz` the
inside of the model at every step, so that the page needs no model to show what is in them.
`NAME.pair.json.gz` is two short runs of prompts that differ in a word, laid side by side.
`python -m playground record --out assets/examples` makes them again; with `--inside`, only the
inside, of the runs that are there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from playground import store
from playground.bundling import OnProgress, make_inside
from playground.inspection.bundle import Bundle
from playground.inspection.pair import Pair
from playground.store import pair as pair_files
from playground.trace import EmbeddingRow, Message, SamplingParams, Trace

if TYPE_CHECKING:
    from playground.engine import Engine

FOLDER = Path(__file__).parent.parent / "assets" / "examples"


@dataclass(frozen=True, slots=True)
class Example:
    """name: of the files, and of the title `example.<name>.title` in `playground.text`."""

    name: str
    prompt: str
    max_tokens: int
    params: SamplingParams = field(default_factory=SamplingParams)


def sampled(seed: int) -> SamplingParams:
    """Settings with every common stage switched on."""
    return SamplingParams(temperature=0.7, top_k=20, top_p=0.9, seed=seed)


EXAMPLES = (
    Example("is-openai-open", "Is OpenAI open?", 40),
    Example("strawberry", "How many r are in strawberry?", 24),
    Example("apple-zh", "苹果最常见的颜色是什么？", 40),
    Example("mixed-zh", "程序员Left 人工智能", 42, sampled(3)),
    Example("family-emoji", "👩‍👩‍👧‍👦", 32, sampled(1)),
)


@dataclass(frozen=True, slots=True)
class PairExample:
    """Two raw prompts. name: of the file."""

    name: str
    a: str
    b: str


PAIRS = (
    PairExample("apple-zh", "苹果最常见的颜色是", "苹果最常见的形状是"),
    PairExample(
        "apple-en", "The most common color of an apple is", "The most common shape of an apple is"
    ),
)


def trace_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.trace.json.gz"


def rows_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.rows.json.gz"


def inside_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.inside.json.gz"


def pair_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.pair.json.gz"


def make(engine: Engine, example: Example) -> tuple[Trace, tuple[EmbeddingRow, ...]]:
    """The run of one example, and the embedding rows of its tokens by rising id."""
    from playground import template

    prompt = template.chat(engine.vocabulary, [Message("user", example.prompt)])
    run = engine.generate(prompt, example.params, example.max_tokens)
    for _ in run:
        pass
    trace = run.trace()
    ids = sorted({token.id for token in trace.prompt} | set(trace.ids))
    return trace, tuple(engine.embedding(i) for i in ids)


def record(
    engine: Engine,
    folder: Path,
    done: Callable[[Example, Trace, Bundle], None],
    *,
    inside_only: bool = False,
    on_progress: OnProgress | None = None,
) -> None:
    """Make every example and write it to `folder`. Raises PlaygroundError.

    inside_only: of the runs that lie in `folder`, which stay as they are, like their rows.
    on_progress("record", fraction): of the inside of one example.
    """
    for example in EXAMPLES:
        if inside_only:
            trace = store.load(trace_path(folder, example.name)).trace
        else:
            trace, rows = make(engine, example)
            store.save(trace, trace_path(folder, example.name))
            store.save_rows(rows, rows_path(folder, example.name))
        bundle = make_inside(engine, trace, on_progress=on_progress)
        store.save_inside(bundle, inside_path(folder, example.name))
        done(example, trace, bundle)


def record_pairs(
    engine: Engine,
    folder: Path,
    done: Callable[[PairExample, Pair], None],
    on_progress: OnProgress | None = None,
) -> None:
    """Make every pair and write it to `folder`; on_progress as in `record`, of one pair."""
    from playground import template

    def report(_stage: str, fraction: float) -> None:
        if on_progress is not None:
            on_progress("record", fraction)

    for example in PAIRS:
        a, b = (template.raw(engine.vocabulary, text) for text in (example.a, example.b))
        pair = engine.pair(a, b, on_progress=report)
        pair_files.save(pair, pair_path(folder, example.name))
        done(example, pair)
