"""Models of the Hugging Face hub: what the local cache holds, and fetching the rest.

A model that the cache holds whole is used as it is and the network is not asked. HF_ENDPOINT,
HF_HUB_OFFLINE, HF_HUB_CACHE and HF_TOKEN are the library's own business. A hub that cannot be
reached cost 46 s of retries (measured), so it is asked for any answer at all first.
"""

from __future__ import annotations

import fnmatch
import logging
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playground.errors import PlaygroundError
from playground.models import weights
from playground.models.machine import answers, need_disk
from playground.models.progress import Progress

log = logging.getLogger(__name__)

_TOKENIZER_FILES = (
    "config.json", "tokenizer.json", "tokenizer_config.json", "tokenizer.model", "vocab.json",
    "vocab.txt", "merges.txt", "special_tokens_map.json", "added_tokens.json",
    "chat_template.jinja", "chat_template.json",
)  # fmt: skip
_WEIGHT_FILES = (weights.WEIGHTS, weights.INDEX, "model-*.safetensors", "generation_config.json")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_COMMIT = re.compile(r"[0-9a-f]{40}")


def _cached(repo: str, file: str, revision: str | None) -> Path | None:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = try_to_load_from_cache(repo, file, revision=revision)
    except HFValidationError:
        return None
    return Path(found) if isinstance(found, str) else None


def snapshot(repo: str, revision: str | None) -> Path | None:
    """The folder of a snapshot that is whole (config, tokenizer, every weight file), or None."""
    config = _cached(repo, "config.json", revision)
    return config.parent if config is not None and weights.whole(config.parent) else None


def tokenizer_snapshot(repo: str, revision: str | None) -> Path | None:
    """The folder of a snapshot that has at least config and tokenizer, or None."""
    config = _cached(repo, "config.json", revision)
    return config.parent if config and weights.has_tokenizer(config.parent) else None


def commit(folder: Path) -> str | None:
    """The commit that a snapshot's folder is named after."""
    return folder.name if _COMMIT.fullmatch(folder.name) else None


def known_sums(folder: Path) -> dict[Path, str]:
    """Weight and tokenizer file -> SHA-256: the cache names the blobs of big files by it.

    Empty where the cache holds plain copies instead of links (Windows): nothing is known then.
    """
    files = (*weights.weight_files(folder, folder.name), folder / "tokenizer.json")
    blobs = {p: p.resolve().name for p in files}
    return {p: name for p, name in blobs.items() if _SHA256.fullmatch(name)}


def fetch(
    repo: str,
    revision: str | None,
    name: str,
    report: Progress,
    *,
    fits: Callable[[int], object] | None = None,
) -> Path:
    """Downloads a model into the hub cache and returns its snapshot's folder.

    fits: asked with the number of weights, where the hub tells it, before anything big is
    downloaded; it raises if there is no room. None: only the tokenizer is wanted.
    """
    import huggingface_hub as hub

    if hub.is_offline_mode():
        raise PlaygroundError("error.hub_offline", name=name)
    report("download", None)
    if not answers(hub.constants.ENDPOINT):
        raise PlaygroundError("error.hub_unreachable", name=name)
    with _told(name, revision):
        info = hub.HfApi().model_info(repo, revision=revision, files_metadata=True, timeout=5)
        sizes = {s.rfilename: s.size or 0 for s in info.siblings or []}
        wanted = _wanted(sizes, name, with_weights=fits is not None)
        if fits is not None and info.safetensors is not None:
            fits(sum(info.safetensors.parameters.values()))
        total = sum(sizes[f] for f in wanted)
        cache = Path(hub.constants.HF_HUB_CACHE)
        cache.mkdir(parents=True, exist_ok=True)
        blobs = cache / f"models--{repo.replace('/', '--')}" / "blobs"
        need_disk(cache, total - _bytes_in(blobs), name)
        with _watched(blobs, total, report):
            folder = hub.snapshot_download(
                repo, revision=revision, allow_patterns=wanted, tqdm_class=_silent_bars()
            )
    return Path(folder)


def _wanted(sizes: dict[str, int], name: str, *, with_weights: bool) -> list[str]:
    """The files to fetch, by exact name; never code and never pickles."""
    patterns = (*_TOKENIZER_FILES, *_WEIGHT_FILES) if with_weights else _TOKENIZER_FILES
    wanted = [f for f in sizes if any(fnmatch.fnmatchcase(f, p) for p in patterns)]
    if weights.INDEX in wanted and weights.WEIGHTS in wanted:
        wanted.remove(weights.INDEX)  # both forms of the same weights: one is enough
        wanted = [f for f in wanted if not f.startswith("model-")]
    if with_weights and not any(f.endswith(".safetensors") for f in wanted):
        raise PlaygroundError("error.model_no_safetensors", name=name)
    return wanted


@contextmanager
def _told(name: str, revision: str | None) -> Iterator[None]:
    """The library's exceptions as sentences; the details go to the log."""
    from huggingface_hub import errors

    try:
        yield
    except PlaygroundError:
        raise
    except errors.GatedRepoError as error:
        raise PlaygroundError("error.hub_gated", name=name) from error
    except (errors.RepositoryNotFoundError, errors.HFValidationError) as error:
        raise PlaygroundError("error.hub_no_model", name=name) from error
    except errors.RevisionNotFoundError as error:
        raise PlaygroundError("error.hub_no_revision", name=name, revision=revision) from error
    except errors.HfHubHTTPError as error:
        status = getattr(getattr(error, "response", None), "status_code", "?")
        log.error("the hub refused %s: %s", name, error)
        raise PlaygroundError("error.hub_status", name=name, status=status) from error
    except Exception as error:  # a connection lost on the way has many types
        log.exception("downloading %s", name)
        raise PlaygroundError("error.hub_broken_off", name=name) from error


def _bytes_in(folder: Path) -> int:
    total = 0
    for path in folder.glob("*"):
        try:
            total += path.stat().st_size
        except OSError:  # renamed this moment
            continue
    return total


@contextmanager
def _watched(blobs: Path, total: int, report: Progress) -> Iterator[None]:
    """Reports how the folder of blobs grows, half-fetched files included."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.2):
            report("download", min(1.0, _bytes_in(blobs) / total) if total else None)

    thread = threading.Thread(target=watch, daemon=True, name="download-progress")
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _silent_bars() -> type[Any]:
    from tqdm.auto import tqdm  # type: ignore[import-untyped]

    class Silent(tqdm):  # type: ignore[misc]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            kwargs["disable"] = True
            kwargs.pop("name", None)  # the hub's own extra argument
            super().__init__(*args, **kwargs)

    return Silent
