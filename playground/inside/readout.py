"""The stream read out: from vectors to the few numbers of a whole distribution that are kept.

Scores are never held for more than a chunk of rows: the more of them, the seldomer the head is
read, which bounds the product. The statistics are taken over a small piece at a time, in buffers
that are used again: reading the scores from memory costs more than the arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import torch
from torch import nn

from playground.inside.numbers import bias_of, working

_SCORES_AT_ONCE = 2**25  # numbers in a chunk of scores
# What stays in the processor's cache while it is used: numbers, and the columns of a piece.
_IN_CACHE, _COLUMNS = 2**16, 4096
_LEAST = -87.0
_TILE = 128  # columns whose largest is looked at first when the highest are wanted
BINS = 64

# Rows -> their (raw, capped) scores.
Source = Callable[[slice], tuple[torch.Tensor, torch.Tensor]]


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """The output head. raw: its own scores; capped: what the model makes of them (Gemma 2)."""

    module: nn.Module
    cap: float | None

    @property
    def table(self) -> torch.Tensor:
        """[V, D]: a row for every token."""
        weight = self.module.weight
        assert isinstance(weight, torch.Tensor)
        return weight

    @property
    def plain(self) -> bool:
        """Whether it is a matrix and nothing else, so that a part of it may be taken."""
        return type(self.module) is nn.Linear and "forward" not in self.module.__dict__

    def raw(self, normed: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
        """Scores [M, V] of what the final norm gave [M, D], in the model's own precision.

        out: [N ≥ M, V], used for the result where the head is plain: a new buffer of this size
        costs a tenth of the product.
        """
        if out is not None and self.plain:
            return self.part(normed, slice(None), out[: len(normed)])
        # forward itself, not a call: a watch set by another thread is not to be passed through
        scores: torch.Tensor = self.module.forward(normed)
        return scores

    def part(
        self, normed: torch.Tensor, ids: slice | torch.Tensor, out: torch.Tensor | None = None
    ) -> torch.Tensor:
        """`raw` of some ids alone, [M, C], of a plain head; out: [M, C] for the result."""
        weight, bias = self.table[ids].T, bias_of(self.module)
        if bias is None:
            return torch.mm(normed, weight, out=out)
        return torch.addmm(bias[ids], normed, weight, out=out)

    def capped(self, raw: torch.Tensor) -> torch.Tensor:
        if self.cap is None:
            return working(raw)
        return working(torch.tanh(raw / self.cap) * self.cap)


@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """Of M distributions: ids, probs [M, K]; logprob (natural), rank, entropy_bits [M]."""

    ids: torch.Tensor
    probs: torch.Tensor
    logprob: torch.Tensor
    rank: torch.Tensor
    entropy_bits: torch.Tensor

    @staticmethod
    def of(
        sums: torch.Tensor, own: torch.Tensor, ids: torch.Tensor, values: torch.Tensor
    ) -> Statistics:
        """From what `summed` found in all pieces [pieces, 4, M], the scores `own` [M, 1] of the
        chosen tokens, and the highest ones' ids and scores [M, K]."""
        high, above, total, spread = sums.unbind(1)
        top = high.amax(dim=0)
        # from each piece's own highest score to that of its row: z becomes z + fall
        fall = high - top
        share = fall.exp()
        spread = (share * (spread + fall * total)).sum(dim=0)
        total = (share * total).sum(dim=0)
        log_total = total.log()
        return Statistics(
            ids=ids,
            probs=(values - top[:, None] - log_total[:, None]).exp(),
            logprob=own[:, 0] - top - log_total,
            rank=1 + above.sum(dim=0),
            entropy_bits=(log_total - spread / total).clamp_min(0) / math.log(2),
        )


def chunk_rows(n_vocab: int) -> int:
    """Rows whose scores are held at once."""
    return max(8, min(256, _SCORES_AT_ONCE // n_vocab))


def statistics(scores: torch.Tensor, chosen: torch.Tensor, k: int) -> Statistics:
    """The numbers of `scores` [M, V]; chosen: i64[M]."""
    own = scores.gather(1, chosen[:, None])
    sums, maxima = summed(scores, own)
    return Statistics.of(sums, own, *highest(scores, k, maxima))


def summed(x: torch.Tensor, own: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """([pieces of columns, 4, M], the maxima of all tiles [M, B]) of x [M, V]. The four: the
    highest score of the piece; how many are above `own` [M, 1]; and with z = x - highest, the
    sums of exp(z) and of z exp(z).

    What adds nothing any more, and what the model masks with -inf, is let in at z = -87: below
    it, exp gives subnormal numbers, which are slow.
    """
    n_rows, n_columns = x.shape
    if x.device.type == "cpu":
        n_columns = min(n_columns, _COLUMNS)
        n_rows = min(n_rows, max(1, _IN_CACHE // n_columns))
    room = x.new_empty(n_rows * n_columns), x.new_empty(n_rows * n_columns)
    below = weights = room[0][:0]
    least = torch.finfo(x.dtype).min  # of a piece that is masked as a whole
    sums, maxima = [], []
    for block, mine in zip(torch.split(x, n_rows), torch.split(own, n_rows), strict=True):
        parts, tiles = [], []
        for piece in torch.split(block, n_columns, dim=1):
            if below.shape != piece.shape:
                below, weights = (part[: piece.numel()].view(piece.shape) for part in room)
            of_tiles = _tiles(piece).amax(dim=2)
            tiles.append(of_tiles)
            rest = piece[:, of_tiles.shape[1] * _TILE :]
            if rest.shape[1]:
                of_tiles = torch.cat([of_tiles, rest], dim=1)
            high = of_tiles.amax(dim=1, keepdim=True).clamp_(min=least)
            # counted as numbers: sums of bools are slow here, and whole ones to 2^24 are exact
            above = torch.gt(piece, mine, out=weights).sum(dim=1)
            torch.sub(piece, high, out=below).clamp_(min=_LEAST)
            total = torch.exp(below, out=weights).sum(dim=1)
            parts.append(torch.stack([high[:, 0], above, total, below.mul_(weights).sum(dim=1)]))
        sums.append(torch.stack(parts))
        maxima.append(torch.cat(tiles, dim=1))
    return torch.cat(sums, dim=2), torch.cat(maxima)


def _tiles(x: torch.Tensor) -> torch.Tensor:
    """[M, B, 128]: the columns of x [M, V] side by side, without the last few."""
    n_tiles = x.shape[1] // _TILE
    return x[:, : n_tiles * _TILE].view(len(x), n_tiles, _TILE)


def highest(
    x: torch.Tensor, k: int, maxima: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """(ids, values) [M, K] of the `k` highest of x [M, V], by falling value, ties by rising id.

    The k highest lie in the k tiles of columns with the highest maxima, so only those are
    sorted. Where more are equal at the edge of the list than fit, which of them is listed is open.
    """
    n_rows, n = x.shape
    k = min(k, n)
    n_tiles = n // _TILE
    if n_tiles <= 2 * k:
        values, ids = x.topk(k, dim=1)
    else:
        maxima = _tiles(x).amax(dim=2) if maxima is None else maxima
        best = maxima.topk(k, dim=1).indices
        columns = (best[:, :, None] * _TILE + torch.arange(_TILE, device=x.device)).flatten(1)
        rest = torch.arange(n_tiles * _TILE, n, device=x.device).expand(n_rows, -1)
        columns = torch.cat([columns, rest], dim=1)
        values, at = x.gather(1, columns).topk(k, dim=1)
        ids = columns.gather(1, at)
    return ordered(ids, values)


def ordered(ids: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Each row by falling value, equals by rising id."""
    order = ids.argsort(dim=1)
    ids, values = ids.gather(1, order), values.gather(1, order)
    order = values.sort(dim=1, descending=True, stable=True).indices
    return ids.gather(1, order), values.gather(1, order)


def histogram(scores: torch.Tensor, bins: int = BINS) -> tuple[torch.Tensor, torch.Tensor]:
    """(edges [M, B + 1], counts [M, B]) of scores [M, V]: equal bins from the lowest to the
    highest finite score, the last one closed. Scores of -inf are not counted."""
    low, high = scores.amin(dim=1), scores.amax(dim=1)
    if bool((low == -math.inf).any()):
        low = torch.where(scores > -math.inf, scores, math.inf).amin(dim=1)
    high = torch.where(high > low, high, low + 1)
    share = torch.arange(bins + 1, device=scores.device) / bins
    edges = low[:, None] + (high - low)[:, None] * share
    edges[:, -1] = high
    # histc leaves out what is below the lowest edge, -inf too
    ends = zip(scores.cpu(), low.tolist(), high.tolist(), strict=True)
    return edges.cpu(), torch.stack([torch.histc(row, bins, a, b) for row, a, b in ends])


def settled(first: torch.Tensor) -> torch.Tensor:
    """From which row on every row is true: i64[P] of bool[R, P]; -1 where the last is not."""
    tail = first.flip(0).long().cumprod(0).sum(0)
    return torch.where(tail > 0, first.shape[0] - tail, -1)


def read(
    source: Source,
    n: int,
    chosen: torch.Tensor,
    k: int,
    *,
    step: int,
    each: Callable[[slice, torch.Tensor, torch.Tensor], None] | None = None,
    turn: Callable[[int], None] | None = None,
) -> Statistics:
    """The statistics of `n` rows, `step` of them at a time; chosen: i64[n].

    source(rows): their (raw, capped) scores, which are used up when the next ones are asked for.
    each(rows, raw, scores): sees every chunk. turn(rows done): called after each chunk; what it
    raises ends the reading.
    """
    parts: list[Statistics] = []
    for at in range(0, n, step):
        rows = slice(at, min(at + step, n))
        raw, scores = source(rows)
        if each is not None:
            each(rows, raw, scores)
        parts.append(statistics(scores, chosen[rows], k))
        if turn is not None:
            turn(rows.stop)
    return joined(parts)


def joined(parts: Sequence[Statistics]) -> Statistics:
    """Those of some rows after those of others."""
    names = [field.name for field in fields(Statistics)]
    return Statistics(*(torch.cat([getattr(part, name) for part in parts]) for name in names))
