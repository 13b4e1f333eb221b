"""A trace to a `.trace.json` file and back, equal to the bit.

The keys are the field names of `playground.trace`, plus `id`, `checksum` and `ids` on the
trace. Bytes are hex. float32 numbers are the shortest decimals that come back bit-equal;
minus infinity (only ever the logit and log-probability of a forced token that the model rules
out) is null. A file named `.gz` is gzip. The same trace always makes the same bytes.

The checksum is over the content, not over the file: white space, the order of keys and `1`
for `1.0` do not matter. It tells damage and careless edits; it is no signature. Reading is
`playground.store.read`'s work, and trusts nothing. The inside of a run has a file of its own kind
(`playground.store.inside`).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from playground.store import files, read, read_row, strict
from playground.store.inside import (
    LoadedBundle,
    dumps_inside,
    load_inside,
    loads_inside,
    save_inside,
)
from playground.trace import SCHEMA, EmbeddingRow, Token, Trace

__all__ = [
    "LoadedBundle", "LoadedTrace", "dumps", "dumps_inside", "from_json", "load", "load_inside",
    "load_rows", "loads", "loads_inside", "row_from_json", "row_to_json", "save", "save_inside",
    "save_rows", "to_json", "token_to_json", "trace_id",
]  # fmt: skip

MAX_BYTES = 64 * 1024 * 1024
ID_CHARS = 16


class LoadedTrace(NamedTuple):
    """intact: the content is what the file's checksum says it is."""

    trace: Trace
    intact: bool


def to_json(trace: Trace) -> dict[str, Any]:
    """`trace` as plain JSON values."""
    content: dict[str, Any] = _plain(trace)
    checksum = _checksum(content)
    head = {"schema": trace.schema, "id": checksum[:ID_CHARS], "checksum": checksum}
    return head | content | {"ids": list(trace.ids)}


def from_json(data: Any) -> Trace:
    """The trace in the JSON value `data`, checked; the checksum is not (`loads` does that).

    Raises PlaygroundError, one sentence, for anything that `to_json` would not have written.
    """
    return read.trace(data)


def trace_id(trace: Trace) -> str:
    """What the trace is known by: the first 16 hex digits of its checksum."""
    return _checksum(_plain(trace))[:ID_CHARS]


def dumps(trace: Trace) -> bytes:
    """`trace` as UTF-8 JSON, not compressed."""
    return files.encode(to_json(trace)) + b"\n"


def loads(data: bytes, *, max_bytes: int = MAX_BYTES) -> LoadedTrace:
    """The trace in `data`, which may be gzip. Raises PlaygroundError, one sentence.

    max_bytes: the limit for `data`, compressed and not.
    """
    value = strict.parse(data, max_bytes)
    trace = from_json(value)
    return LoadedTrace(trace, _checksum(_plain(trace)) == value["checksum"])


def save(trace: Trace, path: str | Path) -> None:
    """Write `trace` to `path`, whole or not at all. Raises PlaygroundError."""
    files.write(Path(path), dumps(trace))


def load(path: str | Path, *, max_bytes: int = MAX_BYTES) -> LoadedTrace:
    """The trace in the file `path`. Raises PlaygroundError."""
    return loads(files.read(Path(path), max_bytes), max_bytes=max_bytes)


def token_to_json(token: Token) -> dict[str, Any]:
    """A token as `tokens --json` and the API's /tokens give it: its bytes by that name."""
    plain: dict[str, Any] = _plain(token)
    return {"bytes" if key == "raw" else key: value for key, value in plain.items()}


def row_to_json(row: EmbeddingRow) -> dict[str, Any]:
    """`row` as plain JSON values."""
    plain: dict[str, Any] = _plain(row)
    return plain


def row_from_json(data: Any) -> EmbeddingRow:
    """The row in the JSON value `data`, checked. Raises PlaygroundError."""
    return read_row.row(data)


def save_rows(rows: Iterable[EmbeddingRow], path: str | Path) -> None:
    """Write rows of one embedding table to `path`. Raises PlaygroundError."""
    plain = {"schema": SCHEMA, "rows": [row_to_json(row) for row in rows]}
    files.write(Path(path), files.encode(plain) + b"\n")


def load_rows(path: str | Path, *, max_bytes: int = MAX_BYTES) -> tuple[EmbeddingRow, ...]:
    """The rows in the file `path`. Raises PlaygroundError."""
    return read_row.rows(strict.parse(files.read(Path(path), max_bytes), max_bytes))


def _plain(value: Any) -> Any:
    """Dataclasses, arrays and bytes as JSON values, by the names of their fields."""
    if isinstance(value, np.ndarray):
        return _decimals(value) if value.dtype == np.float32 else value.tolist()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float):
        return _finite(value)
    if dataclasses.is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value


def _finite(value: float) -> float | None:
    if math.isfinite(value):
        return value
    if value == -math.inf:
        return None
    raise ValueError("a trace holds no NaN and no +infinity")


def _decimals(array: np.ndarray) -> list[Any]:
    """float32 values as the doubles whose shortest decimal is that of the float32."""
    flat = array.ravel()
    near = np.array([float(str(x)) for x in flat], "f8")
    # A decimal is rounded to a double and then to a float32. Where those two roundings do not
    # come back to the same bits, the float32's exact value is written instead.
    wrong = near.astype("f4").view("u4") != flat.view("u4")
    near[wrong] = flat[wrong].astype("f8")
    listed: list[Any] = near.reshape(array.shape).tolist()
    return listed if np.isfinite(near).all() else _plain(listed)


def _checksum(content: dict[str, Any]) -> str:
    """Of the content with its numbers as numbers: 1 and 1.0 are one temperature."""
    params = {k: v if k in ("top_k", "seed") else float(v) for k, v in content["params"].items()}
    return files.checksum(content | {"params": params})
