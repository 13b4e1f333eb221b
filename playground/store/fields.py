"""JSON values to checked Python values.

A reader takes a value and its path (`steps[3].token.id`) and returns the value, or raises one
`PlaygroundError` that names the path and what belongs there. The small readers come first, then
what puts readers together. Only what JSON can not say is converted: whole numbers stand for
floats, hex for bytes, null for minus infinity.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, NoReturn, TypeVar

import numpy as np

from playground.errors import PlaygroundError
from playground.store.strict import shown

INT_LIMIT = 2**63 - 1
TEXT_LIMIT = 4_000_000

T = TypeVar("T")
Reader = Callable[[Any, str], T]


def fail(key: str, path: str, **values: object) -> NoReturn:
    """Refuse the value at `path` (an empty path is the whole file)."""
    raise PlaygroundError(key, path=path or "JSON", **values)


def within(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def text(value: Any, path: str, *, limit: int = TEXT_LIMIT) -> str:
    """A string of at most `limit` characters, without lone surrogates."""
    if type(value) is not str:
        fail("error.trace_text", path)
    if len(value) > limit:
        fail("error.trace_length", path, limit=limit)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            fail("error.trace_surrogate", path)
    return value


def choice(value: Any, path: str, *, choices: Sequence[str]) -> Any:
    """One of the words `choices`."""
    if type(value) is not str or value not in choices:
        fail("error.trace_choice", path, choices=", ".join(choices))
    return value


def pattern(value: Any, path: str, *, shape: re.Pattern[str]) -> str:
    """A string that `shape` matches as a whole."""
    if type(value) is not str or not shape.fullmatch(value):
        fail("error.trace_form", path)
    return value


def hexed(value: Any, path: str, *, limit: int) -> bytes:
    """At most `limit` bytes, written as lower-case hex without blanks."""
    digits = text(value, path, limit=2 * limit)
    if len(digits) % 2 or not re.fullmatch("[0-9a-f]*", digits):
        fail("error.trace_hex", path)
    return bytes.fromhex(digits)


def flag(value: Any, path: str) -> bool:
    if type(value) is not bool:
        fail("error.trace_flag", path)
    return value


def whole(value: Any, path: str, *, low: int = 0, high: int = INT_LIMIT) -> int:
    """A whole number in low … high."""
    if type(value) is not int:
        fail("error.trace_whole", path)
    if not low <= value <= high:
        fail("error.trace_range", path, low=low, high=high)
    return value


def plain_number(value: Any, path: str, *, low: float, high: float) -> int | float:
    """A finite number in low … high, left the kind it is."""
    if type(value) not in (int, float):
        fail("error.trace_figure", path)
    if not low <= value <= high:  # NaN is not within either
        fail("error.trace_range", path, low=f"{low:g}", high=f"{high:g}")
    found: int | float = value
    return found


def number(value: Any, path: str, *, low: float, high: float) -> float:
    """A finite number in low … high, as a float."""
    return float(plain_number(value, path, low=low, high=high))


def number_or_minus_inf(value: Any, path: str, *, low: float, high: float) -> float:
    """A finite number in low … high, or null for minus infinity."""
    return -math.inf if value is None else number(value, path, low=low, high=high)


def flags(value: Any, path: str, *, length: int) -> list[bool]:
    """A list of exactly `length` true or false."""
    return _all(value, path, length, {bool}, lambda item: True, flag)


def wholes(value: Any, path: str, *, length: int, low: int, high: int) -> list[int]:
    """A list of exactly `length` whole numbers in low … high."""

    def one(item: Any, place: str) -> int:
        return whole(item, place, low=low, high=high)

    return _all(value, path, length, {int}, lambda item: low <= item <= high, one)


def floats(value: Any, path: str, *, length: int, low: float, high: float) -> np.ndarray:
    """A list of exactly `length` finite numbers in low … high, as f32[length]."""

    def one(item: Any, place: str) -> float:
        return number(item, place, low=low, high=high)

    _all(value, path, length, {int, float}, lambda item: low <= item <= high, one)
    return np.array(value, "f8").astype("f4")


def floats_or_minus_inf(
    value: Any, path: str, *, length: int, low: float, high: float
) -> np.ndarray:
    """As `floats`, with null for minus infinity."""
    if type(value) is not list or None not in value:
        return floats(value, path, length=length, low=low, high=high)
    array = floats(
        [low if x is None else x for x in value], path, length=length, low=low, high=high
    )
    array[[x is None for x in value]] = -math.inf
    return array


def _all(
    value: Any,
    path: str,
    length: int,
    kinds: set[type],
    fits: Callable[[Any], bool],
    one: Reader[Any],
) -> list[Any]:
    """The long lists, quickly: only when something is wrong does `one` look for the place."""
    if type(value) is not list:
        fail("error.trace_list", path)
    if len(value) != length:
        fail("error.trace_shape", path, want=length, got=len(value))
    if set(map(type, value)) - kinds or not all(map(fits, value)):
        for i, item in enumerate(value):
            one(item, f"{path}[{i}]")
    return value


# Readers made of readers.


def maybe(read: Reader[T]) -> Reader[T | None]:
    """null, or what `read` reads."""
    return lambda value, path: None if value is None else read(value, path)


def many(read: Reader[T], *, limit: int) -> Reader[tuple[T, ...]]:
    """A list of at most `limit` values that `read` reads."""

    def reader(value: Any, path: str) -> tuple[T, ...]:
        if type(value) is not list:
            fail("error.trace_list", path)
        if len(value) > limit:
            fail("error.trace_length", path, limit=limit)
        return tuple(read(item, f"{path}[{i}]") for i, item in enumerate(value))

    return reader


def pair(first: Reader[Any], second: Reader[Any]) -> Reader[tuple[Any, Any]]:
    """A list of two."""

    def reader(value: Any, path: str) -> tuple[Any, Any]:
        if type(value) is not list:
            fail("error.trace_list", path)
        if len(value) != 2:
            fail("error.trace_shape", path, want=2, got=len(value))
        return first(value[0], f"{path}[0]"), second(value[1], f"{path}[1]")

    return reader


def mapping(read: Reader[T], *, keys: re.Pattern[str], limit: int) -> Reader[dict[str, T]]:
    """An object of at most `limit` free keys, each of which `keys` matches as a whole."""

    def reader(value: Any, path: str) -> dict[str, T]:
        if type(value) is not dict:
            fail("error.trace_object", path)
        if len(value) > limit:
            fail("error.trace_length", path, limit=limit)
        for key in value:
            if type(key) is not str or not keys.fullmatch(key):
                fail("error.trace_unknown", path, name=shown(str(key)))
        return {key: read(item, within(path, key)) for key, item in value.items()}

    return reader


def record(value: Any, path: str, keys: Collection[str]) -> dict[str, Any]:
    """An object that has exactly the keys `keys`, its values not looked at yet."""
    if type(value) is not dict:
        fail("error.trace_object", path)
    for key in keys:
        if key not in value:
            fail("error.trace_missing", path, name=key)
    for key in value:
        if key not in keys:
            fail("error.trace_unknown", path, name=shown(str(key)))
    return value


def instance(kind: type[T], **readers: Reader[Any]) -> Reader[T]:
    """An object with the fields of the dataclass `kind`, each read by the reader of its name."""
    if sorted(readers) != sorted(f.name for f in dataclasses.fields(kind)):  # type: ignore[arg-type]
        raise TypeError(f"{kind.__name__} has other fields than {sorted(readers)}")

    def reader(value: Any, path: str) -> T:
        got = record(value, path, readers)
        return kind(**{name: read(got[name], within(path, name)) for name, read in readers.items()})

    return reader
