"""Model files that are missing, broken or hostile: one sentence within 5 seconds, no path in it."""

from __future__ import annotations

import json
import shutil
import struct
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from playground.errors import PlaygroundError
from playground.models import load, weights
from tests import model_files, tiny


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    return model_files.folder(tmp_path_factory.mktemp("sound") / "model")


@pytest.fixture(scope="module")
def sound_gguf(tmp_path_factory) -> Path:
    return model_files.gguf_file(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


def refused(path: Path, key: str, file: str | None = None) -> None:
    before = time.monotonic()
    with pytest.raises(PlaygroundError) as caught:
        load(str(path), device="cpu")
    assert time.monotonic() - before <= 5
    assert caught.value.key == key, caught.value
    assert caught.value.values.get("file") == file
    for lang in ("en", "zh"):
        sentence = caught.value.say(lang)
        assert str(path.parent) not in sentence and "{" not in sentence and "\n" not in sentence
        assert path.name in sentence


def edit_config(folder: Path, **values) -> None:
    config = json.loads((folder / "config.json").read_text())
    config |= values
    (folder / "config.json").write_text(json.dumps(config))


def edit_weights(folder: Path, change) -> None:
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file({k: v.contiguous() for k, v in tensors.items()}, folder / "model.safetensors")


def write(name: str, data: bytes):
    return lambda folder: (folder / name).write_bytes(data)


def cut(name: str, end: int):
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:end])


def shards(weight_map: str):
    return write(INDEX, f'{{"weight_map": {weight_map}}}'.encode())


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
MISSING, DAMAGED, MISFIT = (
    "error.model_file_missing",
    "error.model_file_damaged",
    "error.model_config",
)
W, C, T, B = "model.safetensors", "config.json", "tokenizer.json", "b.safetensors"
INDEX = "model.safetensors.index.json"
FILES = {
    "no config": (lambda f: (f / C).unlink(), MISSING, C),
    "empty config": (write(C, b""), DAMAGED, C),
    "config cut short": (cut(C, 99), DAMAGED, C),
    "config is a list": (write(C, b"[1]"), DAMAGED, C),
    "config nested deep": (write(C, b"[" * 200_000), DAMAGED, C),
    "config in no encoding": (write(C, b"{\xff\xfe"), DAMAGED, C),
    "config is a folder": (lambda f: ((f / C).unlink(), (f / C).mkdir()), DAMAGED, C),
    "no weights": (lambda f: (f / W).unlink(), MISSING, W),
    "empty weights": (write(W, b""), DAMAGED, W),
    "weights of zeros": (write(W, bytes(5000)), DAMAGED, W),
    "bad magic": (write(W, b"PK\x03\x04" * 999), DAMAGED, W),
    "huge header": (write(W, struct.pack("<Q", 2**63) + b"{}"), DAMAGED, W),
    "header cut short": (cut(W, 100), DAMAGED, W),
    "tensors cut short": (cut(W, -1), DAMAGED, W),
    "an LFS pointer": (write(W, LFS), DAMAGED, W),
    "header is no JSON": (write(W, struct.pack("<Q", 64) + b"{" * 64 + bytes(64)), DAMAGED, W),
    "index without its shards": (shards('{"a": "b.safetensors"}'), MISSING, B),
    "index out of the folder": (shards('{"a": "../b.safetensors"}'), DAMAGED, INDEX),
    "index to a pickle": (shards('{"a": "b.bin"}'), DAMAGED, INDEX),
    "index without a map": (shards("[]"), DAMAGED, INDEX),
    "no tokenizer": (lambda f: (f / T).unlink(), MISSING, T),
}  # fmt: skip


@pytest.mark.parametrize("case", FILES)
def test_files(sound, tmp_path, case):
    spoil, key, file = FILES[case]
    folder = shutil.copytree(sound, tmp_path / "m")
    spoil(folder)
    refused(folder, key, file)


SIZES = {
    "vocab_size": 10**12, "num_hidden_layers": 10**9, "hidden_size": 10**9, "head_dim": 10**12,
    "intermediate_size": 10**15, "num_attention_heads": 10**9,
}  # fmt: skip


@pytest.mark.parametrize("field", SIZES)
def test_a_config_that_asks_for_more_than_there_is(sound, tmp_path, field):
    """Without the check transformers allocates what is missing, and fills it at random."""
    folder = shutil.copytree(sound, tmp_path / "m")
    edit_config(folder, **{field: SIZES[field]})
    refused(folder, MISFIT)


@pytest.mark.parametrize("field", ["vocab_size", "num_hidden_layers", "max_position_embeddings"])
@pytest.mark.parametrize("value", [0, -3, "48", 1.5, True, [1, "2"], {}])
def test_a_config_whose_sizes_are_none(sound, tmp_path, field, value):
    folder = shutil.copytree(sound, tmp_path / "m")
    edit_config(folder, **{field: value})
    refused(folder, MISFIT)


KIND, OWN = "error.model_kind", "error.model_remote_code"
T5 = {"model_type": "t5", "architectures": ["T5ForConditionalGeneration"]}
CONFIGS = {
    "a little more": ({"intermediate_size": 89}, MISFIT),
    "one layer more": ({"num_hidden_layers": 4}, MISFIT),
    "layers of another shape": ({"intermediate_size": 87}, "error.model_incomplete"),
    "another activation": ({"hidden_act": 7}, MISFIT),
    "no type": ({"model_type": None}, MISFIT),
    "a family nobody knows": ({"model_type": "nobody"}, KIND),
    "code of its own": ({"model_type": "own", "auto_map": {"AutoModel": "x.Y"}}, OWN),
    "an encoder": ({"model_type": "bert", "architectures": ["BertForMaskedLM"]}, KIND),
    "an encoder and decoder": (T5, KIND),
    "quantized": ({"quantization_config": {"quant_method": "gptq"}}, "error.model_quantized"),
}


@pytest.mark.parametrize("case", CONFIGS)
def test_configs(sound, tmp_path, case):
    values, key = CONFIGS[case]
    folder = shutil.copytree(sound, tmp_path / "m")
    edit_config(folder, **values)
    refused(folder, key)


def test_code_in_the_folder_is_never_run(sound, tmp_path):
    folder = shutil.copytree(sound, tmp_path / "m")
    (folder / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    auto = {
        "AutoConfig": "own.C",
        "AutoModelForCausalLM": "own.M",
        "AutoTokenizer": ["own.T", None],
    }
    edit_config(folder, model_type="own", auto_map=auto)
    refused(folder, "error.model_remote_code")
    assert not (tmp_path / "ran").exists()


def test_pickles_are_never_read(sound, tmp_path):
    folder = shutil.copytree(sound, tmp_path / "m")
    torch.save(load_file(folder / W), folder / "pytorch_model.bin")
    (folder / W).unlink()
    refused(folder, "error.model_no_safetensors")


def test_a_tensor_that_is_missing_is_not_made_up(sound, tmp_path):
    folder = shutil.copytree(sound, tmp_path / "m")
    key = "model.layers.1.self_attn.v_proj.weight"
    edit_weights(folder, lambda tensors: tensors.pop(key))
    refused(folder, MISFIT)
    # nor where something else makes up the number of values
    edit_weights(folder, lambda tensors: tensors.update(other=torch.zeros(9999)))
    refused(folder, "error.model_incomplete")


@pytest.mark.parametrize("content", [b"", b"{}", b"[" * 99_999, b'{"model": {"type": "BPE"}}'])
def test_a_broken_tokenizer(sound, tmp_path, content):
    folder = shutil.copytree(sound, tmp_path / "m")
    (folder / T).write_bytes(content)
    refused(folder, "error.model_tokenizer")


def test_a_tokenizer_of_another_model(sound, tmp_path):
    folder = shutil.copytree(sound, tmp_path / "m")
    data = json.loads((folder / T).read_text())
    data["model"]["vocab"]["zz"] = tiny.ROWS
    (folder / T).write_text(json.dumps(data))
    refused(folder, "error.model_tokenizer")


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_a_sound_folder_is_read(tmp_path, family):
    """Whole or in shards; the guards above let every family pass."""
    folder = model_files.folder(tmp_path / family, family, max_shard_size="30kB")
    assert (folder / INDEX).exists() and weights.whole(folder)
    loaded = load(str(folder), device="cpu", dtype="float32")
    kept = {k: v for f in folder.glob("*.safetensors") for k, v in load_file(f).items()}
    state = loaded.model.state_dict()
    assert all(torch.equal(state[k], v) for k, v in kept.items())
    assert loaded.info.name == str(folder) and loaded.info.source == folder.name
    next(folder.glob("model-00002*")).unlink()
    assert not weights.whole(folder)


def test_a_sound_gguf_is_read(sound_gguf):
    loaded = load(str(sound_gguf), device="cpu")
    wanted = model_files.llama_tensors()
    state = loaded.model.state_dict()
    for name in ("model.layers.2.self_attn.q_proj.weight", "model.layers.0.mlp.down_proj.weight"):
        assert torch.equal(state[name], torch.from_numpy(model_files.as_stored(wanted[name])))
    assert (loaded.info.source, loaded.info.max_context) == (sound_gguf.name, 200)


def number(at: int, kind: str, value: int):
    def spoil(path: Path) -> None:
        data = bytearray(path.read_bytes())
        struct.pack_into("<" + kind, data, at, value)
        path.write_bytes(data)

    return spoil


GGUFS = {
    "empty": lambda p: p.write_bytes(b""),
    "bad magic": lambda p: p.write_bytes(b"GGML" + p.read_bytes()[4:]),
    "version 9": number(4, "I", 9),
    "huge number of tensors": number(8, "Q", 2**60),
    "huge number of keys": number(16, "Q", 2**60),
    "huge string": number(24, "Q", 2**62),
    "one tensor more": number(8, "Q", 3 * 9 + 2 + 1),
    "header cut short": lambda p: p.write_bytes(p.read_bytes()[:500]),
    "tensors cut short": lambda p: p.write_bytes(p.read_bytes()[:-40]),
}  # fmt: skip


@pytest.mark.parametrize("case", GGUFS)
def test_ggufs(sound_gguf, tmp_path, case):
    path = Path(shutil.copy(sound_gguf, tmp_path / "m.gguf"))
    GGUFS[case](path)
    refused(path, DAMAGED, "m.gguf")


@pytest.mark.parametrize("key", ["block_count", "embedding_length", "feed_forward_length"])
def test_a_gguf_that_asks_for_more_than_there_is(sound_gguf, tmp_path, key):
    path = Path(shutil.copy(sound_gguf, tmp_path / "m.gguf"))
    data = path.read_bytes()
    at = data.index(f"llama.{key}".encode()) + len(f"llama.{key}") + 4
    number(at, "I", 2**31)(path)
    refused(path, DAMAGED, "m.gguf")


def test_a_gguf_or_folder_that_is_not_there(tmp_path):
    refused(tmp_path / "none.gguf", "error.model_absent")
    refused(tmp_path / "none", "error.model_absent")
