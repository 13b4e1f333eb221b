"""A vocabulary learnt from a corpus, merge by merge, by the library's own trainer."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from playground.errors import PlaygroundError
from playground.tokenlab import MOST_CHARACTERS, MOST_MERGES, Learnt, Training


def train(corpus: str, merges: int) -> Training:
    """A byte-level BPE vocabulary of `corpus` with at most `merges` merges (fewer where no pair
    is left that stands twice).

    The trainer gives the merges; how often each pair stood there and how many tokens are left is
    counted again. Raises PlaygroundError for a blank or too long corpus, or too many merges.
    """
    if not corpus.strip():
        raise PlaygroundError("error.corpus_empty")
    if len(corpus) > MOST_CHARACTERS:
        raise PlaygroundError("error.corpus_long", n=len(corpus), limit=MOST_CHARACTERS)
    if not 0 <= merges <= MOST_MERGES:
        raise PlaygroundError("error.corpus_merges", limit=MOST_MERGES)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=len(alphabet) + merges, min_frequency=2, initial_alphabet=alphabet,
        show_progress=False,
    )  # fmt: skip
    core.train_from_iterator([corpus], trainer)
    learnt = [tuple(pair) for pair in json.loads(core.to_str())["model"]["merges"]]
    words = Counter(word for word, _ in core.pre_tokenizer.pre_tokenize_str(corpus))
    parts = [(list(word), count) for word, count in words.items()]
    left = sum(len(symbols) * count for symbols, count in parts)
    start, found = left, []
    for first, second in learnt:
        stood, joined = 0, 0
        for symbols, count in parts:
            pairs, joins = _join(symbols, first, second)
            stood += pairs * count
            joined += joins * count
        left -= joined
        found.append(Learnt(first, second, stood, left))
    return Training(len(alphabet), start, len(corpus.encode()), sum(words.values()), tuple(found))


def _join(symbols: list[str], first: str, second: str) -> tuple[int, int]:
    """Join the pair in `symbols`, from the left; (how often it stood there, how often joined).

    Of `aaa` the pair `aa` stands twice and can be joined once.
    """
    if first not in symbols:
        return 0, 0
    stood = sum(pair == (first, second) for pair in pairwise(symbols))
    joins, at = 0, 0
    while stood and at < len(symbols) - 1:
        if symbols[at] == first and symbols[at + 1] == second:
            symbols[at : at + 2] = [first + second]
            joins += 1
        at += 1
    return stood, joins
