"""What recording costs, measured against transformers' own `generate` and a bare forward.

Both sides of a comparison get the same ids, the same number of tokens (no end token counts)
and the same cache class; how they are timed stands in `playground.stopwatch`.
"""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from playground.benching import POSITIONS, inspections
from playground.cutting.timing import ledger_cost
from playground.stopwatch import Clock, Ratio, Times, alternate, clock, ratio
from playground.trace import SamplingParams

if TYPE_CHECKING:
    from playground.engine import Engine
    from playground.models import Loaded
    from playground.template import Prompt

QUESTION = "Write a long story about a small language model that reads one book after another."
SAMPLED = SamplingParams(temperature=0.7, top_k=20, top_p=0.9, seed=1)
# Many short pairs: a disturbance then spoils one pair and not the median.
PAIRS, TOKENS = 11, 32
BUFFER_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number with its unit; None where this system does not tell it."""

    name: str
    value: float | None
    unit: str


@dataclass(frozen=True, slots=True)
class Report:
    machine: dict[str, Any]
    model: dict[str, Any]
    ratios: tuple[Ratio, ...]
    figures: tuple[Figure, ...]


class Bench:
    """The measurements on one loaded model."""

    def __init__(self, loaded: Loaded, *, pairs: int = PAIRS, tokens: int = TOKENS) -> None:
        from playground import template
        from playground.engine import Engine
        from playground.trace import Message

        # Without end tokens every run has the same length.
        self.engine: Engine = Engine(dataclasses.replace(loaded, eos_ids=frozenset()))
        self.pairs, self.tokens = pairs, tokens
        vocabulary = self.engine.vocabulary
        if loaded.tokenizer.chat_template:
            self.prompt = template.chat(vocabulary, [Message("user", QUESTION)])
        else:
            self.prompt = template.raw(vocabulary, QUESTION)

    def decode(self, name: str, params: SamplingParams) -> Ratio:
        """A traced run against `generate` with the same settings: ms a token, prefill included."""
        ours, theirs = alternate(
            lambda: clock(lambda: self.traced(params)).per(self.tokens),
            lambda: clock(lambda: self.generate(params)).per(self.tokens),
            self.pairs,
        )
        return ratio(name, ours, theirs, 1.0)

    def traced(self, params: SamplingParams) -> list[int]:
        """The ids of a traced run."""
        run = self.engine.generate(self.prompt, params, self.tokens)
        return [step.token.id for step in run]

    def generate(self, params: SamplingParams) -> list[int]:
        """The ids of transformers' own run."""
        import torch
        from transformers import GenerationConfig

        model = self.engine.model
        sampling = {} if params.greedy else {
            "temperature": params.temperature, "top_k": params.top_k, "top_p": params.top_p,
        }  # fmt: skip
        config = GenerationConfig(
            max_new_tokens=self.tokens, do_sample=not params.greedy,
            # One past the last row: an end token that never comes.
            eos_token_id=self.engine.info.vocab_rows, pad_token_id=0, **sampling,
        )  # fmt: skip
        ids = torch.tensor([[t.id for t in self.prompt.tokens]], device=model.device)
        out = model.generate(ids, attention_mask=torch.ones_like(ids), generation_config=config)
        ids_of_answer: list[int] = out[0, ids.shape[1] :].tolist()
        return ids_of_answer

    def prefill(self, n: int) -> Ratio:
        """A run until its prompt is read, against one bare forward of `n` tokens."""
        import torch
        from transformers import DynamicCache

        prompt = self.prompt_of(n)
        model = self.engine.model
        ids = torch.tensor([[t.id for t in prompt.tokens]], device=model.device)

        def ours() -> Times:
            read: list[Times] = []
            running = Clock()
            run = self.engine.generate(
                prompt,
                SamplingParams(),
                1,
                on_prefill=lambda done, total: read.append(running.read()),
            )
            next(run)
            return read[-1]  # when the last chunk was done

        @torch.inference_mode()
        def bare() -> None:
            cache = DynamicCache(config=model.config)
            out = model(input_ids=ids, cache=cache, use_cache=True, logits_to_keep=1)
            out.logits[0, -1].float().sum().item()  # waits for a device to be done

        mine, theirs = alternate(ours, lambda: clock(bare), self.pairs)
        return ratio(f"prefill_{n}", mine, theirs, 1.05)

    def prompt_of(self, n: int) -> Prompt:
        """A prompt of exactly `n` tokens."""
        from playground import template

        text = QUESTION
        while len((prompt := template.raw(self.engine.vocabulary, text)).tokens) < n:
            text += " " + text
        return dataclasses.replace(prompt, tokens=prompt.tokens[:n])

    def payload(self) -> list[Figure]:
        """What the page's message costs a step, on the steps of a sampled run."""
        from playground.views.payload import step_payload

        steps = list(self.engine.generate(self.prompt, SAMPLED, self.tokens))
        times, sizes = [], []
        for step in steps:
            start = time.perf_counter()
            text = json.dumps(step_payload(step))
            times.append(1000 * (time.perf_counter() - start))
            sizes.append(len(text))
        return [
            Figure("payload_time", statistics.median(times), "ms/step"),
            Figure("payload_size", statistics.median(sizes), "bytes/step"),
        ]

    def bytes_per_token(self) -> int:
        """Bytes of weights that one decode step has to read."""
        model = self.engine.model
        total = sum(p.numel() * p.element_size() for p in model.parameters())
        if not self.engine.info.tied:  # of a table that is not the head, one row is read
            table = model.get_input_embeddings().weight
            total -= (table.shape[0] - 1) * table.shape[1] * table.element_size()
        return int(total)

    def bandwidth(self) -> list[Figure]:
        """Decode speed as bytes of weights a second, and what this machine reads at most."""
        import torch

        run = self.engine.generate(self.prompt, SamplingParams(), self.tokens)
        forwards = [step.timing.forward_ms for step in run if step.phase == "decode"]
        buffer = torch.ones(BUFFER_BYTES // 4, device=self.engine.model.device)
        reads = [clock(lambda: float(buffer.sum())).wall for _ in range(self.pairs + 1)][1:]
        decode = self.bytes_per_token() / statistics.median(forwards) / 1e6
        read = BUFFER_BYTES / statistics.median(reads) / 1e6
        return [
            Figure("decode_rate", 1000 / statistics.median(forwards), "tokens/s"),
            Figure("decode_bandwidth", decode, "GB/s"),
            Figure("read_bandwidth", read, "GB/s"),
            Figure("bandwidth_share", decode / read, ""),
        ]


def peak_memory() -> float | None:
    """The most memory this process ever held, in MiB."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    import torch

    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            found = (x.partition(":")[2].strip() for x in lines if x.startswith("model name"))
            return next(found, platform.processor())
    except OSError:
        return platform.processor()


def measure(
    loaded: Loaded,
    *,
    load_s: float,
    pairs: int = PAIRS,
    tokens: int = TOKENS,
    prefills: Sequence[int] = (32, 512),
    positions: int = POSITIONS,
    say: Callable[[str], None] = lambda name: None,
) -> Report:
    """All of it. load_s: seconds that loading took; say: called with the name of each part."""
    bench = Bench(loaded, pairs=pairs, tokens=tokens)
    ratios = []
    for name, params in (("greedy", SamplingParams()), ("sampling", SAMPLED)):
        say(name)
        ratios.append(bench.decode(name, params))
    for n in prefills:
        say(f"prefill_{n}")
        ratios.append(bench.prefill(n))
    ratios += inspections(bench.engine, pairs=pairs, positions=positions, say=say)
    say("ledger")
    ratios.append(ledger_cost(bench.engine.vocabulary, pairs))
    say("bandwidth")
    figures = [
        Figure("load_time", load_s, "s"), *bench.bandwidth(), *bench.payload(),
        Figure("peak_memory", peak_memory(), "MiB"),
    ]  # fmt: skip
    return Report(machine(), dataclasses.asdict(loaded.info), tuple(ratios), tuple(figures))
