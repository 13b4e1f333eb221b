"""Models of a hub: a small one on this machine, and one that cannot be reached.

Each look happens in a process of its own, since the library reads its environment when it is
imported.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import fake_hub, model_files

pytest_plugins = ("tests.model_fixtures",)
ROOT = Path(__file__).parent.parent
SCRIPT = """
import json, sys, time
from playground.errors import PlaygroundError
from playground.models import hub
from playground import models
before, told = time.monotonic(), []
try:
    call, name = sys.argv[1:]
    if call == "load":
        info = models.load(name, device="cpu", progress=lambda *step: told.append(step)).info
        out = {"info": [info.name, info.source, info.revision, info.n_layers], "told": told}
    elif call == "row":
        row = models.rows([name])[0]
        out = {"local": row.local, "tokenizer_only": row.tokenizer_only, "size": row.size_bytes}
    elif call == "fetch_tokenizer":
        out = {"made": str(hub.fetch(name, None, name, lambda *step: None))}
    else:
        out = {"made": repr(models.load_tokenizer(name))}
except PlaygroundError as error:
    out = {"key": error.key, "text": str(error)}
print(json.dumps(out | {"seconds": time.monotonic() - before, "torch": "torch" in sys.modules}))
"""


def look(home: Path, endpoint: str, call: str, name: str, **env: str) -> dict:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "HUGGING"))}
    settings = {"HF_HOME": str(home), "HF_ENDPOINT": endpoint, "NO_PROXY": "127.0.0.1", **env}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, call, name], cwd=ROOT, env=clean | settings,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """Its address, the requests it got, and the folder of its one model."""
    folder = model_files.folder(tmp_path_factory.mktemp("hub") / "tiny", max_shard_size="60kB")
    (folder / "pytorch_model.bin").write_bytes(b"never fetched")
    (folder / "own.py").write_text("never fetched")
    asked: list[str] = []
    with fake_hub.served({"me/tiny": folder}, asked) as address:
        yield address, asked, folder


def test_a_model_is_fetched_once_and_then_needs_no_network(hub, nobody, tmp_path):
    address, asked, folder = hub
    del asked[:]
    assert look(tmp_path, address, "row", "me/tiny")["local"] is False
    assert asked == []
    first = look(tmp_path, address, "load", "me/tiny")
    assert first["info"] == ["me/tiny", "me/tiny", fake_hub.COMMIT, 3]
    assert first["told"][0][0] == "download"
    got = {line.rpartition("/")[2] for line in asked if "/resolve/" in line}
    assert {"config.json", "tokenizer.json", "model.safetensors.index.json"} <= got
    assert not got & {"pytorch_model.bin", "own.py"}
    again = look(tmp_path, nobody["silent"], "load", "me/tiny")
    assert again["info"] == first["info"]
    assert "download" not in [stage for stage, _ in again["told"]]
    row = look(tmp_path, address, "row", "me/tiny", HF_HUB_OFFLINE="1")
    assert row["local"] and not row["tokenizer_only"] and not row["torch"]
    assert row["size"] == sum(f.stat().st_size for f in folder.glob("*.safetensors"))
    # the cache knows the checksum of every big file: its blob is named by it
    shard = next(tmp_path.rglob("model-00001*.safetensors"))
    blob = shard.resolve()
    data = bytearray(blob.read_bytes())
    data[-9] ^= 1
    blob.write_bytes(data)
    bad = look(tmp_path, address, "load", "me/tiny")
    assert bad["key"] == "error.model_checksum" and shard.name in bad["text"]
    # without one of its shards it is not whole, and is not taken for it
    blob.unlink()
    row = look(tmp_path, address, "row", "me/tiny")
    assert not row["local"] and row["tokenizer_only"] and row["size"] is None


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("me/none", "error.hub_no_model"),
        ("me/gated", "error.hub_gated"),
        ("me/tiny@v9", "error.hub_no_revision"),
        ("meta-llama/Llama-3.2-1B-Instruct", "error.hub_no_model"),
    ],
)
def test_what_the_hub_refuses(hub, tmp_path, name, key):
    seen = look(tmp_path, hub[0], "load", name)
    assert seen["key"] == key
    assert seen["seconds"] <= 5 and str(tmp_path) not in seen["text"]


def test_the_tokenizer_alone(hub, nobody, tmp_path):
    address, asked, _ = hub
    del asked[:]
    look(tmp_path, address, "fetch_tokenizer", "me/tiny")
    assert asked and not any("safetensors" in line for line in asked)
    row = look(tmp_path, nobody["silent"], "row", "me/tiny")
    assert row["tokenizer_only"] and not row["local"]
    made = look(tmp_path, nobody["silent"], "load_tokenizer", "me/tiny")["made"]
    assert "<|im_end|>" in made


@pytest.mark.parametrize("kind", ["refused", "silent"])
def test_a_hub_that_cannot_be_reached(nobody, tmp_path, kind):
    """Stock: 46 s of retries."""
    seen = look(tmp_path, nobody[kind], "load", "qwen3-1.7b")
    assert seen["key"] == "error.hub_unreachable"
    assert seen["seconds"] <= 5


def test_offline_by_the_users_will(tmp_path):
    seen = look(tmp_path, "http://127.0.0.1:9", "load", "gpt2", HF_HUB_OFFLINE="1")
    assert seen["key"] == "error.hub_offline"
    assert seen["seconds"] <= 1


def test_it_is_too_large_for_the_memory_before_anything_is_fetched(hub, tmp_path, monkeypatch):
    from playground.errors import PlaygroundError
    from playground.models import hub as room

    def no_room(count: int) -> None:
        raise PlaygroundError("error.model_too_large", name="n", need="1", free="0", device="cpu")

    import huggingface_hub

    address, asked, folder = hub
    del asked[:]
    monkeypatch.setattr(huggingface_hub, "is_offline_mode", lambda: False)
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", address)

    class Api:
        def model_info(self, *args, **kwargs):
            files = [
                type("File", (), {"rfilename": f.name, "size": f.stat().st_size})
                for f in folder.iterdir()
            ]
            held = type("Held", (), {"parameters": {"F32": 7, "BF16": 10**13}})
            return type("Info", (), {"siblings": files, "safetensors": held})

    monkeypatch.setattr(huggingface_hub, "HfApi", Api)
    before = time.monotonic()
    with pytest.raises(PlaygroundError) as caught:
        room.fetch("me/tiny", None, "me/tiny", lambda stage, part: None, fits=no_room)
    assert caught.value.key == "error.model_too_large"
    assert time.monotonic() - before <= 5 and not any("resolve" in line for line in asked)
