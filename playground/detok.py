"""Ids → visible text, one at a time, byte by byte.

A character shows as soon as its last byte is there; until then its bytes are held. Bytes that
can never become a character show as U+FFFD at once, as `Vocabulary.decode` of all ids shows
them; a U+FFFD that the model wrote itself (`ef bf bd`) is three whole bytes and shows as any
other character. Nothing shown is ever taken back.
"""

from __future__ import annotations

import codecs

from playground.tokens import Vocabulary


class Detokenizer:
    """The text of one run as it becomes visible.

    All texts that `push` gives, and `flush` at the end, joined are `vocabulary.decode` of all
    ids pushed.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._utf8 = codecs.getincrementaldecoder("utf-8")(vocabulary.decoder.errors)
        self._first = True

    def push(self, token_id: int) -> tuple[str, bytes]:
        """What became visible with this token, and the (at most three) bytes now held."""
        raw = self._vocabulary.raw(token_id)
        if raw and self._first:
            raw, self._first = self._vocabulary.opening(token_id), False
        text, held = self._utf8.decode(raw), self._utf8.getstate()[0]
        if held[:1] == b"\xed" and held[1:2] >= b"\xa0":
            # No third byte makes a character of these (surrogates), yet Python waits for one.
            text, held = text + self.flush(), b""
        return text, held

    def flush(self) -> str:
        """What the bytes still held come to at the end of the text: U+FFFD, or nothing."""
        return self._utf8.decode(b"", final=True)
