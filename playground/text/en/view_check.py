"""The panel that holds every number of a run against a second computation."""

TEXT = {
    "panel.check.title": "Check this number",
    "panel.check.tab": "Check",
    "panel.check.why": "A page full of numbers can be wrong without looking wrong. So each kind of "
    "number is computed a second time in another way: probabilities must sum to 1, the parts must "
    "add up to the whole, and what was recorded must come out again. What does not agree is shown "
    "here in red, at the top.",
    "panel.check.how": "three runs beside the recorded one: one pass with everything captured, one "
    "plain pass without hooks, and the same answer step by step without a cache. Measured is the "
    "largest deviation anywhere; the tolerance is what rounding in the model's number format may "
    "do, and 0 where two numbers must be equal to the bit. The same list on the command line: "
    "python -m playground check FILE.trace.json",
    "panel.check.start": "Measure all numbers again",
    "panel.check.retry": "Try again",
    "panel.check.none": "The numbers of this run have not been checked yet. It takes a few seconds: "
    "the model reads prompt and answer twice more and writes the answer once more without a cache.",
    "panel.check.later": "The numbers can be checked when the run has ended.",
    "panel.check.failed": "The numbers could not be checked. Try again.",
    "panel.check.held": "{held} of {total} hold",
    "panel.check.red": "{n} of {total} do not hold",
    "panel.check.red.one": "1 of {total} does not hold",
    "panel.check.held_rest": "{held} hold",
    "panel.check.open": "{n} not checked",
    "panel.check.when_recorded": "Measured on {model} when this run was recorded.",
    "panel.check.when_now": "Measured now, on {model}.",
    "panel.check.ok.true": "holds",
    "panel.check.ok.false": "does not hold",
    "panel.check.ok.null": "not checked",
    "panel.check.col.verdict": "verdict",
    "panel.check.col.name": "what must hold",
    "panel.check.col.room": "deviation, as a share of what is allowed",
    "panel.check.col.measured": "measured",
    "panel.check.col.allowed": "allowed",
    "panel.check.col.unit": "unit",
    "panel.check.axis.limit": "limit (100%)",
    "panel.check.group.red": "Does not hold",
    "panel.check.group.text": "Prompt and text",
    "panel.check.group.pick": "How the token was picked",
    "panel.check.group.cache": "Cache",
    "panel.check.group.inside": "Inside the layers",
    "panel.check.equal": "must be equal, is equal",
    "panel.check.unequal": "not equal",
    "panel.check.nowhere": "no deviation anywhere, of {compared} compared",
    "panel.check.detail.worst": "largest at run {step}, of {compared} numbers",
    "panel.check.detail.first": "first at run {step}, of {compared} places",
    "panel.check.detail.step": "largest at run {at}, of {compared}",
    "panel.check.show_run": "Show run {n}",
    "panel.check.hint": "The bars are on a logarithmic scale: each mark is ten times the one before "
    "it, and what lies past the limit does not hold. Click a name to see how it is measured and "
    "where the largest deviation is.",
    "check.file.title": "The file is as it was written",
    "check.file.how": "A trace file carries the SHA-256 of its contents. The contents of this file "
    "give another one: it was changed or damaged after it was written.",
    "check.file.detail": "the checksum in the file is not that of its contents",
}
