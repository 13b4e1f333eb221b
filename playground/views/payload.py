"""A trace as the browser gets it: plain JSON types, every number as recorded.

Float32 arrays travel as base64 of their little-endian bytes, so nothing is rounded and a step
of 20 candidates stays below 2 kB. Sent once: a run sends each step when it exists, a recorded
trace is one message. The client's `BOT.arrays` (assets/js/core.js) is the other end.
"""

from __future__ import annotations

import base64
import dataclasses
import math
from typing import Any

import numpy as np

from playground.trace import Candidates, Step, Token, Trace


def f32(array: np.ndarray) -> str:
    """`array` as base64 of its float32 values, little-endian, in C order."""
    return base64.b64encode(np.ascontiguousarray(array, dtype="<f4").tobytes()).decode("ascii")


def finite(value: float) -> float | None:
    """`value`, or None for an infinity or NaN, which JSON has no word for.

    The one that occurs is the log-probability -inf of a forced token with probability 0.
    """
    return value if math.isfinite(value) else None


def token_payload(token: Token) -> dict[str, Any]:
    """One token of the prompt or the answer; its display text is made from `hex` by the client."""
    return {
        "id": token.id,
        "hex": token.raw.hex(),
        "start": token.start,
        "end": token.end,
        "special": token.special,
        "source": token.source,
    }


def born_payload(token: Token) -> dict[str, Any]:
    """A generated token: what all of these have in common the client adds (`BOT.whole`)."""
    sent = token_payload(token)
    common = {"start": None, "end": None, "special": False, "source": "generated"}
    return {key: value for key, value in sent.items() if (key, value) not in common.items()}


def piece_payload(raw: bytes) -> str | list[str]:
    """A piece as its text, or as [hex] where its bytes alone are no text (half as long so)."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return [raw.hex()]


def kept_payload(kept: np.ndarray) -> str | int | list[int]:
    """kept: bool[C]. "all", n for exactly the first n, or the list of kept places."""
    places = np.flatnonzero(kept)
    if places.size == kept.size:
        return "all"
    if places.size == 0 or places[-1] == places.size - 1:
        return int(places.size)
    return [int(k) for k in places]


def probs_payload(probs: np.ndarray, kept: np.ndarray) -> str:
    """probs: f32[C], kept: bool[C]. Only the kept ones where all others are exactly 0.

    A warper gives what it cuts the probability 0. A file may say otherwise; then all C are
    sent, so that the page shows what the file says.
    """
    return f32(probs if probs[~kept].view("<u4").any() else probs[kept])


def candidates_payload(candidates: Candidates) -> dict[str, Any]:
    """The candidates' part of a step; axes: S stages, C candidates."""
    return {
        "ids": candidates.ids.tolist(),
        "pieces": [piece_payload(raw) for raw in candidates.raw],
        "special": np.flatnonzero(candidates.special).tolist(),
        "logits": f32(candidates.logits),
        "stages": list(candidates.stages),
        "probs": [
            probs_payload(*row) for row in zip(candidates.probs, candidates.kept, strict=True)
        ],
        "kept": [kept_payload(row) for row in candidates.kept],
        "kept_count": candidates.kept_count.tolist(),
        "tail": f32(candidates.tail),
    }


def step_payload(step: Step) -> dict[str, Any]:
    """One step. Times in milliseconds, the cache in positions and bytes, entropy in bits."""
    timing = step.timing
    return {
        "i": step.index,
        "phase": step.phase,
        "tok": born_payload(step.token),
        **candidates_payload(step.candidates),
        "entropy": finite(step.entropy_bits),
        "rank": step.rank,
        "logprob": finite(step.logprob),
        "draw": step.draw,
        "cache": [step.cache_before, step.cache_after, step.cache_bytes],
        "ms": [timing.forward_ms, timing.pick_ms, timing.done_ms],
        "emitted": step.emitted,
        "pending": step.pending.hex(),
    }


def trace_payload(
    trace: Trace,
    trace_id: str | None,
    intact: bool = True,
    steps: bool = True,
    finished: bool = True,
) -> dict[str, Any]:
    """A whole trace, or what goes round the steps that are sent one at a time.

    steps and finished: a recorded trace. Neither: the start of a run, its prompt and no steps.
    Finished without steps: the end of a run; the prompt and the steps have been sent, and
    `n_steps` tells the client whether it has them all. intact: the file's checksum was right.
    """
    payload: dict[str, Any] = {
        "id": trace_id,
        "schema": trace.schema,
        "model": dataclasses.asdict(trace.model),
        "messages": None
        if trace.messages is None
        else [dataclasses.asdict(m) for m in trace.messages],
        "raw_prompt": trace.raw_prompt,
        "thinking": trace.thinking,
        "templated_text": trace.templated_text,
        "params": dataclasses.asdict(trace.params),
        "max_tokens": trace.max_tokens,
        "finish": trace.finish if finished else None,
        "text": trace.text,
        "parent": None if trace.parent is None else list(trace.parent),
        "notes": [[key, dict(values)] for key, values in trace.notes],
        "first_token_ms": trace.first_token_ms,
        "first_visible_ms": trace.first_visible_ms,
        "tokens_per_second": trace.tokens_per_second,
        "intact": intact,
        "n_steps": len(trace.steps) if finished else None,
    }
    if steps or not finished:
        payload["prompt"] = [token_payload(token) for token in trace.prompt]
        payload["steps"] = [step_payload(step) for step in trace.steps] if steps else []
    return payload
