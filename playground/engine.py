"""The traced generator: one model, many runs, nothing shared between two of them.

The loop records what it has anyway (logits, stages, draw, choice, cache, clocks); the inside
of the model comes from a later pass. A run is an iterator that any thread may step; a lock
keeps the model's forwards one at a time.
"""

from __future__ import annotations

import platform
import threading
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version

import torch
from transformers import DynamicCache

from playground import __version__, lens
from playground.detok import Detokenizer
from playground.errors import PlaygroundError
from playground.models import Loaded
from playground.sampling import NonFiniteLogits, Pick, pick
from playground.template import Prompt
from playground.tokens import Vocabulary
from playground.trace import (
    SCHEMA,
    EmbeddingRow,
    Finish,
    Phase,
    SamplingParams,
    Step,
    Timing,
    Token,
    Trace,
    piece_text,
)

PREFILL_CHUNK = 512
N_CANDIDATES = 50

OnPrefill = Callable[[int, int], None]


class Engine:
    """A loaded model with its vocabulary, ready to be run by any number of threads."""

    def __init__(self, loaded: Loaded) -> None:
        self.info = loaded.info
        self.vocabulary = Vocabulary(loaded.tokenizer)
        self.model = loaded.model
        self.eos_ids = loaded.eos_ids
        self.lock = threading.Lock()

    def generate(
        self,
        prompt: Prompt,
        params: SamplingParams,
        max_tokens: int,
        *,
        n_candidates: int = N_CANDIDATES,
        forced: Sequence[int] = (),
        parent: tuple[str, int] | None = None,
        on_prefill: OnPrefill | None = None,
        prefill_chunk: int = PREFILL_CHUNK,
    ) -> Run:
        """A run that has not started yet; stepping it does the work.

        forced: ids that the first steps take whatever the numbers say. on_prefill(done, total):
        called after each chunk of the prompt. Raises PlaygroundError before any work when the
        prompt and `max_tokens` do not fit the model's positions, or an id is out of range.
        """
        rows = self.info.vocab_rows
        if isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or max_tokens < 1:
            raise PlaygroundError(
                "error.max_tokens", value=repr(max_tokens)[:40], limit=self.info.max_context or "…"
            )
        if params.top_k > rows:
            raise PlaygroundError("error.top_k_vocab", value=params.top_k, rows=rows)
        if not prompt.tokens:
            raise PlaygroundError("error.no_tokens")
        for token_id in (*(t.id for t in prompt.tokens), *forced):
            self.check_id(token_id)
        n_prompt, n_ctx = len(prompt.tokens), self.info.max_context
        if n_ctx is not None and n_prompt + max_tokens > n_ctx:
            raise PlaygroundError(
                "error.context", n_prompt=n_prompt, max_tokens=max_tokens, n_ctx=n_ctx
            )
        return Run(
            self, prompt, params, max_tokens, n_candidates, tuple(forced), parent,
            on_prefill, prefill_chunk,
        )  # fmt: skip

    def check_id(self, token_id: object) -> int:
        """`token_id` as an int that is a row of the table; raises PlaygroundError."""
        last = self.info.vocab_rows - 1
        if isinstance(token_id, bool) or not isinstance(token_id, int) or not 0 <= token_id <= last:
            raise PlaygroundError("error.token_id", value=repr(token_id)[:40], last=last)
        return token_id

    def embedding(self, token_id: int, n: int = 10) -> EmbeddingRow:
        """The row of the embedding table for one id, and its `n` nearest rows by each measure."""
        self.check_id(token_id)
        table = self.model.get_input_embeddings().weight
        return lens.embedding_row(table, token_id, self.info, self.vocabulary, n)

    @torch.inference_mode()
    def forward(self, ids: Sequence[int], cache: DynamicCache) -> tuple[torch.Tensor, float]:
        """Run `ids` after what `cache` holds: f32[V] logits of the last position, and the
        milliseconds that took (waiting for another run's forward is not in them)."""
        with self.lock:
            start = time.perf_counter()
            batch = torch.tensor([ids], device=self.model.get_input_embeddings().weight.device)
            output = self.model(input_ids=batch, cache=cache, use_cache=True, logits_to_keep=1)
            logits = output.logits[0, -1].float()
            _synchronise(logits.device)
            return logits, 1000 * (time.perf_counter() - start)


class Run:
    """One run of a model: an iterator of `Step`, and the `Trace` that they add up to."""

    def __init__(
        self,
        engine: Engine,
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


def _synchronise(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


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
