"""How a token's place in the text enters the model."""

TEXT = {
    "panel.position.tab": "Position",
    "panel.position.title": "Embedding and position: where a token stands",
    "panel.position.why": "The row that an id picks is the same wherever the token stands. The place "
    "comes in apart: most models turn each query and key by an angle that grows with the position, so "
    "that what two tokens have to say to each other depends on how far apart they are.",
    "panel.position.how": "for pair i (dimensions i and i + Z/2 of a head): angle = position × θᵢ; "
    "(a, b) → (a cos − b sin, b cos + a sin), as transformers' rotate_half does it; q and k are "
    "taken before (after the q/k-norm, where there is one) and turned here in "
    "float64. Where rows are added instead: what enters the first layer = token row + position row.",
    "panel.position.row": "Position {p} holds “{token}”: its id {id} picks one row of the embedding table, and "
    "what enters the first layer has the norm {norm}.",
    "panel.position.to_row": "See the row",
    "panel.position.query": "Query at",
    "panel.position.key": "Key at",
    "panel.position.which": "Shown",
    "panel.position.q": "query",
    "panel.position.k": "key",
    "panel.position.pair": "Pair",
    "panel.position.turn": "One pair of numbers, turned by its position",
    "panel.position.of_q": "query of position {p}, “{token}”",
    "panel.position.of_k": "key of position {p}, “{token}”",
    "panel.position.before": "before",
    "panel.position.after": "turned",
    "panel.position.axis": "dimension {d}",
    "panel.position.turned": "Pair {i} turns by {theta} rad per position: at position {p} by {angle} rad, "
    "which is {turns} full turns and {rest}°.",
    "panel.position.turned.one": "Pair {i} turns by {theta} rad per position: at position {p} by {angle} rad, "
    "which is one full turn and {rest}°.",
    "panel.position.lengths": "Length before {before}, after {after}. The model's own turned values (○) "
    "are {gap} away.",
    "panel.position.clocks": "Fast and slow hands: the angle at position {p}",
    "panel.position.clocks_hint": "Each pair is a hand of its own speed. The fast ones tell neighbours "
    "apart, the slow ones tell near from far. Choose a hand to see its pair.",
    "panel.position.clock": "pair {i}",
    "panel.position.period": "a turn in {n}",
    "panel.position.clock_says": "pair {i}: one full turn in {n} positions, at position {p} it stands at {rest}°",
    "panel.position.partial": "Only the first {z} of {e} dimensions of a head are turned; the others carry no "
    "position.",
    "panel.position.angles": "Angles position × θ, against the model's own cosines and sines: {gap} apart at most.",
    "panel.position.shift": "Only the distance counts",
    "panel.position.shift_hint": "The real query of position {q}, “{query}”, and the real key of position {k}, "
    "“{key}”: distance {d}. Their dot product, if both stood s positions further on, and if only the query did.",
    "panel.position.both": "both moved",
    "panel.position.one": "only the query moved",
    "panel.position.axis_s": "moved on by s positions",
    "panel.position.axis_dot": "q · k",
    "panel.position.constant": "Both moved by 0 … {n}: q · k stays {dot}, the largest change is {spread}.",
    "panel.position.changing": "Only the query moved: it goes from {low} to {high}.",
    "panel.position.own": "The model's own turned vectors give {dot}, {gap} away; times {scaling} that is the "
    "score in the attention panel: {score}.",
    "panel.position.own_cap": "The model's own turned vectors give {dot}, {gap} away; times {scaling}, capped at "
    "±{cap}, that is the score in the attention panel: {score}.",
    "panel.position.read": "s = {s}: both moved {both}, only the query moved {one}",
    "panel.position.counting": "Layers, heads, positions and dimensions are counted from 0.",
    "panel.position.pairs": "All pairs at this position as a table",
    "panel.position.shifts": "The dot products as a table",
    "panel.position.col.pair": "pair",
    "panel.position.col.dims": "dimensions",
    "panel.position.col.theta": "θ, rad per position",
    "panel.position.col.period": "positions per turn",
    "panel.position.col.angle": "angle here, °",
    "panel.position.col.before": "before",
    "panel.position.col.after": "turned",
    "panel.position.col.s": "s",
    "panel.position.col.both": "both moved",
    "panel.position.col.one": "only the query moved",
    "panel.position.loading": "Fetching the queries and keys of this head …",
    "panel.position.failed": "The queries and keys could not be fetched.",
    "panel.position.none": "This head's queries and keys are not turned by position, and no row for the position "
    "is added to the token's: where position enters this model can not be shown here.",
    "panel.position.rows": "A row for the position is added",
    "panel.position.rows_hint": "This model has a second table with one row per position, learned like the first. "
    "What enters the first layer is the token's row plus the row of its position.",
    "panel.position.rows_here": "The row of position {p} has the norm {norm}; together with the row of “{token}” it "
    "makes {sum}.",
    "panel.position.rows_end": "At the last prompt position ({p}): token row {own}, position row {position}, cosine "
    "of the two {cosine}.",
    "panel.position.norms": "Norms at every position",
    "panel.position.norm_row": "position row",
    "panel.position.norm_sum": "token row + position row",
    "panel.position.axis_p": "position",
    "panel.position.axis_norm": "norm",
    "panel.position.axis_cosine": "cosine",
    "panel.position.similar": "How alike is the row of position {p} to the other positions' rows?",
    "panel.position.similar_label": "Cosine of this position's row to the row of every other position",
    "panel.position.norms_label": "Norms of the position rows and of the sums, over the positions",
    "panel.position.read_norm": "position {p}, “{token}”: position row {row}, sum {sum}",
    "panel.position.read_cosine": "position {p}: cosine {cosine}",
    "panel.position.rows_table": "The rows' norms and cosines as a table",
    "panel.position.col.position": "position",
    "panel.position.col.token": "token",
    "panel.position.col.row": "norm of the position row",
    "panel.position.col.sum": "norm of the sum",
    "panel.position.col.cosine": "cosine to this position's row",
}
