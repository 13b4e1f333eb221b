"""What a trace says without the model's weights: its text, its prompt, its draws, its cache."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from playground import template
from playground.checking.measure import Count
from playground.detok import Detokenizer
from playground.inspection.check import Check, judged, unchecked
from playground.tokens import Vocabulary
from playground.trace import Token, Trace, piece_text, same

_ITEMSIZE = {"float32": 4, "float16": 2, "bfloat16": 2, "float64": 8}
_ENDS = ("eos", "length", "context")


def prompt_check(vocabulary: Vocabulary, trace: Trace) -> Check:
    """Templated text and prompt tokens, made again from the messages."""
    if trace.messages is None:
        again = template.raw(vocabulary, trace.raw_prompt or "")
    else:
        again = template.chat(vocabulary, trace.messages, thinking=trace.thinking)
    wrong = abs(len(again.tokens) - len(trace.prompt))
    wrong += sum(not same(a, b) for a, b in zip(again.tokens, trace.prompt, strict=False))
    wrong += again.templated_text != trace.templated_text
    compared = len(trace.prompt) + 1
    key = "check.detail.equal" if not wrong else "check.detail.different"
    return judged("prompt", wrong, 0, "count", key, compared=compared)


def text_check(vocabulary: Vocabulary, trace: Trace) -> Check:
    """Pieces, what each step made visible and held back, and the whole answer, from the ids."""
    found, detok, held, shown = Count(), Detokenizer(vocabulary), b"", ""
    last = len(trace.steps) - 1
    for step in trace.steps:
        end = step.index == last and trace.finish in _ENDS
        if end and trace.finish == "eos":
            emitted, pending = "", held
        else:
            emitted, pending = detok.push(step.token.id)
        emitted += detok.flush() if end else ""
        held, shown = pending, shown + step.emitted
        c = step.candidates
        raws = [vocabulary.raw(i) for i in c.ids.tolist()]
        marks = [vocabulary.special(i) for i in c.ids.tolist()]
        wrong = sum(a != b for a, b in zip(raws, c.raw, strict=True))
        wrong += sum(a != b for a, b in zip(marks, c.special.tolist(), strict=True))
        wrong += not _spelled(vocabulary, step.token)
        wrong += (step.emitted, step.pending) != (emitted, pending)
        found.see(step.index, wrong, 2 * len(raws) + 2)
    ids = trace.ids[:-1] if trace.finish == "eos" else trace.ids
    wrong = vocabulary.decode(ids) != trace.text
    # A run that was stopped may still hold bytes that `text` shows.
    wrong += trace.finish in _ENDS and shown != trace.text
    found.see(last, wrong, 2)
    return found.verdict("text")


def _spelled(vocabulary: Vocabulary, token: Token) -> bool:
    raw = vocabulary.raw(token.id)
    wanted = Token(
        token.id, raw, piece_text(raw), None, None, vocabulary.special(token.id), "generated"
    )
    return same(token, wanted)


def seed_check(trace: Trace) -> Check:
    """Each step's draw is the next number of the seed's generator; none where nothing is drawn."""
    random, found = torch.Generator().manual_seed(trace.params.seed), Count()
    for step in trace.steps:
        u = float(torch.rand((), generator=random, dtype=torch.float64))
        none = trace.params.greedy or step.phase == "forced"
        found.see(step.index, step.draw != (None if none else u))
    return found.verdict("seed")


def cache_check(config: Any, trace: Trace) -> Check:
    """Positions and bytes of the cache after every run.

    A full layer holds every position read; a sliding one the last window - 1 of them (what the
    next position may still see beside itself; `DynamicSlidingWindowLayer`, transformers 5.24).
    """
    windows = _windows(config.get_text_config(decoder=True))
    info = trace.model
    size = _ITEMSIZE.get(info.dtype)
    if windows is None or len(windows) != info.n_layers or size is None:
        return unchecked("cache", "count", "check.skip.cache", {"family": info.family})
    per_layer, found = 2 * info.n_kv_heads * info.d_head * size, Count()
    n_bytes = 0
    for step in trace.steps:
        after = len(trace.prompt) + step.index
        held = sum(after if w is None else min(after, w - 1) for w in windows)
        n_bytes = held * per_layer
        wanted = (after - 1 if step.index else 0, after, n_bytes)
        now = (step.cache_before, step.cache_after, step.cache_bytes)
        found.see(step.index, sum(a != b for a, b in zip(now, wanted, strict=True)), 3)
    values: Mapping[str, str | int] = {
        "layers": info.n_layers, "kv_heads": info.n_kv_heads, "width": info.d_head,
        "itemsize": size, "per_position": info.n_layers * per_layer,
        "sliding": sum(w is not None for w in windows),
        "window": next((w for w in windows if w is not None), 0),
        "formula": n_bytes, "recorded": trace.steps[-1].cache_bytes,
    }  # fmt: skip
    key = "check.detail.cache_sliding" if values["sliding"] else "check.detail.cache"
    return judged("cache", found.wrong, 0, "count", key, **values)


def _windows(config: Any) -> list[int | None] | None:
    """Per layer the positions it looks back over, itself included; None: all. None for the whole
    where a layer keeps something else than the keys and values of its own kv heads."""
    if getattr(config, "kv_lora_rank", None) or getattr(config, "num_kv_shared_layers", None):
        return None
    window: int | None = getattr(config, "sliding_window", None)
    kinds = getattr(config, "layer_types", None)
    if kinds is None:
        if getattr(config, "attention_chunk_size", None):
            return None
        kinds = ["sliding_attention" if window else "full_attention"] * config.num_hidden_layers
    if not set(kinds) <= {"full_attention", "sliding_attention"}:
        return None
    return [window if kind == "sliding_attention" else None for kind in kinds]
