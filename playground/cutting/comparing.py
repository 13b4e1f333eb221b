"""Several vocabularies on the same text, laid side by side by its characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, Protocol

from playground.errors import PlaygroundError
from playground.tokenlab import Column, Comparison, LanguageCost
from playground.tokens import Vocabulary


class Reader(Protocol):
    """What can be laid beside others: a tokenizer of any make."""

    def column(self, name: str, text: str) -> Column: ...


class VocabularyReader:
    """A tokenizer of this program's own kind."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def column(self, name: str, text: str) -> Column:
        found = self._vocabulary
        pieces = found.encode(text)
        spans = tuple((piece.start, piece.end) for piece in pieces)
        return Column(
            name, found.size, tuple(piece.id for piece in pieces),
            tuple(found.raw(piece.id) for piece in pieces), spans, _ends(spans, len(text)),
            found.lost_bytes(text),
        )  # fmt: skip


class TiktokenReader:
    """An encoding of the tiktoken package: pieces are bytes, control text is plain text."""

    def __init__(self, encoding: Any) -> None:
        self._encoding = encoding

    def column(self, name: str, text: str) -> Column:
        ids = self._encoding.encode(text, disallowed_special=())
        raw = tuple(self._encoding.decode_single_token_bytes(i) for i in ids)
        starts = [i for i, char in enumerate(text) for _ in char.encode()]
        ends = list(accumulate(map(len, raw)))
        spans = tuple(
            (starts[end - len(piece)], starts[end - 1] + 1)
            for piece, end in zip(raw, ends, strict=True)
        )
        return Column(
            name, self._encoding.n_vocab, tuple(ids), raw, spans, _ends(spans, len(text)), b""
        )


def tiktoken_reader(name: str) -> TiktokenReader:
    """The encoding `name` of the tiktoken package ("cl100k_base").

    Raises PlaygroundError where the package is not installed, does not know it, or can not get
    its file: it fetches it once from its publisher.
    """
    try:
        import tiktoken
    except ModuleNotFoundError:
        raise PlaygroundError("error.tiktoken_missing", name=name) from None
    if name not in tiktoken.list_encoding_names():
        known = ", ".join(tiktoken.list_encoding_names())
        raise PlaygroundError("error.tiktoken_unknown", name=repr(name)[:40], known=known)
    try:
        return TiktokenReader(tiktoken.get_encoding(name))
    except Exception as error:
        # Whatever its HTTP library raises.
        raise PlaygroundError("error.tiktoken_file", name=name) from error


def _ends(spans: Sequence[tuple[int, int]], n: int) -> tuple[int, ...]:
    """Where a piece ends and the next begins at another character."""
    found = []
    for (_, end), (start, _) in pairwise(spans):
        if end <= start and end < n:
            found.append(end)
    return tuple(found)


def compare(readers: Mapping[str, Reader], text: str) -> Comparison:
    """`text` (no lone surrogates) as each of `readers` cuts it, in their order."""
    columns = tuple(reader.column(name, text) for name, reader in readers.items())
    shared = set(columns[0].ends) if columns else set()
    for column in columns[1:]:
        shared &= set(column.ends)
    return Comparison(text, len(text.encode()), columns, tuple(sorted(shared)))


def language_costs(
    readers: Mapping[str, Reader], sentences: Mapping[str, str]
) -> tuple[LanguageCost, ...]:
    """How many tokens each sentence (by its language's code) takes in each vocabulary."""
    return tuple(
        LanguageCost(
            code, text, len(text), len(text.encode()),
            tuple(len(reader.column(name, text).ids) for name, reader in readers.items()),
        )
        for code, text in sentences.items()
    )  # fmt: skip
