"""Tiny random models of many families, made in memory, every size another number.

Equal sizes would let swapped axes pass; these do not. The tokenizer is byte-level with a few
merges and a chat template, so that the whole path can run on them.
"""

from __future__ import annotations

from functools import cache

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    AutoModelForCausalLM,
    Gemma2Config,
    Gemma3TextConfig,
    GPT2Config,
    GPTJConfig,
    GPTNeoXConfig,
    LlamaConfig,
    MistralConfig,
    Olmo2Config,
    Phi3Config,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen3Config,
)
from transformers.convert_slow_tokenizer import bytes_to_unicode

from playground import models as models_room

FAMILIES = ("llama", "qwen3", "gemma3", "gpt2")
# What the table of `capture.py` knows, GPT-NeoX with and without its parallel residual.
INSIDE = (
    *FAMILIES, "qwen2", "gemma2", "mistral", "phi3", "gpt_neox", "gpt_neox-sequential", "olmo2"
)  # fmt: skip
UNKNOWN = "gptj"
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
        case "qwen2":
            sized |= {"hidden_size": 36, "num_key_value_heads": 3, "intermediate_size": 76}
            return Qwen2Config(**common, **sized, tie_word_embeddings=True)
        case "gemma2":
            sized |= {"num_hidden_layers": 4, "num_attention_heads": 4, "head_dim": 14}
            return Gemma2Config(
                **common, **sized, sliding_window=9, query_pre_attn_scalar=11,
                attn_logit_softcapping=6.0, final_logit_softcapping=17.0,
            )  # fmt: skip
        case "mistral":
            sized |= {"num_hidden_layers": 5, "num_key_value_heads": 3, "hidden_size": 60}
            return MistralConfig(**common, **sized, sliding_window=13, tie_word_embeddings=False)
        case "phi3":
            sized |= {"num_key_value_heads": 3, "intermediate_size": 80, "hidden_size": 72}
            rope = {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5}
            return Phi3Config(**common, **sized, rope_parameters=rope)
        case "gpt_neox" | "gpt_neox-sequential":
            del sized["num_key_value_heads"]
            sized |= {"num_attention_heads": 3, "intermediate_size": 92}
            rope = {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.25}
            parallel = family == "gpt_neox"
            return GPTNeoXConfig(
                **common, **sized, use_parallel_residual=parallel, rope_parameters=rope
            )
        case "olmo2":
            sized |= {"num_hidden_layers": 4, "hidden_size": 84, "num_key_value_heads": 3}
            return Olmo2Config(**common, **sized)
        case "gptj":
            return GPTJConfig(
                **common, n_embd=44, n_layer=3, n_head=2, n_inner=84, n_positions=160, rotary_dim=6,
            )  # fmt: skip
    raise ValueError(family)


@cache
def loaded(family: str, seed: int = 5, lively: bool = False) -> models_room.Loaded:
    """The family's tiny model in float32, with weights large enough to prefer some tokens.

    lively: for looking inside. Weights three times larger, so that heads attend to something and
    caps bite; biases and the gains of norms random too, which are all 0 or 1 as a model is made,
    so that what forgets one of them would pass.
    """
    torch.manual_seed(seed)
    # Gemma 2 caps its attention scores, which SDPA can not
    way = "eager" if family == "gemma2" else "sdpa"
    model = AutoModelForCausalLM.from_config(config(family), attn_implementation=way).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.mul_(12 if lively else 4)
            elif lively:
                parameter.add_(0.3 * torch.randn_like(parameter))
    return models_room.wrap(model, tokenizer(), name=f"tiny-{family}", source="memory")
