"""The whole inside of one layer: q, k, v on their way, the weights, and the strongest neurons."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch

from playground.capture import LayerParts, Parts, Places
from playground.inside.attention import Heard, attend
from playground.inside.numbers import matrix, working
from playground.inside.watching import Watch
from playground.inspection.layer import LayerDetail
from playground.trace import ModelInfo

NEURONS = 10
MOST = 2**24  # numbers in one array of a detail: 64 MiB


@dataclass(slots=True, eq=False)
class Grabbed:
    """Outputs of a layer's modules, [T, …], in the order of `LayerParts`."""

    qkv: list[torch.Tensor] = field(default_factory=list)
    qk_norm: list[torch.Tensor] = field(default_factory=list)
    up: list[torch.Tensor] = field(default_factory=list)
    activation: torch.Tensor | None = None
    rotation: tuple[torch.Tensor, torch.Tensor] | None = None


def grab(watch: Watch, block: LayerParts, into: Callable[[], Grabbed]) -> None:
    """Have `watch` keep what the detail of this layer is made of; `into` gives the place for it."""

    def keep(name: str, x: torch.Tensor) -> None:
        getattr(into(), name).append(x[0])

    def activation(x: torch.Tensor) -> None:
        into().activation = x[0]

    def options(kwargs: Mapping[str, Any]) -> None:
        turned = kwargs.get("position_embeddings")
        if turned is not None:
            into().rotation = turned[0][0], turned[1][0]

    watch.enters(block.attn, lambda x: None, options)
    for module in block.qkv:
        watch.leaves(module, partial(keep, "qkv"))
    for module in block.qk_norm or ():
        watch.leaves(module, partial(keep, "qk_norm"))
    for module in block.up:
        watch.leaves(module, partial(keep, "up"))
    watch.enters(block.down, activation)


def detail(
    layer: int,
    info: ModelInfo,
    parts: Parts,
    heard: Heard | None,
    grabbed: Grabbed,
    n_answers: int,
    weights: bool,
) -> LayerDetail:
    """The record of one layer, from what is at hand as the layer ends.

    weights: also what q, k and v give again (unless the mask adds to the scores: then they do not).
    """
    fields: dict[str, Any] = dict.fromkeys(LayerDetail.AXES)
    if heard is not None:
        fields |= {"q": heard.q, "k": heard.k, "v": heard.v}
        if weights or heard.bias is not None:
            fields |= _attention(heard, n_answers)
    if parts.places is not None and parts.blocks is not None:
        block = parts.blocks[layer]
        if heard is not None and weights:
            fields["head_writes"] = head_writes(heard.out[-n_answers:], block)
        fields |= _projected(grabbed, info, parts.places)
        fields |= _neurons(grabbed, block, parts.places, n_answers)
    arrays = {n: host(v) if isinstance(v, torch.Tensor) else v for n, v in fields.items()}
    return LayerDetail(
        layer=layer,
        scaling=heard.scaling if heard is not None else None,
        softcap=heard.softcap if heard is not None else None,
        window=heard.window if heard is not None else None,
        **arrays,
    )


def host(x: torch.Tensor) -> np.ndarray:
    """`x` as a numpy array of its own precision (bfloat16 has none there: float32)."""
    return (working(x) if x.is_floating_point() else x).cpu().numpy()


def _attention(heard: Heard, n_answers: int) -> dict[str, Any]:
    n_heads, n = heard.q.shape[:2]
    n_rows = n if n_heads * n * n <= MOST else max(1, min(n_answers, MOST // (n_heads * n)))
    scores, weights = attend(heard, slice(n - n_rows, n))
    return {
        "rows": np.arange(n - n_rows, n), "scores": scores, "weights": weights,
        "head_out": heard.out[-n_answers:].transpose(0, 1),
    }  # fmt: skip


def head_writes(head_out: torch.Tensor, block: LayerParts) -> torch.Tensor | None:
    """Each head's output [P, H, E] through its columns of o_proj: [H, P, D], without the bias."""
    n, n_heads, width = head_out.shape
    weight = working(matrix(block.o_proj))  # [D, H * E]
    if n * n_heads * weight.shape[0] > MOST:
        return None
    columns = weight.reshape(-1, n_heads, width).permute(1, 2, 0)
    return torch.matmul(working(head_out).transpose(0, 1), columns)


def _projected(grabbed: Grabbed, info: ModelInfo, places: Places) -> dict[str, Any]:
    n_heads, n_kv = info.n_heads, info.n_kv_heads
    if places.fused == "heads":  # q, k, v of head 0, of head 1, …
        fused = grabbed.qkv[0]
        q, k, _ = fused.reshape(len(fused), n_heads, 3, -1).unbind(2)
        raw = {"q_raw": q.transpose(0, 1), "k_raw": k.transpose(0, 1)}
    else:
        parts = grabbed.qkv
        if places.fused == "blocks":
            width = grabbed.qkv[0].shape[-1] // (n_heads + 2 * n_kv)
            sizes = [n_heads * width, n_kv * width, n_kv * width]
            parts = list(torch.split(grabbed.qkv[0], sizes, dim=-1))
        raw = {"q_raw": _heads(parts[0], n_heads), "k_raw": _heads(parts[1], n_kv)}
    if grabbed.qk_norm:
        q, k = grabbed.qk_norm
        first = places.head_first
        raw["q_normed"] = q if first else _heads(q, n_heads)
        raw["k_normed"] = k if first else _heads(k, n_kv)
    if grabbed.rotation is not None:
        raw["cos"], raw["sin"] = grabbed.rotation
    return raw


def _heads(x: torch.Tensor, n: int) -> torch.Tensor:
    """[T, n * E] or [T, n, E] as [n, T, E]."""
    return (x.reshape(len(x), n, -1) if x.dim() == 2 else x).transpose(0, 1)


def _neurons(grabbed: Grabbed, block: LayerParts, places: Places, n_answers: int) -> dict[str, Any]:
    assert grabbed.activation is not None
    at = slice(-n_answers, None)
    activation = working(grabbed.activation[at])
    gate, up = None, grabbed.up[-1][at]
    if places.gated:
        gate, up = (t[at] for t in (grabbed.up if len(grabbed.up) > 1 else up_halves(grabbed)))
    # twice as fast as a norm over the first axis
    lengths = working(matrix(block.down)).square().sum(dim=0).sqrt()
    strength = activation.abs() * lengths
    write_norms, ids = strength.topk(min(NEURONS, strength.shape[1]), dim=1)
    return {
        "neurons": ids,
        "activation": activation.gather(1, ids),
        "gate": None if gate is None else gate.gather(1, ids),
        "up": up.gather(1, ids),
        "write_norms": write_norms,
    }


def up_halves(grabbed: Grabbed) -> tuple[torch.Tensor, torch.Tensor]:
    """(gate, up) of a fused projection (Phi-3: gate first)."""
    gate, up = grabbed.up[0].chunk(2, dim=-1)
    return gate, up
