"""Errors of looking inside a model, and why a part can not be seen."""

TEXT = {
    "error.inspect_no_steps": "This run has no answer yet, so there is no step to look into. Let it write at least one token.",
    "error.inspect_other_model": "This run was recorded with {recorded}; the model at hand is {loaded}. Load {recorded} to look inside.",
    "error.inspect_context": "Prompt and answer are {n} positions; this model was built for {n_ctx}. A run that long can not be looked into with it.",
    "error.inspect_no_head": "The family {family} has no output head that turns the last vector into scores. There is nothing to read out.",
    "error.inspect_layer": "There is no layer {value}; this model has layers 0 … {last}.",
    "error.inspect_lens": "There is no place {value} in the stream; 0 is the embedding output, {last} the end.",
    "error.inspect_head": "There is no head {value}; each layer of this model has heads 0 … {last}.",
    "error.inspect_neuron": "There is no FFN neuron {value}; each layer of this model has 0 … {last}.",
    "error.inspect_step": "There is no step {value}; this run has steps 0 … {last}.",
    "error.inspect_position": "There is no position {value} before this step; it had read 0 … {last}.",
    "error.inspect_nothing": "Nothing was taken away. Name a position to hide, a head, or a layer's FFN.",
    "error.inspect_part": "The family {family} keeps this part in a way that is not known here, so it can not be shown or taken away.",
    "error.inspect_memory": "The {device} ran out of memory while looking inside. Ask for fewer layers at once, or for a shorter run.",
    "error.inspect_non_finite": "The model gave scores that are not finite numbers in this pass; nothing of it is shown.",
    "error.inspect_two_models": "These two were looked into with different models ({one} and {other}); only runs of one model can be laid side by side.",
    "missing.family": "Where the family {family} keeps attention, heads and FFN is not in this program's table: the residual stream is shown, what each part wrote is not.",
    "missing.attention": "This model does not call attention through the library's common interface, or with terms not known here: its weights can not be computed again.",
    "missing.final_norm": "Which norm stands before this model's head could not be told (none gives what the head got), so earlier layers are not read out.",
    "missing.head": "This model does something to the scores after its head that is not known here, so earlier layers are not read out.",
    "missing.parallel": "Attention and FFN of this model read the same input (parallel residual): there is no stream between the two.",
}
