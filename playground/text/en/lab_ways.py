"""Four ways to cut a text: words, characters, subwords, bytes."""

TEXT = {
    "panel.ways.tab": "Four ways",
    "panel.ways.title": "Four ways to cut",
    "panel.ways.why": "A model needs numbers, so text has to be cut into pieces that stand in a list. "
    "Large pieces make short sequences and an endless list; small ones make a short list and long "
    "sequences. Tokenizers stand in between, and here all four lie above one another.",
    "panel.ways.how": "words: Han text by jieba (dictionary and hidden Markov model), everything else at "
    "the word boundaries of Unicode (UAX #29), blanks and marks for themselves; characters: extended "
    "grapheme clusters (UAX #29); subwords: the tokenizer's own ids; bytes: UTF-8. The picture has one "
    "column for each byte.",
    "panel.ways.picture": "The text in words, characters, subwords and bytes, aligned by its bytes",
    "panel.ways.axis": "Across: the text, one column for each byte, in the order in which it is stored. "
    "A colour is one piece. Point at a piece, or use the arrow keys, to see the same stretch in every row. "
    "A small number at a character: it is made of so many code points.",
    "panel.ways.loose": "Dashed: the tokenizer rewrites these characters before it cuts them, so where a "
    "piece begins inside of them can not be told.",
    "panel.ways.lost": "Hatched: bytes that this vocabulary has no piece for; the model does not see them.",
    "panel.ways.lines": "Lines {from}–{to} of {total}; the rest is there when you scroll.",
    "panel.ways.leftward": "What is read from right to left stands here in the order in which it is stored: the first "
    "letter on the left.",
    "panel.ways.row.words": "Words",
    "panel.ways.row.characters": "Characters",
    "panel.ways.row.subwords": "Subwords",
    "panel.ways.row.bytes": "Bytes",
    "panel.ways.cost.way": "cut into",
    "panel.ways.cost.count": "pieces of this text",
    "panel.ways.cost.entries": "entries in the list",
    "panel.ways.cost.means": "what it costs",
    "panel.ways.entries.words": "no end",
    "panel.ways.entries.characters": "150,000 and more",
    "panel.ways.entries.bytes": "256",
    "panel.ways.means.words": "Every piece says much, but the list never ends: new names, numbers and "
    "slips of the pen are always missing from it. Chinese writes no blanks, so a dictionary has to find "
    "the words first.",
    "panel.ways.means.characters": "No spelling is unknown any more, yet the list stays long: Unicode "
    "knows about 155,000 characters, and emoji can be joined without end. A piece says little.",
    "panel.ways.means.subwords": "What models use: a frequent stretch is one piece, a rare one falls into "
    "several. How long the list is, its makers chose.",
    "panel.ways.means.bytes": "256 entries write every text there is. But nothing is longer: one byte for "
    "an English letter, three for most Chinese characters, four for most emoji.",
    "panel.ways.longer": "In bytes this text is {x} times as long as in subwords. Each piece is one more "
    "position to compute, and attention compares each with all before it: {y} times as many pairs.",
    "panel.ways.character": "A character here is what a reader counts as one (a grapheme cluster), not a "
    "code point. Two that are made of several:",
    "panel.ways.made_of": "1 character, {k} code points, {bytes} bytes",
    "panel.ways.joined": "In this text {n} characters are made of several code points each: {points} code "
    "points, {characters} characters.",
    "panel.ways.joined.one": "In this text 1 character is made of several code points: {points} code "
    "points, {characters} characters.",
    "panel.ways.table": "The four counts as a table",
    "panel.ways.rows": "The text as a table, character by character",
    "panel.ways.col.way": "cut into",
    "panel.ways.col.count": "pieces",
    "panel.ways.col.distinct": "different ones",
    "panel.ways.col.bytes": "bytes per piece",
    "panel.ways.col.factor": "× the subwords",
    "panel.ways.col.pairs": "pairs in attention, n(n+1)/2",
    "panel.ways.col.entries": "entries in the list",
    "panel.ways.col.at": "place",
    "panel.ways.col.character": "character",
    "panel.ways.col.points": "code points",
    "panel.ways.col.hex": "bytes (hex)",
    "panel.ways.col.word": "in the word",
    "panel.ways.col.pieces": "in the pieces, with ids",
}
