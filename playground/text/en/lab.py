"""The ground of the tokenizer laboratory: its chapters, its shared input, its errors."""

TEXT = {
    "deck.template.title": "The template under the glass",
    "deck.template.why": "A chat model reads one long text. What turns your question into that text is "
    "its family's template, and the wrong one changes the answer.",
    "deck.pieces.title": "Tokens in depth",
    "deck.pieces.why": "Why is it cut there? Type any text, choose a vocabulary, and follow it down to "
    "the byte and back. No model has to be loaded for this: the tokenizer alone does the cutting.",
    "ui.lab.text": "Text to look at",
    "ui.lab.model": "Vocabulary",
    "ui.lab.model_option": "{name} · {n} tokens",
    "ui.lab.models": "Vocabularies to compare",
    "ui.lab.models_hint": "one to {n}",
    "ui.lab.examples": "Try",
    "ui.lab.question": "the question of this run",
    "ui.lab.counts": "{characters} characters, {bytes} bytes",
    "ui.lab.counts.one": "1 character, {bytes} bytes",
    "ui.lab.asking": "Cutting …",
    "ui.lab.older": "below is what was asked before",
    "ui.lab.failed": "This could not be worked out. Try again.",
    "ui.lab.retry": "Try again",
    "ui.lab.empty": "There is no text. Type something above.",
    "ui.lab.paged": "Showing {from}–{to} of {total}.",
    "ui.lab.back": "Earlier",
    "ui.lab.forth": "Later",
    "ui.inside.stage.cut": "Cutting; a vocabulary is read when it is first needed",
    "error.lab_chars": "The text has {n} characters; up to {limit} can be looked at here. Shorten it.",
    "error.lab_models": "Choose from 1 to {limit} vocabularies, each once.",
    "error.lab_messages": "A chat here has from 1 to {limit} turns.",
    "error.lab_encoding": "{name} can be compared with other vocabularies, but its merges and its "
    "template are not known here. Choose a model's tokenizer.",
}
