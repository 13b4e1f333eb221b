"""What a step says of its distribution and its choice, against that distribution made again.

The scores come from one plain pass over prompt and answer, without hooks, over the whole
vocabulary. They differ from the recorded ones by rounding, so a token at a cut's very edge may
fall on either side of it: such a place counts as different only where rounding, measured at this
step on the recorded scores, can not explain it. Probabilities, entropy and log-probability are
made again in float64.
"""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import torch

from playground.checking.measure import PROB_SUM, Count, Tolerances, Worst, apart
from playground.inspection.check import Check, unchecked
from playground.sampling import warpers
from playground.trace import SamplingParams, Step, Trace

_NO_IDS = torch.zeros((1, 0), dtype=torch.long)
_HAIR = 1e-9  # of a running sum in float64


class Picking:
    """Takes the steps of `trace` in order, each with its scores f32[V] on this side."""

    def __init__(self, trace: Trace, allowed: Tolerances) -> None:
        self._trace, self._allowed = trace, allowed
        self._sums, self._probs, self._draw = Worst(), Worst(), Worst()
        self._entropy, self._logprob, self._rank = Worst(), Worst(), Worst()
        self._kept, self._listed, self._greedy = Count(), Count(), Count()

    def take(self, step: Step, scores: torch.Tensor) -> None:
        c, i = step.candidates, step.index
        row = scores.double().numpy()
        gap = float(apart(row[c.ids], c.logits).max(initial=0.0))
        slack = min(2 * self._allowed.logits, 4 * gap + 1e-6)
        self._sums.see(i, apart(c.probs.astype("f8").sum(axis=1) + c.tail, 1))
        self._take_measures(step, row, slack)
        self._take_listed(step, row, slack)
        last = self._take_stages(step, scores, row, slack)
        if step.phase == "forced":
            return
        if self._trace.params.greedy:
            first = len(c.ids) > 0 and step.token.id == int(c.ids[0])
            highest = row[step.token.id] >= row.max() - slack
            self._greedy.see(i, not (first and highest))
        elif last is not None and step.draw is not None:
            self._draw.see(i, missed(step, row, last, slack))

    def verdicts(self) -> tuple[Check, ...]:
        allowed, params = self._allowed, self._trace.params
        free = any(step.phase != "forced" for step in self._trace.steps)
        draw = self._draw.verdict("draw", _HAIR, "u")
        greedy = self._greedy.verdict("greedy")
        if params.greedy or not free:
            draw = unchecked("draw", "u", "check.skip.no_draw")
        if not params.greedy or not free:
            greedy = unchecked("greedy", "count", "check.skip.not_greedy")
        return (
            self._sums.verdict("prob_sum", PROB_SUM, "probability"),
            self._probs.verdict("prob_values", allowed.probs, "probability"),
            self._kept.verdict("kept"),
            self._listed.verdict("listed"),
            self._entropy.verdict("entropy", allowed.logits, "bits"),
            self._logprob.verdict("logprob", allowed.logits, "nats"),
            self._rank.verdict("rank", 0, "count"),
            draw,
            greedy,
        )

    def _take_measures(self, step: Step, row: np.ndarray, slack: float) -> None:
        logprobs = row - row.max()
        logprobs -= math.log(float(np.exp(logprobs).sum()))
        seen = logprobs[np.isfinite(logprobs)]
        bits = -float((np.exp(seen) * seen).sum()) / math.log(2)
        chosen = row[step.token.id]
        low = 1 + int((row > chosen + slack).sum())
        high = 1 + int((row > chosen - slack).sum()) - (slack > 0)  # itself is among them
        self._entropy.see(step.index, apart(bits, step.entropy_bits))
        self._logprob.see(step.index, apart(logprobs[step.token.id], step.logprob))
        self._rank.see(step.index, max(0, low - step.rank, step.rank - high))

    def _take_listed(self, step: Step, row: np.ndarray, slack: float) -> None:
        """Listed in the documented order, each once, and nobody left out above the list's end."""
        c = step.candidates
        keys = list(zip((-c.logits).tolist(), c.ids.tolist(), strict=True))
        wrong = sum(a >= b for a, b in itertools.pairwise(keys))
        wrong += step.token.id not in c.ids
        # Beyond the leading ones the list holds the choice and the least of those kept.
        n = max(0, len(c.ids) - 2)
        wanted = self._trace.versions.get("n_candidates", "")
        n = min(len(c.ids), int(wanted)) if wanted.isdecimal() and len(wanted) < 7 else n
        if n:
            rest = np.delete(row, c.ids)
            wrong += int((rest > row[c.ids[n - 1]] + slack).sum())
        self._listed.see(step.index, wrong, len(c.ids))

    def _take_stages(
        self, step: Step, scores: torch.Tensor, row: np.ndarray, slack: float
    ) -> np.ndarray | None:
        """The last stage's probabilities f64[V]; None where the stages are others."""
        c, params = step.candidates, self._trace.params
        names = ("logits", *(name for name, _ in warpers(params)))
        if c.stages != names:
            self._kept.see(step.index, c.kept.size + c.kept_count.size, c.kept.size)
            self._probs.see(step.index, math.inf)
            return None
        stages = chain(scores, params)
        # A small temperature makes much of a small difference.
        sharp = 1.0 if params.greedy else min(1.0, params.temperature)
        bounds: tuple[list[np.ndarray], list[np.ndarray]] | None = None
        probs = np.zeros(0)
        for s, warped in enumerate(stages):
            kept = warped > -np.inf
            differ = kept[c.ids] != c.kept[s]
            if differ.any() or int(kept.sum()) != c.kept_count[s]:
                bounds = bounds or _bounds(row, params, slack)
                least, most = bounds[0][s], bounds[1][s]
                edge = most[c.ids] & ~least[c.ids]
                wrong = int((differ & ~edge).sum())
                wrong += not int(least.sum()) <= c.kept_count[s] <= int(most.sum())
                self._kept.see(step.index, wrong, c.kept[s].size + 1)
                # On the edge the recorded side is as good, and its sum is another.
                mine = c.ids[differ & edge]
                temperature = 1.0 if s == 0 or params.greedy else params.temperature
                warped[mine] = np.where(c.kept[s][differ & edge], row[mine] / temperature, -np.inf)
            else:
                self._kept.see(step.index, 0, c.kept[s].size + 1)
            probs = np.exp(warped - warped.max())
            probs /= probs.sum()
            tail = max(0.0, 1 - float(probs[np.unique(c.ids)].sum()))
            factor = 1.0 if s == 0 else sharp
            self._probs.see(step.index, factor * apart(probs[c.ids], c.probs[s]))
            self._probs.see(step.index, factor * apart(tail, c.tail[s]))
        return probs


def chain(scores: torch.Tensor, params: SamplingParams) -> list[np.ndarray]:
    """f64[V] after each stage of `params` on `scores` [V]; the raw ones first."""
    warped, stages = scores, [scores.double().numpy()]
    for _, warper in warpers(params):
        warped = warper(_NO_IDS, warped[None])[0]
        stages.append(warped.double().numpy())
    return stages


def _bounds(
    row: np.ndarray, params: SamplingParams, slack: float
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """(surely, possibly kept) bool[V] after each stage, scores `row` being `slack` uncertain."""
    # Equal scores here may have been unequal there, and top-k keeps all equals: none are equal now.
    unequal = torch.from_numpy(row - 1e-12 * np.arange(len(row)))
    eps = slack / min(1.0, params.temperature or 1.0)

    def moved(by: float) -> list[np.ndarray]:
        top_p = params.top_p
        if top_p < 1:
            top_p = min(max(top_p + by, 1e-12), 1 - 1e-12)
        other = dataclasses.replace(params, top_p=top_p)
        return [stage > -np.inf for stage in chain(unequal, other)]

    surely, possibly = [], []
    for kept in moved(-eps):
        surely.append(row > row[~kept].max(initial=-np.inf) + slack)
    for kept in moved(eps):
        possibly.append(row >= row[kept].min() - slack)
    return surely, possibly


def missed(step: Step, row: np.ndarray, probs: np.ndarray, slack: float) -> float:
    """How far the draw u is from the chosen token's part of the running sum, redone by hand.

    Over the recorded probabilities while the list has no gap before the choice (its rank tells);
    past that, over `probs` f64[V], which rounding makes uncertain by as much as the scores are.
    """
    c, u = step.candidates, float(step.draw or 0.0)
    at = np.flatnonzero(c.ids == step.token.id)
    if not at.size:
        return math.inf
    j = int(at[0])
    if step.rank <= j + 1:
        running = c.probs[-1].astype("f8").cumsum()
        low, high, unsure = (float(running[j - 1]) if j else 0.0), float(running[j]), 0.0
        if c.kept_count[-1] <= j + 1:  # the last one has what rounding left of the sum
            high = 1.0
    else:
        order = np.argsort(-row, kind="stable")
        place = int(np.flatnonzero(order == step.token.id)[0])
        low = float(probs[order[:place]].sum())
        high, unsure = low + float(probs[step.token.id]), 4 * slack
    if c.probs[-1][j] <= 0:
        return math.inf
    return max(0.0, low - u - unsure, u - high - unsure)
