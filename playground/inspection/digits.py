"""How likely each digit is as the answer to a question, over the whole vocabulary."""

from __future__ import annotations

from dataclasses import dataclass

from playground.trace import Finish, ModelInfo, Token

DIGITS_SCHEMA = 1
DIGITS = "0123456789"


@dataclass(frozen=True, slots=True)
class Chance:
    """One token that may come next, and its probability in the whole vocabulary."""

    id: int
    raw: bytes
    special: bool
    p: float


@dataclass(frozen=True, slots=True)
class Beginning:
    """An answer that begins in one way.

    given: the first ids of it, which were put there and not chosen; none: all of it is the
    model's. answer: all its tokens, greedy after `given`. probs: of 0 … 9 as the token after
    `given`, each the sum over the ids that are counted for it. best: the most likely tokens at
    that place, likeliest first.
    """

    given: tuple[int, ...]
    answer: tuple[Token, ...]
    text: str
    finish: Finish
    probs: tuple[float, ...]
    best: tuple[Chance, ...]


@dataclass(frozen=True, slots=True)
class Questioned:
    """One question. prompt: all that the model was given."""

    question: str
    prompt: tuple[Token, ...]
    first: Beginning
    after: Beginning


@dataclass(frozen=True, slots=True)
class Digits:
    """Two questions. prefix: the beginning that `after` was given, as text. counted: for each of
    0 … 9 the ids whose bytes are that digit, alone or behind one space."""

    model: ModelInfo
    prefix: str
    counted: tuple[tuple[int, ...], ...]
    a: Questioned
    b: Questioned
