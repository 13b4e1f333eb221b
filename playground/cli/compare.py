"""Two traces of what should be one run: which ids and numbers came out again.

Words, ids and counts must be equal. Floating point numbers may differ by a stated tolerance,
since the order of additions is not fixed between machines, thread counts and chunk sizes
(prefill against token by token: 7e-5 on float32 logits). Times are never compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from playground.trace import Step, Token, Trace, same

# dtype of the model -> tolerance of logits (and of entropy and log-probability), and of
# probabilities. float32: as the design states. The others: two units in the last place of a
# logit of magnitude 16 … 32, and what that does to a probability.
TOLERANCES = {
    "float32": (1e-3, 1e-4),
    "float16": (3.2e-2, 1e-2),
    "bfloat16": (2.5e-1, 7e-2),
}

Place = tuple[str, Any, Any]  # where, recorded, now


@dataclass(frozen=True, slots=True)
class Difference:
    """How one field fared. largest: the largest |Δ|, None where it is no number. at: where that
    is, or the first place that differs. tolerance: None where only equal is good enough."""

    field: str
    compared: int
    different: int
    largest: float | None
    at: str | None
    tolerance: float | None

    @property
    def ok(self) -> bool:
        return self.different == 0


def common_steps(old: Trace, new: Trace) -> int:
    """Steps that both runs took from the same text: up to and with the first other id."""
    for i, (a, b) in enumerate(zip(old.ids, new.ids, strict=False)):
        if a != b:
            return i + 1
    return min(len(old.steps), len(new.steps))


def compare(old: Trace, new: Trace) -> tuple[Difference, ...]:
    """Every field of `new` against `old`. Past the first other id nothing is compared: those
    numbers belong to different texts."""
    logits, probs = TOLERANCES.get(old.model.dtype, TOLERANCES["float32"])
    n = common_steps(old, new)
    pairs = list(zip(old.steps[:n], new.steps[:n], strict=True))

    def per_step(name: str, get: Callable[[Step], Any]) -> Iterator[Place]:
        return ((f"steps[{a.index}].{name}", get(a), get(b)) for a, b in pairs)

    def words(name: str, get: Callable[[Step], Any]) -> Difference:
        return _equal(f"steps.{name}", per_step(name, get))

    def numbers(name: str, get: Callable[[Step], Any], tolerance: float) -> Difference:
        return _near(f"steps.{name}", per_step(name, get), tolerance)

    return (
        _equal("templated_text", [("templated_text", old.templated_text, new.templated_text)]),
        _equal("prompt", _places("prompt", _tokens(old.prompt), _tokens(new.prompt))),
        _equal("ids", _places("ids", old.ids, new.ids)),
        _equal("finish", [("finish", old.finish, new.finish)]),
        _equal("text", [("text", old.text, new.text)]),
        words("phase", lambda s: s.phase),
        words("token", lambda s: _token(s.token)),
        words("candidates.ids", lambda s: s.candidates.ids.tolist()),
        words("candidates.raw", lambda s: s.candidates.raw),
        words("candidates.special", lambda s: s.candidates.special.tolist()),
        words("candidates.stages", lambda s: s.candidates.stages),
        words("candidates.kept_count", lambda s: s.candidates.kept_count.tolist()),
        _equal("steps.candidates.kept", _aligned(pairs, "kept")),
        _near("steps.candidates.logits", _aligned(pairs, "logits"), logits),
        _near("steps.candidates.probs", _aligned(pairs, "probs"), probs),
        numbers("candidates.tail", lambda s: s.candidates.tail, probs),
        numbers("entropy_bits", lambda s: s.entropy_bits, logits),
        words("rank", lambda s: s.rank),
        numbers("logprob", lambda s: s.logprob, logits),
        words("draw", lambda s: s.draw),
        words("cache_before", lambda s: s.cache_before),
        words("cache_after", lambda s: s.cache_after),
        words("cache_bytes", lambda s: s.cache_bytes),
        words("emitted", lambda s: s.emitted),
        words("pending", lambda s: s.pending),
    )


def _token(token: Token) -> tuple[Any, ...]:
    return (
        token.id, token.raw, token.text, token.start, token.end, token.special, token.source,
    )  # fmt: skip


def _tokens(tokens: Sequence[Token]) -> list[tuple[Any, ...]]:
    return [_token(token) for token in tokens]


def _places(name: str, old: Sequence[Any], new: Sequence[Any]) -> Iterator[Place]:
    """Place by place; what only one of the two has counts as different."""
    for i in range(max(len(old), len(new))):
        yield (
            f"{name}[{i}]",
            old[i] if i < len(old) else None,
            new[i] if i < len(new) else None,
        )


def _aligned(pairs: Sequence[tuple[Step, Step]], name: str) -> Iterator[Place]:
    """An array of the candidates, for the ids that both list: two near-equal logits may have
    changed places, and their numbers should still be told apart."""
    for a, b in pairs:
        _, left, right = np.intersect1d(a.candidates.ids, b.candidates.ids, return_indices=True)
        old, new = getattr(a.candidates, name), getattr(b.candidates, name)
        yield f"steps[{a.index}].candidates.{name}", old[..., left], new[..., right]


def _equal(field: str, places: Iterator[Place] | Sequence[Place]) -> Difference:
    compared = different = 0
    first = None
    for at, old, new in places:
        compared += 1
        if not same(old, new):
            different += 1
            first = first or at
    return Difference(field, compared, different, None, first, None)


def _near(field: str, places: Iterator[Place], tolerance: float) -> Difference:
    compared = different = 0
    largest, at = 0.0, None
    for where, old, new in places:
        left, right = np.asarray(old, "f8"), np.asarray(new, "f8")
        if left.shape != right.shape:
            compared, different, at = compared + 1, different + 1, at or where
            continue
        # Equal infinities are no difference (inf - inf would be NaN); NaN is as far as can be.
        with np.errstate(invalid="ignore"):
            apart = np.where(left == right, 0.0, np.abs(left - right))
        apart = np.nan_to_num(apart, nan=np.inf, posinf=np.inf)
        compared += apart.size
        different += int((apart > tolerance).sum())
        if apart.size and float(apart.max()) > largest:
            largest, at = float(apart.max()), where
    return Difference(field, compared, different, largest, at, tolerance)
