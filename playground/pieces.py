"""What the written form of a piece means in bytes, read from the tokenizer's own decoder.

Two kinds of vocabulary are read:

- byte level (GPT-2, Qwen, Llama 3, SmolLM2): a piece is written with one character per byte;
- SentencePiece (Llama 2, Mistral, Gemma): `▁` is a space, `<0xE7>` is one byte.

WordPiece and other decoders that glue pieces by rules of their own are refused, not guessed at.
"""

from __future__ import annotations

import codecs
import json
import re
from typing import Any, NamedTuple

from playground.errors import PlaygroundError

# GPT-2's alphabet: printable bytes stand for themselves, the rest for characters from U+0100 on.
BYTE_CHARS = {b: chr(b) for b in (*range(33, 127), *range(161, 173), *range(174, 256))}
BYTE_CHARS |= {b: chr(256 + i) for i, b in enumerate(b for b in range(256) if b not in BYTE_CHARS)}
_CHAR_BYTES = {char: byte for byte, char in BYTE_CHARS.items()}
_BYTE_PIECE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_ONE_PER_BYTE = "playground.one_per_byte"


def _one_per_byte(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "\ufffd" * (error.end - error.start), error.end


codecs.register_error(_ONE_PER_BYTE, _one_per_byte)


class Decoder(NamedTuple):
    """What a decoder does to each piece, and to the first of a text.

    replaced: (old, new) in every piece. drops: "" nothing; "one" the text's first space; "all"
    the spaces of its first piece.
    """

    byte_level: bool
    replaced: tuple[tuple[str, str], ...]
    byte_pieces: bool
    drops: str

    @property
    def errors(self) -> str:
        """The codec's error handler: how bytes that are no UTF-8 are shown.

        Byte level: one U+FFFD for each longest start of a character ("replace", as Rust's
        `from_utf8_lossy`). Byte pieces: one for each byte.
        """
        return _ONE_PER_BYTE if self.byte_pieces else "replace"

    def to_bytes(self, piece: str) -> bytes:
        if self.byte_level:
            # As the library: one character outside of the alphabet, and the piece is plain text.
            codes = [_CHAR_BYTES.get(char) for char in piece]
            return piece.encode() if None in codes else bytes(c for c in codes if c is not None)
        for old, new in self.replaced:
            piece = piece.replace(old, new)
        byte = _BYTE_PIECE.fullmatch(piece) if self.byte_pieces else None
        return bytes.fromhex(byte[1]) if byte else piece.encode()

    def opening(self, piece: str) -> bytes:
        """The bytes of a piece that is the first of a text."""
        if self.drops == "all":
            return piece.replace(self.replaced[0][0], "").encode()
        raw = self.to_bytes(piece)
        return raw.removeprefix(b" ") if self.drops else raw


def read_decoder(decoder: Any) -> Decoder:
    """Raises PlaygroundError for a decoder whose pieces are not bytes side by side."""
    state = json.loads(decoder.__getstate__()) if decoder is not None else {"type": "none"}
    steps: list[dict[str, Any]] = state.get("decoders", [state])
    kinds = [step["type"] for step in steps]
    if kinds == ["ByteLevel"]:
        return Decoder(True, (), False, "")
    if kinds == ["Metaspace"]:
        drops = "" if steps[0]["prepend_scheme"] == "never" else "all"
        return Decoder(False, ((steps[0]["replacement"], " "),), False, drops)
    if re.fullmatch(r"(Replace )+(ByteFallback )?Fuse( Strip)?", " ".join(kinds)):
        literal = [s for s in steps if s["type"] == "Replace" and "String" in s["pattern"]]
        strip = steps[-1] if kinds[-1] == "Strip" else None
        one = strip is None or (strip["content"], strip["start"], strip["stop"]) == (" ", 1, 0)
        if len(literal) == kinds.count("Replace") and one:
            pairs = tuple((s["pattern"]["String"], s["content"]) for s in literal)
            return Decoder(False, pairs, "ByteFallback" in kinds, "one" if strip else "")
    raise PlaygroundError("error.decoder", decoder=" → ".join(kinds))
