"""The logit lens: what every layer would answer."""

TEXT = {
    "panel.lens.tab": "Logit lens",
    "panel.lens.title": "Logit lens: the guess after every layer",
    "panel.lens.why": "The answer is not there at once. If one stops after any layer and reads the "
    "vector as if it were the last one, one sees which token the model would write at that point, "
    "and how the guess changes on its way up to the one that was written.",
    "panel.lens.how": "row r = softmax(head(final norm(residual stream after r layers))) over the "
    "whole vocabulary, at the position that answers; rank = 1 + number of tokens with a higher score; "
    "entropy = −Σ p log₂ p.",
    "panel.lens.map": "Map of all layers and steps",
    "panel.lens.kind": "Shade",
    "panel.lens.kind.prob": "Probability",
    "panel.lens.kind.rank": "Rank",
    "panel.lens.kind.entropy": "Entropy",
    "panel.lens.about.prob": "Darker: the token that this step chose is more likely.",
    "panel.lens.about.rank": "Darker: the token that this step chose is nearer to the first place.",
    "panel.lens.about.entropy": "Darker: the guess is more open, spread over more tokens.",
    "panel.lens.axes": "Down: layers passed, from the embedding (0) to the output ({n}). Across: "
    "the steps, with the token each of them chose. The line: from there on the chosen token stays first.",
    "panel.lens.axes_plain": "Down: layers passed, from the embedding (0) to the output ({n}). "
    "Across: the steps, with the token each of them chose.",
    "panel.lens.legend.rank": "rank {n}",
    "panel.lens.legend.bits": "{x} bits",
    "panel.lens.read": "Step {step}, after {r} of {n} layers: top guess “{guess}” {p} · chosen “{chosen}” "
    "{q}, rank {rank} · entropy {bits} bits",
    "panel.lens.step": "Step {step} of {n}: the guesses on the way to",
    "panel.lens.before": "No run yet: step forward to see the guesses of the first one.",
    "panel.lens.list": "The top guess after every layer, for the step on screen",
    "panel.lens.col.layer": "layers",
    "panel.lens.col.guess": "top guess",
    "panel.lens.col.p": "its probability",
    "panel.lens.col.chosen": "chosen",
    "panel.lens.col.rank": "rank",
    "panel.lens.embedding": "embedding",
    "panel.lens.output": "output",
    "panel.lens.from_here": "from here on",
    "panel.lens.settled": "After layer {layer} ({r} of {n} passed) “{token}” comes first, and it stays "
    "first to the end.",
    "panel.lens.settled_start": "“{token}” is first already in the embedding, before any layer, and "
    "stays first to the end.",
    "panel.lens.settled_never": "“{token}” is not the model's top guess: it ends at rank {rank} with "
    "{p}.",
    "panel.lens.drawn": "It was drawn at random.",
    "panel.lens.settled_unknown": "Not every layer was read, so from where on the token stays first "
    "can not be told.",
    "panel.lens.last": "The last row is the model's own output: read out here and by the model itself "
    "at the last position, the scores differ by {gap} at most.",
    "panel.lens.last_equal": "The last row is the model's own output: read out here and by the model itself "
    "at the last position, the scores are equal to the bit.",
    "panel.lens.echo": "Before any layer, the vector only gives back the token just read: embedding "
    "and head are one table.",
    "panel.lens.honest": "Only the last layer was trained to be read like this. For the layers before, "
    "norm and head are borrowed glasses: an odd guess may mean that the layer keeps its knowledge in "
    "a form that the head can not read, not that it knows nothing.",
    "panel.lens.table": "The guesses of this step as a table, the five likeliest of every layer",
    "panel.lens.col.guesses": "likeliest tokens",
    "panel.lens.col.logprob": "ln p",
    "panel.lens.col.entropy": "entropy, bits",
    "panel.lens.col.chosen_p": "p of the chosen",
}
