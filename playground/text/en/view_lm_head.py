"""From the last vector to one score for every token."""

TEXT = {
    "panel.lm_head.tab": "LM head",
    "panel.lm_head.title": "Last position → LM head: from one vector to all the scores",
    "panel.lm_head.why": "After the last layer one vector is left at the position that answers. The "
    "head compares it with the row of every token of the vocabulary: one dot product each, and that "
    "number is the token's score. Everything that is then picked from stands here.",
    "panel.lm_head.how": "scores[V] = head[V × D] · final norm(h)[D], h = the residual stream after "
    "the last layer at the answering position; for a model that caps, cap × tanh(score / cap) after "
    "it. The histogram counts all V scores of that step in bins of equal width.",
    "panel.lm_head.before": "No run yet: step forward to see the first scores.",
    "panel.lm_head.flow": "The way from the vector to the scores, with sizes",
    "panel.lm_head.flow.final": "Final vector",
    "panel.lm_head.flow.final_sub": "of position {p}, “{token}”: {d} numbers, norm {norm}",
    "panel.lm_head.flow.normed": "After the final norm ({kind})",
    "panel.lm_head.flow.normed_sub": "{d} numbers, norm {norm}",
    "panel.lm_head.flow.head": "LM head",
    "panel.lm_head.flow.head_tied": "{v} rows × {d}: the same table as the embedding",
    "panel.lm_head.flow.head_own": "{v} rows × {d}: a table of its own",
    "panel.lm_head.flow.scores": "Scores",
    "panel.lm_head.flow.scores_sub": "{v} numbers, from {low} to {high}",
    "panel.lm_head.lines.final": "final vector h",
    "panel.lm_head.lines.normed": "after the norm",
    "panel.lm_head.lines.row": "row of “{token}”",
    "panel.lm_head.lines.product": "product of both",
    "panel.lm_head.lines.most": "full height {x}",
    "panel.lm_head.lines.taller": "full height {x}; {n} bars are taller (marked at their end), up to {most}",
    "panel.lm_head.lines.taller.one": "full height {x}; one bar is taller (marked at its end): {most}",
    "panel.lm_head.lines.label": "The vectors, dimension by dimension; arrow keys move along them",
    "panel.lm_head.lines.read": "dimension {k}: {values}",
    "panel.lm_head.lines.hint": "Bars up are positive, bars down negative; each line has its own scale. "
    "The vertical line is the dimension read out.",
    "panel.lm_head.only": "When the model writes, only this last position goes through the head: the "
    "vectors of the earlier positions are kept for attention alone.",
    "panel.lm_head.chart": "How the scores of all {v} tokens are spread",
    "panel.lm_head.chart_label": "Histogram of all scores of this step, with the first candidates marked",
    "panel.lm_head.axis.x": "score (logit)",
    "panel.lm_head.axis.y": "tokens in a bin, logarithmic",
    "panel.lm_head.legend": "▼ chosen    ○ the other first candidates, with their rank    ┆ half of all "
    "tokens lie left of it",
    "panel.lm_head.read_bin": "{n} tokens score from {low} to {high}",
    "panel.lm_head.read_bin.one": "one token scores from {low} to {high}",
    "panel.lm_head.crowd": "Half of all tokens score below {half}. The chosen one has {score}: {n} tokens "
    "score higher.",
    "panel.lm_head.crowd_first": "Half of all tokens score below {half}. The chosen one has {score}: no token "
    "scores higher.",
    "panel.lm_head.infinite": "{n} tokens have the score −∞ and are not in the histogram.",
    "panel.lm_head.capped": "This model caps its scores at ±{cap}, by {cap} × tanh(score / {cap}): for the "
    "chosen token {raw} becomes {capped}.",
    "panel.lm_head.candidates": "The first candidates; choose one to check its score",
    "panel.lm_head.col.rank": "rank",
    "panel.lm_head.col.token": "token",
    "panel.lm_head.col.score": "score",
    "panel.lm_head.col.low": "from",
    "panel.lm_head.col.high": "to",
    "panel.lm_head.col.count": "tokens",
    "panel.lm_head.chosen": "chosen",
    "panel.lm_head.recorded": "Scores as recorded when the answer was written; the pass that shows the "
    "inside differs from them at this step by {gap} at most.",
    "panel.lm_head.check": "Check this dot product",
    "panel.lm_head.check_hint": "Fetches the row of “{token}” and multiplies it, number by number, with the "
    "vector after the norm.",
    "panel.lm_head.check_own": "The head of this model has a table of its own; its rows are not sent to "
    "the browser, so the dot product can not be made again here.",
    "panel.lm_head.checking": "Fetching the row …",
    "panel.lm_head.check_failed": "The row could not be fetched.",
    "panel.lm_head.checked": "normed · row of “{token}” = {dot}. The score is {score}: a difference of {gap}.",
    "panel.lm_head.checked_capped": "normed · row of “{token}” = {raw}, capped {dot}. The score is {score}: a "
    "difference of {gap}.",
    "panel.lm_head.bins": "The histogram as a table",
    "panel.lm_head.numbers": "The vectors as a table",
    "panel.lm_head.col.dimension": "dimension",
    "panel.lm_head.col.final": "final vector",
    "panel.lm_head.col.normed": "after the norm",
}
