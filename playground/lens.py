"""Plain maths on the model's tables: a row of the embedding table and what is near it."""

from __future__ import annotations

import torch

from playground.sampling import Pieces
from playground.trace import EmbeddingRow, ModelInfo, Neighbours

METRICS = ("cosine", "euclidean", "dot")
_CHUNK_ROWS = 8192


@torch.inference_mode()
def embedding_row(
    table: torch.Tensor, token_id: int, info: ModelInfo, pieces: Pieces, n: int
) -> EmbeddingRow:
    """Row `token_id` of `table` [V, D] in float32, with its `n` nearest rows by each measure."""
    row = table[token_id].float()
    closeness = measure(table, row)
    nearest = {}
    for name, values in closeness.items():
        others = values.clone()
        others[token_id] = -torch.inf
        nearest[name] = others.topk(min(n, table.shape[0] - 1)).indices
    neighbours = []
    for name, ids in nearest.items():
        score = closeness[name][ids]
        ranks = torch.stack([_ranks(closeness[other], ids, token_id) for other in METRICS])
        neighbours.append(
            Neighbours(
                metric=name,
                ids=ids.cpu().numpy(),
                raw=tuple(pieces.raw(i) for i in ids.tolist()),
                score=(-score if name == "euclidean" else score).cpu().numpy(),
                rank_in=ranks.cpu().numpy(),
            )
        )
    return EmbeddingRow(
        model=info,
        id=token_id,
        raw=pieces.raw(token_id),
        special=pieces.special(token_id),
        values=row.cpu().numpy(),
        norm=float(row.double().norm()),
        mean=float(row.double().mean()),
        minimum=float(row.min()),
        maximum=float(row.max()),
        neighbours=tuple(neighbours),
    )


def measure(table: torch.Tensor, row: torch.Tensor) -> dict[str, torch.Tensor]:
    """How near every row is, greater is nearer: f32[V] for each measure (distance negated).

    In chunks, in float32 whatever the table's dtype. The distance is taken from the differences,
    not from norms and the dot product, which would cancel for near rows.
    """
    dots, distances, norms = [], [], []
    for start in range(0, table.shape[0], _CHUNK_ROWS):
        rows = table[start : start + _CHUNK_ROWS].float()
        dots.append(rows @ row)
        distances.append((rows - row).norm(dim=1))
        norms.append(rows.norm(dim=1))
    dot = torch.cat(dots)
    scale = torch.cat(norms) * row.norm()
    # A row of zeros has no direction; its cosine counts as 0 rather than NaN.
    cosine = torch.where(scale > 0, dot / scale, torch.zeros_like(dot))
    return {"cosine": cosine, "euclidean": -torch.cat(distances), "dot": dot}


def _ranks(closeness: torch.Tensor, ids: torch.Tensor, itself: int) -> torch.Tensor:
    """The place of each of `ids` (1 = nearest), the row itself not counted."""
    above = (closeness[None, :] > closeness[ids][:, None]).sum(dim=1)
    return 1 + above - (closeness[itself] > closeness[ids]).long()
