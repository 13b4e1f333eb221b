"""How each word of a text becomes pieces: merges, the best path, or the longest match."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

from playground.cutting.bpe import Bpe
from playground.cutting.presplit import words
from playground.errors import PlaygroundError
from playground.tokenlab import Cutting, Kind, Story, Word
from playground.tokens import Vocabulary

KINDS = {"BPE": "bpe", "Unigram": "unigram", "WordPiece": "wordpiece", "WordLevel": "words"}
LONGEST = 512  # symbols of a word whose merges are still told one by one


class Cutter:
    """One tokenizer's way of cutting. Reading its merges takes up to a second; any thread may
    ask. Raises PlaygroundError for a model that is none of KINDS."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._backend = vocabulary.tokenizer.backend_tokenizer
        state: dict[str, Any] = json.loads(self._backend.to_str())["model"]
        if state["type"] not in KINDS:
            raise PlaygroundError("error.cutting_kind", kind=state["type"])
        self.kind = cast("Kind", KINDS[state["type"]])
        self._bpe = Bpe(state) if self.kind == "bpe" else None
        # Unigram: [[piece, score], …] by id; the others map pieces to ids.
        self._scores = [score for _, score in state["vocab"]] if self.kind == "unigram" else None
        self.merges = len(state["merges"]) if self._bpe else 0

    def cut(self, text: str) -> Cutting:
        """`text` (no lone surrogates) in words, control text as plain text."""
        wanted = tuple(piece.id for piece in self.vocabulary.encode(text))
        found: list[Word] = []
        ids: list[int] = []
        known: dict[str, list[int]] = {}  # words come again
        normalised = ""
        for stretch, added in self._stretches(text):
            if added is not None:
                ids.append(added)
                normalised += stretch
                continue
            read = self._normalise(stretch)
            for word in words(self._backend, read):
                at = len(normalised)
                found.append(Word(word.start + at, word.end + at, word.written, word.rule))
                if word.written not in known:
                    known[word.written] = self._ids(word.written)
                ids += known[word.written]
            normalised += read
        exact = tuple(ids) == wanted
        return Cutting(text, normalised, tuple(found), wanted, exact, self.kind, self.merges)

    def story(self, written: str) -> Story:
        """How one word becomes pieces; `written` as in `Word`. Raises PlaygroundError when it is
        too long to be told."""
        if len(written) > LONGEST:
            raise PlaygroundError("error.cutting_long", n=len(written), limit=LONGEST)
        if self._bpe is not None:
            return self._bpe.story(written)
        tokens = self._backend.model.tokenize(written)
        ids = tuple(token.id for token in tokens)
        scores = None if self._scores is None else tuple(self._scores[i] for i in ids)
        return Story(
            self.kind, written, tuple(written), (), tuple(token.value for token in tokens), ids,
            False, scores, (),
        )  # fmt: skip

    def _ids(self, written: str) -> list[int]:
        if self._bpe is not None and len(written) <= LONGEST:
            return list(self._bpe.story(written).ids)
        return [token.id for token in self._backend.model.tokenize(written)]

    def _normalise(self, text: str) -> str:
        normalizer = self._backend.normalizer
        return text if normalizer is None else str(normalizer.normalize_str(text))

    def _stretches(self, text: str) -> Iterator[tuple[str, int | None]]:
        """The text between added tokens, and those (their text, their id), in order."""
        at = 0
        for piece in self.vocabulary.encode(text):
            # What is unknown was not found in the text, it is what a word came to.
            if self.vocabulary.added(piece.id) and piece.id != self.vocabulary.unknown:
                if at < piece.start:
                    yield text[at : piece.start], None
                yield text[piece.start : piece.end], piece.id
                at = piece.end
        if at < len(text):
            yield text[at:], None
