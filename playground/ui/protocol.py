"""What the page needs of the model behind it. `playground.host.Host` is the real one.

The ui imports no engine: `app.py` hands a host in, and the tests hand in a scripted one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from playground.ask import Ask, Limits
from playground.errors import PlaygroundError
from playground.inspection import Inspection
from playground.inspection.check import Check
from playground.inspection.digits import Digits
from playground.inspection.experiment import Ablation, Neuron, Uncached
from playground.inspection.pair import Pair
from playground.inspection.weights import Weights
from playground.tokenlab import (
    Comparison,
    Cutting,
    Form,
    FourWays,
    LanguageCost,
    Ledger,
    Story,
    Tokenizer,
    Training,
)
from playground.trace import EmbeddingRow, Finish, Message, ModelInfo, Step, Token, Trace

OnPrefill = Callable[[int, int], None]
OnProgress = Callable[[str, float | None], None]
ShouldStop = Callable[[], bool]


class Status(Protocol):
    """Where the model stands: state is idle, loading, ready or failed; fraction 0 … 1 or None."""

    @property
    def state(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def stage(self) -> str: ...
    @property
    def fraction(self) -> float | None: ...
    @property
    def info(self) -> ModelInfo | None: ...
    @property
    def thinking(self) -> bool: ...
    @property
    def error(self) -> PlaygroundError | None: ...


class ModelRow(Protocol):
    """One model that a visitor may choose."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def location(self) -> str: ...
    @property
    def local(self) -> bool: ...
    @property
    def size_bytes(self) -> int | None: ...
    @property
    def tokenizer_only(self) -> bool: ...


class Prompt(Protocol):
    """What a question becomes before the model sees it."""

    @property
    def templated_text(self) -> str: ...
    @property
    def tokens(self) -> Sequence[Token]: ...
    @property
    def notes(self) -> Sequence[tuple[str, Mapping[str, str | int]]]: ...


class Run(Protocol):
    """One run: an iterator of steps; `close` stops it before the next forward."""

    @property
    def finish(self) -> Finish | None: ...
    def __next__(self) -> Step: ...
    def close(self) -> None: ...
    def trace(self) -> Trace: ...


class Host(Protocol):
    """The model of the server. Every method raises PlaygroundError, one sentence, on failure."""

    @property
    def limits(self) -> Limits: ...
    def status(self) -> Status: ...
    def models(self) -> Sequence[ModelRow]: ...
    def switch(self, name: str) -> None: ...
    def run(self, ask: Ask, on_prefill: OnPrefill | None = None) -> Run: ...
    def tokens(self, ask: Ask, model: str | None = None) -> Prompt: ...
    def embedding(self, token_id: int, n: int = 10) -> EmbeddingRow: ...

    # Looking inside. on_progress(stage, fraction of it); should_stop: a yes raises `Stopped`.
    def inspect(
        self,
        trace: Trace,
        on_progress: OnProgress | None = None,
        should_stop: ShouldStop | None = None,
        *,
        layers: Sequence[int] | None = None,
        lens: Sequence[int] | None = None,
    ) -> Inspection: ...
    def weights(self) -> Weights | None: ...
    def neuron(self, layer: int, neuron_id: int, k: int = 10) -> Neuron: ...
    def ablate(
        self,
        trace: Trace,
        step: int,
        hide: int | None = None,
        head: tuple[int, int] | None = None,
        ffn: int | None = None,
    ) -> Ablation: ...
    def uncached(
        self,
        trace: Trace,
        on_progress: OnProgress | None = None,
        should_stop: ShouldStop | None = None,
    ) -> Uncached: ...
    def pair(
        self,
        a: Ask,
        b: Ask,
        on_progress: OnProgress | None = None,
        should_stop: ShouldStop | None = None,
    ) -> Pair: ...
    def digits(
        self,
        a: Ask,
        b: Ask,
        prefix: str,
        on_progress: OnProgress | None = None,
        should_stop: ShouldStop | None = None,
    ) -> Digits: ...
    def checks(
        self,
        trace: Trace,
        on_progress: OnProgress | None = None,
        should_stop: ShouldStop | None = None,
    ) -> tuple[Check, ...]: ...

    # The tokenizer laboratory; no weights are needed.
    def tokenizers(self) -> Sequence[Tokenizer]: ...
    def encodings(self) -> Sequence[str]: ...
    def first_tokenizer(self) -> str: ...
    def cut(self, model: str, text: str) -> Cutting: ...
    def story(self, model: str, written: str) -> tuple[Story, Sequence[bytes]]: ...
    def ledger(self, model: str, text: str, control: bool = False) -> Ledger: ...
    def ways(self, model: str, text: str) -> FourWays: ...
    def compare(self, models: Sequence[str], text: str) -> Comparison: ...
    def languages(self, models: Sequence[str]) -> tuple[Sequence[LanguageCost], str]: ...
    def train(self, corpus: str, merges: int) -> Training: ...
    def templates(
        self,
        model: str,
        messages: Sequence[Message],
        thinking: bool | None = None,
        control: bool = False,
    ) -> Sequence[Form]: ...
