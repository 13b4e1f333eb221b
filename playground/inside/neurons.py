"""What one FFN neuron says: its output row, read out over the vocabulary."""

from __future__ import annotations

import torch

from playground.capture import locate
from playground.errors import PlaygroundError
from playground.inside.attribution import Norm
from playground.inside.detail import host
from playground.inside.forcing import Runner, index
from playground.inside.numbers import matrix, working
from playground.inspection.experiment import Neuron

_ROWS_AT_ONCE = 8192


def neuron(runner: Runner, layer: int, neuron_id: int, k: int) -> Neuron:
    """See `Engine.neuron`."""
    layer = index("layer", layer, runner.info.n_layers)
    parts = locate(runner.model, runner.info.family)
    final = Norm.final(parts)
    if parts.blocks is None or parts.places is None or final is None:
        raise PlaygroundError("error.inspect_part", family=runner.info.family)
    block = parts.blocks[layer]
    with torch.inference_mode():
        down = matrix(block.down)  # [D, F]
        neuron_id = index("neuron", neuron_id, down.shape[1])
        row = working(down[:, neuron_id])
        written = row
        if block.ffn_norm is not None:
            written = row * Norm.of(block.ffn_norm, parts.places.unit_offset).gain
        gained = final.centre(written) * final.gain.to(row.device)
        table = parts.head.weight
        assert isinstance(table, torch.Tensor)
        gained = gained.to(table.device)
        # in chunks: a table in half precision is never copied as a whole
        scores = torch.cat([working(rows) @ gained for rows in torch.split(table, _ROWS_AT_ONCE)])
        k = min(k, len(scores) // 2)
        up, down_most = scores.topk(k), scores.topk(k, largest=False)

    def raw(ids: torch.Tensor) -> tuple[bytes, ...]:
        return tuple(runner.vocabulary.raw(i) for i in ids.tolist())

    return Neuron(
        layer=layer,
        id=neuron_id,
        row_norm=float(row.norm()),
        up_ids=host(up.indices),
        up=host(up.values),
        up_raw=raw(up.indices),
        down_ids=host(down_most.indices),
        down=host(down_most.values),
        down_raw=raw(down_most.indices),
    )
