"""What was computed and may be asked for again, under a byte budget and a time to live."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from playground.ui.vault import footprint


class Book(NamedTuple):
    """One value; used: when it was last asked for."""

    value: Any
    size: int
    used: float


class Shelf:
    """Thread-safe; what has not been asked for longest goes first.

    clock: seconds that only grow (the tests bring their own).
    """

    def __init__(
        self, max_bytes: int, ttl_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.max_bytes = max_bytes
        self.ttl_s = ttl_s
        self._clock = clock
        self._books: OrderedDict[Hashable, Book] = OrderedDict()
        self._size = 0
        self._guard = threading.Lock()

    def put(self, key: Hashable, value: Any) -> bool:
        """Keep `value`, which must not change any more; False when it alone is over the budget."""
        size = footprint(value)
        with self._guard:
            self._take(key)
            if size > self.max_bytes:
                return False
            self._books[key] = Book(value, size, self._clock())
            self._size += size
            self._expire()
            return True

    def get(self, key: Hashable) -> Any | None:
        """What is kept under `key`, or None."""
        with self._guard:
            self._expire()
            book = self._take(key)
            if book is None:
                return None
            self._books[key] = book._replace(used=self._clock())
            self._size += book.size
            return book.value

    @property
    def size(self) -> int:
        """Bytes of all that is kept."""
        with self._guard:
            self._expire()
            return self._size

    def _take(self, key: Hashable) -> Book | None:
        book = self._books.pop(key, None)
        if book is not None:
            self._size -= book.size
        return book

    def _expire(self) -> None:
        oldest = self._clock() - self.ttl_s
        while self._books:
            key, book = next(iter(self._books.items()))
            if book.used >= oldest and self._size <= self.max_bytes:
                return
            self._take(key)
