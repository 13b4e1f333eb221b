"""Files on this machine to a model and a tokenizer: `from_pretrained`, kept on a short lead.

Only local files, never a model's own code, never pickles; and what transformers lets pass with a
warning (weights that are missing, a tokenizer that is not the model's) is refused.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playground.errors import PlaygroundError
from playground.models import ggufs, placing, weights
from playground.models.progress import Progress, library_quiet, silent
from playground.models.sources import ModelSource

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerFast

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Files:
    """Where a source lies on this machine. gguf: the file's name; sums: what is known of it."""

    folder: Path
    gguf: str | None
    revision: str | None
    sums: dict[Path, str]


def read_model(
    source: ModelSource, files: Files, device: str, dtype: str, report: Progress
) -> PreTrainedModel:
    from transformers import AutoModelForCausalLM

    name = source.title
    options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    if files.gguf is not None:
        header = ggufs.inspect(files.folder / files.gguf, name)
        # Dequantised tensors and the model's own exist at the same time for a while.
        count = 2 * header.values
        options["gguf_file"] = files.gguf
    else:
        held = weights.inspect(files.folder, name)
        settings = weights.check_config(files.folder, held, name)
        count = held.values
        options["use_safetensors"] = True
        options["config"] = _known_config(files.folder, settings, name)
        if source.kind != "embedded":  # that one's checksum says it all
            _config_fits(options["config"], held.values, name)
    options |= placing.fit(name, device, dtype, count)
    with library_quiet(report, "read"):
        model, told = AutoModelForCausalLM.from_pretrained(
            files.folder,
            attn_implementation="sdpa",
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # told of below instead of raised as a page of text
            **options,
        )
    lacking = [*told["missing_keys"], *told["mismatched_keys"], *told["error_msgs"]]
    if lacking:  # transformers has filled them with random numbers
        raise PlaygroundError("error.model_incomplete", name=name, count=len(lacking))
    report("place", None)
    return model


def _known_config(folder: Path, settings: dict[str, Any], name: str) -> PreTrainedConfig:
    """The config as the library reads it, of a decoder-only model that it has the code for."""
    from transformers import AutoConfig
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as CAUSAL

    kind = settings["model_type"]
    if kind not in CONFIG_MAPPING_NAMES:
        own_code = "error.model_remote_code" if "auto_map" in settings else "error.model_kind"
        raise PlaygroundError(own_code, name=name)
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # strict dataclasses, and whatever a family's own code does
        log.warning("config.json of %s: %s", name, error)
        raise PlaygroundError("error.model_config", name=name, field="config.json") from error
    classes = CAUSAL.get(kind, ())
    classes = (classes,) if isinstance(classes, str) else tuple(classes)
    stated = config.architectures or classes
    if config.is_encoder_decoder or not set(stated) & set(classes):
        raise PlaygroundError("error.model_kind", name=name)
    return config


def _config_fits(config: PreTrainedConfig, values: int, name: str) -> None:
    """Builds the model without memory and counts: it may not need more weights than there are."""
    import torch
    from transformers import AutoModelForCausalLM

    with torch.device("meta"):
        # float32 is torch's default: another dtype would change it for every thread meanwhile
        empty = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    if sum(p.numel() for p in empty.parameters()) > values:
        raise PlaygroundError("error.model_config", name=name, field="config.json")


def read_tokenizer(source: ModelSource, files: Files) -> PreTrainedTokenizerFast:
    """Raises for a tokenizer that has no fast form: its pieces could not be shown as bytes."""
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    pre_tokenizer = ""
    if files.gguf is not None:
        options["gguf_file"] = files.gguf
        pre_tokenizer = ggufs.inspect(files.folder / files.gguf, source.title).pre_tokenizer
    elif not weights.has_tokenizer(files.folder):
        raise PlaygroundError("error.model_file_missing", name=source.title, file="tokenizer.json")
    try:
        with library_quiet(silent, "read"):
            tokenizer = AutoTokenizer.from_pretrained(files.folder, **options)
    except Exception as error:
        log.warning("tokenizer of %s: %s", source.name, error)
        raise PlaygroundError("error.model_tokenizer", name=source.title) from error
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise PlaygroundError("error.model_tokenizer", name=source.title)
    ggufs.mend_tokenizer(tokenizer, pre_tokenizer)
    return tokenizer


def tokenizer_fits(tokenizer: PreTrainedTokenizerFast, model: PreTrainedModel, name: str) -> None:
    """The vocabulary may be smaller than the table, never larger (added tokens apart: Gemma 3)."""
    ids = tokenizer.backend_tokenizer.get_vocab(with_added_tokens=False).values()
    if max(ids, default=0) >= model.get_input_embeddings().weight.shape[0]:
        raise PlaygroundError("error.model_tokenizer", name=name)
