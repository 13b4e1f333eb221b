"""Vocabularies that tests share: two real ones and small ones made in memory."""

from __future__ import annotations

from functools import cache

from tokenizers import AddedToken, Tokenizer, decoders, normalizers, pre_tokenizers, processors
from tokenizers.models import BPE
from transformers import PreTrainedTokenizerFast
from transformers.convert_slow_tokenizer import bytes_to_unicode

from playground.models import load_tokenizer
from playground.tokens import Vocabulary

REAL = ("qwen3-0.6b", "smollm2-135m")
SENTENCEPIECE = ("llama", "mistral", "gemma")

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@cache
def real(name: str) -> Vocabulary:
    return Vocabulary(load_tokenizer(name))


@cache
def sentencepiece(kind: str, names: tuple[str, str] = ("<s>", "</s>")) -> Vocabulary:
    """`▁` and byte pieces, in the three ways in use: a normaliser that puts a space first
    (llama), a pre-tokenizer that does (mistral), none (gemma)."""
    symbols = [*names, "<unk>", *(f"<0x{b:02X}>" for b in range(256)), *"▁Helowrd:\n猫ab"]
    merges = [("▁", "H"), ("e", "l"), ("l", "o"), ("▁", "w"), ("l", "d"), ("▁", "▁"), ("el", "lo")]
    vocab = {s: i for i, s in enumerate([*symbols, *(a + b for a, b in merges)])}
    core = Tokenizer(BPE(vocab, merges, unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    if kind == "llama":
        first = [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
        core.normalizer = normalizers.Sequence(first)
    elif kind == "mistral":
        core.pre_tokenizer = pre_tokenizers.Metaspace(
            replacement="▁", prepend_scheme="first", split=False
        )
    else:
        core.normalizer = normalizers.Replace(" ", "▁")
    if kind != "gemma":
        steps.append(decoders.Strip(" ", 1, 0))
    core.decoder = decoders.Sequence(steps)
    core.add_special_tokens([AddedToken(n, normalized=False, special=True) for n in names])
    core.post_processor = processors.TemplateProcessing(
        single=f"{names[0]} $A", special_tokens=[(names[0], 0)]
    )
    made = PreTrainedTokenizerFast(
        tokenizer_object=core, bos_token=names[0], eos_token=names[1], unk_token="<unk>"
    )
    made.chat_template = (
        "{{ bos_token }}{% for m in messages %}{{ m['role'] }}: {{ m['content'] | trim }}"
        "{{ eos_token if m['role'] == 'assistant' else '\n' }}{% endfor %}"
        "{% if add_generation_prompt %}assistant:{% endif %}"
    )
    return Vocabulary(made)


@cache
def gpt2(added: tuple[tuple[str, bool], ...] = (), template: str | None = None) -> Vocabulary:
    """All 256 bytes, a few merges, then `added` (text, special); no template if none is given."""
    symbols = bytes_to_unicode()
    vocab = {symbols[b]: b for b in range(256)}
    merges = [("t", "h"), ("th", "e"), ("Ġ", "the"), ("a", "n"), ("Ã", "©")]
    for left, right in merges:
        vocab[left + right] = len(vocab)
    core = Tokenizer(BPE(vocab, merges))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    core.post_processor = processors.ByteLevel(trim_offsets=True)
    core.add_tokens([AddedToken(t, special=s, normalized=False) for t, s in added])
    made = PreTrainedTokenizerFast(tokenizer_object=core)
    made.chat_template = template
    return Vocabulary(made)


@cache
def chatml(template: str = CHATML) -> Vocabulary:
    """`gpt2` with the two control tokens of ChatML: ids 261 and 262."""
    return gpt2((("<|im_start|>", True), ("<|im_end|>", True)), template)
