"""Letters are hard: how many r are in strawberry."""

TEXT = {
    "cli.record.letters": "letters: {kb} kB, the digits as answers to a question about letters",
    "error.prefix_long": "The beginning of the answer has {n} characters; up to {limit} can be given.",
    "panel.letters.tab": "Letters",
    "panel.letters.title": "Letters are hard",
    "panel.letters.why": "How many r are in strawberry? People look at the letters. The model was given a "
    "number in their place: one id for the whole word. Spell the word out, and each letter becomes an id "
    "of its own. The question is the same; what the model can see is not.",
    "panel.letters.how": "both questions go through the model's own chat template; each answer is greedy "
    "and at most 12 tokens long. Soft-max over the whole vocabulary at two places: the first token of the "
    "answer, and the token after a beginning that is put there and not chosen. For each digit the "
    "probabilities of the ids are added whose bytes are that digit, alone or behind one space.",
    "panel.letters.letter": "Letter",
    "panel.letters.word": "Word",
    "panel.letters.prefix": "Beginning of the answer",
    "panel.letters.ask": "How many {letter} are in {word}?",
    "panel.letters.shape": "A: {a}  B: {b}",
    "panel.letters.go": "Ask the model",
    "panel.letters.given": "what the model was given",
    "panel.letters.given_a": "Tokens and ids of the question",
    "panel.letters.given_b": "Tokens and ids of the question with the word spelled out",
    "panel.letters.gets": "The word is {n} ids: {ids}. There are no letters in them.",
    "panel.letters.gets.one": "The word is one id: {ids}. There are no letters in it.",
    "panel.letters.gets_spelled": "The word is {n} ids for {letters} letters: {ids}.",
    "panel.letters.gets_spelled.one": "The word is one id for {letters} letters: {ids}.",
    "panel.letters.then": "The answers that go on from here:",
    "panel.letters.answer": "answers",
    "panel.letters.cut": "(the first {n} tokens)",
    "panel.letters.story": "Counted letter by letter, upper and lower case alike: {letter} stands "
    "{count} times in {word}. Here is how likely the model holds each digit to be.",
    "panel.letters.legend_a": "A: the word as it is",
    "panel.letters.legend_b": "B: the word spelled out",
    "panel.letters.bars": "Probability of each digit, for both questions",
    "panel.letters.place_first": "As the first token of the answer",
    "panel.letters.place_after": "After the beginning {prefix}",
    "panel.letters.hint_first": "Nothing is put in the model's mouth. Most answers do not begin with a "
    "digit, so the bars are short.",
    "panel.letters.hint_after": "These words were put at the beginning of the answer, the model did not "
    "choose them. You can change them above. Both pictures have the same scale.",
    "panel.letters.right": "correct",
    "panel.letters.sum": "All ten digits together: {a} for A, {b} for B.",
    "panel.letters.best": "most likely here:",
    "panel.letters.ids": "Counted ids: {ids}. This vocabulary has no digit with a space before it.",
    "panel.letters.ids_several": "Counted ids: {ids}. Where there are several, the digit is also spelled "
    "with a space before it, or as a byte by name; their probabilities are added.",
    "panel.letters.ids_none": "Counted ids: {ids}. Digits without an id (–) are not single tokens in this "
    "vocabulary, so they can not be the next token.",
    "panel.letters.longer": "A digit may also begin a longer number: 12 begins with 1.",
    "panel.letters.recorded": "Recorded with {model}; probabilities over all {rows} rows of its vocabulary.",
    "panel.letters.asked": "Asked {model} just now; probabilities over all {rows} rows of its vocabulary.",
    "panel.letters.table": "The digits as a table",
    "panel.letters.col.digit": "digit",
    "panel.letters.col.ids": "ids",
    "panel.letters.col.a_first": "A, first token",
    "panel.letters.col.b_first": "B, first token",
    "panel.letters.col.a_after": "A, after the beginning",
    "panel.letters.col.b_after": "B, after the beginning",
}
