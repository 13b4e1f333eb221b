"""A folder with a model in it, looked at before anything big is read.

Without these checks a config that asks for more weights than the files hold makes transformers
allocate the missing ones and fill them with random numbers (5.24, `_initialize_missing_keys`):
here that is refused. Pickled weights (`.bin`) are never read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from playground.errors import PlaygroundError

WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt")
_MAX_JSON = 64 << 20
# The same size under the names that the families give it.
_LAYERS = ("num_hidden_layers", "n_layer")
_WIDTH = ("hidden_size", "n_embd")
_INNER = ("intermediate_size", "n_inner")
_HEADS = ("num_attention_heads", "n_head")


@dataclass(frozen=True, slots=True)
class Weights:
    """What the headers say: the files, the number of tensors and of values, bytes on disk."""

    files: tuple[Path, ...]
    tensors: int
    values: int
    size_bytes: int


def read_json(path: Path, name: str) -> dict[str, Any]:
    """The JSON object in `path`; a PlaygroundError that names the file where there is none."""
    try:
        if path.stat().st_size > _MAX_JSON:
            raise ValueError("too long")
        data = json.loads(path.read_bytes())
        if isinstance(data, dict):
            return data
    except FileNotFoundError:
        raise PlaygroundError("error.model_file_missing", name=name, file=path.name) from None
    except (OSError, ValueError, RecursionError):
        pass
    raise PlaygroundError("error.model_file_damaged", name=name, file=path.name)


def weight_files(folder: Path, name: str) -> tuple[Path, ...]:
    """The safetensors files the folder should have; each is there, or this raises."""
    if (folder / INDEX).is_file():
        shards = read_json(folder / INDEX, name).get("weight_map")
        if not isinstance(shards, dict) or not shards:
            raise PlaygroundError("error.model_file_damaged", name=name, file=INDEX)
        names = sorted({str(shard) for shard in shards.values()})
        if any(Path(n).name != n or not n.endswith(".safetensors") for n in names):
            raise PlaygroundError("error.model_file_damaged", name=name, file=INDEX)
    elif (folder / WEIGHTS).exists():
        names = [WEIGHTS]
    elif any(folder.glob("*.bin")):
        raise PlaygroundError("error.model_no_safetensors", name=name)
    else:
        names = [WEIGHTS]
    for shard in names:
        if not (folder / shard).is_file():
            raise PlaygroundError("error.model_file_missing", name=name, file=shard)
    return tuple(folder / n for n in names)


def has_tokenizer(folder: Path) -> bool:
    return any((folder / n).is_file() for n in TOKENIZERS)


def whole(folder: Path) -> bool:
    """Whether config, tokenizer and every weight file are there (not: whether they are sound)."""
    try:
        return (folder / "config.json").is_file() and has_tokenizer(folder) and bool(
            weight_files(folder, folder.name)
        )  # fmt: skip
    except PlaygroundError:
        return False


def size_on_disk(folder: Path) -> int | None:
    """Bytes of the weight files, or None where one is missing."""
    try:
        return sum(f.stat().st_size for f in weight_files(folder, folder.name))
    except (PlaygroundError, OSError):
        return None


def inspect(folder: Path, name: str) -> Weights:
    """Reads the headers only. Raises for a file that is empty, cut short or no safetensors."""
    from safetensors import SafetensorError, safe_open

    files = weight_files(folder, name)
    tensors = values = 0
    for path in files:
        try:
            # The library checks magic, header and that the file ends where the last tensor does.
            with safe_open(path, framework="numpy") as file:
                for key in file.keys():  # noqa: SIM118 (not a dict)
                    tensors += 1
                    values += prod(file.get_slice(key).get_shape())
        except (SafetensorError, OSError, ValueError):
            raise PlaygroundError("error.model_file_damaged", name=name, file=path.name) from None
    return Weights(files, tensors, values, sum(f.stat().st_size for f in files))


def _number(config: dict[str, Any], names: tuple[str, ...], title: str) -> int | None:
    """The first of `names` that is set; it must be a whole number above 0 (or a list of them)."""
    for key in names:
        value = config.get(key)
        if value is None:
            continue
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, bool) or not isinstance(one, int) or one < 1:
                raise PlaygroundError("error.model_config", name=title, field=key)
        return max(value) if isinstance(value, list) else int(value)
    return None


def check_config(folder: Path, weights: Weights, name: str) -> dict[str, Any]:
    """config.json, once its sizes are possible with as many weights as the files really hold.

    Raises PlaygroundError for a config that is no JSON object, has sizes that are no positive
    whole numbers, or asks for more layers, rows or columns than there are tensors or values.
    """
    config = read_json(folder / "config.json", name)
    if not isinstance(config.get("model_type"), str):
        raise PlaygroundError("error.model_config", name=name, field="model_type")
    quantized = config.get("quantization_config")
    if quantized is not None:
        raise PlaygroundError("error.model_quantized", name=name)
    inner = config.get("text_config")
    for part in (config, inner) if isinstance(inner, dict) else (config,):
        width = _number(part, _WIDTH, name) or 1
        heads = (_number(part, _HEADS, name) or 1) * (_number(part, ("head_dim",), name) or 1)
        _number(part, ("num_key_value_heads",), name)
        _number(part, ("max_position_embeddings", "n_positions"), name)
        for field, least, most in (
            (_LAYERS[0], _number(part, _LAYERS, name) or 1, weights.tensors),
            (_WIDTH[0], width, weights.values),
            ("vocab_size", (_number(part, ("vocab_size",), name) or 1) * width, weights.values),
            (_INNER[0], (_number(part, _INNER, name) or 1) * width, weights.values),
            (_HEADS[0], heads * width if heads > 1 else 1, weights.values),
        ):
            if least > most:
                raise PlaygroundError("error.model_config", name=name, field=field)
    return config
