"""The panel on the residual stream and the logit as a sum."""

TEXT = {
    "panel.residual.tab": "Residual stream",
    "panel.residual.title": "Residual stream: everything adds up to the score",
    "panel.residual.why": "A token travels through the layers as one long list of numbers. No layer "
    "replaces it: attention and FFN only add to it, like brooks to a river. So the score of the token that was "
    "chosen can be taken apart again: so much came from here, so much from there.",
    "panel.residual.how": "stream = embedding (+ position) + Σ over layers (attention + FFN) · part = what was "
    "written · (row of the head × gain) / scale of the final norm at this position, LayerNorm taking the "
    "mean off each part first · a head's part goes through its slice of o_proj · the sum is taken in float64.",
    "panel.residual.layer": "layer",
    "panel.residual.no_sum": "In this model the score can not be taken apart.",
    "panel.residual.no_heads": "In this model the heads can not be told apart.",
    # the river
    "panel.residual.river": "What flows in, layer by layer",
    "panel.residual.river_hint": "The river’s width is the length (norm) of the stream’s vector: before a layer, "
    "between attention and FFN, after it. Bars are the lengths of what was added, at the same scale: filled "
    "for attention, open for FFN. "
    "Lengths do not add up like numbers: what is written may point along the stream, across it or against it. "
    "At the bottom: how far each write points to the chosen token’s row of the head.",
    "panel.residual.river_label": "The stream and what each layer wrote; arrow keys move along the layers, Enter chooses one",
    "panel.residual.river_table": "These numbers as a table",
    "panel.residual.scale": "Scale",
    "panel.residual.scale_root": "root (small ones visible)",
    "panel.residual.scale_true": "true",
    "panel.residual.lane_attn": "attention wrote",
    "panel.residual.lane_stream": "the stream",
    "panel.residual.lane_ffn": "FFN wrote",
    "panel.residual.lane_cosine": "cosine to the row of “{token}”",
    "panel.residual.read_layer": "Layer {l}: stream {before}, attention wrote {attn} (cosine {attn_cosine}) → {mid}, FFN wrote {ffn} (cosine {ffn_cosine}) → {after}",
    "panel.residual.read_parallel": "Layer {l}: stream {before}, attention wrote {attn} (cosine {attn_cosine}) and FFN {ffn} (cosine {ffn_cosine}) → {after}",
    "panel.residual.read_stream": "Layer {l}: stream {before} → {after}",
    "panel.residual.col.layer": "layer",
    "panel.residual.col.before": "before",
    "panel.residual.col.attn": "attention wrote",
    "panel.residual.col.mid": "between",
    "panel.residual.col.ffn": "FFN wrote",
    "panel.residual.col.after": "after",
    "panel.residual.col.attn_cosine": "cosine, attention",
    "panel.residual.col.ffn_cosine": "cosine, FFN",
    # the sum
    "panel.residual.frozen_rms": "How the final norm is treated: it divides the whole vector by one number. "
    "That number is held at the value it really had at this position, so the score is a plain sum of parts, "
    "exact but for rounding.",
    "panel.residual.frozen_layer": "How the final norm (LayerNorm) is treated: it takes off the mean and "
    "divides by one number. The mean is taken off each part; the number is held at the value it really had "
    "at this position, so the score is a plain sum of parts, exact but for rounding.",
    "panel.residual.sum": "The score as a sum",
    "panel.residual.sum_hint": "Each bar starts where the last one ended: embedding, then attention "
    "(filled) and FFN (open) of each layer, up to the logit of the chosen token.",
    "panel.residual.sum_label": "The logit as a sum of parts; arrow keys move along the parts",
    "panel.residual.sum_table": "The parts as a table",
    "panel.residual.part.embedding": "embedding",
    "panel.residual.part.position": "position",
    "panel.residual.part.attn": "attention, layer {l}",
    "panel.residual.part.ffn": "FFN, layer {l}",
    "panel.residual.part.norm_bias": "norm’s bias",
    "panel.residual.part.head_bias": "head’s bias",
    "panel.residual.total": "sum",
    "panel.residual.goal": "the model’s logit of “{token}”: {value}",
    "panel.residual.read_part": "{part}: {value}, sum so far {sum}",
    "panel.residual.read_total": "Sum of all parts: {total}",
    "panel.residual.balance": "What lifts it: {plus}. What lowers it: {minus}. Together {total}; the model says {logit}; they differ by {gap}.",
    "panel.residual.cap": "This model caps its scores by {cap} × tanh(score / {cap}): the parts add up to the score "
    "before the cap, {logit}; the cap makes {capped} of it.",
    "panel.residual.differences": "Softmax looks only at differences between scores: a part that lifts all tokens "
    "alike counts here, and changes no probability.",
    "panel.residual.col.part": "part",
    "panel.residual.col.adds": "adds",
    "panel.residual.col.sum": "sum so far",
    # the heads
    "panel.residual.heads": "Who voted for this token",
    "panel.residual.heads_hint": "What each attention head added to the token’s logit in this step. Layers from left to "
    "right, heads from top to bottom, both from 0; full shade is the largest of this step. Click a cell to look at that head everywhere.",
    "panel.residual.heads_label": "Parts of the logit, heads by layers; arrow keys move, Enter chooses",
    "panel.residual.heads_table": "All heads as a table",
    "panel.residual.head_row": "head {h}",
    "panel.residual.read_head": "Layer {l}, head {h}: {value}",
    "panel.residual.attn_bias": "The biases of the output projections, which belong to no head, add {value} in all layers together.",
    "panel.residual.votes": "The ten strongest, heads and FFNs",
    "panel.residual.vote_head": "head {h}, layer {l}",
    "panel.residual.col.head": "head",
}
