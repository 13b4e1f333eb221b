"""The traces that came with the product: readable before any model is loaded, and without one.

`NAME.trace.json.gz` is a run, `NAME.rows.json.gz` the rows of the embedding table that its
tokens need, `NAME.inside.json.gz` the inside of the model at every step, `NAME.pair.json.gz` two
prompts side by side, `letters.json.gz` the digits as answers to two questions. Files are read
when they are asked for; a name only ever picks one of the files found at the start, so it can not
act as a path.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from playground import store
from playground.errors import PlaygroundError
from playground.inspection.bundle import Bundle
from playground.inspection.pair import Pair
from playground.store import digits as digit_files
from playground.store import pair as pair_files
from playground.store.digits import LoadedDigits
from playground.store.pair import LoadedPair
from playground.text import LANGUAGES, texts
from playground.trace import EmbeddingRow, Trace

SUFFIX = ".trace.json.gz"
ROWS_SUFFIX = ".rows.json.gz"
INSIDE_SUFFIX = ".inside.json.gz"
PAIR_SUFFIX = ".pair.json.gz"
LETTERS = "letters.json.gz"

log = logging.getLogger(__name__)


class Recorded:
    """The recorded examples of a folder, each read once. order: names that come first, if there."""

    def __init__(self, folder: Path, order: Sequence[str] = ()) -> None:
        found = {p.name.removesuffix(SUFFIX): p for p in sorted(folder.glob(f"*{SUFFIX}"))}
        self._paths = {n: found[n] for n in dict.fromkeys((*order, *found)) if n in found}
        self._traces: dict[str, tuple[str, Trace, bool]] = {}
        self._rows: dict[str, dict[int, EmbeddingRow]] = {}
        self._insides: dict[str, Bundle | None] = {}
        self._pair_paths = {
            p.name.removesuffix(PAIR_SUFFIX): p for p in sorted(folder.glob(f"*{PAIR_SUFFIX}"))
        }
        self._pairs: dict[str, LoadedPair] = {}
        self._letters = folder / LETTERS
        self._reading, self._looking = threading.Lock(), threading.Lock()

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

    def pair(self, name: object) -> LoadedPair:
        """(pair, intact). Raises PlaygroundError for a name that is not here, and a bad file."""
        if not isinstance(name, str) or name not in self._pair_paths:
            raise PlaygroundError("error.no_example")
        with self._reading:
            if name not in self._pairs:
                self._pairs[name] = pair_files.load(self._pair_paths[name])
            return self._pairs[name]

    @property
    def pairs(self) -> list[tuple[str, Pair, bool]]:
        """(name, pair, intact) of all that can be read; the log says why others can not."""
        found = []
        for name in self._pair_paths:
            try:
                found.append((name, *self.pair(name)))
            except PlaygroundError as error:
                log.warning("%s can not be used: %s", self._pair_paths[name].name, error)
        return found

    @cached_property
    def letters(self) -> LoadedDigits | None:
        """The digits as answers; None where nothing was recorded or it can not be read."""
        if not self._letters.exists():
            return None
        try:
            return digit_files.load(self._letters)
        except PlaygroundError as error:
            log.warning("%s can not be used: %s", self._letters.name, error)
            return None

    def inside(self, trace_id: str) -> Bundle | None:
        """What was recorded of the inside of an example's run; None where there is nothing, or
        nothing that can be trusted (the log says why)."""
        try:
            found = self.find(trace_id)[0]
        except PlaygroundError:
            return None
        name = next(n for n, (known, _, _) in list(self._traces.items()) if known == found)
        path = self._paths[name].with_name(name + INSIDE_SUFFIX)
        with self._looking:
            if name not in self._insides:
                self._insides[name] = _whole(path, trace_id) if path.exists() else None
            return self._insides[name]


def _whole(path: Path, trace_id: str) -> Bundle | None:
    """The bundle in the file `path`, if it is intact and of this run."""
    try:
        bundle, intact = store.load_inside(path)
    except PlaygroundError as error:
        log.warning("%s can not be used: %s", path.name, error)
        return None
    if not intact or bundle.trace_id != trace_id:
        why = "of another run" if intact else "changed after it was recorded"
        log.warning("%s can not be used: it is %s", path.name, why)
        return None
    return bundle
