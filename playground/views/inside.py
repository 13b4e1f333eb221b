"""An inspection, and what is asked beside it, as the browser gets it.

Arrays travel exact (`inspection.packed`); token ids are numbers, never keys of anything but
`pieces`, where they stand for their bytes. Texts travel as keys of `playground.text` with values.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

from playground.inspection import Inspection, LayerDetail, Missing
from playground.inspection.attend import Attended
from playground.inspection.check import Check
from playground.inspection.experiment import Ablation, Neuron, Uncached
from playground.inspection.packed import pack, pack_arrays
from playground.inspection.weights import Weights

HEAD = ("q_raw", "q_normed", "q")
KV = ("k_raw", "k_normed", "k", "v")
FFN = ("neurons", "activation", "gate", "up", "write_norms")


def inside_payload(
    found: Inspection,
    trace_id: str,
    layers: Sequence[int],
    weights: Weights | None,
    *,
    recorded: bool,
) -> dict[str, Any]:
    """What every view reads: all layers in a few numbers each, at all positions and steps.

    layers: those whose details can be had. recorded: read from a file, no model is asked.
    """
    optional = {
        name: None if part is None else pack_arrays(part)
        for name, part in (("heads", found.heads), ("attribution", found.attribution))
    }
    if found.heads is not None:
        optional["heads"] |= {"windows": list(found.heads.windows)}  # type: ignore[operator]
    if found.attribution is not None:
        optional["attribution"] |= {"cap": found.attribution.cap}  # type: ignore[operator]
    return {
        "trace": trace_id,
        "recorded": recorded,
        "model": dataclasses.asdict(found.model),
        "weights": None if weights is None else dataclasses.asdict(weights),
        "n_prompt": found.n_prompt,
        **pack_arrays(found),
        "stream": pack_arrays(found.stream),
        "lens": pack_arrays(found.lens),
        **optional,
        "histogram": pack_arrays(found.histogram),
        "gaps": pack_arrays(found.gaps) | {
            "head": found.gaps.head, "embedding": found.gaps.embedding
        },
        "layers": list(layers),
        "missing": [missing_payload(m) for m in found.missing],
        "pieces": pieces_payload(found.pieces),
        "special": sorted(found.special),
        "ms": [found.forward_ms, found.lens_ms],
    }  # fmt: skip


def missing_payload(missing: Missing) -> dict[str, Any]:
    return {"part": missing.part, "reason": missing.reason, "values": dict(missing.values)}


def pieces_payload(pieces: Mapping[int, bytes]) -> dict[str, str]:
    """Each token's bytes as hex, by its id."""
    return {str(i): raw.hex() for i, raw in pieces.items()}


def head_payload(detail: LayerDetail, attended: Attended) -> dict[str, Any]:
    """One query head of a layer: its vectors [T, E], and what it reads [Q, T]."""
    of = {name: (attended.head, getattr(detail, name)) for name in HEAD}
    of |= {name: (attended.kv, getattr(detail, name)) for name in KV}
    return {
        "layer": detail.layer,
        "head": attended.head,
        "kv": attended.kv,
        "scaling": detail.scaling,
        "softcap": detail.softcap,
        "window": detail.window,
        **{n: None if a is None else pack(a[k], "f4") for n, (k, a) in of.items()},
        "cos": pack(detail.cos, "f4"),
        "sin": pack(detail.sin, "f4"),
        **pack_arrays(attended),
    }


def ffn_payload(detail: LayerDetail) -> dict[str, Any]:
    """The strongest neurons of a layer at every answering position [P, U]."""
    return {"layer": detail.layer, **{n: pack(getattr(detail, n), detail.AXES[n][0]) for n in FFN}}


def neuron_payload(neuron: Neuron) -> dict[str, Any]:
    return {
        "layer": neuron.layer,
        "id": neuron.id,
        "row_norm": neuron.row_norm,
        **pack_arrays(neuron),
        "up_hexes": [raw.hex() for raw in neuron.up_raw],
        "down_hexes": [raw.hex() for raw in neuron.down_raw],
    }


def ablation_payload(found: Ablation) -> dict[str, Any]:
    return {
        "step": found.step,
        "hide": found.hide,
        "head": None if found.head is None else list(found.head),
        "ffn": found.ffn,
        "chosen": found.chosen,
        **pack_arrays(found),
        "hexes": [raw.hex() for raw in found.raw],
        "entropy_before": found.entropy_bits_before,
        "entropy_after": found.entropy_bits_after,
        "kl_bits": found.kl_bits,
    }


def ablations_payload(found: Sequence[Ablation]) -> list[dict[str, Any]]:
    """A list of ablations in short; chosen_before, chosen_after: the chosen token's probability."""
    short = []
    for one in found:
        k = one.ids.tolist().index(one.chosen)
        short.append(
            {
                "step": one.step,
                "hide": one.hide,
                "head": None if one.head is None else list(one.head),
                "ffn": one.ffn,
                "kl_bits": one.kl_bits,
                "chosen_before": float(one.probs_before[k]),
                "chosen_after": float(one.probs_after[k]),
            }
        )
    return short


def uncached_payload(found: Uncached) -> dict[str, Any]:
    return pack_arrays(found)


def check_payload(check: Check) -> dict[str, Any]:
    """What is not finite has no JSON: null, which beside `ok` false means infinitely far."""
    return {
        "name": check.name,
        "ok": check.ok,
        "measured": _finite(check.measured),
        "tolerance": _finite(check.tolerance),
        "unit": check.unit,
        "detail": check.detail,
        "values": dict(check.values),
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
