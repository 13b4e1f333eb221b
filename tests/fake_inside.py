"""The made-up inside of a scripted run: small, the same each time, and adding up where it must.

Every size is another number. q and k are rotated by position, weights are what attending to them
gives, the lens ends in the step's own candidates, and a score's parts sum to it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from playground.inspection import (
    INSPECTION_SCHEMA,
    Attribution,
    Gaps,
    Heads,
    Histogram,
    Inspection,
    LayerDetail,
    Lens,
    Stream,
)
from playground.inspection.attend import attend
from playground.inspection.check import Check, judged, unchecked
from playground.inspection.experiment import Ablation, Neuron, Uncached
from playground.inspection.weights import Weights
from playground.trace import ModelInfo, Trace

TURNED, LISTED, UNITS, BINS = 2, 5, 7, 9


def weights_of(m: ModelInfo) -> Weights:
    table = m.vocab_rows * m.d_model
    attention = m.n_layers * m.d_model * m.d_head * 2 * (m.n_heads + m.n_kv_heads)
    ffn = m.n_layers * 3 * m.d_model * m.d_ffn
    other = max(0, m.n_params - table - attention - ffn)
    pair = 2 * m.n_layers * m.n_heads * m.d_head
    return Weights(table, 0, attention, ffn, 0, other, 4, attention, ffn, pair, table)


def _softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _norm(x: np.ndarray) -> np.ndarray:
    return np.linalg.norm(x, axis=-1)


def _rotated(x: np.ndarray, cos: np.ndarray, sin: np.ndarray) -> np.ndarray:
    """x [heads, T, E] with the pair of its first two dimensions turned."""
    a, b = x[..., 0], x[..., 1]
    turned = [a * cos[:, 0] - b * sin[:, 0], b * cos[:, 1] + a * sin[:, 1], x[..., 2]]
    return np.stack(turned, axis=-1)


def detail_of(trace: Trace, layer: int) -> LayerDetail:
    """Layer `layer`, as an inspection without weights keeps it."""
    m, n_answers = trace.model, len(trace.steps)
    n = len(trace.prompt) + n_answers - 1
    random = np.random.default_rng([3, layer, n])
    q_raw, k_raw, v = (
        random.normal(0, 1.5, (h, n, m.d_head)) for h in (m.n_heads, m.n_kv_heads, m.n_kv_heads)
    )
    angles = np.repeat(np.arange(n)[:, None] * 0.3, TURNED, axis=1)
    cos, sin = np.cos(angles), np.sin(angles)
    up, gate = random.normal(0, 1, (2, n_answers, UNITS))
    activation = up * gate / (1 + np.exp(-gate))
    return LayerDetail(
        layer=layer, scaling=m.d_head**-0.5, softcap=None, window=None, q_raw=q_raw, k_raw=k_raw,
        q_normed=None, k_normed=None, q=_rotated(q_raw, cos, sin), k=_rotated(k_raw, cos, sin),
        v=v, cos=cos, sin=sin, rows=None, scores=None, weights=None, head_out=None,
        head_writes=None, neurons=np.argsort(random.random((n_answers, m.d_ffn)))[:, :UNITS],
        activation=activation, gate=gate, up=up, write_norms=np.abs(activation) * 1.25,
    )  # fmt: skip


def inspection_of(
    trace: Trace, layers: Sequence[int] | None = None, lens: Sequence[int] | None = None
) -> Inspection:
    """As `Engine.inspect` of the scripted model would say; layers: None for all of them."""
    m, steps = trace.model, trace.steps
    n_layers, n_answers = m.n_layers, len(steps)
    n = len(trace.prompt) + n_answers - 1
    random = np.random.default_rng([4, n])
    wanted = range(n_layers) if layers is None else layers
    details = [detail_of(trace, layer) for layer in range(n_layers)]
    attended = [[attend(d, h) for h in range(m.n_heads)] for d in details]
    weights = np.array([[a.weights[-n_answers:] for a in row] for row in attended])
    streams = np.cumsum(random.normal(0, 1, (n_layers + 1, n, m.d_model)), axis=0)
    mid = streams[:-1] + random.normal(0, 0.5, (n_layers, n, m.d_model))
    final = streams[-1, -n_answers:]
    heads = random.normal(0, 1, (n_layers, m.n_heads, n_answers))
    ffn, embedding = random.normal(0, 1, (n_layers, n_answers)), random.normal(0, 1, n_answers)
    logit = heads.sum((0, 1)) + ffn.sum(0) + embedding
    nothing = np.zeros(n_layers)
    tokens = (*trace.prompt, *(s.token for s in steps))
    named, special = {t.id: t.raw for t in tokens}, {t.id for t in tokens if t.special}
    for listed in (s.candidates for s in steps):
        named |= dict(zip(listed.ids.tolist(), listed.raw, strict=True))
        special |= set(listed.ids[listed.special].tolist())
    return Inspection(
        schema=INSPECTION_SCHEMA, model=m, n_prompt=len(trace.prompt),
        ids=np.array([*(t.id for t in trace.prompt), *trace.ids[:-1]]), chosen=np.array(trace.ids),
        stream=Stream(
            norms=_norm(streams), mid_norms=_norm(mid), attn_norms=_norm(mid - streams[:-1]),
            ffn_norms=_norm(streams[1:] - mid), attn_cosine=random.uniform(-1, 1, ffn.shape),
            ffn_cosine=random.uniform(-1, 1, ffn.shape),
            prompt_end=streams[:, len(trace.prompt) - 1], final=final,
            normed=final / np.sqrt((final**2).mean(-1, keepdims=True)), position_rows=None,
        ),
        lens=_lens(trace, range(n_layers + 1) if lens is None else [*lens, n_layers], random),
        heads=Heads(
            sink=weights[..., 0],
            entropy_bits=-(weights * np.log2(np.maximum(weights, 1e-30))).sum(-1),
            peak=weights.argmax(-1), peak_weight=weights.max(-1), windows=(None,) * n_layers,
            key_norms=np.array([_norm(d.k) for d in details]),
            value_norms=np.array([_norm(d.v) for d in details]),
        ),
        attribution=Attribution(
            embedding=embedding, position=None, attn=heads.sum(1), heads=heads,
            attn_bias=np.zeros_like(ffn), ffn=ffn, norm_bias=np.zeros(n_answers),
            head_bias=np.zeros(n_answers), total=logit, logit=logit, capped=logit, cap=None,
        ),
        histogram=Histogram(
            edges=np.linspace(-9, 9, BINS + 1) + np.arange(n_answers)[:, None],
            counts=random.multinomial(m.vocab_rows, np.ones(BINS) / BINS, n_answers),
        ),
        details=tuple(details[layer] for layer in wanted),
        gaps=Gaps(
            logits=np.zeros(n_answers), head=0.0, embedding=0.0, stream=nothing,
            attention_sum=nothing, attention_future=nothing, attention_output=nothing,
            heads=nothing, attribution=np.zeros(n_answers),
        ),
        missing=(), pieces=named, special=frozenset(special), forward_ms=12.5, lens_ms=3.5,
    )  # fmt: skip


def _lens(trace: Trace, layers: Sequence[int], random: np.random.Generator) -> Lens:
    rows, answers = len(layers), len(trace.steps)
    end = [s.candidates for s in trace.steps]
    ids = np.array([[c.ids[:LISTED] for c in end]] * rows)
    listed = _softmax(random.normal(0, 1, (rows, answers, LISTED + 1)))[..., :LISTED]
    probs = -np.sort(-listed, axis=-1)
    probs[-1] = [c.probs[0, :LISTED] for c in end]
    prob = random.uniform(0.01, 0.2, (rows, answers))
    prob[-1] = [np.exp(s.logprob) for s in trace.steps]
    rank = random.integers(1, 99, (rows, answers))
    rank[-1] = [s.rank for s in trace.steps]
    return Lens(
        layers=np.array(layers), ids=ids, probs=probs, prob=prob, logprob=np.log(prob), rank=rank,
        entropy_bits=random.uniform(0, 8, (rows, answers)),
        settled=np.where(rank[-1] == 1, layers[-1], -1) if rows > trace.model.n_layers else None,
    )  # fmt: skip


def neuron_of(layer: int, neuron_id: int, k: int = 10) -> Neuron:
    random = np.random.default_rng([6, layer, neuron_id])
    ids = random.permutation(256)[: 2 * k]
    scores = -np.sort(-random.normal(0, 1, 2 * k))
    raw = tuple(bytes([i]) for i in ids)
    return Neuron(
        layer, neuron_id, 1.25, ids[:k], scores[:k], raw[:k],
        ids[: k - 1 : -1], scores[: k - 1 : -1], raw[: k - 1 : -1],
    )  # fmt: skip


def ablation_of(
    trace: Trace, step: int, hide: int | None, head: tuple[int, int] | None, ffn: int | None
) -> Ablation:
    listed = trace.steps[step].candidates
    before = listed.logits.astype("f8")
    after = before + np.random.default_rng([7, step, hide or 0]).normal(0, 1, len(before))
    return Ablation(
        step, hide, head, ffn, trace.ids[step], listed.ids, listed.raw, listed.special, before,
        after, _softmax(before), _softmax(after), np.argsort(np.argsort(-before)) + 1,
        np.argsort(np.argsort(-after)) + 1, 1.5, 2.5, 0.25,
    )  # fmt: skip


def uncached_of(trace: Trace) -> Uncached:
    n = np.arange(len(trace.steps))
    return Uncached(10.0 + n, len(trace.prompt) + n, np.zeros(len(n)))


def checks_of(trace: Trace) -> tuple[Check, ...]:
    return (
        judged("text", 0, 0, "count", "check.detail.equal", compared=len(trace.steps)),
        unchecked("seed", "count", "check.skip.no_draw"),
        judged("logits", np.inf, 1e-3, "logits", "check.detail.step", at=1, compared=3),
    )
