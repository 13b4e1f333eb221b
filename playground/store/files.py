"""Whole files, read within a limit and written whole or not at all; the spelling of JSON."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from playground.errors import PlaygroundError
from playground.store import strict


def encode(value: Any, *, sort_keys: bool = False) -> bytes:
    """Raises UnicodeEncodeError for a lone surrogate: prompts are cleaned of them before."""
    return json.dumps(
        value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=sort_keys
    ).encode()


def checksum(content: Mapping[str, Any]) -> str:
    """sha256 of the content in one canonical spelling: sorted keys, no blanks, UTF-8."""
    return hashlib.sha256(encode(content, sort_keys=True)).hexdigest()


def sealed(content: Mapping[str, Any]) -> bytes:
    """A file's bytes: the content with its checksum."""
    return encode({**content, "checksum": checksum(content)}) + b"\n"


def intact(value: Mapping[str, Any]) -> bool:
    """Whether the content of a sealed file is what its checksum says it is."""
    given: str = value["checksum"]
    return checksum({k: v for k, v in value.items() if k != "checksum"}) == given


def write(path: Path, data: bytes) -> None:
    """Write `data` to `path`, gzip where its name ends so. Raises PlaygroundError."""
    if path.name.endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    draft = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}")
    try:
        try:
            with open(draft, "xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise PlaygroundError(
            "error.trace_write", file=strict.shown(path.name), why=error.strerror or ""
        ) from None


def read(path: Path, max_bytes: int) -> bytes:
    """At most `max_bytes` and one of the file `path`. Raises PlaygroundError."""
    try:
        # A pipe or a device could block for ever or never end.
        if path.exists() and not path.is_file():
            raise PlaygroundError("error.trace_not_file", file=strict.shown(path.name))
        with open(path, "rb") as file:
            return file.read(max_bytes + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, PlaygroundError):
            raise
        why = getattr(error, "strerror", None) or str(error)
        raise PlaygroundError("error.trace_read", file=strict.shown(path.name), why=why) from None
