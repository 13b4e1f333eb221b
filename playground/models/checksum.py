"""SHA-256 of big files, beside other work.

64 flipped bits in a weights file load without a word (measured with transformers 5.24), so
wherever a checksum is known, it is compared at every load. Python's `hashlib` lets other threads
run meanwhile: on two cores the check of 538 MB hides behind the import of torch.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

BLOCK = 1 << 22


def sha256(path: Path, stop: Callable[[], bool] = lambda: False) -> str:
    """Hex digest of the file; "" where `stop` said so before its end."""
    digest, buffer = hashlib.sha256(), bytearray(BLOCK)
    view = memoryview(buffer)
    with path.open("rb", buffering=0) as file:
        while count := file.readinto(buffer):
            digest.update(view[:count])
            if stop():
                return ""
    return digest.hexdigest()


class Check:
    """Compares files with their known checksums in a thread of its own.

    files: path -> hex SHA-256. Use as a context manager: leaving it early ends the thread.
    """

    def __init__(self, files: Mapping[Path, str]) -> None:
        self._files = dict(files)
        self._stop = threading.Event()
        self._bad: Path | None = None
        self._thread = threading.Thread(target=self._run, daemon=True, name="checksums")

    def _run(self) -> None:
        for path, known in self._files.items():
            try:
                found = sha256(path, self._stop.is_set)
            except OSError:
                found = "unreadable"
            if self._stop.is_set():
                return
            if found != known:
                self._bad = path
                return

    def bad(self, seconds: float | None = None) -> Path | None:
        """The first file that differs, None when all are as they were; waits for the end.

        seconds: wait no longer than this, and tell what is known by then.
        """
        self._thread.join(seconds)
        return self._bad

    def __enter__(self) -> Check:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop.set()
        self._thread.join()
