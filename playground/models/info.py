"""What a loaded model is, read from its tensors; its config only where a tensor does not say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playground.errors import PlaygroundError
from playground.trace import ModelInfo

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

# The first matrix into the feed-forward block, and the query, key projections, by family.
_INNER = ("gate_proj", "up_proj", "c_fc", "fc1", "dense_h_to_4h", "fc_in", "w1", "gate_up_proj")
_QUERY, _KEY = ("q_proj",), ("k_proj",)


def _layers(model: PreTrainedModel, count: int) -> nn.ModuleList:
    """The list of decoder layers: the ModuleList with as many entries as the config says."""
    from torch import nn

    for module in model.modules():
        if isinstance(module, nn.ModuleList) and len(module) == count:
            return module
    raise PlaygroundError("error.model_kind", name=model.config.model_type)


def _matrix(layer: nn.Module, names: tuple[str, ...]) -> tuple[int, int] | None:
    """(out, in) of the first linear module of the layer that has one of these names."""
    for path, module in layer.named_modules():
        weight = getattr(module, "weight", None)
        if path.rpartition(".")[2] in names and weight is not None and weight.dim() == 2:
            rows, columns = weight.shape
            # GPT-2's Conv1D keeps its matrix transposed.
            return (columns, rows) if type(module).__name__ == "Conv1D" else (rows, columns)
    return None


def _norm(model: PreTrainedModel, layers: nn.ModuleList) -> str:
    """The kind of the norm in the first layer: "RMSNorm" or "LayerNorm"."""
    names = [type(m).__name__ for m in layers[0].modules()]
    for kind in ("RMSNorm", "LayerNorm"):
        if any(n.endswith(kind) for n in names):
            return kind
    return next((n for n in names if "Norm" in n), "?")


def _tied(model: PreTrainedModel) -> bool:
    head = model.get_output_embeddings()
    return head is not None and head.weight is model.get_input_embeddings().weight


def vocab_size(tokenizer: PreTrainedTokenizerFast, rows: int) -> int:
    """Rows that the tokenizer has a token for."""
    return len({i for i in tokenizer.get_vocab().values() if i < rows})


def describe(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    *,
    name: str,
    source: str,
    revision: str | None,
) -> ModelInfo:
    """Raises PlaygroundError for a model without attention heads or layers to look into."""
    config: Any = model.config.get_text_config()
    heads = getattr(config, "num_attention_heads", None)
    count = getattr(config, "num_hidden_layers", None)
    if not isinstance(heads, int) or not isinstance(count, int):
        raise PlaygroundError("error.model_kind", name=name)
    layers = _layers(model, count)
    table = model.get_input_embeddings().weight
    rows, width = table.shape
    query, key = _matrix(layers[0], _QUERY), _matrix(layers[0], _KEY)
    d_head = query[0] // heads if query else getattr(config, "head_dim", None) or width // heads
    kv_heads = key[0] // d_head if key else getattr(config, "num_key_value_heads", None) or heads
    inner = _matrix(layers[0], _INNER)
    fused = inner is not None and _matrix(layers[0], ("gate_up_proj",)) == inner
    configured = getattr(config, "intermediate_size", None)
    d_ffn = (inner[0] // 2 if fused else inner[0]) if inner else int(configured or 4 * width)
    places = sorted({str(p.device) for p in model.parameters()})
    context = getattr(config, "max_position_embeddings", None)
    return ModelInfo(
        name=name,
        source=source,
        revision=revision,
        family=config.model_type.removesuffix("_text"),
        device="+".join(places),
        dtype=str(table.dtype).removeprefix("torch."),
        n_layers=len(layers),
        n_heads=heads,
        n_kv_heads=kv_heads,
        d_model=width,
        d_head=d_head,
        d_ffn=d_ffn,
        vocab_rows=rows,
        vocab_size=vocab_size(tokenizer, rows),
        n_params=sum(p.numel() for p in model.parameters()),
        max_context=context if isinstance(context, int) and context > 0 else None,
        norm=_norm(model, layers),
        tied=_tied(model),
    )


def end_ids(model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> frozenset[int]:
    """The ids that end an answer, as `generate` takes them: generation config first.

    Where the model names none, the tokenizer's own; the model is then told, so that `generate`
    stops at the same place.
    """
    generation = model.generation_config
    config = model.config.get_text_config()
    for found in (
        generation.eos_token_id if generation is not None else None,
        getattr(config, "eos_token_id", None),
        tokenizer.eos_token_id,
    ):
        if found is not None:
            ids = [found] if isinstance(found, int) else [int(i) for i in found]
            if generation is not None:
                generation.eos_token_id = ids
            return frozenset(ids)
    return frozenset()
