"""The traces that came with the product: readable before any model is loaded, and without one.

`NAME.trace.json.gz` is a run, `NAME.rows.json.gz` the rows of the embedding table that its
tokens need. Files are read when they are asked for; a name only ever picks one of the files
found at the start, so it can not act as a path.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from playground import store
from playground.errors import PlaygroundError
from playground.text import LANGUAGES, texts
from playground.trace import EmbeddingRow, Trace

SUFFIX = ".trace.json.gz"
ROWS_SUFFIX = ".rows.json.gz"


class Recorded:
    """The recorded examples of a folder, each read once. order: names that come first, if there."""

    def __init__(self, folder: Path, order: Sequence[str] = ()) -> None:
        found = {p.name.removesuffix(SUFFIX): p for p in sorted(folder.glob(f"*{SUFFIX}"))}
        self._paths = {n: found[n] for n in dict.fromkeys((*order, *found)) if n in found}
        self._traces: dict[str, tuple[str, Trace, bool]] = {}
        self._rows: dict[str, dict[int, EmbeddingRow]] = {}
        self._reading = threading.Lock()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._paths)

    def title(self, name: str) -> dict[str, str]:
        """What the example is called in each language; its file's name where no text is kept."""
        key = f"example.{name}.title"
        return {lang: texts(lang).get(key, name) for lang in LANGUAGES}

    def get(self, name: object) -> tuple[str, Trace, bool]:
        """(trace id, trace, intact). Raises PlaygroundError for a name that is not here."""
        if not isinstance(name, str) or name not in self._paths:
            raise PlaygroundError("error.no_example")
        with self._reading:
            if name not in self._traces:
                trace, intact = store.load(self._paths[name])
                self._traces[name] = (store.trace_id(trace), trace, intact)
            return self._traces[name]

    def find(self, trace_id: str) -> tuple[str, Trace, bool]:
        """The example with this trace id. Raises PlaygroundError when there is none."""
        # Those already read first: the id is nearly always that of one a visitor has open.
        for name in sorted(self._paths, key=lambda n: n not in self._traces):
            found = self.get(name)
            if found[0] == trace_id:
                return found
        raise PlaygroundError("error.trace_gone")

    def row(self, trace_id: str, token_id: int) -> EmbeddingRow | None:
        """The recorded row for a token of an example, or None where none was recorded."""
        for name, (known, _, _) in list(self._traces.items()):
            if known == trace_id:
                return self._rows_of(name).get(token_id)
        return None

    def _rows_of(self, name: str) -> dict[int, EmbeddingRow]:
        path = self._paths[name].with_name(name + ROWS_SUFFIX)
        with self._reading:
            if name not in self._rows:
                rows = store.load_rows(path) if path.exists() else ()
                self._rows[name] = {row.id: row for row in rows}
            return self._rows[name]
