"""What the byte ledger costs, against the library's bare encode of the same text."""

from __future__ import annotations

from itertools import cycle, islice

from playground.cutting.languages import sentences
from playground.cutting.ledger import ledger
from playground.stopwatch import Ratio, alternate, clock, ratio
from playground.tokens import Vocabulary

CHARACTERS = 10_000
TARGET = 10.0


def sample(n: int = CHARACTERS) -> str:
    """`n` characters in many scripts."""
    return "".join(islice(cycle("\n".join([*sentences().values(), ""])), n))


def ledger_cost(vocabulary: Vocabulary, pairs: int) -> Ratio:
    """The ledger of `sample()` against `Tokenizer.encode`, ms for the whole text."""
    text = sample()
    backend = vocabulary.tokenizer.backend_tokenizer
    ours, theirs = alternate(
        lambda: clock(lambda: ledger(vocabulary, text)),
        lambda: clock(lambda: backend.encode(text, add_special_tokens=False)),
        pairs,
    )
    return ratio("ledger", ours, theirs, TARGET)
