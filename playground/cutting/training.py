"""A vocabulary learnt from a corpus, merge by merge, by the library's own trainer."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import pairwise

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from playground.errors import PlaygroundError
from playground.tokenlab import MOST_CHARACTERS, MOST_MERGES, Learnt, Training

Pair = tuple[str, str]


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
    row = _Row(words)
    left = start = sum(len(word) * count for word, count in words.items())
    found = []
    for first, second in learnt:
        stood, joined = row.join(first, second)
        left -= joined
        found.append(Learnt(first, second, stood, left))
    return Training(len(alphabet), start, len(corpus.encode()), sum(words.values()), tuple(found))


class _Row:
    """The symbols of all different words, in which pairs are joined wherever they stand.

    Where each pair stands is kept, so that a merge costs what it joins and not the whole corpus.
    """

    def __init__(self, words: Mapping[str, int]) -> None:
        """words: how often each of them stands in the corpus."""
        self._symbols: list[str] = []
        self._counts: list[int] = []  # of the word that each symbol is in
        self._next: list[int] = []  # place of the symbol after it, -1 at the end of a word
        self._before: list[int] = []
        self._places: defaultdict[Pair, set[int]] = defaultdict(set)
        for word, count in words.items():
            first, last = len(self._symbols), len(self._symbols) + len(word) - 1
            self._symbols += word
            self._counts += [count] * len(word)
            self._next += [*range(first + 1, last + 1), -1]
            self._before += [-1, *range(first, last)]
            for at, pair in enumerate(pairwise(word), first):
                self._places[pair].add(at)

    def join(self, first: str, second: str) -> tuple[int, int]:
        """Join the pair from the left; (how often it stood there, how often joined).

        Of `aaa` the pair `aa` stands twice and can be joined once.
        """
        places = sorted(self._places[first, second])
        stood, joined = sum(self._counts[at] for at in places), 0
        for at in places:
            if at in self._places[first, second]:  # else taken by the one before it
                joined += self._counts[at]
                self._merge(at)
        return stood, joined

    def _merge(self, at: int) -> None:
        """The symbol at this place and the one after it become one."""
        gone = self._next[at]
        around = [place for place in (self._before[at], at, gone) if place >= 0]
        for place in around:
            self._places[self._pair(place)].discard(place)
        self._symbols[at] += self._symbols[gone]
        self._next[at] = after = self._next[gone]
        if after >= 0:
            self._before[after] = at
        for place in around[:-1]:
            if self._next[place] >= 0:
                self._places[self._pair(place)].add(place)

    def _pair(self, at: int) -> Pair:
        following = self._next[at]
        return self._symbols[at], self._symbols[following] if following >= 0 else ""
