"""Train it yourself: a vocabulary learnt from a corpus, merge by merge."""

TEXT = {
    "panel.training.tab": "Train one",
    "panel.training.title": "Train it yourself",
    "panel.training.why": "Nobody writes a vocabulary. It is counted: the two neighbours that stand "
    "together most often become one piece, again and again. Paste a text, let it learn, and watch words "
    "grow out of bytes, and what each new piece costs and saves.",
    "panel.training.how": "the library's BPE trainer at byte level: 256 symbols, words by GPT-2's "
    "pattern, nothing merges across words; at each turn the pair that stands most often, as long as it "
    "stands twice. Pieces on the page are made in the browser by the learnt merges. Embedding table = "
    "rows × model width × bytes per number (a model whose LM head is not tied has it twice); attention "
    "compares T(T+1)/2 pairs in each head of each layer.",
    "panel.training.corpus": "A text to learn from",
    "panel.training.most": "merges, at most",
    "panel.training.learn": "Learn",
    "panel.training.sample": "the sample text",
    "panel.training.sample_text": "Low, lower, lowest. New, newer, newest. Wide, wider, widest.\n"
    "The lower the price, the wider the choice; the newer the town, the wider the streets. In the "
    "newest town the towers are the tallest and the prices the lowest.\n"
    "A tokenizer learns what stands together: the letters of the, then the words that begin with the, "
    "then endings like er and est. It learns nothing about what the words mean. What is frequent becomes "
    "one piece; what is rare stays in pieces. That is why a tokenizer that learnt from one language cuts "
    "another language into many small pieces.\n"
    "The newest tokenizer of the largest model learnt in the same way, only from more text, and with "
    "more merges: a hundred thousand and more.",
    "panel.training.play": "▶ Play",
    "panel.training.pause": "❚❚ Pause",
    "panel.training.slider": "Size of the vocabulary: merges learnt",
    "panel.training.size": "vocabulary {first} + {k} = {n}",
    "panel.training.story": "Merge {k}: “{left}” and “{right}” stood together {count} times and became "
    "“{piece}”. The text goes from {before} to {after} tokens.",
    "panel.training.story_start": "Before the first merge every byte is a token of its own: {n} tokens.",
    "panel.training.story_none": "There is nothing to merge: no pair stands twice in this text. {n} tokens.",
    "panel.training.pieces": "The text as pieces",
    "panel.training.merges": "Learnt merges, in order",
    "panel.training.more_none": "All of the text is shown: {n} characters, {words} words, {bytes} bytes; "
    "{learnt} merges were learnt. Framed: the piece of this merge. Grey: a single byte. A piece has the "
    "same tint wherever it stands.",
    "panel.training.more": "Shown is the beginning; counted is all of it: {n} characters, {words} words, "
    "{bytes} bytes; {learnt} merges were learnt. Framed: the piece of this merge. Grey: a single byte. A "
    "piece has the same tint wherever it stands.",
    "panel.training.differs": "In this text the browser counts other pieces than the server, so they are "
    "not shown. The numbers are the server's.",
    "panel.training.endless": "A word of this text goes on for more than 1,000 characters without a break; the text is not drawn in pieces. The numbers are there.",
    "panel.training.width": "Model width",
    "panel.training.bytes": "Each number in",
    "panel.training.bytes.4": "4 bytes (fp32)",
    "panel.training.bytes.2": "2 bytes (bf16)",
    "panel.training.bytes.1": "1 byte (int8)",
    "panel.training.tokens": "{n} tokens",
    "panel.training.curve.tokens": "Length of the sequence",
    "panel.training.curve.pairs": "Pairs for attention, T(T+1)/2",
    "panel.training.curve.table": "Embedding table",
    "panel.training.curve.from": "vocabulary {n}",
    "panel.training.curve.change": "× {x} of the start",
    "panel.training.curve.label": "{what}: {value} with a vocabulary of {n}",
    "panel.training.weights": "{rows} rows × {width} numbers = {weights} weights, {size}.",
    "panel.training.table": "Both sides as a table",
    "panel.training.table.size": "vocabulary",
    "panel.training.table.tokens": "tokens",
    "panel.training.table.bytes": "bytes per token",
    "panel.training.table.pairs": "pairs T(T+1)/2",
    "panel.training.table.weights": "embedding weights",
    "panel.training.table.table": "embedding table",
    "panel.training.col.k": "merge",
    "panel.training.col.pair": "pair",
    "panel.training.col.piece": "piece",
    "panel.training.col.count": "stood",
    "panel.training.col.tokens": "tokens",
}
