"""The command line, mostly in this process on tiny models; errors are one line and code 2."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
import torch

from playground import examples, models, store
from playground.cli import main
from playground.cli import show as cli_show
from playground.cli import trace as cli_trace
from playground.engine import Engine
from playground.inspection.pair import form_of
from playground.store.digits import load as load_digits
from playground.store.pair import load as load_pair
from playground.text import texts
from playground.trace import SamplingParams
from playground.views.pair import asked
from tests import tiny

ROOT = Path(__file__).parent.parent
COMMANDS = ("models", "tokens", "trace", "verify", "check", "bench", "record")
REFERENCE = "151644 872 198 3872 5264 15469 1787 30 151645 198 151644 77091 198"


@pytest.fixture
def llama(monkeypatch) -> models.Loaded:
    """`models` knows one model, whatever it is called: a tiny one."""
    loaded = tiny.loaded("llama")
    monkeypatch.setattr(models, "load", lambda name, **options: loaded)
    monkeypatch.setattr(models, "load_tokenizer", lambda name: loaded.tokenizer)
    return loaded


@pytest.fixture
def unloaded(monkeypatch):
    """Loading anything is a failure."""

    def load(*args, **options):
        raise AssertionError("a model was loaded")

    monkeypatch.setattr(models, "load", load)
    monkeypatch.setattr(models, "load_tokenizer", load)


def call(capsys, *argv: object) -> tuple[int, str, str]:
    """Exit code, stdout, stderr of one command."""
    code = main([str(word) for word in argv])
    out, err = capsys.readouterr()
    return code, out, err


def works(capsys, *argv: object) -> str:
    code, out, err = call(capsys, *argv)
    assert code == 0 and err == ""
    return out


def fails(capsys, *argv: object) -> str:
    """The one line on stderr of a command that must end with code 2 and print nothing else."""
    code, out, err = call(capsys, *argv)
    assert code == 2 and out == ""
    assert re.fullmatch(r"python -m playground: [^\n]+\n", err)
    return err


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(capsys, command, lang):
    out = works(capsys, command, "--lang", lang, "--help")
    assert "usage: python -m playground" in out and "--json" in out
    assert texts(lang)[f"cli.help.{command}"][:12] in out


def test_the_help_lists_every_command_and_the_exit_codes(capsys):
    out = works(capsys, "--help")
    assert all(re.search(rf"^ +{command} ", out, re.M) for command in COMMANDS)
    assert "Exit codes" in out


def test_the_flags_are_those_of_the_readme(capsys):
    for command, flags in {
        "tokens": (
            "--model", "--chat", "--system", "--ids", "--file", "--merges", "--compare", "--bytes",
        ),
        "trace": (
            "--model", "--raw", "--system", "--no-thinking", "--temperature", "--top-k",
            "--top-p", "--min-p", "--seed", "--max-tokens", "--out",
        ),
        "record": ("--out", "--model", "--inside"), "bench": ("--model",),
    }.items():  # fmt: skip
        out = works(capsys, command, "--help")
        assert set(re.findall(r"--[a-z-]+", out)) == {*flags, "--json", "--lang", "--help"}


@pytest.mark.parametrize(
    "argv",
    [
        (), ("nothing",), ("models", "more"), ("tokens",), ("tokens", "a", "--file", "b"),
        ("tokens", "a", "--system", "s"), ("tokens", "a", "--ids", "--json"), ("trace",),
        ("trace", "a", "--top-k", "x"), ("trace", "a", "--top-k", "1.5"), ("trace", "a\nb", "c\nd"),
        ("trace", "a", "--temperature", "nan"), ("trace", "a", "--temperature", "-1"),
        ("trace", "a", "--temperature", "1e-40"), ("trace", "a", "--top-p", "0"),
        ("trace", "a", "--top-p", "1.5"), ("trace", "a", "--min-p", "2"),
        ("trace", "a", "--seed", "-1"), ("trace", "a", "--max-tokens", "0"),
        ("trace", "a", "--raw", "--system", "s"), ("trace", "a", "--raw", "--no-thinking"),
        ("trace", "a", "--out", "/no/such/folder/f"), ("trace", "a", "--out", "/"),
        ("trace", "a", "--temp", "1"), ("verify",), ("verify", "/no/such/file"), ("verify", "/"),
        ("check",), ("check", "/no/such/file"),
        ("record",), ("tokens", "--file", "/no/such/file"), ("tokens", "--file", "a\0b"),
        ("models", "--lang", "fr"),
    ],
)  # fmt: skip
def test_a_wrong_command_line_is_one_line_before_anything_is_loaded(capsys, unloaded, argv):
    fails(capsys, *argv)


def test_errors_speak_the_language_asked_for(capsys, unloaded):
    assert "贪心" in texts("zh")["cli.help.trace"]
    assert "允许范围" in fails(capsys, "trace", "a", "--top-p", "2", "--lang=zh")


def test_models(capsys):
    out = works(capsys, "models")
    rows = json.loads(works(capsys, "models", "--json"))
    assert [row["name"] for row in rows][:2] == ["smollm2-135m", "qwen3-0.6b"]
    assert rows[0].keys() == {
        "name", "kind", "location", "local", "size_bytes", "tokenizer_only"
    }  # fmt: skip
    assert all(row["name"] in out and row["location"] in out for row in rows)


def test_help_and_models_do_not_wait_for_torch():
    code = (
        "import sys; from playground.cli import main\n"
        "main(['--help']); main(['trace', '--help']); main(['models'])\n"
        "print([m for m in ('torch', 'transformers', 'gradio') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_reference_case_through_a_real_process():
    command = [sys.executable, "-m", "playground", "tokens", "--model", "qwen3-0.6b", "--chat"]
    done = subprocess.run(
        [*command, "--ids", "Is OpenAI open?"], cwd=ROOT, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, REFERENCE + "\n", "")


def test_tokens_as_json(capsys, llama):
    tokens = json.loads(works(capsys, "tokens", "the 苹 an", "--json"))
    keys = ["id", "bytes", "text", "start", "end", "special", "source"]
    assert all(list(token) == keys for token in tokens)
    assert bytes.fromhex("".join(t["bytes"] for t in tokens)).decode() == "the 苹 an"
    assert tokens[0] | {"id": 0} == {
        "id": 0, "bytes": "746865", "text": "the", "start": 0, "end": 3, "special": False,
        "source": "user",
    }  # fmt: skip
    assert [t["text"] for t in tokens[2:5]] == ["\\xe8", "\\x8b", "\\xb9"]
    ids = works(capsys, "tokens", "the 苹 an", "--ids")
    assert ids == " ".join(str(t["id"]) for t in tokens) + "\n"


def test_tokens_of_a_chat_have_their_provenance(capsys, llama):
    argv = ("tokens", "an <|im_end|>", "--chat", "--system", "the")
    tokens = json.loads(call(capsys, *argv, "--json")[1])
    by_source = {
        source: b"".join(bytes.fromhex(t["bytes"]) for t in tokens if t["source"] == source)
        for source in ("system", "user")
    }
    assert by_source == {"system": b"the", "user": b"an <|im_end|>"}
    assert sum(t["special"] for t in tokens) == 5
    out = works(capsys, *argv)
    assert re.search(r"^ +0 +\d+ +3c 7c .* yes +template$", out, re.M)
    assert re.search(r"^\d+ tokens, \d+ characters, \d+ bytes\.$", out, re.M)


def test_tokens_from_a_file_and_from_standard_input(capsys, llama, tmp_path, monkeypatch):
    text = "the\r\nan\n"
    file = tmp_path / "text.txt"
    file.write_bytes(text.encode())
    from_file = json.loads(works(capsys, "tokens", "--file", file, "--json"))
    assert bytes.fromhex("".join(t["bytes"] for t in from_file)) == text.encode()
    with file.open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert json.loads(works(capsys, "tokens", "-", "--json")) == from_file
    file.write_bytes(b"ab\xff")
    assert "byte 3 " in fails(capsys, "tokens", "--file", file)


def test_text_cannot_steer_the_terminal(capsys, llama):
    out = works(capsys, "tokens", "a\x1b[2J\u202eb\u200d\r")
    assert "‹U+001B›" in out and "‹U+202E›" not in out  # its bytes are three pieces
    shown = cli_show.visible("\x1b\u202e\u200d\x00\x85\u2028é苹👩")
    assert shown == "‹U+001B›‹U+202E›‹U+200D›‹U+0000›‹U+0085›‹U+2028›é苹👩"
    assert cli_show.streamed("a\n\tb\u200d\x07") == "a\n\tb\u200d‹U+0007›"
    assert cli_show.piece(" a\n\t\r") == "·a↵→‹U+000D›"


def test_a_table_lines_up_wide_characters():
    lines = cli_show.table(("a", "b"), [("苹果", "1"), ("x", "22")], left=(0,)).splitlines()
    assert lines == ["a      b", "苹果   1", "x     22"]
    assert len({cli_show.width(line) for line in lines}) == 1


def traced(capsys, tmp_path, *argv: object, name: str = "t.trace.json"):
    file = tmp_path / name
    code, out, _ = call(capsys, "trace", *argv, "--out", file)
    assert code == 0
    return file, store.load(file).trace, out


SAMPLED = ("--temperature", "0.9", "--top-k", "60", "--top-p", "0.97", "--seed", "4")


def test_a_trace_is_streamed_then_tabled_and_saved(capsys, llama, tmp_path):
    file, trace, out = traced(capsys, tmp_path, "Is the an", *SAMPLED, "--max-tokens", "23")
    assert trace.params == SamplingParams(0.9, 60, 0.97, 0.0, 4)
    assert trace.messages[0].content == "Is the an" and trace.max_tokens == 23
    assert out.startswith(cli_show.streamed(trace.text))
    for step in trace.steps:
        assert re.search(rf"^ *{step.index + 1}  {step.phase} +{step.token.id}  ", out, re.M)
    assert store.trace_id(trace) in out and str(file) in out
    acting = {c for c in out if unicodedata.category(c) in ("Cc", "Cf")} - {"\n", "\t"}
    assert not acting
    assert any(unicodedata.category(c) == "Cc" for c in trace.text), "nothing was put to the test"


def test_a_trace_as_json_is_a_trace_file(capsys, llama, tmp_path):
    out = works(capsys, "trace", "the", "--raw", "--json", "--max-tokens", "5")
    trace, intact = store.loads(out.encode())
    assert intact and trace.raw_prompt == "the" and len(trace.steps) <= 5
    _, again, _ = traced(capsys, tmp_path, "the", "--raw", "--max-tokens", "5", name="t.json.gz")
    assert again.ids == trace.ids
    assert (tmp_path / "t.json.gz").read_bytes()[:2] == b"\x1f\x8b"


def test_its_ids_are_those_of_the_engine(capsys, llama, tmp_path):
    from playground import template

    _, trace, _ = traced(capsys, tmp_path, "the an", "--raw", "--max-tokens", "17")
    engine = Engine(llama)
    run = engine.generate(template.raw(engine.vocabulary, "the an"), SamplingParams(), 17)
    assert trace.ids == tuple(step.token.id for step in run)


def test_verify_says_yes_to_a_run_that_comes_again(capsys, llama, tmp_path):
    file, trace, _ = traced(capsys, tmp_path, "Is the an", *SAMPLED, "--max-tokens", "23")
    assert "OK" in works(capsys, "verify", file)
    report = json.loads(works(capsys, "verify", file, "--json"))
    assert report["ok"] and report["intact"] and report["changed"] == {}
    assert report["steps"] == report["compared_steps"] == len(trace.steps)
    fields = {f["field"]: f for f in report["fields"]}
    assert fields["steps.candidates.logits"]["compared"] >= 50 * len(trace.steps)
    assert fields["steps.candidates.logits"]["tolerance"] == 1e-3
    assert fields["steps.candidates.probs"]["tolerance"] == 1e-4


def spoil(file: Path, change, honest: bool) -> None:
    """Change a saved trace; honest: with a checksum that fits the change."""
    data = json.loads(file.read_bytes())
    change(data)
    if honest:
        store.save(store.from_json(data), file)
    else:
        file.write_text(json.dumps(data), "utf-8")


def raise_a_logit(data):
    data["steps"][2]["candidates"]["logits"][0] += 0.5


@pytest.mark.parametrize("honest", [False, True])
def test_verify_says_no_to_a_changed_number(capsys, llama, tmp_path, honest):
    file, _, _ = traced(capsys, tmp_path, "Is the an", "--max-tokens", "7")
    spoil(file, raise_a_logit, honest)
    code, out, err = call(capsys, "verify", file)
    assert code == 1 and err == "" and "FAILED" in out
    assert re.search(r"steps\.candidates\.logits .* 5\.00e-01 .*steps\[2\]\.candidates", out)
    code, out, _ = call(capsys, "verify", file, "--json")
    report = json.loads(out)
    assert code == 1 and not report["ok"] and report["intact"] == honest
    assert [f["field"] for f in report["fields"] if not f["ok"]] == ["steps.candidates.logits"]


def test_verify_says_no_to_a_damaged_file_even_where_no_compared_number_changed(
    capsys, llama, tmp_path
):
    file, _, _ = traced(capsys, tmp_path, "Is the an", "--max-tokens", "7")

    def change(data):
        data["steps"][0]["timing"]["forward_ms"] = 1.0

    spoil(file, change, honest=False)
    code, out, _ = call(capsys, "verify", file)
    assert code == 1 and "checksum" in out


def test_verify_says_where_the_answers_part(capsys, llama, tmp_path, monkeypatch):
    file, _, _ = traced(capsys, tmp_path, "Is the an", "--max-tokens", "9")
    other = tiny.loaded("llama", seed=6)
    monkeypatch.setattr(models, "load", lambda name, **options: other)
    code, out, _ = call(capsys, "verify", file)
    assert code == 1 and "answers part after" in out


def test_verify_runs_a_fork_with_its_forced_ids(capsys, llama, tmp_path):
    from playground import template

    engine = Engine(llama)
    prompt = template.raw(engine.vocabulary, "the an")
    run = engine.generate(
        prompt, SamplingParams(0.9, seed=8), 11, forced=(104, 105), parent=("0" * 16, 2),
        n_candidates=9, prefill_chunk=2,
    )  # fmt: skip
    list(run)
    file = tmp_path / "fork.json"
    store.save(run.trace(), file)
    assert [s.phase for s in run.trace().steps[:3]] == ["forced", "forced", "decode"]
    assert "OK" in works(capsys, "verify", file)


def test_verify_of_what_is_no_trace(capsys, unloaded, tmp_path):
    file = tmp_path / "x.json"
    file.write_text('{"schema": 99}')
    assert "schema 99" in fails(capsys, "verify", file)


def test_ctrl_c_stops_the_run_and_keeps_it(capsys, llama, tmp_path, monkeypatch):
    shown = []

    def show(step):
        shown.append(step)
        if len(shown) == 3:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(cli_trace, "show_piece", show)
    file = tmp_path / "t.json"
    before = signal.getsignal(signal.SIGINT)
    code, out, err = call(capsys, "trace", "Is the an", "--max-tokens", "50", "--out", file)
    assert (code, err, len(shown)) == (130, "", 3)
    assert signal.getsignal(signal.SIGINT) is before
    trace, intact = store.load(file)
    assert intact and trace.finish == "cancelled" and len(trace.steps) == 3
    assert "ended by a stop" in out
    assert "OK" in works(capsys, "verify", file)


def test_a_model_that_fails_is_one_line_and_the_steps_are_kept(
    capsys, llama, tmp_path, monkeypatch
):
    forward = Engine.forward
    calls = []

    def sick(self, ids, cache):
        logits, ms = forward(self, ids, cache)
        calls.append(ids)
        return (torch.full_like(logits, float("nan")) if len(calls) == 4 else logits), ms

    monkeypatch.setattr(Engine, "forward", sick)
    file = tmp_path / "t.json"
    code, _, err = call(capsys, "trace", "Is the an", "--max-tokens", "9", "--out", file)
    assert code == 2 and err.count("\n") == 1 and "not finite" in err
    trace = store.load(file).trace
    assert trace.finish == "error" and len(trace.steps) == 3
    calls.clear()
    assert "OK" in works(capsys, "verify", file)
    monkeypatch.setattr(Engine, "forward", forward)
    assert call(capsys, "verify", file)[0] == 1  # a healthy model does not repeat it


def test_a_bug_is_told_in_full_and_is_no_verdict(capsys, monkeypatch):
    def load(*args, **options):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(models, "load_tokenizer", load)
    code, _, err = call(capsys, "tokens", "a")
    assert code == 2 and "Traceback" in err and "a bug" in err


def test_a_reader_that_goes_away_is_no_error():
    process = subprocess.Popen(
        [sys.executable, "-m", "playground", "models", "--json"], cwd=ROOT,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 141


def test_output_that_is_not_utf8_still_works():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "playground", "tokens", "苹👩", "--model", "qwen3-0.6b"]
    for flags in (["--json"], []):
        done = subprocess.run(
            [*command, *flags], cwd=ROOT, capture_output=True, env=environment, check=True
        )
        assert done.stdout.isascii() and done.stderr == b""
        if flags:
            assert "".join(t["bytes"] for t in json.loads(done.stdout)) == "苹👩".encode().hex()


def test_record_makes_every_example(capsys, llama, tmp_path):
    folder = tmp_path / "new"
    out = json.loads(works(capsys, "record", "--out", folder, "--json"))
    n = len(examples.EXAMPLES)
    out, pairs, letters = out[:n], out[n:-1], out[-1]
    assert [made["name"] for made in out] == [e.name for e in examples.EXAMPLES]
    assert [made["name"] for made in pairs] == [e.name for e in examples.PAIRS]
    assert len(list(folder.iterdir())) == 3 * n + len(pairs) + 1
    assert letters["bytes"] == [examples.letters_path(folder).stat().st_size]
    digits, intact = load_digits(examples.letters_path(folder))
    assert intact and (digits.a.question, digits.b.question) == examples.LETTERS
    for made, example in zip(pairs, examples.PAIRS, strict=True):
        pair, intact = load_pair(examples.pair_path(folder, example.name))
        assert intact and made["parts_at"] == pair.parts_at
        assert (asked(pair.a.trace), asked(pair.b.trace)) == (example.a, example.b)
        assert (pair.a.trace.messages is None) == (example.forms is None)
        if example.forms is not None:
            forms = [form_of(side.trace) or "own" for side in (pair.a, pair.b)]
            assert tuple(forms) == example.forms
    for example in examples.EXAMPLES:
        trace, intact = store.load(examples.trace_path(folder, example.name))
        rows = store.load_rows(examples.rows_path(folder, example.name))
        assert intact and trace.messages[0].content == example.prompt
        assert {row.id for row in rows} == {t.id for t in trace.prompt} | set(trace.ids)
        assert all(row.values.shape == (llama.info.d_model,) for row in rows)
        bundle, intact = store.load_inside(examples.inside_path(folder, example.name))
        assert intact and bundle.trace_id == store.trace_id(trace)
    assert [made["layers"] for made in out] == [[0, 1, 2]] * len(out)
    assert all(made["checks"]["red"] == 0 < made["checks"]["held"] for made in out)
    assert [made["bytes"][2] for made in out] == [
        examples.inside_path(folder, e.name).stat().st_size for e in examples.EXAMPLES
    ]
    assert "strawberry" in works(capsys, "record", "--out", folder)


def test_record_can_make_the_inside_alone(capsys, llama, tmp_path, monkeypatch):
    monkeypatch.setattr(examples, "EXAMPLES", examples.EXAMPLES[1:2])
    works(capsys, "record", "--out", tmp_path)
    files = {path.name: path for path in tmp_path.iterdir()}
    before = {name: path.read_bytes() for name, path in files.items()}
    files["strawberry.inside.json.gz"].unlink()
    assert "layers 0, 1, 2" in works(capsys, "record", "--inside", "--out", tmp_path)
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert after.keys() == before.keys()
    assert {n for n in after if after[n] != before[n]} <= {"strawberry.inside.json.gz"}  # its times
    files["strawberry.trace.json.gz"].unlink()
    assert "strawberry" in fails(capsys, "record", "--inside", "--out", tmp_path)


def test_a_red_check_is_told_by_record(capsys, llama, tmp_path, monkeypatch):
    monkeypatch.setattr(examples, "EXAMPLES", examples.EXAMPLES[1:2])
    works(capsys, "record", "--out", tmp_path)
    path = examples.trace_path(tmp_path, "strawberry")
    trace = store.load(path).trace
    step = dataclasses.replace(trace.steps[0], entropy_bits=trace.steps[0].entropy_bits + 1)
    store.save(dataclasses.replace(trace, steps=(step, *trace.steps[1:])), path)
    assert main(["record", "--inside", "--out", str(tmp_path)]) == 1
    assert "1 do not" in capsys.readouterr().out


def test_the_real_model_comes_again(capsys, smollm, tmp_path, monkeypatch):
    monkeypatch.setattr(cli_trace, "load_engine", lambda *args, **options: smollm)
    monkeypatch.setattr("playground.cli.verify.load_engine", lambda *args, **options: smollm)
    file, trace, _ = traced(capsys, tmp_path, "Is OpenAI open?", "--max-tokens", "12")
    assert len(trace.steps) == 12 and trace.model.n_layers == 30
    assert "OK" in works(capsys, "verify", file)
