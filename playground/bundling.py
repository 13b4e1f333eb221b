"""The inside of one run for a page without a model: what fits into one small file.

Always in it: every layer in a few numbers, the lens, the checks, the cost without a cache, and at
one step what hiding each prompt position and knocking out each layer's FFN does. The rest is for
whole layers, as many as fit, in the order of `layer_order`: their q, k and v, every neuron that
is listed, and what knocking out each of their heads does at that step.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from playground import store
from playground.inspection import Inspection, LayerDetail
from playground.inspection.bundle import Bundle
from playground.inspection.experiment import Ablation, Neuron

if TYPE_CHECKING:
    from playground.engine import Engine
    from playground.inside.ablation import Taken
    from playground.trace import Trace

MAX_FILE = 2_000_000  # bytes, gzip
NEURON_TOKENS = 8
ABLATION_TOKENS = 12
ABLATION_STEPS = 8

OnProgress = Callable[[str, float], None]

# Shares of the progress.
_SHARES = {
    "forward": (0.0, 0.02), "lens": (0.02, 0.02), "ablate": (0.04, 0.26), "uncached": (0.3, 0.1),
    "check": (0.4, 0.2), "layers": (0.6, 0.4),
}  # fmt: skip


def make_inside(
    engine: Engine,
    trace: Trace,
    *,
    max_bytes: int = MAX_FILE,
    on_progress: OnProgress | None = None,
) -> Bundle:
    """The inside of `trace`, with as many layers as a file of `max_bytes` holds.

    on_progress("record", fraction of the whole). Raises PlaygroundError as `Engine.inspect` does.
    """
    from playground.checks import check
    from playground.inside.ablation import Taken

    def report(stage: str, fraction: float) -> None:
        if on_progress is not None:
            start, share = _SHARES[stage]
            on_progress("record", start + share * min(1.0, fraction))

    n_layers, n_heads = engine.info.n_layers, engine.info.n_heads
    found = engine.inspect(trace, layers=range(n_layers), weights=False, on_progress=report)
    weights, step = engine.weights(), telling_step(trace)
    # What this family does not let be seen can not be taken away either.
    hide = [Taken(hide=i) for i in range(found.n_prompt) if found.heads is not None]
    ffn = [Taken(ffn=i) for i in range(n_layers) if weights is not None]

    def ablations(wanted: Sequence[Taken], report: OnProgress | None) -> tuple[Ablation, ...]:
        return engine.ablations(
            trace, step, wanted, n_candidates=ABLATION_TOKENS, on_progress=report
        )

    bundle = Bundle(
        trace_id=store.trace_id(trace),
        inspection=replace(found, details=()),
        weights=weights,
        neurons=(),
        ablations=ablations([*hide, *ffn], report),
        uncached=engine.uncached(trace, on_progress=report),
        checks=check(engine, trace, on_progress=report),
    )
    for layer in layer_order(found):
        report("layers", file_size(bundle) / max_bytes)
        detail = found.detail(layer)
        assert detail is not None
        heads = [Taken(head=(layer, h)) for h in range(n_heads) if found.heads is not None]
        neurons = [engine.neuron(layer, i, NEURON_TOKENS) for i in listed(detail)]
        more = with_layer(bundle, detail, neurons, ablations(heads, None))
        if file_size(more) > max_bytes:
            break
        bundle = more
    return bundle


def telling_step(trace: Trace) -> int:
    """Of the first steps the one at which the model was least sure: there, taking something away
    shows most."""
    entropies = [step.entropy_bits for step in trace.steps[:ABLATION_STEPS]]
    return int(np.argmax(entropies))


def layer_order(found: Inspection) -> list[int]:
    """All layers, those first that show most of what heads do.

    Layer 0, which reads the embeddings themselves; the layer of the head that reads one other
    position most sharply; the layer whose heads rest most on position 0 (the sink); then the
    others, by their sharpest head. A head's sharpness: its largest weight, counted as 0 where
    that is on position 0 or on its own, averaged over the steps.
    """
    n_layers, heads = found.model.n_layers, found.heads
    if heads is None:
        return list(range(n_layers))
    own = found.n_prompt - 1 + np.arange(len(found.chosen))
    elsewhere = (heads.peak != 0) & (heads.peak != own)
    sharp = np.where(elsewhere, heads.peak_weight, 0).mean(axis=2).max(axis=1)
    by_sharpness = np.argsort(-sharp, kind="stable").tolist()
    sinks = np.argsort(-heads.sink.mean(axis=(1, 2)), kind="stable").tolist()
    sharpest = next((i for i in by_sharpness if i != 0), 0)
    resting = next((i for i in sinks if i not in (0, sharpest)), 0)
    return list(dict.fromkeys((0, sharpest, resting, *by_sharpness)))


def listed(detail: LayerDetail) -> list[int]:
    """Every neuron that the detail names at any step."""
    return [] if detail.neurons is None else np.unique(detail.neurons).tolist()


def with_layer(
    bundle: Bundle,
    detail: LayerDetail,
    neurons: Sequence[Neuron],
    ablations: Sequence[Ablation],
) -> Bundle:
    """`bundle` with one layer more, in the order of layers."""
    details = sorted((*bundle.inspection.details, detail), key=lambda d: d.layer)
    return replace(
        bundle,
        inspection=replace(bundle.inspection, details=tuple(details)),
        neurons=tuple(sorted((*bundle.neurons, *neurons), key=lambda n: (n.layer, n.id))),
        ablations=(*bundle.ablations, *ablations),
    )


def file_size(bundle: Bundle) -> int:
    """Bytes of the file that `store.save_inside` makes."""
    return len(gzip.compress(store.dumps_inside(bundle), mtime=0))
