"""The panel on the feed-forward network."""

TEXT = {
    "panel.ffn.tab": "FFN",
    "panel.ffn.title": "FFN: thousands of small detectors",
    "panel.ffn.why": "After attention has gathered what it wants from other tokens, each position is "
    "worked on alone. Its numbers are spread over many more numbers, the neurons; most stay near "
    "zero, a few answer strongly, and each of those adds its own direction to the stream. Some of these "
    "directions push certain words up and others down.",
    "panel.ffn.how": "gated: activation = f(gate) × up, with gate = W_gate · x and up = W_up · x; without "
    "a gate: activation = f(up) · a neuron writes activation × its output row (column of W_down) · "
    "strongest: by |activation| × norm of that row · what a row says: row · (gain of the final norm) "
    "· every row of the head.",
    "panel.ffn.at": "Position {n} has just read",
    "panel.ffn.writes": "and in run {n} writes",
    "panel.ffn.before": "Nothing has run yet. Step forward to see the first answer come about.",
    "panel.ffn.pending": "Fetching this layer …",
    "panel.ffn.failed": "This layer could not be fetched.",
    "panel.ffn.unseen": "The neurons of this model can not be seen.",
    # the picture
    "panel.ffn.pic.label": "The FFN to scale: {d} numbers go in, {f} neurons in between, {d} numbers come "
    "out. The list below has the same neurons.",
    "panel.ffn.pic.in": "{d} numbers in",
    "panel.ffn.pic.expand_gated": "expand, 2 × {d} × {f} = {both} weights",
    "panel.ffn.pic.expand_plain": "expand, {d} × {f} = {n} weights",
    "panel.ffn.pic.mix_gated": "activation = f(gate) × up",
    "panel.ffn.pic.mix_plain": "activation = f(up)",
    "panel.ffn.pic.compress": "compress, {f} × {d} = {n} weights",
    "panel.ffn.pic.out": "{d} numbers out, of length {norm}, added to the stream",
    "panel.ffn.pic.hint": "Widths are to scale: one place from left to right for each of the {f} neurons, "
    "0 at the left. Only the {k} strongest are drawn, wider than they are; up is above 0, down below. Click one.",
    "panel.ffn.gate": "gate",
    "panel.ffn.up": "up",
    "panel.ffn.activation": "activation",
    # what was written, in lengths
    "panel.ffn.norm_attn": "attention wrote",
    "panel.ffn.norm_ffn": "FFN wrote",
    "panel.ffn.norm_stream": "the stream after both",
    "panel.ffn.norm_hint": "Lengths (norms) of vectors at this layer and position. They do not add up "
    "like numbers: vectors may point different ways.",
    # the strongest neurons
    "panel.ffn.strongest": "The {n} strongest of {f} neurons here",
    "panel.ffn.strongest_hint": "Strong is what writes much. Layers, neurons and positions count from 0. "
    "The neuron you choose stays chosen while you step.",
    "panel.ffn.col.neuron": "neuron",
    "panel.ffn.col.wrote": "writes",
    "panel.ffn.row_label": "Neuron {id}: activation {value}, writes {norm}",
    "panel.ffn.table": "These neurons as a table",
    # one neuron
    "panel.ffn.neuron_of": "Neuron {id} of layer {layer}",
    "panel.ffn.neuron_pending": "Reading its output row out over the vocabulary …",
    "panel.ffn.neuron_failed": "This neuron could not be read out.",
    "panel.ffn.positive": "Activation here {value}, above zero: it pushes as its output row says.",
    "panel.ffn.negative": "Activation here {value}, below zero: it pushes the other way. What its row "
    "lifts is pushed down, what its row lowers is pushed up.",
    "panel.ffn.silent": "Activation here 0: it pushes nothing.",
    "panel.ffn.unlisted": "Not among the {k} strongest here. Below is what it would push with an activation "
    "above zero.",
    "panel.ffn.pushes_up": "pushed up here",
    "panel.ffn.pushes_down": "pushed down here",
    "panel.ffn.would_up": "its row lifts",
    "panel.ffn.would_down": "its row lowers",
    "panel.ffn.unit": "Numbers: what one unit of activation adds to the token's score, before the final "
    "norm divides by its scale. Length of the output row: {norm}.",
    "panel.ffn.unit_here": "Numbers: activation ({value}) × what one unit adds to the token's score, before the "
    "final norm divides by its scale. Length of the output row: {norm}.",
    "panel.ffn.neuron_table": "Its tokens as a table",
    "panel.ffn.lifts": "lifts",
    "panel.ffn.lowers": "lowers",
    "panel.ffn.col.side": "its row",
    "panel.ffn.col.token": "token",
    "panel.ffn.col.id": "id",
    "panel.ffn.col.score": "per unit",
    # which fire where
    "panel.ffn.fires": "Which neurons fire at which token",
    "panel.ffn.fires_hint": "One row for a neuron, one column for a step of the answer, named by the token "
    "just read. Hatched: not among the strongest there, its activation is not known. Click a cell to "
    "choose the neuron and go to the step.",
    "panel.ffn.fires_label": "Activations, neurons by steps; arrow keys move, Enter chooses",
    "panel.ffn.fires_at": "Neuron {id} in run {n}, having read “{read}”, writing “{write}”: activation {value}, writes {norm}",
    "panel.ffn.fires_not": "Neuron {id} in run {n}, having read “{read}”, writing “{write}”: not among the {k} strongest",
    "panel.ffn.fires_table": "These activations as a table",
    "panel.ffn.col.run": "run",
    "panel.ffn.col.read": "read",
}
