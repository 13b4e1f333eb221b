"""Compare vocabularies on the same text."""

TEXT = {
    "panel.vocabs.tab": "Compare",
    "panel.vocabs.title": "Compare vocabularies",
    "panel.vocabs.why": "Each model family learnt its list of pieces from other texts and at another "
    "size. The same sentence is therefore cut differently, is longer or shorter, and costs more or less, "
    "before any model has computed anything.",
    "panel.vocabs.how": "each tokenizer encodes the text by itself, without a template and without special "
    "tokens; pieces are laid by their bytes over the text's UTF-8. A cut counts where a piece ends and a "
    "character too; “all” is the intersection of these places over the vocabularies chosen. Bytes per "
    "token = UTF-8 bytes of the text ÷ tokens.",
    "panel.vocabs.other": "Another name",
    "panel.vocabs.add": "Add",
    "panel.vocabs.remove": "Do not compare {name}",
    "panel.vocabs.full": "Up to {n} vocabularies can be compared at once. Take one away first.",
    "panel.vocabs.reading": "Reading the vocabulary …",
    "panel.vocabs.picture": "The text in the pieces of each vocabulary, aligned by its characters",
    "panel.vocabs.characters": "Characters",
    "panel.vocabs.agree": "Same pieces?",
    "panel.vocabs.tokens": "{n} tokens",
    "panel.vocabs.axis": "Across: the text, as wide as its bytes. Point at a piece, or use the arrow keys, "
    "to see what the other vocabularies make of the same characters. Dashed frame: characters that the "
    "tokenizer rewrites before it cuts. Hatched: bytes that it has no piece for.",
    "panel.vocabs.sum": "All cut at {n} places of this text; {m} of the {k} stretches in between are in "
    "different pieces.",
    "panel.vocabs.one": "One vocabulary alone. Choose a second one above to see the differences.",
    "panel.vocabs.next": "Next difference",
    "panel.vocabs.cut.all": "all cut here",
    "panel.vocabs.cut.some": "only some cut here",
    "panel.vocabs.cut.inside": "cut inside of a character",
    "panel.vocabs.col.name": "vocabulary",
    "panel.vocabs.col.tokens": "tokens of this text",
    "panel.vocabs.col.per": "bytes per token",
    "panel.vocabs.col.chars": "code points per token",
    "panel.vocabs.col.size": "entries in the list",
    "panel.vocabs.col.lost": "lost bytes",
    "panel.vocabs.table": "The text as a table, stretch by stretch",
    "panel.vocabs.col.at": "code points",
    "panel.vocabs.col.text": "text",
    "panel.vocabs.col.same": "pieces",
    "panel.vocabs.col.cuts": "in each vocabulary, with ids",
    "panel.vocabs.same": "the same",
    "panel.vocabs.differs": "differ",
}
