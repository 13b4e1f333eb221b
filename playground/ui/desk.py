"""What the page can do, without Gradio: look traces up, open files, ask the host.

Every method raises PlaygroundError, one sentence, for what a person can mend.
"""

from __future__ import annotations

import dataclasses
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playground import store
from playground.errors import PlaygroundError
from playground.trace import EmbeddingRow, ModelInfo, Trace
from playground.ui import wire
from playground.ui.ask import build_ask, words
from playground.ui.protocol import Host
from playground.ui.recorded import Recorded
from playground.ui.vault import Vault
from playground.views import payload

MAX_UPLOAD = 32 * 1024 * 1024
MAX_NEIGHBOURS = 50
LOOKUP_WAIT_S = 20.0
_ID = re.compile(r"[0-9a-f]{16}")


class Desk:
    """One for the whole server; every method may be called from any thread."""

    def __init__(self, host: Host, recorded: Recorded) -> None:
        self.host = host
        self.recorded = recorded
        self.vault = Vault(host.limits.store_bytes, host.limits.store_ttl_s)
        # Looking rows up and reading files take a core each; a few at a time are enough.
        self._slots = threading.BoundedSemaphore(2)

    def find(self, key: Any) -> tuple[str, Trace, bool]:
        """(trace id, trace, intact) of a trace's or a run's id."""
        if not isinstance(key, str) or not _ID.fullmatch(key):
            raise PlaygroundError("error.field_id")
        try:
            return self.vault.get(key)
        except PlaygroundError:
            return self.recorded.find(key)

    def example(self, name: Any) -> dict[str, Any]:
        """A recorded example as the client's payload."""
        return _whole(self.recorded.get(name))

    def payload(self, key: Any) -> dict[str, Any]:
        """A trace as the client's payload."""
        return _whole(self.find(key))

    def steps(self, run: Any, first: Any) -> list[dict[str, Any]]:
        """The steps of a run from `first` on: what a client asks for that missed some."""
        if not isinstance(run, str) or not _ID.fullmatch(run):
            raise PlaygroundError("error.field_id")
        start = whole("from", first, 0, 10**6)
        return [payload.step_payload(step) for step in self.vault.steps(run, start)]

    def open(self, data: bytes) -> dict[str, Any]:
        """Read a trace file that somebody brought, keep it, and give its payload."""
        with self._slot():
            trace, intact = store.loads(data, max_bytes=MAX_UPLOAD)
            trace_id = store.trace_id(trace)
        self.vault.put(trace_id, trace, intact)
        return payload.trace_payload(trace, trace_id, intact=intact)

    def file(self, key: Any) -> tuple[str, bytes]:
        """(trace id, the trace's file) for a download."""
        trace_id, trace, _ = self.find(key)
        with self._slot():
            return trace_id, store.dumps(trace)

    def embedding(self, token_id: Any, n: Any = 10, trace: Any = None) -> EmbeddingRow:
        """A row of the embedding table and its `n` neighbours.

        trace: the id of the trace whose model is meant: its recorded row where there is one,
        else the row of the model at hand, if that is the one which made the trace.
        """
        token = whole("token_id", token_id, 0, 2**31 - 1)
        count = whole("n", n, 1, MAX_NEIGHBOURS)
        if trace is not None:
            trace_id, found, _ = self.find(trace)
            row = self.recorded.row(trace_id, token)
            if row is not None:
                return row
            info = self.host.status().info
            if info is not None and not same_model(info, found.model):
                raise PlaygroundError("error.other_model", name=found.model.name)
        with self._slot():
            return self.host.embedding(token, count)

    def tokens(
        self, prompt: Any, system: Any, mode: Any, thinking: Any, model: Any
    ) -> list[dict[str, Any]]:
        """The tokens that a text becomes, with the keys of the command line's `tokens --json`."""
        if model is not None:
            words("model", model)
        ask = build_ask(self.host.limits, prompt, system, mode, thinking)
        with self._slot():
            prompt_tokens = self.host.tokens(ask, model or None).tokens
        return [store.token_to_json(token) for token in prompt_tokens]

    def status(self) -> dict[str, Any]:
        """Where the model stands, as plain JSON."""
        status = self.host.status()
        return {
            "state": status.state,
            "name": wire.public(status.name),
            "stage": status.stage,
            "fraction": status.fraction,
            "info": None if status.info is None else dataclasses.asdict(status.info),
            "thinking": status.thinking,
            "error": None if status.error is None else wire.both(status.error),
        }

    @contextmanager
    def _slot(self) -> Iterator[None]:
        if not self._slots.acquire(timeout=LOOKUP_WAIT_S):
            raise PlaygroundError("error.busy")
        try:
            yield
        finally:
            self._slots.release()


def whole(name: str, value: Any, low: int, high: int) -> int:
    """`value` as a whole number in low … high. Raises PlaygroundError."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise PlaygroundError("error.field_range", name=name, low=low, high=high)
    return value


def same_model(a: ModelInfo, b: ModelInfo) -> bool:
    """The same weights, on whatever device and in whatever precision."""
    return all(
        getattr(a, f.name) == getattr(b, f.name)
        for f in dataclasses.fields(ModelInfo)
        if f.name not in ("device", "dtype")
    )


def _whole(found: tuple[str, Trace, bool]) -> dict[str, Any]:
    trace_id, trace, intact = found
    return payload.trace_payload(trace, trace_id, intact=intact)
