"""The panel on attention: who reads whom, with what weight."""

TEXT = {
    "panel.attention.tab": "Attention",
    "panel.attention.title": "Attention: which earlier tokens are read",
    "panel.attention.why": "To choose the next token, the last position has to fetch what it needs "
    "from the tokens before it. Every attention head in every layer does so on its own: it spreads "
    "100 % of weight over the positions it can see and takes the mixture of what they hold. Here is "
    "where the weight went.",
    "panel.attention.how": "score = query · key × scaling, capped where the model caps its scores; "
    "−∞ for later positions and for those outside a sliding window · weights = soft-max over a row "
    "· head output = Σ weight × value. Computed again in float32 from the queries, keys and values "
    "of one pass over the finished text.",
    "panel.attention.position": "Position that asks",
    "panel.attention.follow": "the one that answers",
    "panel.attention.retry": "Try again",
    "panel.attention.pending": "Computing what this head reads …",
    "panel.attention.unseen": "The attention weights of this model can not be seen.",
    "panel.attention.counting": "Layers, heads and positions are counted from 0, as in the model's "
    "code; steps of the player from 1.",
    # All heads
    "panel.attention.all.title": "All heads at this step",
    "panel.attention.all.label": "All heads: layers across, heads down. Arrow keys move, Enter chooses",
    "panel.attention.all.axes": "layer → · head ↓ · click one to see it below",
    "panel.attention.all.read": "layer {layer}, head {head}: {sink} on the first token · entropy "
    "{entropy} bits · strongest: position {key} “{token}” with {weight}",
    "panel.attention.all.table": "All heads at this step as a table",
    "panel.attention.shade": "Shade shows",
    "panel.attention.shade.sink": "first token",
    "panel.attention.shade.entropy": "spread",
    "panel.attention.shade.peak": "strongest token",
    "panel.attention.shade.sink.hint": "Dark: the head leaves its weight on the first token, where "
    "heads rest. Pale: here it reads something else.",
    "panel.attention.shade.entropy.hint": "Entropy of the head's weights. Pale: one token has nearly "
    "all. Dark: spread over many; {bits} bits would be all {n} positions alike.",
    "panel.attention.shade.peak.hint": "The largest weight on a single token. Dark: nearly all on "
    "one. Point at a cell to see which.",
    "panel.attention.bits": "{n} bits",
    # What was read
    "panel.attention.read.title": "What did it read to write this token?",
    "panel.attention.read.say": "Step {step} wrote “{token}”. The position that wrote it, {position} "
    "(“{reader}”), could see {n} positions. Layer {layer}, head {head} read them like this:",
    "panel.attention.read.before": "Before step {step}: “{token}” will be written by position "
    "{position} (“{reader}”), which can see {n} positions. Layer {layer}, head {head} reads them "
    "like this:",
    "panel.attention.prompt": "Prompt",
    "panel.attention.answer": "Answer so far",
    "panel.attention.scale.all": "Full shade and full bar: {most}, the largest weight here.",
    "panel.attention.scale.aside": "Full shade and full bar: {most}, the largest weight after the "
    "first token's, which goes beyond the scale. Only the shading has changed; every number is as "
    "it was.",
    "panel.attention.aside": "Leave the first token out of the scale, so that the rest can be seen",
    "panel.attention.sink": "{first} {value}",
    "panel.attention.sink.rest": "A resting place: the first token, “{token}”, gets {p}. Soft-max has "
    "to give away 100 % somewhere, and a head that looks for nothing here leaves it there.",
    "panel.attention.sink.other": "The first token, “{token}”, where heads often rest, gets {p} "
    "here; most goes to position {key}, “{peak}”: {most}.",
    "panel.attention.sink.value": "A head takes weight × value, and the first token's value "
    "vector is {norm} long; the median of the others is {median}.",
    "panel.attention.sink.outside": "The first token, “{token}”, lies outside of this layer's window "
    "of {window} positions.",
    "panel.attention.sink.alone": "There is only this one position to read, “{token}”; it gets all.",
    "panel.attention.reasons": "Weights are not reasons. They say from where this one head took its "
    "mixture, not why the token was chosen: {heads} heads in each of {layers} layers and the FFNs "
    "all write into the same stream, and a position holds more than its own token by the time it "
    "is read.",
    # Map
    "panel.attention.map.title": "This head at every position",
    "panel.attention.map.label": "Weights of this head: positions that ask down, positions that are "
    "read across. Arrow keys move, Enter chooses a row",
    "panel.attention.map.axes": "position that is read (key) → · position that asks (query) ↓",
    "panel.attention.map.causal": "hatched: can not be seen, because it comes later (causal mask)",
    "panel.attention.map.window": "hatched: can not be seen, because it comes later or lies outside "
    "of the window of {window} positions",
    "panel.attention.map.hint": "▸ the position that answers at this step. Framed: the row shown as "
    "numbers; click another to see its numbers.",
    "panel.attention.map.read": "position {q} “{asks}” reads position {k} “{read}”: weight {w}, "
    "score {score}",
    "panel.attention.map.later": "position {q} “{asks}” can not see position {k} “{read}”: it comes "
    "later",
    "panel.attention.map.beyond": "position {q} “{asks}” can not see position {k} “{read}”: outside "
    "of the window of {window} positions",
    # Keys
    "panel.attention.keys.title": "Position {position} “{token}”: from scores to weights",
    "panel.attention.keys.label": "The keys with the largest weights",
    "panel.attention.keys.key": "token that is read",
    "panel.attention.keys.score": "score",
    "panel.attention.keys.weight": "soft-max → weight",
    "panel.attention.keys.rest": "the other {n} visible positions together: {p}",
    "panel.attention.keys.rest.one": "one more visible position: {p}",
    "panel.attention.keys.table": "All keys as numbers, with what is taken of their values",
    "panel.attention.keys.out": "What the head hands on is the sum of all weight × value: a vector "
    "{norm} long. Laid end to end its parts are {sum} long; they point in different directions.",
    "panel.attention.keys.lost": "The weights of this position were not kept, to save memory. Those "
    "of the positions that answer are there.",
    "panel.attention.col.layer": "layer",
    "panel.attention.col.head": "head",
    "panel.attention.col.sink": "first token",
    "panel.attention.col.entropy": "entropy, bits",
    "panel.attention.col.key": "strongest",
    "panel.attention.col.position": "position",
    "panel.attention.col.token": "token",
    "panel.attention.col.score": "score",
    "panel.attention.col.weight": "weight",
    "panel.attention.col.value": "|value|",
    "panel.attention.col.share": "|weight × value|",
}
