"""Ids → text: shown at once, never taken back, and joined what decoding all at once gives."""

from __future__ import annotations

import copy
import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import decoders

from playground.detok import Detokenizer
from playground.tokens import Vocabulary

from .vocabularies import REAL, SENTENCEPIECE, gpt2, real, sentencepiece


def stream(vocabulary, ids):
    """(what each push showed, what was held after it, what the end gave)."""
    detok = Detokenizer(vocabulary)
    shown, held = [], []
    for token_id in ids:
        text, pending = detok.push(token_id)
        shown.append(text)
        held.append(pending)
    return shown, held, detok.flush()


def library(vocabulary, ids):
    return vocabulary.tokenizer.decode(
        ids, skip_special_tokens=False, clean_up_tokenization_spaces=False
    )


def can_become_a_character(held):
    """Whether some bytes make a character of `held`: by trying, not by UTF-8's table."""
    return any(whole(held + tail) for tail in TAILS)


# 90, for one, may follow f0 and not f4
TAILS = [
    bytes(tail)
    for n in (1, 2, 3)
    for tail in itertools.product((0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF), repeat=n)
]


def whole(raw):
    try:
        return len(raw.decode()) == 1
    except UnicodeDecodeError:
        return False


def fragments(vocabulary):
    """The ids whose bytes are no text by themselves."""
    return [
        i
        for i in range(len(vocabulary.tokenizer))
        if vocabulary.raw(i).decode(errors="ignore").encode() != vocabulary.raw(i)
    ]


@pytest.mark.parametrize("name", REAL)
def test_random_ids_give_what_the_library_decodes(name):
    vocabulary, dice = real(name), random.Random(7)
    odd, n = fragments(vocabulary), len(vocabulary.tokenizer)
    assert len(odd) == {"qwen3-0.6b": 1448, "smollm2-135m": 313}[name]
    longest = b""
    for _ in range(4000):
        k = dice.randint(0, 12)
        ids = [dice.choice(odd) if dice.random() < 0.7 else dice.randrange(n) for _ in range(k)]
        shown, held, end = stream(vocabulary, ids)
        expected = library(vocabulary, ids)
        assert "".join(shown) + end == expected == vocabulary.decode(ids)
        assert end == ("\ufffd" if held and held[-1] else "")
        longest = max(longest, *held, key=len) if held else longest
    assert len(longest) == 3


BYTES = st.lists(
    st.sampled_from([0x41, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC2, 0xE0, 0xE7, 0xED, 0xEF, 0xF0])
    | st.integers(0, 255),
    max_size=9,
)


@settings(max_examples=500, deadline=None)
@given(BYTES)
def test_any_bytes_one_by_one(raw):
    """In the tiny byte-level vocabulary the id is the byte."""
    vocabulary = gpt2()
    shown, held, end = stream(vocabulary, raw)
    assert "".join(shown) + end == library(vocabulary, raw) == bytes(raw).decode(errors="replace")
    # At every moment: what is shown is final, what is held can still become a character.
    for i, pending in enumerate(held):
        so_far = "".join(shown[: i + 1])
        assert bytes(raw[: i + 1]).decode(errors="replace") == so_far + "\ufffd" * bool(pending)
        assert not pending or (len(pending) <= 3 and can_become_a_character(pending))


def test_every_pair_of_bytes_is_held_or_shown():
    for lead in range(0x80, 0x100):
        for second in range(0x100):
            shown, held, _ = stream(gpt2(), [lead, second])
            assert not held[1] or can_become_a_character(held[1]), (lead, second)
            batch = bytes([lead, second]).decode(errors="replace")
            assert "".join(shown) + "\ufffd" * bool(held[1]) == batch


def test_a_character_shows_with_its_last_byte():
    shown, held, end = stream(gpt2(), "a猫é😀".encode())
    assert shown == ["a", "", "", "猫", "", "é", "", "", "", "😀"] and end == ""
    assert [h.hex() for h in held] == [
        "", "e7", "e78c", "", "c3", "", "f0", "f09f", "f09f98", ""
    ]  # fmt: skip


def test_a_written_u_fffd_is_not_a_missing_byte():
    shown, held, _ = stream(gpt2(), b"\xef\xbf\xbda")
    assert shown == ["", "", "\ufffd", "a"] and held == [b"\xef", b"\xef\xbf", b"", b""]
    qwen = real("qwen3-0.6b")
    genuine = [p.id for p in qwen.encode("\ufffd")]
    assert [qwen.raw(i) for i in genuine] == [b"\xef\xbf\xbd"]
    assert stream(qwen, genuine) == (["\ufffd"], [b""], "")


def test_stray_bytes_show_at_once():
    shown, held, end = stream(gpt2(), b"\x80\xff\xc0\xe7\xe7A\xed\xa0\xf0\x9f")
    assert shown == [
        "\ufffd", "\ufffd", "\ufffd", "", "\ufffd", "\ufffdA", "", "\ufffd\ufffd", "", ""
    ]  # fmt: skip
    assert held[-1] == b"\xf0\x9f" and end == "\ufffd"


def test_texts_of_the_lessons_show_no_u_fffd():
    texts = (
        "👩‍👩‍👧‍👦",
        "🇨🇳👍🏽",
        "ខ្មែរ हिन्दी",
        "苹果最常见的颜色是什么？",
        "é e\u0301 q\u0323",
        "\u202eabc\x00",
    )
    for name in REAL:
        vocabulary = real(name)
        for text in texts:
            ids = [p.id for p in vocabulary.encode(text)]
            shown, held, end = stream(vocabulary, ids)
            assert "".join(shown) == vocabulary.normalised(text) and end == ""
            assert held[-1] == b"" and "\ufffd" not in "".join(shown)
    smol = real("smollm2-135m")
    shown, held, _ = stream(smol, [p.id for p in smol.encode("苹")])
    assert shown == ["", "", "苹"] and held == [b"\xe8", b"\xe8\x8b", b""]


def test_special_tokens_and_rows_without_a_token():
    qwen = real("qwen3-0.6b")
    half = qwen.encode("Ⅷ")[0].id
    shown, held, end = stream(qwen, [151_800, half, 151_800, 151_645, 198])
    assert shown == ["", "", "", "\ufffd<|im_end|>", "\n"] and end == ""
    assert held == [b"", b"\xe2\x85", b"\xe2\x85", b"", b""]


@pytest.mark.parametrize("kind", SENTENCEPIECE)
@settings(max_examples=250, deadline=None)
@given(st.data())
def test_sentencepiece_gives_what_the_library_decodes(kind, data):
    """Where every row of byte tokens is text; or holds no whole character at all."""
    vocabulary = sentencepiece(kind)
    text = [i for i in range(len(vocabulary.tokenizer)) if not 3 <= i < 259]
    piece = st.sampled_from(text).map(lambda i: [i])
    spelled = st.sampled_from("é猫😀 A\n\ufffd").map(lambda c: [3 + b for b in c.encode()])
    stray = st.sampled_from([b"\x80", b"\xe7\x8c", b"\xf0\x9f\x98", b"\xff\xc3"])
    apart = st.tuples(stray, st.sampled_from(text)).map(lambda p: [*(3 + b for b in p[0]), p[1]])
    rows = data.draw(st.lists(piece | st.tuples(spelled, piece).map(sum_lists) | apart, max_size=8))
    ids = sum_lists(rows)
    shown, held, end = stream(vocabulary, ids)
    assert "".join(shown) + end == vocabulary.decode(ids) == library(vocabulary, ids)
    assert all(len(pending) <= 3 for pending in held)


def sum_lists(lists):
    return [item for part in lists for item in part]


@pytest.mark.parametrize("kind", SENTENCEPIECE)
@settings(max_examples=250, deadline=None)
@given(ids=st.lists(st.integers(0, 280), max_size=10))
def test_sentencepiece_streams_what_it_decodes(kind, ids):
    vocabulary = sentencepiece(kind)
    shown, _, end = stream(vocabulary, ids)
    assert "".join(shown) + end == vocabulary.decode(ids)


def test_where_byte_tokens_part_from_the_library():
    """A whole character beside a stray byte: the library takes back what was shown."""
    vocabulary = sentencepiece("gemma")
    ids = [3 + b for b in "猫".encode() + b"\xe7"]
    assert stream(vocabulary, ids) == (
        ["", "", "猫", ""],
        [b"\xe7", b"\xe7\x8c", b"", b"\xe7"],
        "\ufffd",
    )
    assert vocabulary.decode(ids) == "猫\ufffd"
    assert library(vocabulary, ids) == "\ufffd" * 4


def test_the_first_space_of_a_text():
    llama, gemma = sentencepiece("llama"), sentencepiece("gemma")
    hello = [p.id for p in llama.encode("Hello")]
    assert [llama.raw(i) for i in hello][:1] == [b" H"]
    assert stream(llama, hello)[0][0] == "H" and stream(gemma, hello)[0][0] == " H"
    # only the first of all, and not behind a special token
    assert "".join(stream(llama, hello + hello)[0]) == "Hello Hello"
    assert "".join(stream(llama, [1, *hello])[0]) == "</s> Hello" == library(llama, [1, *hello])
    # a row without a token is no first token
    assert "".join(stream(llama, [5000, *hello])[0]) == "Hello"


@pytest.mark.parametrize("scheme", ["always", "first", "never"])
@settings(max_examples=100, deadline=None)
@given(ids=st.lists(st.sampled_from([0, 259, 260, 261, 266, 270, 275]), max_size=6))
def test_metaspace_drops_the_first_pieces_spaces(scheme, ids):
    vocabulary = metaspace(scheme)
    shown, _, end = stream(vocabulary, ids)
    assert "".join(shown) + end == library(vocabulary, ids) == vocabulary.decode(ids)


def metaspace(scheme):
    tokenizer = copy.deepcopy(sentencepiece("gemma").tokenizer)
    tokenizer.backend_tokenizer.decoder = decoders.Metaspace(prepend_scheme=scheme)
    return Vocabulary(tokenizer)
