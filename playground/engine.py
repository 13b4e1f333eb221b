"""The traced generator: one model, many runs, nothing shared between two of them.

A run is an iterator that any thread may step; a lock keeps the model's forwards one at a time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import torch
from transformers import DynamicCache

from playground import inspecting, pairing
from playground import lens as tables
from playground.errors import PlaygroundError
from playground.inside import ablation, neurons, weighing
from playground.inside.ablation import Taken
from playground.inside.forcing import OnProgress, ShouldStop
from playground.inspection import Inspection
from playground.inspection.experiment import Ablation, Neuron, Uncached
from playground.inspection.pair import Pair
from playground.inspection.weights import Weights
from playground.models import Loaded
from playground.run import OnPrefill, Run
from playground.template import Prompt
from playground.tokens import Vocabulary
from playground.trace import EmbeddingRow, SamplingParams, Trace

PREFILL_CHUNK = 512
N_CANDIDATES = 50


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
                "error.max_tokens", value=repr(max_tokens)[:40], limit=self.info.max_context or "∞"
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
        return tables.embedding_row(table, token_id, self.info, self.vocabulary, n)

    def inspect(
        self,
        trace: Trace,
        *,
        layers: Sequence[int] = (),
        weights: bool = True,
        lens: Sequence[int] | None = None,
        on_progress: OnProgress | None = None,
        should_stop: ShouldStop | None = None,
    ) -> Inspection:
        """The inside of every step of `trace`, from one pass over prompt and answer.

        layers: those to keep whole (`Inspection.details`); without `weights` only q, k and v of
        attention, from which `inspection.attend` gives the rest again. lens: the places of the
        stream to read out, 0 … L, by default all; the end always is. on_progress(stage, fraction
        done): stage is "forward", then "lens"; should_stop is asked as often (before every layer,
        after every chunk) and a yes raises Stopped. Neither may run this model. Raises
        PlaygroundError for a trace without steps or of another model, and where the memory does
        not suffice.
        """
        return inspecting.inspect(
            self, trace, layers=layers, weights=weights, lens=lens,
            on_progress=on_progress, should_stop=should_stop,
        )  # fmt: skip

    def neuron(self, layer: int, neuron_id: int, k: int = 10) -> Neuron:
        """The `k` tokens that FFN neuron `neuron_id` of `layer` raises and lowers most."""
        return neurons.neuron(self, layer, neuron_id, k)

    def weights(self) -> Weights | None:
        """How many numbers each part is made of and multiplies by; None where the family's parts
        are not known."""
        return weighing.weights(self)

    def ablate(
        self,
        trace: Trace,
        step: int,
        *,
        hide: int | None = None,
        head: tuple[int, int] | None = None,
        ffn: int | None = None,
    ) -> Ablation:
        """The distribution at `step` with a position hidden, a head or a layer's FFN knocked out,
        or several of these at once; raises PlaygroundError where none is named or there is none."""
        return ablation.ablations(self, trace, step, [Taken(hide, head, ffn)])[0]

    def ablations(
        self,
        trace: Trace,
        step: int,
        wanted: Sequence[Taken],
        *,
        n_candidates: int = ablation.N_CANDIDATES,
        on_progress: OnProgress | None = None,
        should_stop: ShouldStop | None = None,
    ) -> tuple[Ablation, ...]:
        """Each of `wanted` by itself, all against one pass without any of them.

        n_candidates: how many of the most likely tokens of either pass are listed.
        on_progress("ablate", fraction); should_stop as in `inspect`, asked before each.
        """
        return ablation.ablations(
            self, trace, step, wanted, n_candidates=n_candidates,
            on_progress=on_progress, should_stop=should_stop,
        )  # fmt: skip

    def uncached(
        self,
        trace: Trace,
        *,
        on_progress: OnProgress | None = None,
        should_stop: ShouldStop | None = None,
    ) -> Uncached:
        """The same answer once more without a cache: measured ms of every step.

        on_progress("uncached", fraction); should_stop as in `inspect`, asked before every step.
        """
        return ablation.uncached(self, trace, on_progress=on_progress, should_stop=should_stop)

    def pair(
        self,
        prompt_a: Prompt,
        prompt_b: Prompt,
        max_tokens: int = 8,
        *,
        on_progress: OnProgress | None = None,
        should_stop: ShouldStop | None = None,
    ) -> Pair:
        """Both prompts answered greedily and laid side by side.

        on_progress(stage, fraction of all the work): stages "prefill", "decode", "forward" and
        "lens" of each; should_stop as in `inspect`, asked between the forwards as well. Raises
        PlaygroundError for equal or too long prompts, and what `generate` and `inspect` raise.
        """
        return pairing.pair(
            self, prompt_a, prompt_b, max_tokens, on_progress, should_stop, PREFILL_CHUNK
        )

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


def _synchronise(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()
