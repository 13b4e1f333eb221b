"""The inside of one run to a `.inside.json.gz` file and back, equal to the bit.

The keys are the field names of the records (`inspection.bundle`), plus `schema` and `checksum`.
Arrays are exact (`inspection.packed`); those that others give again to the bit are a word
(`store.read_layer`). Bytes are hex, sets are sorted lists. Reading trusts nothing
(`store.read_inside`). The checksum is over the content in one canonical spelling; it tells damage
and careless edits, and is no signature.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from playground.inspection import INSPECTION_SCHEMA, Inspection, LayerDetail
from playground.inspection.bundle import Bundle
from playground.inspection.check import Check
from playground.inspection.packed import pack
from playground.inspection.rotation import rotated
from playground.store import files, read_inside, strict
from playground.store.read_layer import ANGLES, ROTATED, SAME, TURNED

MAX_BYTES = 64 * 1024 * 1024


class LoadedBundle(NamedTuple):
    """intact: the content is what the file's checksum says it is."""

    bundle: Bundle
    intact: bool


def dumps_inside(bundle: Bundle) -> bytes:
    """`bundle` as UTF-8 JSON, not compressed; the same bundle always makes the same bytes.

    Raises ValueError for NaN and infinities that no reader would take.
    """
    content = {"schema": INSPECTION_SCHEMA, **_plain(bundle)}
    return files.sealed(content)


def loads_inside(data: bytes, *, max_bytes: int = MAX_BYTES) -> LoadedBundle:
    """The bundle in `data`, which may be gzip. Raises PlaygroundError, one sentence."""
    value = strict.parse(data, max_bytes)
    bundle = read_inside.bundle(value)
    return LoadedBundle(bundle, files.intact(value))


def save_inside(bundle: Bundle, path: str | Path) -> None:
    """Write `bundle` to `path`, whole or not at all. Raises PlaygroundError."""
    files.write(Path(path), dumps_inside(bundle))


def load_inside(path: str | Path, *, max_bytes: int = MAX_BYTES) -> LoadedBundle:
    """The bundle in the file `path`. Raises PlaygroundError."""
    return loads_inside(files.read(Path(path), max_bytes), max_bytes=max_bytes)


def _plain(value: Any) -> Any:
    """Records, arrays and bytes as JSON values, by the names of their fields."""
    if dataclasses.is_dataclass(value):
        axes: Mapping[str, tuple[str, str]] = getattr(value, "AXES", {})
        of = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        if isinstance(value, Check) and value.measured == math.inf:
            of["measured"] = None
        if isinstance(value, Inspection):
            of["details"] = _details(value.details)
        return {n: _packed(x, axes[n][0]) if n in axes else _plain(x) for n, x in of.items()}
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value


def _packed(array: np.ndarray | None, code: str) -> dict[str, Any] | None:
    if array is not None and (np.isnan(array).any() or np.isposinf(array).any()):
        raise ValueError("an inspection's file holds no NaN and no +infinity")
    return pack(array, code)


def _details(details: tuple[LayerDetail, ...]) -> list[dict[str, Any]]:
    """Without what follows from the rest; see `store.read_layer`."""
    plain: list[dict[str, Any]] = []
    before: LayerDetail | None = None
    for detail in details:
        of: dict[str, Any] = {f.name: getattr(detail, f.name) for f in dataclasses.fields(detail)}
        for name in ANGLES:
            if before is not None and _equal(of[name], getattr(before, name)):
                of[name] = SAME
        for name in TURNED:
            x = of[f"{name}_normed"]
            x = of[f"{name}_raw"] if x is None else x
            if x is not None and _equal(of[name], rotated(x, detail.cos, detail.sin)):
                of[name] = ROTATED
        arrays = {n for n in LayerDetail.AXES if not isinstance(of[n], str)}
        plain.append(
            {n: _packed(x, detail.AXES[n][0]) if n in arrays else x for n, x in of.items()}
        )
        before = detail
    return plain


def _equal(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    """To the bit."""
    return a is not None and b is not None and a.shape == b.shape and a.tobytes() == b.tobytes()
