"""Text as pieces: the library's ids, spans that say which characters, bytes that add up."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, normalizers
from tokenizers.models import BPE, WordLevel
from transformers import PreTrainedTokenizerFast

from playground.errors import PlaygroundError
from playground.spans import rewritten
from playground.tokens import Vocabulary
from playground.trace import Token

from .vocabularies import REAL, SENTENCEPIECE, gpt2, real, sentencepiece

FAMILY = "👩‍👩‍👧‍👦"
SNIPPETS = [
    "Is OpenAI open?", " strawberry", "猫", "程序员Left 人工智能", FAMILY, "é", "e\u0301",
    "q\u0301\u0323", "a\u0316\u0301", "\u1100\u1161\u11a8", "\u0958", "\u212b", "\u0338", ">",
    "<", "½7٤", "\x00", "\x04", "\x06", "\U00040000", "\ufffd", "\u202e", "<|im_end|>",
    "<|endoftext|>", "  ", "\n", "ខ្មែរ", "<|im_", "end|>",
]  # fmt: skip
TEXTS = st.lists(st.one_of(st.sampled_from(SNIPPETS), st.text(max_size=3)), max_size=8).map("".join)


def library_ids(vocabulary, text, **words):
    return vocabulary.tokenizer(text, add_special_tokens=False, **words).input_ids


def ids(pieces):
    return [piece.id for piece in pieces]


def check_cover(vocabulary, text, pieces):
    """In order, inside of the text, and every character covered whose bytes have pieces."""
    at = 0
    for piece in pieces:
        assert 0 <= piece.start <= piece.end <= len(text)
        gap = text[at : piece.start]
        assert vocabulary.lost_bytes(gap) == bytes(sorted({*gap.encode()}))
        at = max(at, piece.end)
    gap = text[at:]
    assert vocabulary.lost_bytes(gap) == bytes(sorted({*gap.encode()}))


def check_cuts(vocabulary, text, pieces):
    """Wherever no piece lies across, the bytes on the left are those of the text on the left."""
    lost = vocabulary.lost_bytes(text)
    for cut in range(len(text) + 1):
        left = [p for p in pieces if p.end <= cut]
        if all(p.start >= cut for p in pieces[len(left) :]):
            expected = vocabulary.normalised(text[:cut]).encode()
            found = b"".join(vocabulary.raw(p.id) for p in left)
            assert found == bytes(b for b in expected if b not in lost), cut


@pytest.mark.parametrize("name", REAL)
@settings(max_examples=120, deadline=None)
@given(text=TEXTS)
def test_ids_are_the_librarys_and_spans_hold_their_bytes(name, text):
    vocabulary = real(name)
    plain, full = vocabulary.encode(text), vocabulary.encode(text, control=True)
    assert ids(full) == library_ids(vocabulary, text)
    assert ids(plain) == library_ids(vocabulary, text, split_special_tokens=True)
    check_cover(vocabulary, text, plain)
    check_cover(vocabulary, text, full)
    check_cuts(vocabulary, text, plain)


@pytest.mark.parametrize("kind", SENTENCEPIECE)
@settings(max_examples=150, deadline=None)
@given(text=st.text(alphabet="Helowrd: \n猫ab▁é<s>/", max_size=14))
def test_sentencepiece_ids_and_spans(kind, text):
    vocabulary = sentencepiece(kind)
    plain, full = vocabulary.encode(text), vocabulary.encode(text, control=True)
    assert ids(full) == library_ids(vocabulary, text)
    # A twin that calls its control tokens otherwise reads "<s>" as text.
    twin = sentencepiece(kind, ("<|1|>", "<|2|>"))
    assert ids(plain) == library_ids(twin, text)
    check_cover(vocabulary, text, plain)
    check_cover(vocabulary, text, full)
    for piece in plain:
        covered = text[piece.start : piece.end].replace("▁", " ").encode()
        raw = vocabulary.raw(piece.id)
        assert raw in covered or raw.removeprefix(b" ") in covered
    if kind == "gemma":
        check_cuts(vocabulary, text.replace("▁", "_"), vocabulary.encode(text.replace("▁", "_")))


def test_a_space_that_the_tokenizer_puts_in_covers_no_character():
    llama, gemma = sentencepiece("llama"), sentencepiece("gemma")
    spans = [(llama.raw(p.id), p.start, p.end) for p in llama.encode("猫 b")]
    assert spans == [(b" ", 0, 0), ("猫".encode(), 0, 1), (b" ", 1, 2), (b"b", 2, 3)]
    spans = [(gemma.raw(p.id), p.start, p.end) for p in gemma.encode("é w")]
    assert spans == [(b"\xc3", 0, 1), (b"\xa9", 0, 1), (b" w", 1, 3)]
    # a space of the text's own behind the one put in
    assert [(p.start, p.end) for p in llama.encode(" H")] == [(0, 0), (0, 2)]


def test_pieces_of_one_character_share_its_span():
    qwen = real("qwen3-0.6b")
    found = [(qwen.raw(p.id).hex(" "), p.start, p.end) for p in qwen.encode("aⅧ쀍b")]
    assert found == [
        ("61", 0, 1), ("e2 85", 1, 2), ("a7", 1, 2), ("ec", 2, 3), ("80", 2, 3), ("8d", 2, 3),
        ("62", 3, 4),
    ]  # fmt: skip


def test_characters_that_nfc_joins_are_covered_together():
    qwen = real("qwen3-0.6b")
    spans = [(p.start, p.end) for p in qwen.encode("1e\u03012")]
    assert spans == [(0, 1), (1, 3), (3, 4)]
    # é and the mark below it: one group, which both pieces cover
    spans = {(p.start, p.end) for p in qwen.encode("1a\u0316\u0301 ") if p.start}
    assert (1, 4) in spans and qwen.normalised("a\u0316\u0301") == "á\u0316"
    # the > of a control token does not join with the mark behind it
    spans = [(p.start, p.end) for p in qwen.encode("<|im_end|>\u0338", control=True)]
    assert spans[0] == (0, 10) and all(start == 10 for start, _ in spans[1:])


def test_groups_by_hand():
    nfc = normalizers.NFC()
    assert rewritten("ae\u0301bq\u0301\u0323\u1100\u1161", nfc) == [(1, 3), (4, 7), (7, 9)]
    assert rewritten("a\u0316\u0301", nfc) == [(0, 3)]
    assert rewritten("baab", normalizers.Replace("aa", "")) == [(1, 3)]
    # rewritten only as three: no pair of neighbours shows it, so all are one group
    assert rewritten("zabc", normalizers.Replace("abc", "x")) == [(0, 4)]


def test_control_text_is_text_unless_asked_for():
    qwen = real("qwen3-0.6b")
    text = "<|im_end|>a<think>"
    assert ids(qwen.encode(text, control=True)) == [151645, 64, 151667]
    plain = qwen.encode(text)
    assert all(p.id < 151_643 for p in plain)
    assert b"".join(qwen.raw(p.id) for p in plain) == text.encode()
    assert qwen.control_texts("<think><|im_end|><think> <b>") == ["<think>", "<|im_end|>"]


def test_added_blanks_and_words_are_no_control_text():
    added = (("   ", False), ("covid", False), ("<h>", False), ("[X]", False), ("the", True))
    words = gpt2(added)
    text = "a   covid<h>[X]"
    assert words.control_texts(text) == ["<h>", "[X]"]
    assert ids(words.encode(text, control=True)) == library_ids(words, text)
    assert ids(words.encode(text))[:3] == library_ids(words, "a   covid")
    assert b"".join(map(words.raw, ids(words.encode(text)))) == text.encode()
    # "the" is special here and an ordinary piece as well: plain text may give it
    assert words.special(257) and ids(words.encode("the")) == [257]
    signs = sentencepiece("llama", ("a", "b"))
    assert signs.control_texts("ab") == []
    assert ids(signs.encode("ab")) == library_ids(signs, "ab")


def test_a_control_token_that_plain_text_gives_is_refused():
    core = Tokenizer(BPE({"<": 0, "s": 1, ">": 2, "<s": 3, "<s>": 4}, [("<", "s"), ("<s", ">")]))
    core.decoder = decoders.ByteLevel()
    core.add_special_tokens(["<s>"])
    vocabulary = Vocabulary(PreTrainedTokenizerFast(tokenizer_object=core))
    assert ids(vocabulary.encode("s<")) == [1, 0]
    with pytest.raises(PlaygroundError) as failure:
        vocabulary.encode("s<s>")
    assert failure.value.key == "error.control_text" and failure.value.values["text"] == "<s>"


@pytest.mark.parametrize("name", REAL)
def test_only_typed_control_text_is_read_as_text(name):
    vocabulary = real(name)
    text = "<|im_end|>ab<|im_end|>"
    end = vocabulary.tokenizer.convert_tokens_to_ids("<|im_end|>")
    whole = vocabulary.encode(text, control=True)
    assert vocabulary.encode_around(text, [False] * len(text)) == whole
    typed = [False] * 10 + [True] * 12
    found = vocabulary.encode_around(text, typed)
    assert ids(found).count(end) == 1 and found[0] == (end, 0, 10)
    assert b"".join(vocabulary.raw(p.id) for p in found) == text.encode()
    # the typed rest reads as one text
    assert ids(found[1:]) == ids(vocabulary.encode("ab<|im_end|>"))


@pytest.mark.parametrize("kind", SENTENCEPIECE)
@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="Hel 猫▁é", max_size=6), st.text(alphabet="Hel 猫▁", max_size=6))
def test_typed_control_text_inside_of_a_template(kind, before, after):
    """Against the library on a tokenizer whose control tokens have other names."""
    names, others = ("<s>", "</s>"), ("<|1|>", "<|2|>")
    content = f"{before}</s>{after}"
    text, twin_text = (f"{a}lo: {content}{b}" for a, b in (names, others))
    typed = [False] * len("<s>lo: ") + [True] * len(content) + [False] * len("</s>")
    found = sentencepiece(kind).encode_around(text, typed)
    assert ids(found) == library_ids(sentencepiece(kind, others), twin_text)
    check_cover(sentencepiece(kind), text, found)


@pytest.mark.parametrize("name", REAL)
def test_joined_pieces_are_the_bytes_of_the_text(name):
    vocabulary = real(name)
    for text in ("Is OpenAI open?", " 猫\n\n", FAMILY, "ខ្មែរ हिन्दी", "a\x00b\u202e", "\ufffd"):
        assert b"".join(vocabulary.raw(p.id) for p in vocabulary.encode(text)) == text.encode()
        assert vocabulary.decode(ids(vocabulary.encode(text))) == text


def test_qwens_pieces_that_are_no_characters():
    """1,457 of the 151,643 ordinary pieces show U+FFFD when decoded alone. 1,448 of them are not
    valid UTF-8; 9 hold a U+FFFD of their own. 1,067 ids show one U+FFFD and nothing else."""
    qwen = real("qwen3-0.6b")
    alone = [qwen.decode([i]) for i in range(151_669)]
    assert alone == qwen.tokenizer.batch_decode([[i] for i in range(151_669)])
    raws = [qwen.raw(i) for i in range(151_643)]
    shows = [i for i, text in enumerate(alone) if "\ufffd" in text]
    genuine = [i for i in shows if alone[i].encode() == raws[i]]
    assert (len(shows), len(genuine)) == (1457, 9)
    assert all("\ufffd".encode() in raws[i] for i in genuine)
    same = [i for i, text in enumerate(alone) if text == "\ufffd"]
    assert len(same) == 1067 and sum(raws[i] == b"\xef\xbf\xbd" for i in same) == 1
    assert len({raws[i] for i in same}) == 1067


def test_sizes_rows_without_a_token_and_specials():
    qwen, smol = real("qwen3-0.6b"), real("smollm2-135m")
    assert (qwen.size, smol.size) == (151_669, 49_152)
    for token_id in (151_669, 151_935, -1, 2**40):
        assert qwen.raw(token_id) == b"" and not qwen.special(token_id)
    assert qwen.raw(151_645) == b"<|im_end|>" and qwen.raw(72_600) == b" strawberry"
    assert [qwen.special(i) for i in (151_645, 151_643, 151_667, 198)] == [True, True, False, False]
    assert smol.special(2) and smol.raw(2) == b"<|im_end|>"
    assert qwen.decode([151_644, 872, 151_935, 198]) == "<|im_start|>user\n"


def test_a_token_of_the_trace():
    qwen = real("qwen3-0.6b")
    assert qwen.token(151_645, "template", 4, 14) == Token(
        151_645, b"<|im_end|>", "<|im_end|>", 4, 14, True, "template"
    )
    half = qwen.token(qwen.encode("Ⅷ")[0].id, "generated")
    assert half == Token(half.id, b"\xe2\x85", "\\xe2\\x85", None, None, False, "generated")


def test_bytes_that_smollm2_lacks():
    smol, qwen = real("smollm2-135m"), real("qwen3-0.6b")
    missing = bytes.fromhex("04 06 13 14 16 1d c0 c1 f1 f2 f5f6f7f8f9fafbfcfdfeff")
    reachable = "".join(map(chr, range(128))) + "é猫👩\U00040000\U00080000\U00100000"
    assert smol.lost_bytes(reachable) == bytes.fromhex("04 06 13 14 16 1d f1 f2")
    assert {*reachable.encode()} & {*missing} == {*smol.lost_bytes(reachable)}
    assert qwen.lost_bytes(reachable) == b""
    joined = b"".join(smol.raw(p.id) for p in smol.encode(reachable))
    assert joined == bytes(b for b in reachable.encode() if b not in missing)
    assert ids(smol.encode("\x04\x06")) == []


def test_characters_behind_a_lost_one_keep_their_place():
    smol = real("smollm2-135m")
    found = [(smol.raw(p.id), p.start, p.end) for p in smol.encode("\x04@\x13\x14b\U00040000c")]
    assert found == [
        (b"@", 1, 2), (b"b", 4, 5), (b"\x80", 5, 6), (b"\x80", 5, 6), (b"\x80", 5, 6), (b"c", 6, 7)
    ]  # fmt: skip


def test_characters_that_sentencepiece_does_not_know():
    core = Tokenizer(BPE({"<unk>": 0, "a": 1, "b": 2, "▁": 3}, [], unk_token="<unk>"))
    core.normalizer = normalizers.Replace(" ", "▁")
    core.decoder = decoders.Metaspace(prepend_scheme="never")
    vocabulary = Vocabulary(PreTrainedTokenizerFast(tokenizer_object=core))
    assert vocabulary.lost_bytes("a é\nb") == b"\n\xa9\xc3"
    assert vocabulary.lost_bytes("ab ") == b""
    assert sentencepiece("llama").lost_bytes("é\x04 a") == b""


@pytest.mark.parametrize(
    ("decoder", "said"),
    [
        (decoders.WordPiece(), "WordPiece"),
        (decoders.BPEDecoder(), "BPEDecoder"),
        (None, "none"),
        (decoders.Sequence([decoders.ByteLevel(), decoders.Fuse()]), "ByteLevel → Fuse"),
        (
            decoders.Sequence(
                [decoders.Replace("▁", " "), decoders.Fuse(), decoders.Strip(" ", 2, 0)]
            ),
            "Replace → Fuse → Strip",
        ),
    ],
)
def test_other_decoders_are_refused(decoder, said):
    core = Tokenizer(WordLevel({"a": 0}, unk_token="a"))
    if decoder is not None:
        core.decoder = decoder
    with pytest.raises(PlaygroundError) as failure:
        Vocabulary(PreTrainedTokenizerFast(tokenizer_object=core))
    assert failure.value.key == "error.decoder" and said in str(failure.value)


def test_switches_on_the_tokenizer_change_nothing():
    from playground.qwen import qwen3_tokenizer

    tokenizer = qwen3_tokenizer()
    vocabulary = Vocabulary(tokenizer)
    before = vocabulary.encode("a<|im_end|> b", control=True)
    tokenizer("a", split_special_tokens=True, truncation=True, max_length=1)
    assert tokenizer.backend_tokenizer.encode_special_tokens
    assert vocabulary.encode("a<|im_end|> b", control=True) == before
    assert len(vocabulary.encode("one two three")) == 3


def test_many_threads_read_at_once():
    vocabulary = real("smollm2-135m")
    texts = [f"{word} {n}" for n in range(40) for word in ("猫", "open", "\x04<|im_end|>")]
    expected = [vocabulary.encode(text) for text in texts]
    found: list[bool] = []

    def read():
        found.append([vocabulary.encode(text) for text in texts] == expected)

    threads = [threading.Thread(target=read) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 6
