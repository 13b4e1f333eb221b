"""A scripted model for tests of the page: consistent numbers, no torch, at whatever pace.

The vocabulary is the 256 bytes and a few specials. The host says what its script tells it to,
whatever is asked; every probability is a softmax over the whole vocabulary of logits that a
seeded generator made, so a view finds nothing that does not add up.
"""

from __future__ import annotations

import codecs
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from playground.ask import Limits
from playground.errors import PlaygroundError
from playground.inspection import Inspection, Stopped
from playground.inspection.check import Check
from playground.inspection.experiment import Ablation, Neuron, Uncached
from playground.inspection.weights import Weights
from playground.tokenroom import TokenRoom
from playground.trace import (
    SCHEMA,
    Candidates,
    EmbeddingRow,
    Message,
    ModelInfo,
    Neighbours,
    Step,
    Timing,
    Token,
    Trace,
    piece_text,
)
from playground.vocabularies import Tokenizers
from tests import fake_inside

EOS = 256
ROWS, WIDTH, LAYERS, KV = 263, 12, 3, 2
SPECIALS = {EOS: b"<|im_end|>", 257: b"<|im_start|>", 258: b"<|endoftext|>"}
INFO = ModelInfo(
    name="scripted", source="tests", revision=None, family="fake", device="cpu", dtype="float32",
    n_layers=LAYERS, n_heads=4, n_kv_heads=KV, d_model=WIDTH, d_head=3, d_ffn=31, vocab_rows=ROWS,
    vocab_size=259, n_params=123_456, max_context=4096, norm="RMSNorm", tied=True,
)  # fmt: skip


def raw(token_id: int) -> bytes:
    return SPECIALS.get(token_id, bytes([token_id]) if token_id < 256 else b"")


def token(token_id: int, start: int | None, end: int | None, source: str) -> Token:
    piece = raw(token_id)
    special = token_id in SPECIALS
    return Token(token_id, piece, piece_text(piece), start, end, special, source)  # type: ignore[arg-type]


@dataclass(frozen=True)
class FakePrompt:
    messages: tuple[Message, ...] | None
    raw_prompt: str | None
    templated_text: str
    tokens: tuple[Token, ...]
    thinking: bool | None = None
    notes: tuple[tuple[str, dict[str, str | int]], ...] = ()


def prompt_of(ask: Any) -> FakePrompt:
    """The ask in a small template, a token per byte, each with its characters and its source."""
    clean = ask.prompt.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    notes = () if clean == ask.prompt else (("note.surrogates", {"count": 1}),)
    parts = [(clean, "user")]
    if ask.chat:
        parts = [("<|im_start|>", "template"), ("user\n", "template"), *parts]
        parts += [("<|im_end|>", "template"), ("\n", "template")]
    text, tokens = "", []
    for part, source in parts:
        at = len(text)
        control = source == "template" and part.startswith("<|")
        if control:
            known = next(i for i, b in SPECIALS.items() if b == part.encode())
            tokens.append(token(known, at, at + len(part), source))
        else:
            for k, character in enumerate(part):
                tokens += [token(b, at + k, at + k + 1, source) for b in character.encode()]
        text += part
    messages = (Message("user", clean),) if ask.chat else None
    raw_prompt = None if ask.chat else clean
    return FakePrompt(messages, raw_prompt, text, tuple(tokens), notes=notes)


def softmax(logits: np.ndarray) -> np.ndarray:
    e = np.exp(logits - logits.max())
    return e / e.sum()


@dataclass
class FakeRun:
    """What `Run` promises: a step at a time, `close` before the next one."""

    prompt: FakePrompt
    ask: Any
    script: Sequence[int]
    pace_s: float = 0.0
    prefill_s: float = 0.0
    chunks: int = 1
    fail_at: int | None = None
    on_prefill: Any = None
    finish: Any = None
    steps: list[Step] = field(default_factory=list)
    closed: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = b""
        self._text = ""
        self._random = np.random.default_rng(self.ask.params.seed)

    def __iter__(self) -> FakeRun:
        return self

    def __next__(self) -> Step:
        if self.finish is None and self.closed.is_set():
            self.finish = "cancelled"
        if self.finish is not None:
            raise StopIteration
        if not self.steps:
            for k in range(self.chunks):
                if self.closed.wait(self.prefill_s / self.chunks):
                    self.finish = "cancelled"
                    raise StopIteration
                if self.on_prefill is not None:
                    n = len(self.prompt.tokens)
                    self.on_prefill(n * (k + 1) // self.chunks, n)
        time.sleep(self.pace_s)
        if len(self.steps) == self.fail_at:
            self.finish = "error"
            raise PlaygroundError("error.non_finite", step=len(self.steps))
        step = self._step(self.script[len(self.steps) % len(self.script)])
        self.steps.append(step)
        if step.token.id == EOS:
            self.finish = "eos"
        elif len(self.steps) >= self.ask.max_tokens:
            self.finish = "length"
        return step

    def close(self) -> None:
        self.closed.set()

    def trace(self) -> Trace:
        return Trace(
            schema=SCHEMA, model=INFO, messages=self.prompt.messages,
            raw_prompt=self.prompt.raw_prompt, thinking=self.prompt.thinking,
            templated_text=self.prompt.templated_text, prompt=self.prompt.tokens,
            params=self.ask.params, max_tokens=self.ask.max_tokens, steps=tuple(self.steps),
            finish=self.finish or "cancelled", text=self._text, versions={"fake": "1"},
            notes=self.prompt.notes,
        )  # fmt: skip

    def _step(self, chosen: int) -> Step:
        logits = self._random.normal(0, 2, ROWS)
        logits[chosen] = logits.max() + 1.5
        logits = logits.astype("f4")
        order = np.argsort(-logits, kind="stable")
        probs = softmax(logits.astype("f8"))
        ids = order[:10]
        rows, kept, counts, stages = [probs], [np.ones(ROWS, bool)], [ROWS], ["logits"]
        params = self.ask.params
        if not params.greedy:
            scaled = logits.astype("f8") / params.temperature
            rows.append(softmax(scaled))
            kept.append(np.ones(ROWS, bool))
            counts.append(ROWS)
            stages.append("temperature")
            if params.top_k:
                mask = np.zeros(ROWS, bool)
                mask[order[: params.top_k]] = True
                rows.append(softmax(np.where(mask, scaled, -np.inf)))
                kept.append(mask)
                counts.append(int(mask.sum()))
                stages.append("top_k")
        listed = np.array(rows)[:, ids]
        index, before = len(self.steps), len(self.prompt.tokens) + len(self.steps) - 1
        after = before + 1 if index else len(self.prompt.tokens)
        emitted = "" if chosen == EOS else self._decoder.decode(raw(chosen))
        self._held = b"" if emitted or chosen == EOS else self._held + raw(chosen)
        self._text += emitted
        return Step(
            index=index, phase="decode" if index else "prefill",
            token=token(chosen, None, None, "generated"),
            candidates=Candidates(
                ids=ids, raw=tuple(raw(int(i)) for i in ids),
                special=[int(i) in SPECIALS for i in ids], logits=logits[ids], probs=listed,
                kept=np.array(kept)[:, ids], kept_count=counts,
                tail=np.maximum(0, 1 - listed.sum(1)), stages=tuple(stages),
            ),
            entropy_bits=float(-(probs * np.log2(probs)).sum()),
            rank=int(np.flatnonzero(order == chosen)[0]) + 1,
            logprob=float(np.log(probs[chosen])),
            draw=None if params.greedy else float(self._random.random()),
            cache_before=before if index else 0, cache_after=after,
            cache_bytes=after * 2 * LAYERS * KV * 3 * 4,
            timing=Timing(8.0 + index % 3, 0.5, 9.0 * (index + 1)),
            emitted=emitted, pending=self._held,
        )  # fmt: skip


@dataclass(frozen=True)
class FakeLimits(Limits):
    max_prompt_chars: int = 1000
    max_new_tokens: int = 128
    queue_size: int = 3
    store_bytes: int = 8_000_000
    store_ttl_s: float = 600.0


@dataclass(frozen=True)
class FakeStatus:
    state: str = "ready"
    name: str = "scripted"
    stage: str = ""
    fraction: float | None = None
    info: ModelInfo | None = INFO
    thinking: bool = False
    error: PlaygroundError | None = None


@dataclass(frozen=True)
class FakeRow:
    name: str
    kind: str = "embedded"
    location: str = "/somewhere/secret"
    local: bool = True
    size_bytes: int | None = 1234
    tokenizer_only: bool = False


class FakeHost(TokenRoom):
    """A host whose model says `answer`. Settings of its runs are attributes."""

    def __init__(self, answer: str = "It is 苹果. ✓", **limits: Any) -> None:
        self.limits = FakeLimits(**limits)
        self.script = [*answer.encode(), EOS]
        self.options: dict[str, Any] = {}
        self.runs: list[FakeRun] = []
        self.names = ("scripted", "other")
        self._tokenizers = Tokenizers(self.names)
        # Looking inside: what was asked for, seconds for each of its turns, what goes wrong.
        self.looks: list[tuple[Any, ...]] = []
        self.look_s = 0.0
        self.look_fails: Exception | None = None
        self._status = FakeStatus()

    def start(self) -> None:
        self._status = FakeStatus()

    def status(self) -> FakeStatus:
        return self._status

    def set(self, **change: Any) -> None:
        self._status = replace(self._status, **change)

    def models(self) -> tuple[FakeRow, ...]:
        return tuple(FakeRow(name) for name in self.names)

    def switch(self, name: str) -> None:
        if name not in self.names:
            raise PlaygroundError("error.model_not_allowed", name=repr(name)[:80])
        self.set(state="loading", name=name, stage="read", fraction=0.25)

    def run(self, ask: Any, on_prefill: Any = None) -> FakeRun:
        if self._status.info is None:
            raise PlaygroundError("error.model_not_ready", name=self._status.name)
        run = FakeRun(prompt_of(ask), ask, self.script, on_prefill=on_prefill, **self.options)
        self.runs.append(run)
        return run

    def tokens(self, ask: Any, model: str | None = None) -> FakePrompt:
        if model is not None and model not in self.names:
            raise PlaygroundError("error.model_not_allowed", name=repr(model)[:80])
        return prompt_of(ask)

    def embedding(self, token_id: int, n: int = 10) -> EmbeddingRow:
        if not 0 <= token_id < ROWS:
            raise PlaygroundError("error.token_id", value=token_id, last=ROWS - 1)
        return row_of(token_id, n)

    def inspect(
        self, trace: Trace, on_progress: Any = None, should_stop: Any = None, *,
        layers: Any = None, lens: Any = None,
    ) -> Inspection:  # fmt: skip
        self._looks(trace, "inspect", None if layers is None else tuple(layers), lens)
        self._turns("forward", LAYERS, on_progress, should_stop)
        self._turns("lens", LAYERS + 1, on_progress, should_stop)
        return fake_inside.inspection_of(trace, layers, lens)

    def weights(self) -> Weights | None:
        return None if self._status.info is None else fake_inside.weights_of(self._status.info)

    def neuron(self, layer: int, neuron_id: int, k: int = 10) -> Neuron:
        self._looks(None, "neuron", layer, neuron_id)
        time.sleep(self.look_s)
        return fake_inside.neuron_of(layer, neuron_id, k)

    def ablate(
        self, trace: Trace, step: int, hide: Any = None, head: Any = None, ffn: Any = None
    ) -> Ablation:
        self._looks(trace, "ablate", step, hide, head, ffn)
        time.sleep(self.look_s)
        return fake_inside.ablation_of(trace, step, hide, head, ffn)

    def uncached(self, trace: Trace, on_progress: Any = None, should_stop: Any = None) -> Uncached:
        self._looks(trace, "uncached")
        self._turns("uncached", len(trace.steps), on_progress, should_stop)
        return fake_inside.uncached_of(trace)

    def checks(
        self, trace: Trace, on_progress: Any = None, should_stop: Any = None
    ) -> tuple[Check, ...]:
        self._looks(trace, "checks")
        self._turns("check", len(trace.steps), on_progress, should_stop)
        return fake_inside.checks_of(trace)

    def _looks(self, trace: Trace | None, *asked: Any) -> None:
        self.looks.append(asked)
        info = self._status.info
        if info is None:
            raise PlaygroundError("error.model_not_ready", name=self._status.name)
        if trace is not None and trace.model != info:
            raise PlaygroundError(
                "error.inspect_other_model", recorded=trace.model.name, loaded=info.name
            )
        if self.look_fails is not None:
            raise self.look_fails

    def _turns(self, stage: str, n: int, on_progress: Any, should_stop: Any) -> None:
        for k in range(n):
            if should_stop is not None and should_stop():
                raise Stopped
            if on_progress is not None:
                on_progress(stage, k / n)
            time.sleep(self.look_s)


def row_of(token_id: int, n: int = 10) -> EmbeddingRow:
    """A row of a seeded table and its neighbours, by plain numpy."""
    table = np.random.default_rng(5).normal(0, 1, (ROWS, WIDTH)).astype("f4")
    x = table[token_id].astype("f8")
    dots = table @ x
    norms = np.linalg.norm(table, axis=1)
    far = np.linalg.norm(table - x, axis=1)
    scores = {"cosine": dots / norms / norms[token_id], "euclidean": far, "dot": dots}
    ranks = {}
    for metric, score in scores.items():
        order = np.argsort(score if metric == "euclidean" else -score, kind="stable")
        order = order[order != token_id]
        rank = np.zeros(ROWS, int)
        rank[order] = np.arange(1, ROWS)
        ranks[metric] = (order, rank)
    near = []
    for metric, score in scores.items():
        ids = ranks[metric][0][:n]
        places = np.array([ranks[m][1][ids] for m in scores])
        near.append(Neighbours(metric, ids, tuple(raw(int(i)) for i in ids), score[ids], places))
    return EmbeddingRow(
        INFO, token_id, raw(token_id), token_id in SPECIALS, table[token_id],
        float(np.linalg.norm(x)), float(x.mean()), float(x.min()), float(x.max()), tuple(near),
    )  # fmt: skip
