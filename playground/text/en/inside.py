"""The chapters about the inside of the model, and the gate before it."""

TEXT = {
    "deck.inside.title": "Inside the model",
    "deck.inside.why": "Between the numbers that went in and the scores that came out lie the layers. "
    "One more pass over the finished text, watched closely, shows what each of them did for every "
    "token of the answer. Move the player: everything here follows.",
    "deck.cost.title": "What a run costs",
    "deck.cost.why": "The first run reads the whole prompt, every later one a single token. What was "
    "computed before lies in the cache; here is what that saves, counted and measured.",
    "deck.lab.title": "Try it out, and check it",
    "deck.lab.why": "Compare two questions, take something away and see what the answer does, and "
    "hold every number on this page against a second computation.",
    "ui.inside.start": "Look inside",
    "ui.inside.stop": "Stop",
    "ui.inside.auto": "Look inside by itself when this comes on screen",
    "ui.inside.none": "The inside of this run has not been computed yet: one pass over prompt and "
    "answer, for all steps at once.",
    "ui.inside.later": "The inside can be looked at when the run has ended.",
    "ui.inside.no_run": "There is no answer yet. Run the model, or open a recorded run.",
    "ui.inside.failed": "The inside could not be computed. Try again.",
    "ui.inside.asking": "Asking for the inside of this run …",
    "ui.inside.waiting": "Waiting: {n} other computations are before this one.",
    "ui.inside.waiting.one": "Waiting: one other computation is before this one.",
    "ui.inside.stage.forward": "Running prompt and answer through the layers",
    "ui.inside.stage.lens": "Reading the stream out after every layer",
    "ui.inside.stage.steps": "Comparing step by step",
    "ui.inside.stage.uncached": "Running the answer again without the cache",
    "ui.inside.stage.check": "Measuring every number again",
    "ui.inside.stage.prefill": "Reading the prompt",
    "ui.inside.stage.decode": "Writing the answer",
    "ui.inside.stage.work": "Computing",
    "ui.inside.back": "One less",
    "ui.inside.forth": "One more",
    "ui.inside.layer": "Layer",
    "ui.inside.head": "Head",
    "ui.inside.not_recorded": "This layer is not in the recorded file; with the model loaded it can be computed.",
}
