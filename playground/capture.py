"""Where each family keeps its parts: one table, and the modules of a loaded model by it.

Read in the installed source, transformers 5.24, `models/<family>/modeling_<family>.py`. A family
that is not in the table, or whose modules are not where the table says, still has a residual
stream, and a lens where its final norm can be told; the rest is named as missing, with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from torch import nn
from transformers import PreTrainedModel

from playground.errors import PlaygroundError
from playground.inspection.arrays import Missing


@dataclass(frozen=True, slots=True)
class Places:
    """Names of modules, from a layer; `final_norm` and `position` stand beside the layers.

    attn_out, ffn_out: the post-norm, whose output is what is written into the stream; None: the
    block's own output is. between: the module that reads the stream between attention and FFN.
    qkv: one projection each, or a fused one: "blocks" (all q, all k, all v) or "heads" (q, k, v
    of head 0, of head 1, …). head_first: the q/k-norm sees [H, T, E], else [T, H, E] or [T, H·E].
    up: (gate, up), or one module, fused when `gated`. unit_offset: a norm's gain is 1 + weight.
    """

    final_norm: str = "norm"
    position: str | None = None
    attn: str = "self_attn"
    attn_out: str | None = None
    between: str = "post_attention_layernorm"
    ffn: str = "mlp"
    ffn_out: str | None = None
    qkv: tuple[str, ...] = ("q_proj", "k_proj", "v_proj")
    fused: Literal["blocks", "heads"] | None = None
    qk_norm: tuple[str, str] | None = None
    head_first: bool = False
    o_proj: str = "o_proj"
    up: tuple[str, ...] = ("gate_proj", "up_proj")
    gated: bool = True
    down: str = "down_proj"
    unit_offset: bool = False


_LLAMA = Places()
_QK_NORM = ("q_norm", "k_norm")
_GEMMA2 = Places(
    attn_out="post_attention_layernorm", between="pre_feedforward_layernorm",
    ffn_out="post_feedforward_layernorm", unit_offset=True,
)  # fmt: skip

# By `ModelInfo.family`.
PLACES: dict[str, Places] = {
    "llama": _LLAMA,
    "mistral": _LLAMA,
    "qwen2": _LLAMA,
    "qwen3": replace(_LLAMA, qk_norm=_QK_NORM),
    "phi3": replace(_LLAMA, qkv=("qkv_proj",), fused="blocks", up=("gate_up_proj",)),
    "gemma2": _GEMMA2,
    "gemma3": replace(_GEMMA2, qk_norm=_QK_NORM, head_first=True),
    "olmo2": Places(
        attn_out="post_attention_layernorm", between="mlp", ffn_out="post_feedforward_layernorm",
        qk_norm=_QK_NORM,
    ),
    "gpt2": Places(
        final_norm="ln_f", position="wpe", attn="attn", between="ln_2", qkv=("c_attn",),
        fused="blocks", o_proj="c_proj", up=("c_fc",), gated=False, down="c_proj",
    ),
    "gpt_neox": Places(
        final_norm="final_layer_norm", attn="attention", qkv=("query_key_value",), fused="heads",
        o_proj="dense", up=("dense_h_to_4h",), gated=False, down="dense_4h_to_h",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class LayerParts:
    """The modules of one layer. attn_write, ffn_write: what they put out goes into the stream.

    between is None where attention and FFN read the same input (GPT-NeoX, parallel residual).
    attn_norm, ffn_norm: the post-norms.
    """

    attn: nn.Module
    attn_write: nn.Module
    attn_norm: nn.Module | None
    between: nn.Module | None
    ffn_write: nn.Module
    ffn_norm: nn.Module | None
    qkv: tuple[nn.Module, ...]
    qk_norm: tuple[nn.Module, nn.Module] | None
    o_proj: nn.Module
    up: tuple[nn.Module, ...]
    down: nn.Module


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The modules of a whole model.

    places and blocks are None for a family that the table does not know: then `attention` still
    names what looks like the attention of each layer, and `final_norm` is a guess that the pass
    has to confirm. cap: the head's scores are cap × tanh(score / cap).
    """

    layers: tuple[nn.Module, ...]
    embed: nn.Module
    position: nn.Module | None
    final_norm: nn.Module | None
    head: nn.Module
    cap: float | None
    places: Places | None
    blocks: tuple[LayerParts, ...] | None
    attention: tuple[nn.Module | None, ...]
    missing: tuple[Missing, ...]


def locate(model: PreTrainedModel, family: str) -> Parts:
    """The parts of `model`. Raises PlaygroundError where there is no stack of layers or no head."""
    count = int(model.config.get_text_config().num_hidden_layers)
    stack, layers = _stack(model, count, family)
    head = model.get_output_embeddings()
    if head is None:
        raise PlaygroundError("error.inspect_no_head", family=family)
    cap = getattr(model.config.get_text_config(), "final_logit_softcapping", None)
    places, blocks, missing = PLACES.get(family), None, []
    if places is not None:
        try:
            blocks = tuple(_layer(layer, places) for layer in layers)
            position = stack.get_submodule(places.position) if places.position else None
            final_norm: nn.Module | None = stack.get_submodule(places.final_norm)
        except AttributeError:  # another model under a known name
            places = blocks = None
    if places is None or blocks is None:
        position = None
        norms = [m for name, m in stack.named_children() if type(m).__name__.endswith("Norm")]
        final_norm = norms[0] if len(norms) == 1 else None
        missing = [Missing("writes", "missing.family", {"family": family})]
    return Parts(
        layers=layers,
        embed=model.get_input_embeddings(),
        position=position,
        final_norm=final_norm,
        head=head,
        cap=float(cap) if cap else None,
        places=places,
        blocks=blocks,
        attention=tuple(b.attn for b in blocks) if blocks else tuple(map(_attention, layers)),
        missing=tuple(missing),
    )


def _stack(
    model: PreTrainedModel, count: int, family: str
) -> tuple[nn.Module, tuple[nn.Module, ...]]:
    """The module that holds the list of decoder layers, and the layers."""
    for module in model.modules():
        for child in module.children():
            if isinstance(child, nn.ModuleList) and len(child) == count:
                return module, tuple(child)
    raise PlaygroundError("error.model_kind", name=family)


def _layer(layer: nn.Module, places: Places) -> LayerParts:
    attn, ffn = layer.get_submodule(places.attn), layer.get_submodule(places.ffn)
    attn_out = layer.get_submodule(places.attn_out) if places.attn_out else None
    ffn_out = layer.get_submodule(places.ffn_out) if places.ffn_out else None
    parallel = bool(getattr(layer, "use_parallel_residual", False))
    qk_norm = [attn.get_submodule(name) for name in places.qk_norm or ()]
    return LayerParts(
        attn=attn,
        attn_write=attn_out or attn,
        attn_norm=attn_out,
        between=None if parallel else layer.get_submodule(places.between),
        ffn_write=ffn_out or ffn,
        ffn_norm=ffn_out,
        qkv=_all(attn, places.qkv),
        qk_norm=(qk_norm[0], qk_norm[1]) if qk_norm else None,
        o_proj=attn.get_submodule(places.o_proj),
        up=_all(ffn, places.up),
        down=ffn.get_submodule(places.down),
    )


def _all(parent: nn.Module, names: Sequence[str]) -> tuple[nn.Module, ...]:
    return tuple(parent.get_submodule(name) for name in names)


def _attention(layer: nn.Module) -> nn.Module | None:
    """The one module of an unknown layer that names itself as transformers' attention does."""
    found = [m for m in layer.modules() if "layer_idx" in m.__dict__ and "config" in m.__dict__]
    return found[0] if len(found) == 1 else None
