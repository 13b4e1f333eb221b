"""The stream read out a few columns of the vocabulary at a time.

A whole row of scores is tens of thousands of numbers, and many rows do not fit in a processor's
cache: writing and reading them took longer than multiplying. Here a block of scores is used up
before the next one is made. The chosen token's score is needed before its block comes, so it is a
product of its own, and takes its place in the block: a score that equals it but for rounding may
stand on either side of it.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from playground.inside.readout import Head, Statistics, highest, joined, ordered, summed

ROWS, COLUMNS = 2048, 512  # of a block of scores: 4 MiB

# Rows -> what the head reads of them, [M, D].
Vectors = Callable[[slice], torch.Tensor]


def fits(head: Head, like: torch.Tensor) -> bool:
    """Whether this way is open: a plain head on a CPU, in a precision in which a score does not
    depend on what was computed beside it by more than its last digit."""
    return head.plain and like.device.type == "cpu" and like.dtype in (torch.float32, torch.float64)


def read_columns(
    head: Head,
    vectors: Vectors,
    n: int,
    chosen: torch.Tensor,
    k: int,
    *,
    turn: Callable[[int], None] | None = None,
) -> Statistics:
    """`readout.read` for a head that `fits`; the scores themselves are seen by nobody.

    turn(rows done, of those under way a part) is called after each block.
    """
    parts = []
    for at in range(0, n, ROWS):
        rows = slice(at, min(at + ROWS, n))

        def told(share: float, at: int = at, done: int = rows.stop) -> None:
            if turn is not None:
                turn(at + int(share * (done - at)))

        parts.append(_chunk(head, vectors(rows), chosen[rows], k, told))
    return joined(parts)


def _chunk(
    head: Head, normed: torch.Tensor, chosen: torch.Tensor, k: int, told: Callable[[float], None]
) -> Statistics:
    """The statistics of a few rows [M, D]."""
    n_rows, n_ids = len(normed), head.table.shape[0]
    buffer = normed.new_empty(n_rows, COLUMNS)
    distinct, which = torch.unique(chosen, return_inverse=True)
    own = head.capped(head.part(normed, distinct)).gather(1, which[:, None])
    best: Best | None = None
    sums = []
    for first in range(0, n_ids, COLUMNS):
        ids = slice(first, min(first + COLUMNS, n_ids))
        out = buffer[:, : ids.stop - first]
        scores = head.capped(head.part(normed, ids, out))
        here = ((chosen >= first) & (chosen < ids.stop)).nonzero()[:, 0]
        scores[here, chosen[here] - first] = own[here, 0]
        found, _ = summed(scores, own)
        sums.append(found)
        if best is None:
            best = Best(*highest(scores, k))
        else:
            best.see(first, scores, found[:, 0].amax(dim=0))
        told(ids.stop / n_ids)
    assert best is not None
    return Statistics.of(torch.cat(sums), own, *ordered(best.ids, best.values))


class Best:
    """The k highest so far of each row: ids, values [M, K], values falling."""

    def __init__(self, ids: torch.Tensor, values: torch.Tensor) -> None:
        self.ids, self.values = ids, values

    def see(self, first: int, scores: torch.Tensor, high: torch.Tensor) -> None:
        """Further columns [M, C], the first of them being id `first`; high [M]: their highest."""
        rows = (high > self.values[:, -1]).nonzero()[:, 0]
        if not len(rows):
            return
        k = self.ids.shape[1]
        values, ids = scores[rows].topk(min(k, scores.shape[1]), dim=1)
        values = torch.cat([self.values[rows], values], dim=1)
        ids = torch.cat([self.ids[rows], ids + first], dim=1)
        self.values[rows], at = values.topk(k, dim=1)
        self.ids[rows] = ids.gather(1, at)
