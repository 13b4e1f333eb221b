"""Prefill against decode: what a run takes, counted and measured."""

TEXT = {
    "panel.runs.tab": "Prefill/decode",
    "panel.runs.title": "Prefill vs decode: two kinds of work",
    "panel.runs.why": "The first run reads the whole prompt at once; every later run reads only the "
    "token written last. What the earlier positions left behind, their keys and values, waits in "
    "the cache. So one answer is made of two very different kinds of work, drawn here to one scale.",
    "panel.runs.how": "multiply-adds of a run = positions × (attention + FFN weights of all layers) "
    "+ query–key pairs × 2 × heads × head width, summed over the layers (a sliding window limits the "
    "pairs) + width × vocabulary rows for the one position that gets scores. Norms, soft-max, rotation "
    "and activations are not counted. Weight bytes: every matrix once a run, of the embedding table "
    "only the rows picked (all of it where it is the LM head too); a long prompt that goes through in "
    "blocks reads them once a block, which is not counted. Milliseconds: the forward pass alone.",
    "panel.runs.now": "shown now",
    "panel.runs.prefill_run": "Prefill · run 1",
    "panel.runs.decode_run": "Decode · run {n}",
    "panel.runs.run": "run {n}",
    "panel.runs.head": "LM head: the {width} numbers of the last position → {rows} scores",
    "panel.runs.fresh": "{n} positions × {layers} layers",
    "panel.runs.fresh.one": "1 position × {layers} layers",
    "panel.runs.kept": "{n} positions kept in the cache: read, not computed",
    "panel.runs.kept.one": "1 position kept in the cache: read, not computed",
    "panel.runs.kept_most": "up to {n} positions kept in the cache: read, not computed",
    "panel.runs.kept_window": "Layers with a window of {window} keep and read only the last {n} positions.",
    "panel.runs.goes_in": "In: {n} ids → {n} rows of {width} numbers, through all {layers} layers side by side.",
    "panel.runs.goes_in.one": "In: 1 id → 1 row of {width} numbers, through all {layers} layers.",
    "panel.runs.picture": "{run}: {fresh} positions go through {layers} layers, {kept} are read from the "
    "cache, the last one reaches the LM head.",
    "panel.runs.no_decode": "This answer took the prefill alone: its first token was its last.",
    "panel.runs.axes": "Across: positions 0 to {last}, on one scale in both. Up: layers 0 to {layer}.",
    "panel.runs.legend.fresh": "computed in this run",
    "panel.runs.legend.kept": "read from the cache",
    "panel.runs.legend.ahead": "not there yet",
    "panel.runs.keys": "keys: what can be read →",
    "panel.runs.queries": "queries: who asks →",
    "panel.runs.pairs_title": "Who looks at whom",
    "panel.runs.pairs_prefill": "The prefill is the triangle: {n} queries at once, {pairs} pairs in every "
    "head. Nobody looks ahead.",
    "panel.runs.pairs_decode": "This run is one row: 1 query over {keys} keys. The rows above it were "
    "asked before and are not asked again.",
    "panel.runs.pairs_window": "Left of the dashed line, layers with a window of {window} no longer look.",
    "panel.runs.table": "Prefill beside decode in numbers",
    "panel.runs.col.what": "In one run",
    "panel.runs.row.positions": "positions through the layers",
    "panel.runs.row.kept": "positions read from the cache",
    "panel.runs.row.pairs": "query–key pairs, in each head of a layer",
    "panel.runs.row.window": "{n} (window {window})",
    "panel.runs.row.rows": "rows of the embedding table picked",
    "panel.runs.row.rows_of": "{n} of {rows}",
    "panel.runs.row.head": "positions that reach the LM head",
    "panel.runs.row.head_of": "the last of {n}",
    "panel.runs.row.head_of.one": "the only one",
    "panel.runs.row.bytes": "weights read",
    "panel.runs.row.macs": "multiply-adds",
    "panel.runs.row.per_byte": "multiply-adds for each byte of weights",
    "panel.runs.row.cache": "cache, before → after",
    "panel.runs.row.ms": "measured time",
    "panel.runs.row.macs_rate": "multiply-adds done",
    "panel.runs.row.bytes_rate": "weights fetched",
    "panel.runs.per_second": "{n} a second",
    "panel.runs.big.a": "{n} trillion",
    "panel.runs.big.b": "{n} billion",
    "panel.runs.big.c": "{n} million",
    "panel.runs.bound_title": "Why one is limited by computing and the other by memory",
    "panel.runs.bound": "Fetching a weight from memory takes a processor much longer than multiplying "
    "with it. In the prefill every weight, once fetched, serves {n} positions: {prefill} multiply-adds "
    "for each byte. In the decode it serves a single one: {decode}. The more positions share one fetch, "
    "the nearer a run comes to being limited by arithmetic (compute-bound); with one position it mostly "
    "waits for weights to arrive (memory-bound).",
    "panel.runs.bound_plain": "Fetching a weight from memory takes a processor much longer than "
    "multiplying with it. In the prefill every weight, once fetched, serves {n} positions; in the decode "
    "a single one. The more positions share one fetch, the nearer a run comes to being limited by "
    "arithmetic (compute-bound); with one position it mostly waits for weights to arrive (memory-bound).",
    "panel.runs.bound_measured": "Measured here: the prefill did {prefill_macs} multiply-adds a second while "
    "weights came in at {prefill_bytes} a second; run {run} did {decode_macs} and took in {decode_bytes}.",
    "panel.runs.later": "Multiply-adds and weights are counted when the run has ended; positions, cache and "
    "times are those of the run so far.",
    "panel.runs.none": "Multiply-adds and weights come with the inside of this run, which has not been "
    "computed yet.",
    "panel.runs.no_weights": "Multiply-adds and weights are not counted: the parts of this model can not be "
    "told apart.",
    "panel.runs.chart": "Every run of this answer",
    "panel.runs.measure.macs": "Multiply-adds, counted",
    "panel.runs.measure.ms": "Milliseconds, measured",
    "panel.runs.bar.with": "with the cache",
    "panel.runs.bar.without": "without the cache: all positions again",
    "panel.runs.bar.hint": "Click a bar to go to that run.",
    "panel.runs.bar.alone": "Run {run}: {with}",
    "panel.runs.bar.both": "Run {run}: {with} with the cache, {without} without",
    "panel.runs.bar.unmeasured": "The times without the cache are measured by the switch below.",
    "panel.runs.bar.scale": "Height by square root, so that small runs stay visible.",
    "panel.runs.bar.label": "Bars of {n} runs: {measure}",
    "panel.runs.sums": "The whole answer: {n} runs",
    "panel.runs.sums.one": "The whole answer: 1 run",
    "panel.runs.sum.with": "With the cache",
    "panel.runs.sum.without": "Without the cache",
    "panel.runs.sum.measured_with": "Measured, with",
    "panel.runs.sum.measured_without": "Measured, without",
    "panel.runs.sum.positions": "{n} positions",
    "panel.runs.sum.macs": "{n} multiply-adds",
    "panel.runs.sum.times": "{n} ×",
    "panel.runs.again.switch": "Without the cache, measured",
    "panel.runs.again.offer": "Switch on to run the same answer once more with nothing kept: every step "
    "reads all positions again, and is timed.",
    "panel.runs.again.later": "The same answer can be run without the cache once its inside is there.",
    "panel.runs.again.failed": "The answer could not be run again. Try once more.",
    "panel.runs.again.slower": "The same answer for {work} × the positions and {time} × the time: {positions} "
    "positions and {without} without the cache, {kept} and {with} with it.",
    "panel.runs.again.not_slower": "{work} × the positions ({positions} instead of {kept}), and yet not slower: "
    "{without} without the cache, {with} with it. On so little text and so small a model, what every run "
    "costs besides the arithmetic can outweigh it; the cache pays off as the text grows.",
    "panel.runs.again.gap": "Given the same tokens, it gives the same scores: none of the recorded ones "
    "differs by more than {gap} (run {run}).",
    "panel.runs.again.now": "The times with the cache are the run's own, those without were taken afterwards.",
    "panel.runs.again.recorded": "Both were measured when the example was recorded.",
    "panel.runs.all": "All runs in numbers",
    "panel.runs.col.run": "run",
    "panel.runs.col.token": "token",
    "panel.runs.col.fresh": "positions",
    "panel.runs.col.kept": "from the cache",
    "panel.runs.col.pairs": "pairs, all layers",
    "panel.runs.col.macs": "multiply-adds",
    "panel.runs.col.whole": "without the cache",
    "panel.runs.col.cache": "cache after",
    "panel.runs.col.ms": "time",
    "panel.runs.col.again": "time without",
    "panel.runs.col.gap": "score gap",
}
