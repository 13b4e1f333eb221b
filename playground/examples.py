"""The recorded examples that the page opens with, and how they are made.

Each is a real run of a real model: `NAME.trace.json.gz` is the run, `NAME.rows.json.gz` the
rows of the embedding table for every token of its prompt and answer, so that the page needs no
model to show all of it. `python -m playground record --out assets/examples` makes them again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from playground import store
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


def trace_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.trace.json.gz"


def rows_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.rows.json.gz"


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


def record(engine: Engine, folder: Path, done: Callable[[Example, Trace], None]) -> None:
    """Make every example and write it to `folder`. Raises PlaygroundError."""
    for example in EXAMPLES:
        trace, rows = make(engine, example)
        store.save(trace, trace_path(folder, example.name))
        store.save_rows(rows, rows_path(folder, example.name))
        done(example, trace)
