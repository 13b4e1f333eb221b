"""How many numbers each part of a model is made of, counted from its tensors."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import nn

from playground.capture import locate
from playground.inside.forcing import Runner
from playground.inside.numbers import matrix
from playground.inspection.weights import Weights


def weights(runner: Runner) -> Weights | None:
    """See `Engine.weights`."""
    parts = locate(runner.model, runner.info.family)
    if parts.blocks is None:
        return None
    counted: set[int] = set()

    def numbers(modules: Iterable[nn.Module]) -> int:
        """Of all parameters that were not counted before: a tied table is one table."""
        new = {id(p): p.numel() for m in modules for p in m.parameters() if id(p) not in counted}
        counted.update(new)
        return sum(new.values())

    attention = [m for block in parts.blocks for m in (*block.qkv, block.o_proj)]
    ffn = [m for block in parts.blocks for m in (*block.up, block.down)]
    table, head = parts.embed.weight, parts.head.weight
    assert isinstance(table, torch.Tensor) and isinstance(head, torch.Tensor)
    return Weights(
        embedding=numbers([parts.embed]),
        position=numbers([parts.position] if parts.position is not None else []),
        attention=numbers(attention),
        ffn=numbers(ffn),
        head=numbers([parts.head]),
        other=numbers([runner.model]),
        itemsize=table.element_size(),
        attention_macs=sum(matrix(m).numel() for m in attention),
        ffn_macs=sum(matrix(m).numel() for m in ffn),
        # q · k, and the weight times v: as wide as what o_proj gets from all heads
        pair_macs=sum(2 * matrix(block.o_proj).shape[1] for block in parts.blocks),
        head_macs=head.numel(),
    )
