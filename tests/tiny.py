"""Tiny random models of four families, made in memory, every size another number.

Equal sizes would let swapped axes pass; these do not. The tokenizer is byte-level with a few
merges and a chat template, so that the whole path can run on them.
"""

from __future__ import annotations

from functools import cache

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    AutoModelForCausalLM,
    Gemma3TextConfig,
    GPT2Config,
    LlamaConfig,
    PreTrainedTokenizerFast,
    Qwen3Config,
)
from transformers.convert_slow_tokenizer import bytes_to_unicode

from playground import models as models_room

FAMILIES = ("llama", "qwen3", "gemma3", "gpt2")
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
ROWS = 283  # 256 bytes + 4 merges + 3 specials = 263 tokens; the other rows have no token
EOS = "<|im_end|>"

# Threads that wait for each other cost more than these sizes are worth.
torch.set_num_threads(1)


@cache
def tokenizer() -> PreTrainedTokenizerFast:
    symbols = bytes_to_unicode()
    vocab = {symbols[b]: b for b in range(256)}
    merges = [("t", "h"), ("th", "e"), ("Ġ", "the"), ("a", "n")]
    for left, right in merges:
        vocab[left + right] = len(vocab)
    core = Tokenizer(models.BPE(vocab=vocab, merges=merges))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(tokenizer_object=core, eos_token=EOS, pad_token="<|endoftext|>")
    made.add_special_tokens({"additional_special_tokens": ["<|im_start|>"]})
    made.chat_template = TEMPLATE
    return made


def config(family: str):
    common = {
        "vocab_size": ROWS,
        "bos_token_id": None,
        "eos_token_id": tokenizer().eos_token_id,
        "pad_token_id": tokenizer().pad_token_id,
    }
    sized = {
        "hidden_size": 48, "intermediate_size": 88, "num_hidden_layers": 3,
        "num_attention_heads": 6, "num_key_value_heads": 2, "max_position_embeddings": 160,
    }  # fmt: skip
    match family:
        case "llama":
            return LlamaConfig(**common, **sized, tie_word_embeddings=True)
        case "qwen3":
            sized |= {"num_hidden_layers": 2, "num_attention_heads": 4, "head_dim": 20}
            return Qwen3Config(**common, **sized, tie_word_embeddings=False)
        case "gemma3":
            sized |= {"num_hidden_layers": 7, "num_key_value_heads": 3, "head_dim": 10}
            # a window shorter than the tests' texts, so that sliding layers really slide
            return Gemma3TextConfig(**common, **sized, sliding_window=11, query_pre_attn_scalar=10)
        case "gpt2":
            return GPT2Config(**common, n_embd=40, n_layer=4, n_head=5, n_inner=72, n_positions=160)
    raise ValueError(family)


@cache
def loaded(family: str, seed: int = 5) -> models_room.Loaded:
    """The family's tiny model in float32, with weights large enough to prefer some tokens."""
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(config(family), attn_implementation="sdpa").eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.mul_(4)
    return models_room.wrap(model, tokenizer(), name=f"tiny-{family}", source="memory")
