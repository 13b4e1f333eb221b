"""The recorded examples that the page opens with, and how they are made.

Each is a real run of a real model: `NAME.trace.json.gz` is the run, `NAME.rows.json.gz` the
rows of the embedding table for every token of its prompt and answer, `NAME.inside.json.gz` the
inside of the model at every step, so that the page needs no model to show what is in them.
`NAME.pair.json.gz` is two short runs of prompts that differ in a word, or of one question in two
templates, laid side by side. `letters.json.gz` is what the model gives the digits as the answer to
a question about letters.
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
from playground.inspection.digits import Digits
from playground.inspection.pair import Pair
from playground.store import digits as digit_files
from playground.store import pair as pair_files
from playground.trace import EmbeddingRow, Message, SamplingParams, Trace

if TYPE_CHECKING:
    from playground.engine import Engine
    from playground.template import Prompt

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
    """Two raw prompts, or questions in the templates `forms` ("own": the model's). name: of the
    file."""

    name: str
    a: str
    b: str
    forms: tuple[str, str] | None = None
    max_tokens: int = 8


PAIRS = (
    PairExample("apple-zh", "苹果最常见的颜色是", "苹果最常见的形状是"),
    PairExample(
        "apple-en", "The most common color of an apple is", "The most common shape of an apple is"
    ),
    PairExample("capital-en", "The capital of France is", "The capital of Italy is"),
    PairExample("template", "Is OpenAI open?", "Is OpenAI open?", ("own", "plain"), 24),
)

# The word as its tokens, and as its letters; and the beginning of an answer that asks for a digit.
LETTERS = ("How many r are in strawberry?", "How many r are in s t r a w b e r r y?")
PREFIX = "The answer is "


def trace_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.trace.json.gz"


def rows_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.rows.json.gz"


def inside_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.inside.json.gz"


def pair_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.pair.json.gz"


def letters_path(folder: Path) -> Path:
    return folder / "letters.json.gz"


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

    def report(_stage: str, fraction: float) -> None:
        if on_progress is not None:
            on_progress("record", fraction)

    for example in PAIRS:
        a, b = _prompts(engine, example)
        pair = engine.pair(a, b, example.max_tokens, on_progress=report)
        pair_files.save(pair, pair_path(folder, example.name))
        done(example, pair)


def _prompts(engine: Engine, example: PairExample) -> tuple[Prompt, Prompt]:
    from playground import forms, template

    vocabulary, texts = engine.vocabulary, (example.a, example.b)
    if example.forms is None:
        a, b = (template.raw(vocabulary, text) for text in texts)
        return a, b

    def put(text: str, form: str) -> Prompt:
        chat = [Message("user", text)]
        own = form == "own"
        return template.chat(vocabulary, chat) if own else forms.chat(vocabulary, chat, form)

    return put(texts[0], example.forms[0]), put(texts[1], example.forms[1])


def record_letters(engine: Engine, folder: Path) -> Digits:
    """Ask both questions of `LETTERS` and write what was found to `folder`."""
    from playground import template
    from playground.digits import digits

    def asked(question: str) -> tuple[str, Prompt]:
        return question, template.chat(engine.vocabulary, [Message("user", question)])

    found = digits(engine, asked(LETTERS[0]), asked(LETTERS[1]), PREFIX)
    digit_files.save(found, letters_path(folder))
    return found
