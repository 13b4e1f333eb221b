"""Records as JSON whose arrays are exact: base64 of their little-endian bytes, type and shape.

Both the file of an inspection and what the browser gets are made of these. A record's arrays are
those that its `AXES` names; everything else about it is for the caller to say.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from playground.inspection.arrays import Axes

# JavaScript has no cheap 64 bit integers; ids and ranks fit in 32.
CODES = {"f4": "<f4", "f8": "<f8", "i4": "<i4", "i8": "<i4", "?": "|u1"}


def pack(array: np.ndarray | None, code: str) -> dict[str, Any] | None:
    """{"t": type, "s": shape, "b": base64} of an array; None stays None.

    code: the dtype that `AXES` gives. Raises OverflowError for an integer that 32 bits do not hold.
    """
    if array is None:
        return None
    if code == "i8" and array.size and not -(2**31) <= array.min() <= array.max() < 2**31:
        raise OverflowError("an id or count does not fit 32 bits")
    kind = CODES[code]
    data = base64.b64encode(np.ascontiguousarray(array, kind).tobytes()).decode("ascii")
    return {"t": kind[1:], "s": list(array.shape), "b": data}


def pack_arrays(record: Any) -> dict[str, Any]:
    """The arrays of `record` by the names of their fields."""
    axes: Axes = record.AXES
    return {name: pack(getattr(record, name), code) for name, (code, _) in axes.items()}
