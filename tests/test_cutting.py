"""Words, merges and the byte ledger, against the library's own encoding."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models
from transformers import PreTrainedTokenizerFast

from playground.cutting.bpe import Bpe
from playground.cutting.ledger import ledger
from playground.cutting.presplit import alternatives, words
from playground.cutting.story import Cutter
from playground.errors import PlaygroundError
from playground.tokens import Vocabulary
from tests.vocabularies import REAL, SENTENCEPIECE, gpt2, real, sentencepiece

ODD = [
    "", " ", "a", "strawberry", " strawberry", "It's 2024!", "程序员Left", "人工智能", "电",
    "cafe\u0301",
    "e\u0301\u0323", "가각", "한국어", "👩‍👩‍👧‍👦", "\u202eabc", "हिन्दी", "a\x00b", "\x04\x06",
    "  \n\n\tx ",
    "<|im_end|>", "x<think>y", "\ufffd", "\U0010ffff", "ﬁﬀ①", "don't DON'T", "1234567", "ſt's",
]  # fmt: skip
TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
NAMES = [*REAL, *SENTENCEPIECE, "gpt2"]


def vocabulary(name: str) -> Vocabulary:
    if name in REAL:
        return real(name)
    return gpt2() if name == "gpt2" else sentencepiece(name)


_cutters: dict[str, Cutter] = {}


def cutter(name: str) -> Cutter:
    if name not in _cutters:
        _cutters[name] = Cutter(vocabulary(name))
    return _cutters[name]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ODD)
def test_merges_replayed_end_in_the_librarys_ids(name, text):
    found = cutter(name).cut(text)
    assert found.exact and found.ids == tuple(p.id for p in vocabulary(name).encode(text))


@pytest.mark.parametrize("name", [*REAL, "gpt2"])
@given(text=TEXT)
def test_merges_replayed_end_in_the_librarys_ids_for_any_text(name, text):
    assert cutter(name).cut(text).exact


@pytest.mark.parametrize("name", REAL)
def test_ten_thousand_words_of_many_scripts_are_retold_to_their_ids(name):
    """Words made of Qwen's pieces, which are in dozens of scripts, one to three joined."""
    draw, qwen = random.Random(4), real("qwen3-0.6b")
    pieces = []
    for i in range(151_643):
        try:
            pieces.append(qwen.raw(i).decode())
        except UnicodeDecodeError:
            continue
    sample = ["".join(draw.choices(pieces, k=draw.randint(1, 3))) for _ in range(10_000)]
    backend = real(name).tokenizer.backend_tokenizer
    wanted = [e.ids for e in backend.encode_batch(sample, add_special_tokens=False)]
    bpe = Bpe(json.loads(backend.to_str())["model"])
    for word, ids in zip(sample, wanted, strict=True):
        read = backend.normalizer.normalize_str(word) if backend.normalizer else word
        told = [i for w in words(backend, read) for i in bpe.story(w.written).ids]
        assert told == ids, ascii(word)


@pytest.mark.parametrize("name", REAL)
def test_every_merge_of_a_story_is_the_learnt_one_and_joins_neighbours(name):
    for text in ("strawberry", " strawberry", "电", "人工智能", " unbelievable"):
        for word in cutter(name).cut(text).words:
            story = cutter(name).story(word.written)
            parts = list(story.symbols)
            assert "".join(parts) == word.written
            for merge in story.merges:
                assert parts[merge.at : merge.at + 2] == [merge.left, merge.right]
                assert Bpe.rank(cutter(name)._bpe, merge.left, merge.right) == merge.rank
                parts[merge.at : merge.at + 2] = [merge.left + merge.right]
            assert tuple(parts) == story.pieces


def test_a_character_is_made_of_its_bytes():
    """电 is E7 94 B5: Qwen joins 94 and B5 to the whole, SmolLM2 has no piece for all three."""
    qwen, smol = cutter("qwen3-0.6b").story("çĶµ"), cutter("smollm2-135m").story("çĶµ")
    assert (qwen.symbols, qwen.pieces) == (("ç", "Ķ", "µ"), ("çĶµ",)) and len(qwen.merges) == 2
    assert smol.pieces == ("çĶ", "µ") and [(m.left, m.right) for m in smol.merges] == [("ç", "Ķ")]


def test_a_space_before_a_word_makes_other_pieces():
    bare, spaced = (cutter("qwen3-0.6b").cut(t).ids for t in ("strawberry", " strawberry"))
    assert len(spaced) == 1 and len(bare) > 1


def test_the_rule_that_cut_is_named():
    found = {w.written: w.rule for w in cutter("qwen3-0.6b").cut("It's 20 程序员Left!\n").words}
    assert found["'s"].alternative == "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
    assert found["2"].alternative == r"\p{N}" and found["2"].step == "Split"
    assert found["!Ċ"].alternative == r" ?[^\s\p{L}\p{N}]+[\r\n]*"
    smol = {w.written: w.rule for w in cutter("smollm2-135m").cut("a 1 b").words}
    assert (smol["1"].step, smol["1"].pattern) == ("Digits", None)
    assert smol["a"].step == "ByteLevel" and smol["a"].alternative == r" ?\p{L}+"


def test_a_pattern_is_taken_apart_at_its_outermost_bars():
    assert alternatives(r"a|(?:b|c)+|[|x]|\|d|") == ("a", "(?:b|c)+", "[|x]", r"\|d", "")


def made(model, pre=None) -> Vocabulary:
    core = Tokenizer(model)
    core.pre_tokenizer = pre
    core.decoder = None
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core)
    found = object.__new__(Vocabulary)
    found.tokenizer = tokenizer
    return found


def test_other_models_tell_their_own_story():
    pieces = [("<unk>", 0.0), ("▁", -2.0), ("he", -1.0), ("l", -1.5), ("lo", -1.2), ("hel", -3.0)]
    unigram = Cutter(made(models.Unigram(pieces, 0)))
    told = unigram.story("▁hello")
    assert told.kind == "unigram" and told.pieces == ("▁", "he", "l", "lo")
    assert told.scores == (-2.0, -1.0, -1.5, -1.2) and told.merges == ()
    vocab = {"[UNK]": 0, "un": 1, "##aff": 2, "##able": 3, "##a": 4}
    longest = Cutter(made(models.WordPiece(vocab, unk_token="[UNK]")))
    assert longest.story("unaffable").pieces == ("un", "##aff", "##able")
    assert longest.story("unx").pieces == ("[UNK]",)


@pytest.mark.parametrize(
    ("options", "word", "symbols", "pieces"),
    [
        ({"ignore_merges": True}, "ab", ("ab",), ("ab",)),
        ({"unk_token": "<unk>"}, "axb", ("a", "<unk>", "b"), ("a", "<unk>", "b")),
        ({"unk_token": "<unk>", "fuse_unk": True}, "xxb", ("<unk>", "b"), ("<unk>", "b")),
        ({"unk_token": "<unk>", "byte_fallback": True}, "aé", ("a", "<0xC3>", "<0xA9>"), None),
        ({}, "axb", ("a", "b"), ("ab",)),
    ],
)
def test_the_switches_of_byte_pair_encoding_do_what_the_librarys_do(options, word, symbols, pieces):
    vocab = {"<unk>": 0, "a": 1, "b": 2, "ab": 3, "<0xC3>": 4, "<0xA9>": 5}
    model = models.BPE(vocab, [("a", "b")], **options)
    told = Cutter(made(model)).story(word)
    assert told.symbols == symbols and told.pieces == (pieces or symbols)
    assert told.ids == tuple(t.id for t in model.tokenize(word))
    assert told.whole == bool(options.get("ignore_merges"))


def test_affixes_of_older_models_are_written_as_the_library_writes_them():
    vocab = {t: i for i, t in enumerate(["a", "b</w>", "b", "##b", "ab</w>", "ab"])}
    suffix = models.BPE(vocab, [("a", "b</w>")], end_of_word_suffix="</w>")
    assert Cutter(made(suffix)).story("ab").pieces == ("ab</w>",)
    prefix = models.BPE(vocab, [("a", "##b")], continuing_subword_prefix="##")
    assert Cutter(made(prefix)).story("ab").pieces == ("ab",)


def test_a_word_too_long_to_be_told_says_so_and_is_still_cut():
    long = "ab" * 400
    found = cutter("qwen3-0.6b").cut(long)
    assert found.exact
    with pytest.raises(PlaygroundError, match="800"):
        cutter("qwen3-0.6b").story(found.words[0].written)


@pytest.mark.parametrize("name", NAMES)
@given(text=TEXT)
def test_the_ledger_accounts_for_every_character_and_byte(name, text):
    known = vocabulary(name)
    found = ledger(known, text)
    encoded = known.encode(text)
    assert [(p.id, p.start, p.end) for p in found.pieces] == [tuple(p) for p in encoded]
    assert len(found.first) == len(text)
    for i, at in enumerate(found.first):
        covering = [k for k, p in enumerate(encoded) if p.start <= i < p.end]
        assert at == (covering[0] if covering else -1)
    if known.decoder.byte_level:
        assert found.joined == (not known.lost_bytes(text))
        assert bool(found.lost) == bool(known.lost_bytes(text))
    assert all(i in found.lost for i, at in enumerate(found.first) if at < 0)
    rebuilt, at = "", 0
    for change in found.rewrites:
        rebuilt += text[at : change.start] + change.into
        at = change.end
    assert rebuilt + text[at:] == found.normalised == known.normalised(text)


def test_an_incomplete_piece_says_how_many_bytes_are_missing():
    """SmolLM2 cuts 电 (E7 94 B5) into two pieces, neither of which is a character."""
    found = ledger(real("smollm2-135m"), "a电b").pieces
    told = [(p.raw.hex(), p.before, p.missing, p.stray) for p in found]
    assert told == [
        ("61", 0, 0, False), ("e794", 0, 1, False), ("b5", 2, 0, False), ("62", 0, 0, False)
    ]  # fmt: skip


@pytest.mark.parametrize("name", [*REAL, "gpt2"])
@given(text=TEXT)
def test_bytes_needed_are_those_that_come(name, text):
    known = vocabulary(name)
    if known.lost_bytes(text):
        return
    data, at = known.normalised(text).encode(), 0
    for piece in ledger(known, text).pieces:
        began = at - piece.before
        assert data[began:].decode() is not None, "what is held began with a character"
        at += len(piece.raw)
        held = at - len(data[:at].decode(errors="ignore").encode())
        rest = len(data[at - held :].decode()[0].encode()) - held if held else 0
        assert (piece.missing, piece.stray) == (rest, False)


def test_kinds_of_pieces_are_named():
    llama = sentencepiece("llama")
    kinds = [(p.written, p.kind) for p in ledger(llama, "Hel 鿿").pieces]
    assert ("<0xE9>", "byte") in kinds
    control = ledger(real("smollm2-135m"), "<|im_end|>", control=True).pieces
    assert [(p.written, p.kind) for p in control] == [("<|im_end|>", "added")]
    plain = ledger(real("smollm2-135m"), "<|im_end|>").pieces
    assert len(plain) > 1 and {p.kind for p in plain} == {"text"}


def test_what_is_unknown_is_told_apart_from_added_tokens_also_where_it_is_one():
    core = Tokenizer(models.BPE({"<unk>": 0, "a": 1, "b": 2}, [], unk_token="<unk>"))
    core.add_special_tokens(["<unk>"])
    core.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.Fuse()])
    known = Vocabulary(PreTrainedTokenizerFast(tokenizer_object=core, unk_token="<unk>"))
    assert [p.kind for p in ledger(known, "axb").pieces] == ["text", "unknown", "text"]
    found = Cutter(known).cut("axb")
    assert found.exact and found.ids == (1, 0, 2)
