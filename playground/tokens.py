"""The tokenizer seen as bytes: every id's bytes, and text as pieces with their characters.

`decode` joins bytes and reads them as UTF-8. At byte level that is, to the letter, what the
library's decoder says. With byte fallback it is too, but for one case: where a row of byte
tokens is not UTF-8 as a whole, the library turns every byte of that row into U+FFFD, whole
characters included, and so takes back what a reader has already seen. Here whole characters
stay, and each byte that belongs to none becomes one U+FFFD.

Control text is an added token's text that a template could have written: special or bracketed
(`<|im_end|>`, `<think>`, `[INST]`). Added blanks and words are ordinary text.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from tokenizers import AddedToken, Tokenizer
from transformers import PreTrainedTokenizerFast

from playground.errors import PlaygroundError
from playground.pieces import BYTE_CHARS, read_decoder
from playground.spans import rewritten, text_steps, walked, widened
from playground.trace import Source, Token, piece_text

_BRACKETED = re.compile(r"▁?[<\[{◁].+[>\]}▷]", re.DOTALL)


class Piece(NamedTuple):
    """One token of a text and the characters it covers (end exclusive).

    Pieces that share one character, or one group of characters that the tokenizer's normaliser
    rewrites together, have the same span. A space that the tokenizer put in has an empty one.
    """

    id: int
    start: int
    end: int


def _reader(backend: Tokenizer, added: Iterable[AddedToken]) -> Tokenizer:
    """A tokenizer that shares `backend`'s model and steps and knows only these added tokens.

    Nobody else can switch it (special tokens as text, truncation are switches on the tokenizer
    itself), and no post-processor trims its spans.
    """
    reader = Tokenizer(backend.model)
    if backend.normalizer is not None:
        reader.normalizer = backend.normalizer
    if backend.pre_tokenizer is not None:
        reader.pre_tokenizer = backend.pre_tokenizer
    reader.add_tokens(list(added))
    return reader


class Vocabulary:
    """The bytes, texts and spans of one tokenizer. Any thread may call it.

    size: how many ids have a token. unknown: the id that stands for what the vocabulary lacks, or
    None. Raises PlaygroundError for a decoder that is not read.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        self.tokenizer = tokenizer
        backend: Tokenizer = tokenizer.backend_tokenizer
        self._backend = backend
        self.decoder = read_decoder(backend.decoder)
        self.size: int = backend.get_vocab_size(with_added_tokens=True)
        added = dict(sorted(backend.get_added_tokens_decoder().items()))
        self._special = {i for i, t in added.items() if t.special} | {*tokenizer.all_special_ids}
        bare = _reader(backend, [])
        self._control = {
            token.content
            for i, token in added.items()
            if _BRACKETED.fullmatch(token.content)
            # A special token that plain text gives too ("!" taken for padding) guards nothing.
            or (i in self._special and i not in bare.encode(token.content).ids)
        }
        self._added = {token.content: i for i, token in added.items()}
        self._added_ids = frozenset(added)
        # A control text that the model has among its pieces is guarded there too.
        self._control_ids = {i for i, token in added.items() if token.content in self._control}
        self._control_ids |= {backend.model.token_to_id(text) for text in self._control} - {None}
        longest = sorted(self._control, key=len, reverse=True)
        self._control_text = re.compile("|".join(map(re.escape, longest)) or r"(?!)")
        model, unknown = backend.model, tokenizer.unk_token
        if hasattr(model, "unk_token"):
            unknown = model.unk_token
        self.unknown = None if unknown is None else backend.token_to_id(unknown)
        self._normalizer = text_steps(backend.normalizer)
        # Stands before a text that is not the start of one, where some tokenizers put a space.
        self._anchor = f"\U0010fffd{secrets.token_hex(8)}"
        self._added[self._anchor] = -1
        ordinary = [token for token in added.values() if token.content not in self._control]
        self._plain = _reader(backend, [*ordinary, AddedToken(self._anchor, normalized=False)])
        self._full = _reader(backend, added.values())
        self._missing = {b for b, c in BYTE_CHARS.items() if backend.token_to_id(c) is None}
        self._raw: dict[int, bytes] = {}

    def _piece(self, token_id: int) -> str | None:
        return self._backend.id_to_token(token_id) if 0 <= token_id < 2**32 else None

    def raw(self, token_id: int) -> bytes:
        """The piece's bytes; empty for a row without a token. A control token: its text."""
        found = self._raw.get(token_id)
        if found is None:
            piece = self._piece(token_id)
            found = self._raw[token_id] = b"" if piece is None else self.decoder.to_bytes(piece)
        return found

    def opening(self, token_id: int) -> bytes:
        """The piece's bytes where it is the first of a text: some decoders drop a space there."""
        piece = self._piece(token_id) if self.decoder.drops else None
        return self.raw(token_id) if piece is None else self.decoder.opening(piece)

    def written(self, token_id: int) -> str:
        """The vocabulary's own spelling of the piece (`Ġthe`, `▁the`, `<0xE7>`), "" for none."""
        return self._piece(token_id) or ""

    def added(self, token_id: int) -> bool:
        """Whether it is a token beside the learnt pieces, as control tokens are."""
        return token_id in self._added_ids

    def rewritten(self, text: str) -> list[tuple[int, int]]:
        """The groups (start, end) of characters that normalisation turns into others."""
        if self._normalizer is None or self.normalised(text) == text:
            return []
        return rewritten(text, self._normalizer)

    def special(self, token_id: int) -> bool:
        """Whether the tokenizer marks it as special (`<|im_end|>` is, Qwen's `<think>` is not)."""
        return token_id in self._special

    def token(
        self, token_id: int, source: Source, start: int | None = None, end: int | None = None
    ) -> Token:
        """The trace's token for `token_id` at these characters (None where it was generated)."""
        raw = self.raw(token_id)
        return Token(token_id, raw, piece_text(raw), start, end, self.special(token_id), source)

    def decode(self, ids: Sequence[int]) -> str:
        """The whole text of `ids`, special tokens kept, nothing cleaned up."""
        ids = [i for i in ids if self.raw(i)]
        raw = b"".join([*map(self.opening, ids[:1]), *map(self.raw, ids[1:])])
        return raw.decode("utf-8", self.decoder.errors)

    def encode(self, text: str, *, control: bool = False) -> list[Piece]:
        """`text` (no lone surrogates) as pieces, nothing added before or after it.

        control: `<|im_end|>` and the like become the control tokens they name; else plain text.
        Every character is covered, but for those that `lost_bytes` names. Raises PlaygroundError
        where plain text would still give a control token.
        """
        return self._read(self._full, text) if control else self._read_plain(text, 0)

    def encode_around(self, text: str, typed: Sequence[bool]) -> list[Piece]:
        """`text` with its control tokens, but none where a character was `typed` (bool per char).

        Without control text among the typed characters it is `encode(text, control=True)`.
        """
        pieces = self._read(self._full, text)
        if not any(p.id in self._control_ids and any(typed[p.start : p.end]) for p in pieces):
            return pieces
        # Which control tokens are the template's own: read it with the typed text blotted out.
        blotted = "".join(
            "\ufffc" if by_hand and not char.isspace() else char
            for char, by_hand in zip(text, typed, strict=True)
        )
        own = [p for p in self._read(self._full, blotted) if p.id in self._control_ids]
        result, at = [], 0
        for piece in (*own, Piece(-1, len(text), len(text))):
            if at < piece.start:
                result += self._read_plain(text[at : piece.start], at)
            result.append(piece)
            at = piece.end
        return result[:-1]

    def control_texts(self, text: str) -> list[str]:
        """The control texts that stand in `text`, each once, in order."""
        return list(dict.fromkeys(self._control_text.findall(text)))

    def normalised(self, text: str) -> str:
        """What the tokenizer makes of `text` before it reads it (Qwen: NFC)."""
        return text if self._normalizer is None else str(self._normalizer.normalize_str(text))

    def lost_bytes(self, text: str) -> bytes:
        """The bytes of `text` that no piece stands for, sorted, each once."""
        if self.decoder.byte_level:
            return bytes(sorted({*self.normalised(text).encode()} & self._missing))
        lost, at = "", 0
        for piece in (*self.encode(text), Piece(-1, len(text), len(text))):
            lost += text[at : piece.start]
            if piece.id == self.unknown:
                lost += text[piece.start : piece.end]
            at = max(at, piece.end)
        return bytes(sorted({*lost.encode()}))

    def _read_plain(self, text: str, at: int) -> list[Piece]:
        """`text` without control tokens; `at` > 0: its place in a longer text."""
        ahead = self._anchor if at else ""
        pieces = self._read(self._plain, ahead + text)
        if at:
            moved = at - len(ahead)
            pieces = [Piece(i, start + moved, end + moved) for i, start, end in pieces if i >= 0]
        guarded = self._control_ids - {self.unknown}
        if not guarded.isdisjoint([piece.id for piece in pieces]):
            token = next(piece.id for piece in pieces if piece.id in guarded)
            raise PlaygroundError("error.control_text", text=self._piece(token))
        return pieces

    def _read(self, reader: Tokenizer, text: str) -> list[Piece]:
        found = reader.encode(text, add_special_tokens=False)
        ids, tokens, spans = found.ids, found.tokens, found.offsets
        # Added tokens are taken out before a text is normalised: their spans are right, and
        # what is between two of them is a text of its own.
        ends = []
        if not self._added.keys().isdisjoint(tokens):
            ids = [self._added.get(t, i) for t, i in zip(tokens, ids, strict=True)]
            ends = [i for i, token in enumerate(tokens) if token in self._added]
        first, at = 0, 0
        for last in (*ends, len(ids)):
            start, end = spans[last] if last < len(ids) else (len(text), len(text))
            if first < last:
                own = slice(first, last)
                spans[own] = self._spans(ids[own], spans[own], text[at:start], at)
            first, at = last + 1, end
        for i, ((start, _), (following, _)) in enumerate(pairwise(spans)):
            # A space that shares its character with the next piece was put in by the tokenizer.
            if start == following and self.raw(ids[i]) == b" ":
                spans[i] = (start, start)
        return [Piece(i, start, end) for i, (start, end) in zip(ids, spans, strict=True)]

    def _spans(
        self, ids: list[int], spans: list[tuple[int, int]], text: str, at: int
    ) -> list[tuple[int, int]]:
        """The spans of a text that starts `at` and holds no added token, put right."""
        read = self.normalised(text)
        groups = [] if read == text else rewritten(text, self._normalizer)
        lost = bytes({*read.encode()} & self._missing) if self.decoder.byte_level else b""
        if lost:
            local = walked(map(self.raw, ids), text, groups, self._normalizer, lost)
            return [(start + at, end + at) for start, end in local]
        return widened(spans, [(start + at, end + at) for start, end in groups])
