"""How many numbers a model is made of, part by part, as counted from its tensors."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    """Numbers (not bytes) in each part; itemsize: bytes of one.

    attention, ffn: the matrices of all layers that every position is multiplied with, their
    biases included; position: rows added for the position (GPT-2), 0 without; head: of a head of
    its own, 0 where it is the embedding table again (tied). other: norms and all that is not
    named. Their sum is the model's count of parameters.
    attention_macs, ffn_macs: multiply-adds for one position through the matrices of all layers;
    pair_macs: for one query against one key, scores and values together, all layers and heads;
    head_macs: for the scores of one position.
    """

    embedding: int
    position: int
    attention: int
    ffn: int
    head: int
    other: int
    itemsize: int
    attention_macs: int
    ffn_macs: int
    pair_macs: int
    head_macs: int
