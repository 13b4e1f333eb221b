"""What the page needs of the model behind it. `playground.host.Host` is the real one.

The ui imports no engine: `app.py` hands a host in, and the tests hand in a scripted one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from playground.errors import PlaygroundError
from playground.trace import EmbeddingRow, Finish, ModelInfo, SamplingParams, Step, Token, Trace

OnPrefill = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Ask:
    """What a visitor wants run; the fields a host reads. Built and checked by `ui.ask`."""

    prompt: str
    system: str = ""
    chat: bool = True
    thinking: bool | None = None
    params: SamplingParams = field(default_factory=SamplingParams)
    max_tokens: int = 64


class Limits(Protocol):
    """What one visitor may ask of the server: characters, tokens, waiting runs, bytes, seconds."""

    @property
    def max_prompt_chars(self) -> int: ...
    @property
    def max_new_tokens(self) -> int: ...
    @property
    def queue_size(self) -> int: ...
    @property
    def store_bytes(self) -> int: ...
    @property
    def store_ttl_s(self) -> float: ...


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
    """The model of the server. Every method raises PlaygroundError, one sentence, on failure.

    `ask` is anything with the fields of `Ask`: the host's own class is not imported here.
    """

    @property
    def limits(self) -> Limits: ...
    def status(self) -> Status: ...
    def models(self) -> Sequence[ModelRow]: ...
    def switch(self, name: str) -> None: ...
    def run(self, ask: Any, on_prefill: OnPrefill | None = None) -> Run: ...
    def tokens(self, ask: Any, model: str | None = None) -> Prompt: ...
    def embedding(self, token_id: int, n: int = 10) -> EmbeddingRow: ...
