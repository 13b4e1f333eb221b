"""One run of a model: the loop, the cache, the clocks, and the trace they add up to.

The loop records what it has anyway (logits, stages, draw, choice, cache, clocks); the inside of
the model comes from a later pass.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Protocol

import torch
from transformers import DynamicCache, PreTrainedModel

from playground import __version__
from playground.detok import Detokenizer
from playground.errors import PlaygroundError
from playground.sampling import NonFiniteLogits, Pick, pick
from playground.template import Prompt
from playground.tokens import Vocabulary
from playground.trace import (
    SCHEMA,
    Finish,
    ModelInfo,
    Phase,
    SamplingParams,
    Step,
    Timing,
    Token,
    Trace,
    piece_text,
)

OnPrefill = Callable[[int, int], None]


class Source(Protocol):
    """What a run needs of the engine that it runs on."""

    info: ModelInfo
    vocabulary: Vocabulary
    model: PreTrainedModel
    eos_ids: frozenset[int]

    def forward(self, ids: Sequence[int], cache: DynamicCache) -> tuple[torch.Tensor, float]: ...


class Run:
    """One run of a model: an iterator of `Step`, and the `Trace` that they add up to."""

    def __init__(
        self,
        engine: Source,
        prompt: Prompt,
        params: SamplingParams,
        max_tokens: int,
        n_candidates: int,
        forced: tuple[int, ...],
        parent: tuple[str, int] | None,
        on_prefill: OnPrefill | None,
        prefill_chunk: int,
    ) -> None:
        self.prompt = prompt
        self.params = params
        self.max_tokens = max_tokens
        self.finish: Finish | None = None
        self._engine = engine
        self._n_candidates = n_candidates
        self._forced = forced
        self._parent = parent
        self._on_prefill = on_prefill
        self._prefill_chunk = prefill_chunk
        self._cache: DynamicCache | None = DynamicCache(config=engine.model.config)
        # One generator a run, on the CPU, never the global one: a seed means the same
        # whatever runs beside it, and on whatever device.
        self._random = torch.Generator().manual_seed(params.seed)
        self._detok = Detokenizer(engine.vocabulary)
        self._steps: list[Step] = []
        self._active_ms = 0.0  # forward and pick of all steps; a reader's pauses do not count
        self._closed = False
        self._stepping = False

    def __iter__(self) -> Run:
        return self

    def __next__(self) -> Step:
        """The next step. Raises PlaygroundError when the model or the memory fails."""
        if self.finish is not None:
            raise StopIteration
        self._stepping = True
        try:
            step = self._advance()
        except NonFiniteLogits:
            self._end("error")
            raise PlaygroundError("error.non_finite", step=len(self._steps)) from None
        except torch.OutOfMemoryError:
            self._end("error")
            raise PlaygroundError(
                "error.oom", step=len(self._steps), device=self._engine.info.device
            ) from None
        except BaseException:
            self._end("error")
            raise
        finally:
            self._stepping = False
        if self._closed and self.finish is None:
            self._end("cancelled")
        if step is None:
            raise StopIteration
        return step

    def close(self) -> None:
        """Stop before the next forward; may be called from any thread, any number of times."""
        self._closed = True
        # A step under way in another thread still needs the cache, and ends the run itself.
        if self.finish is None and not self._stepping:
            self._end("cancelled")

    def trace(self) -> Trace:
        """The run as it stands now; complete once `finish` is set."""
        engine = self._engine
        finish = self.finish or "cancelled"
        return Trace(
            schema=SCHEMA,
            model=engine.info,
            messages=self.prompt.messages,
            raw_prompt=self.prompt.raw_prompt,
            thinking=self.prompt.thinking,
            templated_text=self.prompt.templated_text,
            prompt=self.prompt.tokens,
            params=self.params,
            max_tokens=self.max_tokens,
            steps=tuple(self._steps),
            finish=finish,
            text=engine.vocabulary.decode([s.token.id for s in self._text_steps(finish)]),
            parent=self._parent,
            versions=_versions(self._n_candidates, self._prefill_chunk),
            notes=self.prompt.notes,
        )

    def _text_steps(self, finish: Finish) -> list[Step]:
        return self._steps[:-1] if finish == "eos" else self._steps

    def _end(self, finish: Finish) -> None:
        self.finish = finish
        self._cache = None

    def _advance(self) -> Step | None:
        """One run of the model, or None when the run was closed before it could start."""
        cache = self._cache
        if self._closed or cache is None:
            return None
        before = cache.get_seq_length()
        ran = self._decode(cache) if self._steps else self._prefill(cache)
        if ran is None:
            return None
        logits, forward_ms = ran
        pick_start = time.perf_counter()
        index = len(self._steps)
        # Drawn for forced steps too, so that a fork's later draws are those of its parent.
        u = float(torch.rand((), generator=self._random, dtype=torch.float64))
        forced = self._forced[index] if index < len(self._forced) else None
        picked = self._pick(logits, u, forced)
        finish = self._finish_after(picked.token_id)
        emitted, pending = self._spell(picked.token_id, finish)
        # To the microsecond: finer than that no clock here means anything.
        pick_ms = round(1000 * (time.perf_counter() - pick_start), 3)
        forward_ms = round(forward_ms, 3)
        self._active_ms = round(self._active_ms + forward_ms + pick_ms, 3)
        phase: Phase = "forced" if forced is not None else "decode" if index else "prefill"
        step = Step(
            index=index,
            phase=phase,
            token=self._token(picked.token_id),
            candidates=picked.candidates,
            entropy_bits=picked.entropy_bits,
            rank=picked.rank,
            logprob=picked.logprob,
            draw=picked.draw,
            cache_before=before,
            cache_after=cache.get_seq_length(),
            cache_bytes=cache_bytes(cache),
            timing=Timing(forward_ms, pick_ms, self._active_ms),
            emitted=emitted,
            pending=pending,
        )
        self._steps.append(step)
        if finish is not None:
            self._end(finish)
        return step

    @torch.inference_mode()
    def _pick(self, logits: torch.Tensor, u: float, forced: int | None) -> Pick:
        return pick(
            logits, self.params, self._engine.vocabulary,
            u=u, forced=forced, n_candidates=self._n_candidates,
        )  # fmt: skip

    def _prefill(self, cache: DynamicCache) -> tuple[torch.Tensor, float] | None:
        """The prompt in chunks, so that it can be stopped and its progress seen."""
        ids = [token.id for token in self.prompt.tokens]
        total_ms, logits = 0.0, None
        for start in range(0, len(ids), self._prefill_chunk):
            if self._closed:
                return None
            chunk = ids[start : start + self._prefill_chunk]
            logits, ms = self._engine.forward(chunk, cache)
            total_ms += ms
            if self._on_prefill is not None:
                self._on_prefill(start + len(chunk), len(ids))
        return None if logits is None else (logits, total_ms)

    def _decode(self, cache: DynamicCache) -> tuple[torch.Tensor, float]:
        return self._engine.forward([self._steps[-1].token.id], cache)

    def _finish_after(self, token_id: int) -> Finish | None:
        count = len(self._steps) + 1
        n_ctx = self._engine.info.max_context
        if token_id in self._engine.eos_ids:
            return "eos"
        if n_ctx is not None and len(self.prompt.tokens) + count >= n_ctx:
            return "context"
        return "length" if count >= self.max_tokens else None

    def _spell(self, token_id: int, finish: Finish | None) -> tuple[str, bytes]:
        """What becomes visible. The end token is no text; at the end, bytes that never became
        whole characters are shown as decoding shows them, and stay on record as pending."""
        held = self._steps[-1].pending if self._steps else b""
        emitted, pending = ("", held) if finish == "eos" else self._detok.push(token_id)
        return (emitted + self._detok.flush() if finish else emitted), pending

    def _token(self, token_id: int) -> Token:
        vocabulary = self._engine.vocabulary
        raw = vocabulary.raw(token_id)
        return Token(
            token_id, raw, piece_text(raw), None, None, vocabulary.special(token_id), "generated"
        )


def cache_bytes(cache: DynamicCache) -> int:
    """Bytes of the tensors that the cache holds (layers without keys hold none)."""
    tensors = [
        tensor
        for layer in cache.layers
        for tensor in (getattr(layer, "keys", None), getattr(layer, "values", None))
        if tensor is not None
    ]
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def _versions(n_candidates: int, prefill_chunk: int) -> dict[str, str]:
    """What the same ids depend on beside the prompt and the settings."""
    return {
        "playground": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": version("transformers"),
        "tokenizers": version("tokenizers"),
        "threads": str(torch.get_num_threads()),
        "prefill_chunk": str(prefill_chunk),
        "n_candidates": str(n_candidates),
    }
