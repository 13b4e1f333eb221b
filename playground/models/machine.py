"""What this machine has: cores, free memory and disk, and whether a server answers.

A container's limits count (cgroups, versions 1 and 2): `os.cpu_count` and /proc tell those of
the host.
"""

from __future__ import annotations

import math
import os
import shutil
import ssl
import threading
import urllib.error
import urllib.request
from pathlib import Path

from playground.errors import PlaygroundError

_AGENT = {"User-Agent": "birth-of-a-token"}
_CGROUPS = Path("/sys/fs/cgroup")


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _own_cgroups(root: Path) -> list[Path]:
    """The folders of this process's cgroup (version 2) and of all above it."""
    line = next((x for x in _read(Path("/proc/self/cgroup")).splitlines() if x[:3] == "0::"), "")
    own = root / line[3:].strip().lstrip("/")
    return [p for p in (own, *own.parents) if p == root or root in p.parents]


def cores(root: Path = _CGROUPS) -> int:
    """Cores this process may use, at least 1."""
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    for group in _own_cgroups(root):
        quota, _, period = _read(group / "cpu.max").partition(" ")
        if quota.isdigit() and period.strip().isdigit():
            count = min(count, math.ceil(int(quota) / int(period)))
    return max(1, count)


def free_memory(root: Path = _CGROUPS) -> int:
    """Bytes that can be taken without pushing anything out: the machine's or the container's."""
    import psutil  # type: ignore[import-untyped]

    free = int(psutil.virtual_memory().available)
    limits = [
        (g / "memory.max", g / "memory.current", g / "memory.stat") for g in _own_cgroups(root)
    ]
    first = root / "memory"  # version 1
    limits.append(
        (first / "memory.limit_in_bytes", first / "memory.usage_in_bytes", first / "memory.stat")
    )
    for limit, usage, stat in limits:
        most, used = _read(limit).strip(), _read(usage).strip()
        if most.isdigit() and used.isdigit():
            # Pages of files that were read are given back when memory is needed.
            pages = dict(x.split(" ", 1) for x in _read(stat).splitlines() if " " in x)
            cached = int(pages.get("total_inactive_file") or pages.get("inactive_file") or 0)
            free = min(free, int(most) - int(used) + cached)
    return max(0, free)


def size(count: float) -> str:
    """Bytes for people: decimal units, as disks and downloads are sold."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def need_disk(folder: Path, count: int, name: str) -> None:
    """Raises where the disk of `folder` has not `count` bytes free."""
    free = shutil.disk_usage(folder).free
    if free < count:
        raise PlaygroundError("error.model_disk", name=name, need=size(count), free=size(free))


def answers(url: str, seconds: float = 3.0, proxy: str | None = None) -> bool:
    """Whether any HTTP answer comes from `url` within `seconds`; environment proxies count.

    A status of 404 or a certificate unknown to Python is an answer: somebody is there. Asked in
    a thread of its own, since looking up a name can not be given a time limit.
    """
    if any(p.startswith("socks") for p in (proxy or "", *urllib.request.getproxies().values())):
        return True  # Python's own client speaks no SOCKS: whoever does will find out
    handlers = [urllib.request.ProxyHandler({"http": proxy, "https": proxy})] if proxy else []
    answered = threading.Event()
    done = threading.Event()

    def ask() -> None:
        try:
            request = urllib.request.Request(url, method="HEAD", headers=_AGENT)
            urllib.request.build_opener(*handlers).open(request, timeout=seconds).close()
            answered.set()
        except urllib.error.HTTPError:
            answered.set()
        except urllib.error.URLError as error:
            if isinstance(error.reason, ssl.SSLError):
                answered.set()
        except Exception:  # no address, time-outs, resets, half answers: nobody to talk to
            pass
        finally:
            done.set()

    threading.Thread(target=ask, daemon=True, name="probe").start()
    done.wait(seconds)
    return answered.is_set()
