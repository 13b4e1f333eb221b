"""How far a load is: one callback, and transformers' own bars turned into it.

A stage is one of STAGES; what people read of it stands in `playground.text` under
"stage.<name>".
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Progress = Callable[[str, float | None], None]
_inside = threading.Lock()
STAGES = ("download", "verify", "convert", "read", "place")


def silent(stage: str, fraction: float | None) -> None:
    """The callback of somebody who does not want to know."""


class _Bar:
    """What transformers takes for a tqdm bar; tells `report` how much of the loop is done."""

    def __init__(self, items: Any, report: Callable[[float], None]) -> None:
        self._items, self._report = items, report
        self._total = len(items) if hasattr(items, "__len__") else 0

    def __iter__(self) -> Iterator[Any]:
        for done, item in enumerate(self._items):
            if self._total:
                self._report(done / self._total)
            yield item

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *args, **kwargs: None


@contextmanager
def library_quiet(report: Progress, stage: str) -> Iterator[None]:
    """While it lasts, transformers' bars go to `report` and only its errors are logged.

    What it changes is global to the process, so only one thread at a time is inside.
    """
    from transformers import modeling_gguf_pytorch_utils as gguf_utils
    from transformers.utils import logging

    furthest = 0.0

    def forward(fraction: float) -> None:
        """One stage may run several loops one after the other; what people see never goes back."""
        nonlocal furthest
        furthest = max(furthest, fraction)
        report(stage, furthest)

    def bar(items: Any = None, *args: Any, **kwargs: Any) -> _Bar:
        return _Bar(items if items is not None else kwargs.get("iterable", ()), forward)

    with _inside:
        verbosity = logging.get_verbosity()
        hook = logging.set_tqdm_hook(lambda factory, args, kwargs: bar(*args, **kwargs))
        # The GGUF reader calls tqdm itself and not through the hook (transformers 5.24).
        own_bar, gguf_utils.tqdm = gguf_utils.tqdm, bar
        logging.set_verbosity_error()
        try:
            yield
        finally:
            gguf_utils.tqdm = own_bar
            logging.set_tqdm_hook(hook)
            logging.set_verbosity(verbosity)
