"""`tokens` in depth on the command line: merges, several vocabularies, bytes; in both languages."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import unicodedata

import pytest
from tokenizers import models as kinds

from playground import models
from playground.cli import main, merges
from playground.cli.compare_vocabularies import show as compare_show
from playground.cutting.ledger import ledger
from playground.cutting.story import LONGEST, Cutter
from playground.text import LANGUAGES, texts
from playground.tokenlab import MOST_MODELS
from tests.test_cli import ROOT, call, fails, works
from tests.test_cutting import made
from tests.test_tokenroom import QWEN, SMOL, library
from tests.vocabularies import real, sentencepiece

TEXT = "It's 程序员Left 电 e\u0301"


@pytest.fixture(autouse=True)
def read(monkeypatch):
    """The real tokenizers, read once; "llama" is a small one; nothing else is there."""
    known = {SMOL: real(SMOL), QWEN: real(QWEN), "auto": real(SMOL)}
    known["llama"] = sentencepiece("llama")
    monkeypatch.setattr(models, "load_tokenizer", lambda name: known[name].tokenizer)


def as_json(capsys, *argv):
    return json.loads(works(capsys, "tokens", *argv, "--json"))


# ---- merges ----


@pytest.mark.parametrize("model", [SMOL, QWEN])
def test_merges_as_json_end_in_the_librarys_ids(capsys, model):
    got = as_json(capsys, TEXT, "--merges", "--model", model)
    assert got["ids"] == library(model, TEXT) and got["exact"]
    assert [i for story in got["stories"] for i in story["ids"]] == got["ids"]
    assert [s["written"] for s in got["stories"]] == [w[2] for w in got["words"]]
    for story in got["stories"]:
        parts = list(story["symbols"])
        for _, at, left, right in story["merges"]:
            assert parts[at : at + 2] == [left, right]
            parts[at : at + 2] = [left + right]
        assert parts == story["pieces"]


def test_merges_are_told_word_by_word(capsys):
    out = works(capsys, "tokens", "strawberry", "--merges", "--model", QWEN)
    learnt = json.loads(real(QWEN).tokenizer.backend_tokenizer.to_str())["model"]["merges"]
    rows = re.findall(r"^ +(\d+) +(\d+)  (\S+) +(\S+) +(\d+)  (\S.*)$", out, re.M)
    assert [int(no) for no, *_ in rows] == [1, 2, 3, 4, 5, 6, 7]
    parts = list("strawberry")
    for _, rank, left, right, remaining, after in rows:
        assert learnt[int(rank)] == [left, right]
        at = next(i for i in range(len(parts)) if parts[i : i + 2] == [left, right])
        parts[at : at + 2] = [left + right]
        assert after.split() == parts and int(remaining) == len(parts)
    assert re.search(r"^ +495  str +73 74 72 +str$", out, re.M)
    assert re.search(r"^ +15357  berry +62 65 72 72 79 +berry$", out, re.M)
    assert "no rule cut anything here" in out
    assert "1 words, 3 tokens; byte pair encoding with 151387 merges." in out


def test_the_rule_that_cut_a_word_off_is_named(capsys):
    out = works(capsys, "tokens", "It's 20", "--merges", "--model", QWEN)
    assert "  cut off by Split: [^\\r\\n\\p{L}\\p{N}]?\\p{L}+\n" in out
    assert "  cut off by Split: \\p{N}\n" in out
    assert "'s   characters 2 to 4, written 's\n" in out
    out = works(capsys, "tokens", "a 1", "--merges", "--model", SMOL)
    assert "  cut off by Digits\n" in out


def test_merges_in_chinese(capsys):
    out = works(capsys, "tokens", "电 电", "--merges", "--model", QWEN, "--lang", "zh")
    for words in (
        "由 Split 切出",
        "合并之后",
        "字节对编码，有 151387 条合并规则",
        "e7 94 b5",
        "çĶ µ",
    ):
        assert words in out
    assert not re.search("cut off|symbols|rank", out)


def test_a_word_that_is_not_merged_says_why(capsys):
    out = works(capsys, "tokens", "x", "--merges", "--model", QWEN)
    assert "no pair of these is in the list of merges" in out
    long = "ab" * LONGEST
    out = works(capsys, "tokens", long, "--merges", "--model", QWEN)
    assert f"{len(long)} symbols; merges are told one by one up to {LONGEST}" in out
    assert as_json(capsys, long, "--merges", "--model", QWEN)["stories"] == [None]


def test_other_models_have_their_own_words(capsys):
    pieces = [("<unk>", 0.0), ("▁", -2.0), ("he", -1.0), ("l", -1.5), ("lo", -1.2)]
    told = list(merges._told(Cutter(made(kinds.Unigram(pieces, 0))).story("▁hello"), "en"))
    assert told == []
    whole = Cutter(made(kinds.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")], ignore_merges=True)))
    assert list(merges._told(whole.story("ab"), "zh")) == ["词表里就有整个词，不需要合并"]
    vocab = {t: i for i, t in enumerate(["a", "b", "##b", "ab"])}
    prefixed = Cutter(
        made(kinds.BPE(vocab, [("a", "##b")], continuing_subword_prefix="##"))
    ).story("ab")  # fmt: skip
    assert list(merges._told(prefixed, "en"))[-1].split() == ["1", "0", "a", "##b", "1", "ab"]
    out = works(capsys, "tokens", "Hello", "--merges", "--model", "llama")
    assert "▁ H e l l o" in out and "byte pair encoding with 7 merges" in out


# ---- bytes ----


@pytest.mark.parametrize("model", [SMOL, QWEN])
def test_the_ledger_as_json_is_the_ledger(capsys, model):
    got = as_json(capsys, TEXT, "--bytes", "--model", model)
    found = ledger(real(model), TEXT)
    assert got["ids"] == library(model, TEXT) and got["joined"]
    assert got["spans"] == [[p.start, p.end] for p in found.pieces]
    assert b"".join(map(bytes.fromhex, got["hexes"])) == found.normalised.encode()


def test_the_ledger_is_a_table_of_every_character_and_piece(capsys):
    text = "a电 \x04ab\u202e👩"
    out = works(capsys, "tokens", text, "--bytes", "--model", SMOL)
    for at, char in enumerate(text):
        assert re.search(rf"^ *{at}  .*U\+{ord(char):04X}  +{char.encode().hex(' ')}", out, re.M)
    places = re.findall(r" {2,}(\d+) +(\d+)  \S", out)
    assert [int(i) for _, i in places] == library(SMOL, text)
    assert [int(k) for k, _ in places] == list(range(len(places)))
    assert "begins a character, 1 byte to come" in out and "ends a character" in out
    assert "goes on with a character, 1 byte to come" in out
    lost = re.search(r"U\+0004 +04 .*$", out, re.M)[0]
    assert "lost: the vocabulary has no piece for its bytes" in lost
    assert "Lost: 1 characters have bytes that no piece stands for, at 3." in out
    assert "are not those of the normalised text" in out
    assert "\x04" not in out and "\u202e" not in out and "\ufffd" not in out


def test_the_ledger_tells_what_normalisation_did(capsys):
    out = works(capsys, "tokens", "e\u0301x", "--bytes", "--model", QWEN)
    assert "Normalised: characters 0 to 2, U+0065 U+0301, became U+00E9." in out
    assert re.search(r"^1  ◌\u0301 +U\+0301 +cc 81", out, re.M)
    assert "are those of the normalised text" in out
    out = works(capsys, "tokens", "e\u0301x", "--bytes", "--model", QWEN, "--lang", "zh")
    assert "规范化：第 0 到 2 个字符 U+0065 U+0301 变成了 U+00E9。" in out


def test_pieces_of_other_kinds_are_named(capsys):
    out = works(capsys, "tokens", "Hel 鿿", "--bytes", "--model", "llama")
    assert "<0xE9>" in out and "stands for one byte by name" in out


# ---- compare ----


def test_vocabularies_as_json(capsys):
    got = as_json(capsys, TEXT, "--compare", f"{SMOL}, {QWEN}")
    assert [c["name"] for c in got["columns"]] == [SMOL, QWEN]
    assert [c["ids"] for c in got["columns"]] == [library(SMOL, TEXT), library(QWEN, TEXT)]


def test_vocabularies_are_laid_out_by_the_characters(capsys):
    text = "程序员Left naïve"
    out = works(capsys, "tokens", text, "--compare", f"{SMOL},{QWEN}")
    counts, rows, last = out.strip().split("\n\n")
    for line, model in zip(counts.splitlines()[1:], (SMOL, QWEN), strict=True):
        n = len(library(model, text))
        rate = f"{len(text.encode()) / n:.2f}"
        assert line.split() == [model, str(real(model).size), str(n), rate]
    stretches = [line for line in rows.splitlines()[1:]]
    places = [int(line.split()[0]) for line in stretches]
    assert places[0] == 0 and places == sorted(places)
    assert [line.endswith("≠") for line in stretches] == [True, False, True]
    assert stretches[1].split() == ["3", "Left", "[Left]", "[Left]"]
    assert "[程序员]" in stretches[0] and r"[\xe7]" in stretches[0]
    assert last.startswith(f"{len(text.encode())} bytes in 3 stretches; in 2 of them")


def test_every_piece_stands_in_one_stretch(capsys):
    for text in (TEXT, " a", "👩\u200d👩\u200d👧", "\x04\n\n a", "<|im_end|>"):
        out = works(capsys, "tokens", text, "--compare", f"{SMOL},{QWEN}")
        shown = len(re.findall(r"\[[^\]]*\]", out.split("\n\n")[1]))
        n = sum(len(real(m).encode(text)) for m in (SMOL, QWEN))
        assert shown == n, ascii(text)


def test_an_encoding_of_tiktoken_may_be_among_them(capsys, monkeypatch):
    from playground.cutting.comparing import TiktokenReader
    from tests.test_ways import qwen_by_tiktoken

    made_ = TiktokenReader(qwen_by_tiktoken())
    monkeypatch.setattr("playground.cutting.comparing.tiktoken_reader", lambda name: made_)
    got = as_json(capsys, "电 a", "--compare", f"tiktoken:cl100k_base,{QWEN}")
    assert got["columns"][0]["ids"] == got["columns"][1]["ids"]
    monkeypatch.undo()
    assert "knows no encoding" in fails(capsys, "tokens", "a", "--compare", "tiktoken:nothing")


def test_comparing_is_for_those_who_ask_by_name(capsys):
    with pytest.raises(TypeError):
        compare_show()
    many = ",".join(f"m{k}" for k in range(MOST_MODELS + 1))
    for names in ("", ",", f"{SMOL},{SMOL}", many):
        assert "each once" in fails(capsys, "tokens", "a", "--compare", names)


# ---- all of them ----


@pytest.mark.parametrize("argv", [
    ("--merges", "--bytes"), ("--merges", "--ids"), ("--bytes", "--ids"),
    ("--bytes", "--compare", SMOL), ("--merges", "--compare", SMOL), ("--ids", "--compare", SMOL),
    ("--merges", "--chat"), ("--bytes", "--chat"), ("--compare", SMOL, "--chat"),
    ("--bytes", "--system", "s"), ("--compare", SMOL, "--model", SMOL), ("--compare",),
    ("--bytes", "--file", "f"), ("--merge",), ("--byte",),
])  # fmt: skip
def test_what_makes_no_sense_together_is_refused_in_one_line(capsys, monkeypatch, argv):
    monkeypatch.setattr(models, "load_tokenizer", lambda name: pytest.fail("it was read"))
    fails(capsys, "tokens", "a", *argv)
    if argv[0] != "--compare" or len(argv) > 1:
        assert re.search("[一-鿿]", fails(capsys, "tokens", "a", *argv, "--lang", "zh"))


@pytest.mark.parametrize("argv", [("--merges",), ("--bytes",), ("--compare", SMOL)])
def test_each_of_them_takes_a_file_an_empty_text_and_half_a_character(
    capsys, tmp_path, monkeypatch, argv
):
    file = tmp_path / "text.txt"
    file.write_text(TEXT, "utf-8")
    assert as_json(capsys, "--file", file, *argv) == as_json(capsys, TEXT, *argv)
    with file.open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert as_json(capsys, "-", *argv) == as_json(capsys, TEXT, *argv)
    assert "empty" in fails(capsys, "tokens", "", *argv)
    code, out, err = call(capsys, "tokens", "a\udcff", *argv, "--json")
    assert code == 0 and "1" in err and err.startswith("Note: ")
    assert json.loads(out)["text"] == "a\ufffd"


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("argv", [("--merges",), ("--bytes",), ("--compare", f"{SMOL},{QWEN}")])
def test_nothing_printed_can_steer_a_terminal(capsys, lang, argv):
    evil = "\x1b[2J\u202ea\u200b\r\x07‹<b>"
    out = works(capsys, "tokens", evil, *argv, "--lang", lang)
    assert not [c for c in out if unicodedata.category(c) in ("Cc", "Cf") and c != "\n"]


def test_an_unknown_vocabulary_is_one_line(capsys, monkeypatch):
    monkeypatch.undo()
    for argv in (("--compare", f"{SMOL},nothing here"), ("--bytes", "--model", "nothing here")):
        assert "There is no model called" in fails(capsys, "tokens", "a", *argv)


def test_the_help_names_them_in_both_languages(capsys):
    for lang in LANGUAGES:
        out = " ".join(works(capsys, "tokens", "--help", "--lang", lang).split())
        for name in ("merges", "compare", "bytes"):
            assert f"--{name}" in out and texts(lang)[f"cli.help.{name}"][:9] in out


def test_a_real_process_prints_it_also_where_the_terminal_is_ascii():
    env = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "-m", "playground", "tokens", "电", "--bytes", "--model", QWEN],
        cwd=ROOT, capture_output=True, text=True, env=env,
    )  # fmt: skip
    assert done.returncode == 0 and "U+7535" in done.stdout and done.stderr == ""


def test_main_is_the_same_door():
    assert main(["tokens", "a", "--merges", "--bytes"]) == 2
