"""What the machine has, a container's limits included; and whether a server is there."""

from __future__ import annotations

import time

import psutil
import pytest

from playground.errors import PlaygroundError
from playground.models import machine, placing

pytest_plugins = ("tests.model_fixtures",)


def test_without_a_container_it_is_the_machine(tmp_path):
    assert 1 <= machine.cores(tmp_path) <= psutil.cpu_count()
    assert machine.free_memory(tmp_path) == pytest.approx(
        psutil.virtual_memory().available, rel=0.2
    )


@pytest.mark.parametrize(("quota", "expected"), [("50000 100000", 1), ("max 100000", None)])
def test_a_containers_share_of_the_cores(tmp_path, quota, expected):
    (tmp_path / "cpu.max").write_text(quota + "\n")
    assert machine.cores(tmp_path) == (expected or machine.cores(tmp_path / "none"))


def test_a_containers_memory_counts_without_the_pages_of_files(tmp_path):
    (tmp_path / "memory.max").write_text("5000000\n")
    (tmp_path / "memory.current").write_text("3000000\n")
    (tmp_path / "memory.stat").write_text("anon 7\ninactive_file 400000\n")
    assert machine.free_memory(tmp_path) == 2_400_000
    (tmp_path / "memory.max").write_text("max\n")
    assert machine.free_memory(tmp_path) > 2_400_000
    old = tmp_path / "memory"
    old.mkdir()
    (old / "memory.limit_in_bytes").write_text("900\n")
    (old / "memory.usage_in_bytes").write_text("1000\n")
    assert machine.free_memory(tmp_path) == 0


def test_sizes_as_people_say_them():
    shown = [machine.size(n) for n in (7, 93_000_000, 538_090_408, 1_503_300_328, 16_000_000_000)]
    assert shown == ["7 B", "93 MB", "538 MB", "1.5 GB", "16.0 GB"]


@pytest.mark.parametrize("kind", ["refused", "silent"])
def test_nobody_answers(nobody, kind):
    before = time.monotonic()
    assert not machine.answers(nobody[kind], 0.5)
    assert time.monotonic() - before < 2


def test_any_status_is_an_answer(some_server):
    assert machine.answers(f"{some_server}/status/404")
    assert machine.answers("http://nowhere.invalid/", proxy=some_server)  # through the proxy
    assert not machine.answers("nonsense")
    assert machine.answers("http://nowhere.invalid/", proxy="socks5://127.0.0.1:9")


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        (("gpu", "auto", None), "error.device"),
        (("cpu", "int3", None), "error.dtype"),
        (("cpu", "auto", 0), "error.threads"),
        (("cpu", "auto", True), "error.threads"),
        (("cpu", "auto", 10**9), "error.threads"),
    ],
)
def test_settings_that_are_none(settings, key):
    with pytest.raises(PlaygroundError) as caught:
        placing.check(*settings)
    assert caught.value.key == key


def test_threads_leave_a_core_to_others(monkeypatch):
    for cores, threads in ((1, 1), (2, 1), (8, 7)):
        monkeypatch.setattr(placing, "cores", lambda n=cores: n)
        assert placing.threads_for(None) == threads
    assert placing.threads_for(5) == 5


class Gpus:
    """Stands in for torch.cuda where there is none: free bytes of each."""

    def __init__(self, monkeypatch, *free: int) -> None:
        import torch

        monkeypatch.setattr(torch.cuda, "is_available", lambda: bool(free))
        monkeypatch.setattr(torch.cuda, "device_count", lambda: len(free))
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda i: (free[i], 10**12))


def test_where_a_model_is_put(monkeypatch):
    import torch

    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    monkeypatch.setattr(placing, "free_memory", lambda: 1000)
    Gpus(monkeypatch)
    assert placing.fit("m", "auto", "auto", 200) == {"dtype": torch.float32}
    with pytest.raises(PlaygroundError) as caught:
        placing.fit("m", "cpu", "auto", 250)
    assert caught.value.key == "error.model_too_large"
    assert caught.value.values["need"] == "1 kB"
    assert placing.fit("m", "cpu", "bf16", 250) == {"dtype": torch.bfloat16}
    with pytest.raises(PlaygroundError) as caught:
        placing.fit("m", "cuda", "auto", 1)
    assert caught.value.key == "error.device_absent"
    # two GPUs: the emptier one where it is enough, both only where it is not, never the CPU too
    Gpus(monkeypatch, 500, 700)
    one = placing.fit("m", "auto", "auto", 300)
    assert one == {"dtype": torch.bfloat16, "device_map": {"": 1}}
    both = placing.fit("m", "cuda", "auto", 500)
    assert both["device_map"] == "auto" and both["max_memory"] == {0: 500, 1: 700}
    with pytest.raises(PlaygroundError) as caught:
        placing.fit("m", "cuda", "auto", 600)
    assert caught.value.key == "error.model_too_large"
    assert placing.fit("m", "cpu", "auto", 200) == {"dtype": torch.float32}
