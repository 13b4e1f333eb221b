"""Errors of the tokenizer laboratory."""

TEXT = {
    "error.cutting_kind": "This tokenizer's model is of the kind {kind}, whose cutting is not known here.",
    "error.cutting_long": "This word has {n} symbols; merges are told one by one up to {limit}. Choose a shorter one.",
}
