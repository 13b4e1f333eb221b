"""The panel on queries, keys and values: real vectors, and the dot products that became weights."""

TEXT = {
    "panel.qkv.tab": "q, k, v",
    "panel.qkv.title": "q, k, v: a question, a label, a content",
    "panel.qkv.why": "For every head a position makes three short vectors out of its long one: a "
    "query (what it looks for), a key (what it can be found by) and a value (what it hands over when "
    "it is read). The query is held against every earlier key; how well they match decides how much "
    "of each value is taken.",
    "panel.qkv.how": "q, k, v = what enters the layer's attention, times three weight matrices, cut "
    "into heads · score = Σ qᵢ · kᵢ × scaling · weight = soft-max of the scores over all visible keys "
    "· query head h reads kv head ⌊h ÷ (query heads ÷ kv heads)⌋. The vectors are the captured ones, "
    "float32; sums over them are made here in float64, and held against the recorded result.",
    # Where they come from
    "panel.qkv.project.title": "Three projections of one vector",
    "panel.qkv.project.axes": "weight matrices, to scale: a number of the stream per row, a dimension "
    "of a head per column. Filled: this head.",
    "panel.qkv.q.short": "q",
    "panel.qkv.k.short": "k",
    "panel.qkv.v.short": "v",
    "panel.qkv.shape": "{d} → {heads} × {e} = {out}",
    "panel.qkv.slice": "columns {from}–{to}",
    "panel.qkv.share.title": "Who reads whose keys and values",
    "panel.qkv.share.axes": "above: query heads (click one) · below: the kv head that they read",
    "panel.qkv.share.head": "query head {head}, reads kv head {kv}",
    "panel.qkv.share.group": "Query heads {first}–{last} share kv head {kv}: {heads} query heads on "
    "{groups} kv heads, so the cache holds {groups} keys and values per position and layer instead of "
    "{heads} (grouped-query attention).",
    "panel.qkv.share.one": "All {heads} query heads share the one kv head (multi-query attention): "
    "the cache holds a single key and value per position and layer.",
    "panel.qkv.share.own": "Every query head has a key and a value of its own: head {head} reads kv "
    "head {kv} (multi-head attention).",
    # The vectors
    "panel.qkv.vectors.title": "The vectors themselves",
    "panel.qkv.vectors.axes": "one bar per dimension, up is positive, down negative; point at one, or "
    "use the arrow keys",
    "panel.qkv.q.name": "q, the query · head {head}",
    "panel.qkv.k.name": "k, the key · kv head {kv}",
    "panel.qkv.v.name": "v, the value · kv head {kv}",
    "panel.qkv.q.role": "what position {position} “{token}” looks for",
    "panel.qkv.k.role": "what position {position} “{token}” can be found by",
    "panel.qkv.v.role": "what position {position} “{token}” hands over",
    "panel.qkv.stage.raw": "out of the projection",
    "panel.qkv.stage.normed": "after the {letter}-norm",
    "panel.qkv.stage.turned": "turned by its position, {position}",
    "panel.qkv.stage.plain": "out of the projection",
    "panel.qkv.length": "|{letter}| = {norm} · full height {most}",
    "panel.qkv.height": "full height {most}",
    "panel.qkv.dimension": "dimension {k}: {values}",
    "panel.qkv.pair": "turned together with dimension {other} (dashed): cos {cos}, sin {sin}",
    "panel.qkv.vectors.table": "All dimensions as numbers",
    # The dot product
    "panel.qkv.dot.title": "From two vectors to one weight",
    "panel.qkv.dot.axes": "choose a key on the list: the query above, the key below it, and their "
    "product dimension by dimension",
    "panel.qkv.key": "Key",
    "panel.qkv.strongest": "the strongest",
    "panel.qkv.keys.label": "The visible keys by falling weight; click one",
    "panel.qkv.dot.query": "q of position {position} “{token}”, head {head}",
    "panel.qkv.dot.key": "k of position {position} “{token}”, kv head {kv}",
    "panel.qkv.dot.products": "qᵢ · kᵢ: bars up pull the two together, bars down apart",
    "panel.qkv.product": "dimension {i}: {q} × {k} = {product}",
    "panel.qkv.chain.sum": "sum of the products",
    "panel.qkv.chain.scaled": "× scaling = score",
    "panel.qkv.chain.capped": "capped = score",
    "panel.qkv.chain.weight": "soft-max = weight",
    "panel.qkv.count": "{n} products",
    "panel.qkv.recorded": "recorded: {recorded} · difference {gap}",
    "panel.qkv.scaled": "{e} products add up to {sum}; × {scaling} = {scaled}.",
    "panel.qkv.capped": "The model caps scores: {cap} × tanh({scaled} ÷ {cap}) = {score}.",
    "panel.qkv.softmax": "Soft-max: exp({score} − {top}) = {share}, where {top} is the largest score; "
    "divided by the sum of the same over all {n} visible keys, {total}: {weight}.",
    "panel.qkv.equal": "The differences are roundings: recorded values are float32, sums made here "
    "float64.",
    "panel.qkv.products.table": "All products as numbers",
    "panel.qkv.col.dimension": "dimension",
    "panel.qkv.col.q_raw": "q projected",
    "panel.qkv.col.q_normed": "q normed",
    "panel.qkv.col.q": "q",
    "panel.qkv.col.k_raw": "k projected",
    "panel.qkv.col.k_normed": "k normed",
    "panel.qkv.col.k": "k",
    "panel.qkv.col.v": "v",
    "panel.qkv.col.query": "q",
    "panel.qkv.col.key": "k of the key",
    "panel.qkv.col.products": "product",
}
