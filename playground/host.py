"""The model behind a page: loads in the background, is switched, and says how it stands.

Nothing here imports torch until a model is asked for: a page must open at once.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from playground.ask import Ask, Limits
from playground.errors import PlaygroundError
from playground.insight import Insight
from playground.tokenroom import TokenRoom
from playground.trace import EmbeddingRow, Message, ModelInfo
from playground.vocabularies import Tokenizers

if TYPE_CHECKING:
    from playground.engine import Engine
    from playground.inside.forcing import OnProgress, ShouldStop
    from playground.inspection.digits import Digits
    from playground.inspection.pair import Pair
    from playground.models import ModelRow
    from playground.run import OnPrefill, Run
    from playground.template import Prompt
    from playground.tokens import Vocabulary

log = logging.getLogger(__name__)

State = Literal["idle", "loading", "ready", "failed"]


@dataclass(frozen=True, slots=True)
class Status:
    """Where the model stands. fraction: 0 … 1 of the stage, None where it can not be known.

    info and thinking are those of the model at hand, which may not be the one named.
    """

    state: State = "idle"
    name: str = ""
    stage: str = ""
    fraction: float | None = None
    info: ModelInfo | None = None
    thinking: bool = False
    error: PlaygroundError | None = None


class Host(Insight, TokenRoom):
    """One engine for the whole server, and the thread that loads it."""

    def __init__(
        self,
        model: str = "auto",
        *,
        allowed: tuple[str, ...] = (),
        free: bool = False,
        device: str = "auto",
        dtype: str = "auto",
        threads: int | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self._first = model
        self._allowed = tuple(dict.fromkeys((model, *allowed)))
        self._free = free
        self._options = {"device": device, "dtype": dtype, "threads": threads}
        self._engine: Engine | None = None
        self._status = Status(name=model)
        # How the status reads while the engine at hand is the one that was asked for.
        self._ready_status: Status | None = None
        self._tokenizers = Tokenizers(self._allowed, free=free, at_hand=self._at_hand)
        self._guard = threading.Lock()
        self._embedding_slots = threading.BoundedSemaphore(2)

    def start(self) -> None:
        """Begin to load the first model; returns at once."""
        self.switch(self._first)

    def status(self) -> Status:
        return self._status

    def models(self) -> tuple[ModelRow, ...]:
        """The models that a visitor may choose from."""
        from playground.models import rows

        return rows(self._allowed)

    def switch(self, name: str) -> None:
        """Load `name` in the background; the model at hand serves until the new one is ready.

        Raises PlaygroundError for a name the operator does not allow, or while another is loading.
        """
        if not isinstance(name, str) or (name not in self._allowed and not self._free):
            raise PlaygroundError("error.model_not_allowed", name=repr(name)[:80])
        with self._guard:
            if self._status.state == "loading":
                # A browser may ask twice for one choice.
                if self._status.name == name:
                    return
                raise PlaygroundError("error.model_busy", name=self._status.name)
            if self._ready_status is not None and self._ready_status.name == name:
                # Also after another one failed: the engine at hand never went away.
                self._status = self._ready_status
                return
            self._status = Status("loading", name, "import", None, self._info(), self._thinking())
        threading.Thread(target=self._load, args=(name,), name="load-model", daemon=True).start()

    def run(self, ask: Ask, on_prefill: OnPrefill | None = None) -> Run:
        """A run of the model at hand. Raises PlaygroundError for bad input or when not ready."""
        self.check(ask)
        engine = self._ready()
        prompt = self._prompt(ask, engine.vocabulary)
        return engine.generate(prompt, ask.params, ask.max_tokens, on_prefill=on_prefill)

    def pair(
        self,
        a: Ask,
        b: Ask,
        on_progress: OnProgress | None = None,
        should_stop: ShouldStop | None = None,
    ) -> Pair:
        """Two prompts side by side, see `Engine.pair`; greedy, whatever the settings."""
        self.check(a)
        self.check(b)
        engine = self._ready()
        first, second = (self._prompt(ask, engine.vocabulary) for ask in (a, b))
        return engine.pair(
            first, second, a.max_tokens, on_progress=on_progress, should_stop=should_stop
        )

    def digits(
        self,
        a: Ask,
        b: Ask,
        prefix: str,
        on_progress: OnProgress | None = None,
        should_stop: ShouldStop | None = None,
    ) -> Digits:
        """How likely each digit is as the answer to two questions, see `playground.digits`."""
        from playground.digits import digits

        for ask in (a, b):
            self.check(replace(ask, prompt=ask.prompt + prefix))
        engine = self._ready()
        first, second = ((ask.prompt, self._prompt(ask, engine.vocabulary)) for ask in (a, b))
        return digits(
            engine, first, second, prefix, on_progress=on_progress, should_stop=should_stop
        )

    def tokens(self, ask: Ask, model: str | None = None) -> Prompt:
        """What `ask` becomes before the model sees it; needs no weights when `model` is named."""
        self.check(ask)
        return self._prompt(ask, self._vocabulary(model))

    def embedding(self, token_id: int, n: int = 10) -> EmbeddingRow:
        """A row of the table of the model at hand, at most two look-ups at a time."""
        engine = self._ready()
        with self._embedding_slots:
            return engine.embedding(token_id, n)

    def check(self, ask: Ask) -> None:
        """Refuse by size before anything reads the text; then the token limit."""
        n_chars = len(ask.prompt) + len(ask.system)
        if n_chars > self.limits.max_prompt_chars:
            raise PlaygroundError(
                "error.prompt_chars", n_chars=n_chars, limit=self.limits.max_prompt_chars
            )
        limit = self.limits.max_new_tokens
        whole = isinstance(ask.max_tokens, int) and not isinstance(ask.max_tokens, bool)
        if not whole or not 1 <= ask.max_tokens <= limit:
            raise PlaygroundError("error.max_tokens", value=repr(ask.max_tokens)[:40], limit=limit)

    def _ready(self) -> Engine:
        engine = self._engine
        if engine is None:
            status = self._status
            if status.error is not None:
                raise status.error
            raise PlaygroundError("error.model_not_ready", name=status.name)
        return engine

    def _info(self) -> ModelInfo | None:
        return self._engine.info if self._engine is not None else None

    def _thinking(self) -> bool:
        return self._ready_status is not None and self._ready_status.thinking

    def _vocabulary(self, model: str | None) -> Vocabulary:
        if model is None or (self._engine is not None and model == self._engine.info.name):
            return self._ready().vocabulary
        return self._tokenizers.vocabulary(model)

    def _at_hand(self, name: str) -> Vocabulary | None:
        engine = self._engine
        return engine.vocabulary if engine is not None and engine.info.name == name else None

    @staticmethod
    def _prompt(ask: Ask, vocabulary: Vocabulary) -> Prompt:
        from playground import forms, template

        if not ask.chat:
            return template.raw(vocabulary, ask.prompt)
        system = (Message("system", ask.system),) if ask.system.strip() else ()
        messages = (*system, Message("user", ask.prompt))
        if ask.form is not None:
            return forms.chat(vocabulary, messages, ask.form)
        return template.chat(vocabulary, messages, thinking=ask.thinking)

    def _load(self, name: str) -> None:
        def progress(stage: str, fraction: float | None) -> None:
            self._status = replace(self._status, stage=stage, fraction=fraction)

        try:
            engine, thinking = self._build(name, progress)
        except PlaygroundError as error:
            self._fail(name, error)
        except Exception:
            log.exception("loading %s failed", name)
            self._fail(name, PlaygroundError("error.model_failed", name=name))
        else:
            self._engine = engine
            self._ready_status = Status("ready", name, info=engine.info, thinking=thinking)
            self._status = self._ready_status

    def _build(
        self, name: str, progress: Callable[[str, float | None], None]
    ) -> tuple[Engine, bool]:
        from playground import models, template
        from playground.engine import Engine

        engine = Engine(models.load(name, progress=progress, **self._options))  # type: ignore[arg-type]
        return engine, template.knows_thinking(engine.vocabulary)

    def _fail(self, name: str, error: PlaygroundError) -> None:
        """The page lives on with the model it had, and says why the new one is not there."""
        info, thinking = self._info(), self._thinking()
        self._status = Status("failed", name, info=info, thinking=thinking, error=error)
