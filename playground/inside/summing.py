"""From what one forward left to the record of it: stream, heads, attribution, gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from playground.capture import Parts
from playground.inside.attribution import Norm, dots
from playground.inside.detail import host
from playground.inside.forcing import Forced
from playground.inside.logit_lens import Final
from playground.inside.numbers import bias_of, working
from playground.inside.recording import Recorder, Writes
from playground.inspection import Attribution, Gaps, Heads, Stream
from playground.inspection.arrays import Missing


@dataclass(frozen=True, slots=True, eq=False)
class Summed:
    stream: Stream
    heads: Heads | None
    attribution: Attribution | None
    gaps: Gaps
    missing: tuple[Missing, ...]


def summed(
    parts: Parts, recorder: Recorder, given: Forced, final: Final, head_gap: float
) -> Summed:
    """The record of everything but the lens and the details."""
    attribution, rest, sum_gap = _attribution(parts, recorder, given, final)
    summaries = [s for s in recorder.summaries if s is not None]
    heard = len(summaries) == len(parts.layers)
    heads = None
    if heard:
        heads = Heads(
            sink=_stack([s.sink for s in summaries]),
            entropy_bits=_stack([s.entropy_bits for s in summaries]),
            peak=_stack([s.peak for s in summaries]),
            peak_weight=_stack([s.peak_weight for s in summaries]),
            windows=tuple(recorder.windows),
            key_norms=_stack(recorder.key_norms),
            value_norms=_stack(recorder.value_norms),
        )
    writes = recorder.writes
    split = [w.heads_gap for w in writes if w.heads_gap is not None]
    gaps = Gaps(
        logits=np.array(final.logits_gap),
        head=head_gap,
        embedding=_embedding_gap(parts, recorder, given),
        stream=np.array([w.stream_gap for w in writes]) if writes else None,
        attention_sum=np.array([s.sum_gap for s in summaries]) if heard else None,
        attention_future=np.array([s.future for s in summaries]) if heard else None,
        attention_output=np.array([s.output_gap for s in summaries]) if heard else None,
        heads=_stack([(g.cpu() / rest).amax()[None] for g in split])[:, 0] if split else None,
        attribution=sum_gap,
    )
    missing = [] if heard else [Missing("heads", "missing.attention", {})]
    if parts.blocks is not None and parts.blocks[0].between is None:
        missing.append(Missing("mid_norms", "missing.parallel", {}))
    return Summed(_stream(parts, recorder, writes), heads, attribution, gaps, tuple(missing))


def _stack(tensors: Sequence[torch.Tensor]) -> np.ndarray:
    """[L, …] on this side, whatever device each layer is on."""
    return np.stack([host(t) for t in tensors])


def _stream(parts: Parts, recorder: Recorder, writes: Sequence[Writes]) -> Stream:
    assert recorder.normed is not None
    mids = [w.mid_norms for w in writes if w.mid_norms is not None]
    return Stream(
        norms=_stack(recorder.norms),
        mid_norms=_stack(mids) if mids else None,
        attn_norms=_stack([w.attn_norms for w in writes]) if writes else None,
        ffn_norms=_stack([w.ffn_norms for w in writes]) if writes else None,
        attn_cosine=_stack([w.attn_cosine for w in writes]) if writes else None,
        ffn_cosine=_stack([w.ffn_cosine for w in writes]) if writes else None,
        prompt_end=host(recorder.streams[:, 0]),
        final=host(recorder.streams[-1]),
        normed=host(recorder.normed[-recorder.n_answers :]),
        position_rows=None if recorder.position is None else host(recorder.position),
    )


def _embedding_gap(parts: Parts, recorder: Recorder, given: Forced) -> float | None:
    """What entered the first block against the rows of the table, taken here."""
    if parts.blocks is None or recorder.entered is None:
        return None
    table = parts.embed.weight
    assert isinstance(table, torch.Tensor)
    rows = table[torch.tensor(given.ids, device=table.device)]
    rows = rows * torch.tensor(embedding_scale(parts), dtype=table.dtype)
    if parts.position is not None:
        of_positions = parts.position.weight
        assert isinstance(of_positions, torch.Tensor)
        rows = rows + of_positions[: len(given.ids)].to(rows.device)
    return float((working(rows) - working(recorder.entered).to(rows.device)).abs().amax())


def embedding_scale(parts: Parts) -> float:
    """What the rows of the table are multiplied by: the square root of D in Gemma, else 1."""
    return float(getattr(parts.embed, "scalar_embed_scale", 1.0))


def _attribution(
    parts: Parts, recorder: Recorder, given: Forced, final: Final
) -> tuple[Attribution | None, torch.Tensor, np.ndarray | None]:
    """(the record, the final norm's scale f64[P], |total - logit| of each P)."""
    norm = Norm.final(parts)
    if norm is None or recorder.direction is None or recorder.embedded is None:
        return None, torch.ones(len(given.chosen), dtype=torch.float64), None
    scale = norm.scale(recorder.streams[-1])[:, 0].cpu().double()
    at = slice(-recorder.n_answers, None)

    def part(x: torch.Tensor) -> torch.Tensor:
        return x.cpu().double() / scale

    def along(x: torch.Tensor) -> torch.Tensor:
        assert recorder.direction is not None
        return part(dots(recorder.direction.to(x.device), working(x)[at]))

    none = torch.zeros_like(scale)
    embedding = along(recorder.embedded)
    position = along(recorder.position) if recorder.position is not None else None
    attn = torch.stack([part(w.attn) for w in recorder.writes])
    ffn = torch.stack([part(w.ffn) for w in recorder.writes])
    heads = [part(w.heads) for w in recorder.writes if w.heads is not None]
    biases = [part(w.attn_bias) for w in recorder.writes if w.attn_bias is not None]
    split = len(heads) == len(attn)
    of_norm, of_head = norm.bias, bias_of(parts.head)
    norm_bias = (
        dots(recorder.rows, of_norm.to(recorder.rows.device)).cpu().double()
        if of_norm is not None
        else none
    )
    chosen = torch.tensor(given.chosen)
    head_bias = of_head.cpu().double()[chosen] if of_head is not None else none
    of_attn = (
        torch.stack(heads).sum(dim=(0, 1)) + torch.stack(biases).sum(dim=0)
        if split
        else attn.sum(dim=0)
    )
    total = embedding + of_attn + ffn.sum(dim=0) + norm_bias + head_bias
    if position is not None:
        total = total + position
    logit = torch.cat(final.logit)
    return (
        Attribution(
            embedding=host(embedding),
            position=None if position is None else host(position),
            attn=host(attn),
            heads=host(torch.stack(heads)) if split else None,
            attn_bias=host(torch.stack(biases)) if split else None,
            ffn=host(ffn),
            norm_bias=host(norm_bias),
            head_bias=host(head_bias),
            total=host(total),
            logit=host(logit),
            capped=host(torch.cat(final.capped)),
            cap=parts.cap,
        ),
        scale,
        host((total - logit.cpu()).abs()),
    )
