"""Tokenizers by name, for looking at how they cut: read once, kept, and shared by all threads.

No weights are needed. The names are those that the operator allows, and always the two whose
tokenizers need no hub.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from playground.errors import PlaygroundError
from playground.tokenlab import MOST_MODELS, OFFLINE, TIKTOKEN, Tokenizer

if TYPE_CHECKING:
    from playground.cutting.comparing import Reader
    from playground.cutting.story import Cutter
    from playground.tokens import Vocabulary

# A vocabulary takes some hundred MB with its merges.
KEPT = MOST_MODELS + 2
# A publisher's server may take its time, or not answer at all.
PATIENCE_S = 30.0


@dataclass(slots=True, eq=False)
class _Shelf:
    """One tokenizer. guard: held while it is read, so that nobody reads it twice."""

    guard: threading.Lock = field(default_factory=threading.Lock)
    vocabulary: Vocabulary | None = None
    cutter: Cutter | None = None


class Tokenizers:
    """Thread-safe; those used last are kept.

    allowed: names beside OFFLINE. free: any name that `models.resolve` knows. at_hand: a
    vocabulary that lies in memory anyway, by name. Every method that takes a name raises
    PlaygroundError, one sentence, where it can not be had.
    """

    def __init__(
        self,
        allowed: Iterable[str] = (),
        *,
        free: bool = False,
        at_hand: Callable[[str], Vocabulary | None] = lambda name: None,
    ) -> None:
        self._allowed = tuple(allowed)
        self._free = free
        self._at_hand = at_hand
        self._shelves: OrderedDict[str, _Shelf] = OrderedDict()
        self._guard = threading.Lock()

    def names(self) -> tuple[str, ...]:
        """All that may be asked for; "auto" by the name that it stands for."""
        return tuple(dict.fromkeys((*map(_plain, self._allowed), *OFFLINE)))

    def sizes(self) -> tuple[Tokenizer, ...]:
        """The names, with the sizes that are known by now."""
        with self._guard:
            kept = {name: shelf.vocabulary for name, shelf in self._shelves.items()}
        found = ((name, self._at_hand(name) or kept.get(name)) for name in self.names())
        return tuple(Tokenizer(name, known.size if known else None) for name, known in found)

    def vocabulary(self, name: str) -> Vocabulary:
        name = self._known(name)
        at_hand = self._at_hand(name)
        return at_hand if at_hand is not None else self._read(name)[1]

    def cutter(self, name: str) -> Cutter:
        name = self._known(name)
        shelf, vocabulary = self._read(name)
        with shelf.guard:
            if shelf.cutter is None:
                from playground.cutting.story import Cutter

                shelf.cutter = Cutter(vocabulary)
            return shelf.cutter

    def reader(self, name: str) -> Reader:
        """For laying side by side: a tokenizer, or "tiktoken:NAME"."""
        from playground.cutting.comparing import VocabularyReader

        if isinstance(name, str) and name.startswith(TIKTOKEN):
            return _encoding(name.removeprefix(TIKTOKEN))
        return VocabularyReader(self.vocabulary(name))

    def readers(self, names: Sequence[str]) -> Mapping[str, Reader]:
        """Of one to MOST_MODELS names, each once, in their order."""
        if not 1 <= len(names) <= MOST_MODELS or len(set(names)) < len(names):
            raise PlaygroundError("error.lab_models", limit=MOST_MODELS)
        return {name: self.reader(name) for name in names}

    def _known(self, name: str) -> str:
        """The plain form of a name that may be asked for."""
        if isinstance(name, str):
            if name.startswith(TIKTOKEN):
                raise PlaygroundError("error.lab_encoding", name=name[:80])
            if name in self._allowed:
                return _plain(name)
            if self._free or name in self.names():
                return _plain(name)
        raise PlaygroundError("error.model_not_allowed", name=repr(name)[:80])

    def _read(self, name: str) -> tuple[_Shelf, Vocabulary]:
        with self._guard:
            shelf = self._shelves.setdefault(name, _Shelf())
            self._shelves.move_to_end(name)
            while len(self._shelves) > KEPT:
                self._shelves.popitem(last=False)
        with shelf.guard:
            if shelf.vocabulary is None:
                shelf.vocabulary = self._at_hand(name) or _load(name)
            return shelf, shelf.vocabulary


def _plain(name: str) -> str:
    """The name as `models.resolve` spells it; as it is where that knows nothing of it."""
    from playground.models import resolve

    try:
        return resolve(name).name
    except PlaygroundError:
        return name


def _load(name: str) -> Vocabulary:
    from playground import models
    from playground.tokens import Vocabulary

    return Vocabulary(models.load_tokenizer(name))


def _encoding(name: str) -> Reader:
    """A tiktoken encoding; the package fetches its file the first time, and knows no time limit."""
    from playground.cutting.comparing import tiktoken_reader

    found: list[Reader | PlaygroundError] = []

    def get() -> None:
        try:
            found.append(tiktoken_reader(name))
        except PlaygroundError as error:
            found.append(error)

    thread = threading.Thread(target=get, name="tiktoken", daemon=True)
    thread.start()
    thread.join(PATIENCE_S)
    result = found[0] if found else PlaygroundError("error.tiktoken_file", name=name)
    if isinstance(result, PlaygroundError):
        raise result
    return result
