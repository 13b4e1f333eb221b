"""The header of a GGUF file, read with bounds, and what transformers forgets of its tokenizer.

`gguf.GGUFReader` takes counts and lengths from the file at their word (CVE-2024-23605 and a
memory exhaustion reported in 2026): so a file is walked here first, with every count held
against the file's size. Format: ggml-org/ggml, docs/gguf.md, versions 2 and 3.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from playground.errors import PlaygroundError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

MAGIC = b"GGUF"
_MAX_KEYS = 10_000
_MAX_TENSORS = 200_000
_MAX_STRING = 16 << 20
_MAX_ITEMS = 4_000_000
# value type -> bytes; 8 is a string, 9 an array
_SCALARS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
_STRING, _ARRAY = 8, 9


@dataclass(frozen=True, slots=True)
class Header:
    """fields: scalars and strings as they are, arrays as their length. values: weights in all."""

    fields: dict[str, Any]
    tensors: int
    values: int
    size_bytes: int

    @property
    def pre_tokenizer(self) -> str:
        return str(self.fields.get("tokenizer.ggml.pre", ""))


class _Reader:
    """Little-endian values off a file, never past its end."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.file, self.size = file, size

    def take(self, count: int) -> bytes:
        data = self.file.read(count) if 0 <= count <= _MAX_STRING else b""
        if len(data) != count:
            raise ValueError("past the end")
        return data

    def number(self, kind: str) -> Any:
        return struct.unpack("<" + kind, self.take(struct.calcsize("<" + kind)))[0]

    def string(self) -> str:
        return self.take(self.number("Q")).decode("utf-8", "replace")

    def skip(self, count: int) -> None:
        if not 0 <= count <= self.size - self.file.tell():
            raise ValueError("past the end")
        self.file.seek(count, 1)

    def value(self, kind: int) -> Any:
        if kind == _STRING:
            return self.string()
        if kind != _ARRAY:
            return self.number(_SCALARS[kind])
        item, count = self.number("I"), self.number("Q")
        if count > _MAX_ITEMS:
            raise ValueError("too many items")
        if item == _STRING:
            for _ in range(count):
                self.skip(self.number("Q"))
        else:  # arrays of arrays are in no known model
            self.skip(count * struct.calcsize("<" + _SCALARS[item]))
        return count


def _walk(file: BinaryIO, size: int) -> Header:
    from gguf import GGML_QUANT_SIZES, GGMLQuantizationType

    reader = _Reader(file, size)
    if reader.take(4) != MAGIC or reader.number("I") not in (2, 3):
        raise ValueError("no GGUF")
    tensors, keys = reader.number("Q"), reader.number("Q")
    if not 0 < tensors <= _MAX_TENSORS or not 0 < keys <= _MAX_KEYS:
        raise ValueError("counts")
    fields = {}
    for _ in range(keys):
        key = reader.string()
        fields[key] = reader.value(reader.number("I"))
    values = end = 0
    for _ in range(tensors):
        reader.string()
        dims = reader.number("I")
        if not 1 <= dims <= 4:
            raise ValueError("dimensions")
        count = prod(reader.number("Q") for _ in range(dims))
        block, width = GGML_QUANT_SIZES[GGMLQuantizationType(reader.number("I"))]
        values += count
        end = max(end, reader.number("Q") + count // block * width)
    align = fields.get("general.alignment", 32)
    if not isinstance(align, int) or align < 1:
        raise ValueError("alignment")
    start = -(-file.tell() // align) * align
    if start + end > size:
        raise ValueError("cut short")
    return Header(fields, tensors, values, size)


def inspect(path: Path, name: str) -> Header:
    """The header, or a PlaygroundError where the file is none, damaged, cut short or absurd."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            header = _walk(file, size)
    except FileNotFoundError:
        raise PlaygroundError("error.model_absent", name=name) from None
    except (OSError, ValueError, KeyError, struct.error, OverflowError):
        raise PlaygroundError("error.model_file_damaged", name=name, file=path.name) from None
    family = str(header.fields.get("general.architecture"))
    width = header.fields.get(f"{family}.embedding_length", 1)
    for field, factor, most in (
        ("block_count", 1, header.tensors),
        ("embedding_length", 1, header.values),
        ("feed_forward_length", width, header.values),
        ("vocab_size", width, header.values),
    ):
        value = header.fields.get(f"{family}.{field}", 1)
        if not isinstance(value, int) or not isinstance(width, int) or value * factor > most:
            raise PlaygroundError("error.model_file_damaged", name=name, file=path.name)
    return header


def mend_tokenizer(tokenizer: PreTrainedTokenizerFast, pre_tokenizer: str) -> None:
    """Puts back the Digits step that transformers 5.24 loses for `pre = smollm`.

    Without it 231 of 300 strings with digits outside ASCII were split otherwise than llama.cpp
    splits them; with it 0 of 1,500. The step is that of the model's own tokenizer.json.
    """
    if pre_tokenizer != "smollm":
        return
    from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence

    tokenizer.backend_tokenizer.pre_tokenizer = Sequence(
        [Digits(individual_digits=True), ByteLevel(add_prefix_space=False)]
    )
