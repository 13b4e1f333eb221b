"""A trace as one run of ids through the model: what is fed, and whether this model can be."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from transformers import PreTrainedModel

from playground.errors import PlaygroundError
from playground.inspection import Stopped, same_model
from playground.sampling import Pieces
from playground.trace import ModelInfo, Trace

OnProgress = Callable[[str, float], None]
ShouldStop = Callable[[], bool]


class Runner(Protocol):
    """What is needed of an engine."""

    info: ModelInfo
    model: PreTrainedModel
    lock: threading.Lock

    @property
    def vocabulary(self) -> Pieces: ...

    def check_id(self, token_id: object) -> int: ...


@dataclass(frozen=True, slots=True)
class Forced:
    """ids: prompt and answer without its last token (T); chosen: the answer's tokens (P)."""

    ids: tuple[int, ...]
    n_prompt: int
    chosen: tuple[int, ...]

    def before(self, step: int) -> tuple[int, ...]:
        """What the model had read when it wrote the token of `step`."""
        return self.ids[: self.n_prompt + step]


def forced(runner: Runner, trace: Trace) -> Forced:
    """`trace` as ids that this model can run. Raises PlaygroundError where it can not."""
    if not trace.steps:
        raise PlaygroundError("error.inspect_no_steps")
    if not same_model(trace.model, runner.info):
        raise PlaygroundError(
            "error.inspect_other_model", recorded=trace.model.name, loaded=runner.info.name
        )
    prompt = [runner.check_id(token.id) for token in trace.prompt]
    chosen = [runner.check_id(i) for i in trace.ids]
    ids = (*prompt, *chosen[:-1])
    n_ctx = runner.info.max_context
    if n_ctx is not None and len(ids) > n_ctx:
        raise PlaygroundError("error.inspect_context", n=len(ids), n_ctx=n_ctx)
    return Forced(ids, len(prompt), tuple(chosen))


def index(name: str, value: object, count: int) -> int:
    """`value` as a whole number from 0 to `count` - 1. Raises PlaygroundError."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < count:
        raise PlaygroundError(f"error.inspect_{name}", value=repr(value)[:40], last=count - 1)
    return value


def batch(runner: Runner, ids: tuple[int, ...]) -> torch.Tensor:
    """i64[1, T] where the embedding table is."""
    return torch.tensor([ids], device=runner.model.get_input_embeddings().weight.device)


class Turn:
    """Progress and Stop: called between pieces of work."""

    def __init__(self, on_progress: OnProgress | None, should_stop: ShouldStop | None) -> None:
        self._on_progress, self._should_stop = on_progress, should_stop

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Raises Stopped when asked to stop."""
        if self._should_stop is not None and self._should_stop():
            raise Stopped
        if self._on_progress is not None:
            self._on_progress(stage, done / total)


@contextmanager
def memory_said(runner: Runner) -> Iterator[None]:
    """A lack of memory, as a sentence."""
    try:
        yield
    except (torch.OutOfMemoryError, MemoryError):
        raise PlaygroundError("error.inspect_memory", device=runner.info.device) from None


def synchronise(tensor: Any) -> None:
    """Wait for the device, so that a clock shows the work and not its order."""
    if tensor.device.type == "cuda":
        torch.cuda.synchronize(tensor.device)
    elif tensor.device.type == "mps":
        torch.mps.synchronize()
