"""Which device and number format a model gets, and whether it has room there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playground.errors import PlaygroundError
from playground.models.machine import cores, free_memory, size

if TYPE_CHECKING:
    import torch

DEVICES = ("auto", "cpu", "cuda", "mps")
DTYPES = {
    "auto": None, "float32": "float32", "bfloat16": "bfloat16", "float16": "float16",
    "fp32": "float32", "bf16": "bfloat16", "fp16": "float16",
}  # fmt: skip
# Beyond the weights themselves: activations of a prefill chunk, the cache of a short run.
_ROOM = 1.1


def check(device: str, dtype: str, threads: int | None) -> None:
    """Raises for a setting that is none, before anything is loaded or even imported."""
    if device not in DEVICES:
        raise PlaygroundError("error.device", device=repr(device)[:40], known=", ".join(DEVICES))
    if dtype not in DTYPES:
        raise PlaygroundError("error.dtype", dtype=repr(dtype)[:40], known=", ".join(DTYPES))
    whole = isinstance(threads, int) and not isinstance(threads, bool)
    if threads is not None and not (whole and 1 <= threads <= 1024):
        raise PlaygroundError("error.threads", threads=repr(threads)[:40])


def threads_for(threads: int | None) -> int:
    """As asked, else one less than the cores: a busy neighbour then costs less (measured)."""
    return threads if threads is not None else max(1, cores() - 1)


def _device(device: str) -> str:
    import torch

    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if device == "auto":
        return next((d for d, yes in there.items() if yes), "cpu")
    if not there.get(device, True):
        raise PlaygroundError("error.device_absent", device=device)
    return device


def _dtype(dtype: str, device: str) -> torch.dtype:
    import torch

    name = DTYPES[dtype] or ("bfloat16" if device == "cuda" else "float32")
    chosen: torch.dtype = getattr(torch, name)
    return chosen


def fit(name: str, device: str, dtype: str, weights: int) -> dict[str, Any]:
    """Arguments for `from_pretrained`, or a PlaygroundError where `weights` values have no room.

    One GPU where it is enough; all GPUs (accelerate's `device_map`) only where it is not; never
    part on a GPU and part elsewhere.
    """
    import torch

    where = _device(device)
    number = _dtype(dtype, where)
    need = int(weights * number.itemsize * _ROOM)
    chosen: dict[str, Any] = {"dtype": number}
    if where != "cuda":
        free = free_memory()
        if need > free:
            raise _too_large(name, need, free, where)
        return chosen if where == "cpu" else chosen | {"device_map": {"": where}}
    free_by_gpu = {i: torch.cuda.mem_get_info(i)[0] for i in range(torch.cuda.device_count())}
    best = max(free_by_gpu, key=lambda i: free_by_gpu[i])
    if need <= free_by_gpu[best]:
        return chosen | {"device_map": {"": best}}
    if need > sum(free_by_gpu.values()):
        raise _too_large(name, need, sum(free_by_gpu.values()), where)
    return chosen | {"device_map": "auto", "max_memory": free_by_gpu}


def _too_large(name: str, need: int, free: int, device: str) -> PlaygroundError:
    return PlaygroundError(
        "error.model_too_large", name=name, need=size(need), free=size(free), device=device
    )
