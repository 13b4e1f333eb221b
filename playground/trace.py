"""The record of one run: what every view reads and every file stores.

Axis letters, everywhere in the project: L layers, H query heads, G kv heads, T positions,
D width, F ffn width, V vocabulary rows, C candidates, S stages, N neighbours.

Values are frozen. Dataclasses that hold arrays have no `==` (`eq=False`); tests compare
content with `same`. Arrays are owned copies, read-only, so that none pins a bigger one.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from playground.params import SamplingParams as SamplingParams

SCHEMA = 1

Source = Literal["template", "system", "user", "assistant", "thinking", "generated"]
Phase = Literal["prefill", "decode", "forced"]
Finish = Literal["eos", "length", "cancelled", "context", "error"]
SOURCES = ("template", "system", "user", "assistant", "thinking", "generated")
PHASES = ("prefill", "decode", "forced")
FINISHES = ("eos", "length", "cancelled", "context", "error")


def own(array: Any, dtype: str) -> np.ndarray:
    """A contiguous read-only copy of `array` in `dtype` that shares memory with nothing."""
    copy = np.array(array, dtype=dtype, order="C", copy=True)
    copy.flags.writeable = False
    return copy


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What the loaded model is; counts are read from its tensors, not from a table.

    vocab_rows: rows of the embedding table (V). vocab_size: rows the tokenizer has a token for.
    max_context: positions the model was built for, or None where it does not say.
    """

    name: str
    source: str
    revision: str | None
    family: str
    device: str
    dtype: str
    n_layers: int
    n_heads: int
    n_kv_heads: int
    d_model: int
    d_head: int
    d_ffn: int
    vocab_rows: int
    vocab_size: int
    n_params: int
    max_context: int | None
    norm: str
    tied: bool


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat: role is system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Token:
    """One piece of the vocabulary at one place of a text.

    raw: the piece's bytes. text: for display only, never a key; bytes that are not UTF-8 by
    themselves show as `\\xe7`. start, end: the characters of the templated text it covers
    (end exclusive; several byte pieces of one character share one span), None for a token
    that was generated.
    """

    id: int
    raw: bytes
    text: str
    start: int | None
    end: int | None
    special: bool
    source: Source


def piece_text(raw: bytes) -> str:
    """`raw` for display: UTF-8 where it is UTF-8, `\\x..` for each other byte; never U+FFFD."""
    return raw.decode("utf-8", errors="backslashreplace")


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The most likely next tokens at one step, through the stages of picking.

    ids: i64[C], by falling raw logit. raw: the C pieces' bytes. special: bool[C].
    logits: f32[C], the model's own. stages: the S names; "logits" first (softmax of the raw
    logits), then each warper that was on, in transformers' order. probs: f32[S, C], softmax
    over the WHOLE vocabulary after that stage. kept: bool[S, C]. kept_count: i64[S], tokens of
    the whole vocabulary still in. tail: f32[S], probability of all that is not listed.
    """

    ids: np.ndarray
    raw: tuple[bytes, ...]
    special: np.ndarray
    logits: np.ndarray
    probs: np.ndarray
    kept: np.ndarray
    kept_count: np.ndarray
    tail: np.ndarray
    stages: tuple[str, ...]

    def __post_init__(self) -> None:
        for name, dtype in (
            ("ids", "i8"), ("special", "?"), ("logits", "f4"), ("probs", "f4"),
            ("kept", "?"), ("kept_count", "i8"), ("tail", "f4"),
        ):  # fmt: skip
            object.__setattr__(self, name, own(getattr(self, name), dtype))
        c, s = len(self.raw), len(self.stages)
        shapes = {
            "ids": (c,), "special": (c,), "logits": (c,), "probs": (s, c),
            "kept": (s, c), "kept_count": (s,), "tail": (s,),
        }  # fmt: skip
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise ValueError(f"{name} has shape {getattr(self, name).shape}, not {shape}")


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds of real work at one step; the device is synchronised first.

    done_ms: from the start of the run until this token was chosen, without the time that the
    reader of the steps took between them.
    """

    forward_ms: float
    pick_ms: float
    done_ms: float


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One model run and the token that came of it.

    entropy_bits: of the model's own distribution (softmax of the raw logits). rank: 1 is the
    token with the highest raw logit. logprob: natural log of the choice's probability in that
    same distribution. draw: u in [0, 1), None when greedy or forced. cache_before,
    cache_after: positions held. cache_bytes: what the cache's tensors really take after this
    run. emitted: characters that became visible. pending: bytes held until a character is whole.
    """

    index: int
    phase: Phase
    token: Token
    candidates: Candidates
    entropy_bits: float
    rank: int
    logprob: float
    draw: float | None
    cache_before: int
    cache_after: int
    cache_bytes: int
    timing: Timing
    emitted: str
    pending: bytes


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """One run, complete: a view or a file needs nothing else.

    Exactly one of `messages` and `raw_prompt` is given. thinking: what the template was told
    (None: nothing). text: the whole answer without its end token. parent: (trace id, step) of
    a fork. notes: (text key, values) that the reader should be told about the prompt.
    """

    schema: int
    model: ModelInfo
    messages: tuple[Message, ...] | None
    raw_prompt: str | None
    thinking: bool | None
    templated_text: str
    prompt: tuple[Token, ...]
    params: SamplingParams
    max_tokens: int
    steps: tuple[Step, ...]
    finish: Finish
    text: str
    parent: tuple[str, int] | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[tuple[str, Mapping[str, str | int]], ...] = ()

    def __post_init__(self) -> None:
        if (self.messages is None) == (self.raw_prompt is None):
            raise ValueError("a trace has messages or a raw prompt, not both and not neither")
        if not self.prompt:
            raise ValueError("a trace has at least one prompt token")
        for i, step in enumerate(self.steps):
            if step.index != i:
                raise ValueError(f"step {i} says it is step {step.index}")

    @property
    def ids(self) -> tuple[int, ...]:
        """The answer's token ids in order, the end token included."""
        return tuple(step.token.id for step in self.steps)

    @property
    def first_token_ms(self) -> float | None:
        return self.steps[0].timing.done_ms if self.steps else None

    @property
    def first_visible_ms(self) -> float | None:
        """When the first whole character could be read; None if none ever was."""
        return next((s.timing.done_ms for s in self.steps if s.emitted), None)

    @property
    def tokens_per_second(self) -> float | None:
        """Decode rate (n - 1) / (t_last - t_first): the prefill is not in it."""
        if len(self.steps) < 2:
            return None
        span = self.steps[-1].timing.done_ms - self.steps[0].timing.done_ms
        rate = 1000 * (len(self.steps) - 1) / span if span > 0 else math.inf
        # A file may bring times so small that no rate can be told from them.
        return rate if math.isfinite(rate) else None


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """The N nearest rows by one measure, nearest first (the row itself left out).

    metric: cosine, euclidean or dot. ids: i64[N]. raw: the pieces' bytes; empty for a row that
    has no token. score: f32[N] (euclidean: the distance). rank_in: i64[3, N], the place of each
    of these rows (1 = nearest) under cosine, euclidean and dot, over the whole table.
    """

    metric: str
    ids: np.ndarray
    raw: tuple[bytes, ...]
    score: np.ndarray
    rank_in: np.ndarray

    def __post_init__(self) -> None:
        for name, dtype in (("ids", "i8"), ("score", "f4"), ("rank_in", "i8")):
            object.__setattr__(self, name, own(getattr(self, name), dtype))


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddingRow:
    """One row of the embedding table and what is near it. values: f32[D]."""

    model: ModelInfo
    id: int
    raw: bytes
    special: bool
    values: np.ndarray
    norm: float
    mean: float
    minimum: float
    maximum: float
    neighbours: tuple[Neighbours, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", own(self.values, "f4"))


def same(a: Any, b: Any) -> bool:
    """Equal in content and type, arrays to the bit: for tests, which `==` can not serve."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return (
            isinstance(a, np.ndarray) and isinstance(b, np.ndarray)
            and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        )  # fmt: skip
    if type(a) is not type(b):
        return False
    if dataclasses.is_dataclass(a):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a))
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, Mapping):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, float):
        return a == b or (math.isnan(a) and math.isnan(b))
    return bool(a == b)
