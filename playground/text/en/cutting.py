"""Errors of the tokenizer laboratory."""

TEXT = {
    "error.cutting_kind": "This tokenizer's model is of the kind {kind}, whose cutting is not known here.",
    "error.cutting_long": "This word has {n} symbols; merges are told one by one up to {limit}. Choose a shorter one.",
    "error.tiktoken_missing": "The encoding {name} belongs to the tiktoken package, which is not installed. Install it with: pip install tiktoken",
    "error.tiktoken_unknown": "tiktoken knows no encoding {name}. It knows: {known}.",
    "error.tiktoken_file": "tiktoken could not get the file of {name}: it fetches it once from its publisher, who can not be reached from here.",
    "error.corpus_empty": "There is no text to learn from. Paste some.",
    "error.corpus_long": "The text has {n} characters; up to {limit} can be learnt from here.",
    "error.corpus_merges": "The number of merges is a whole number from 0 to {limit}.",
}
