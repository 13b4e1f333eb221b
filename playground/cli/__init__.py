"""`python -m playground`: the arguments, and what becomes of errors.

Each command is a function `run(args) -> exit code` in a room of its own (`cli.trace` and so
on), imported only when it is called: `--help` must not wait for torch. Exit codes: 0 done,
1 `verify` found a difference or a check failed, 2 an error (one line on stderr), 130 stopped by
Ctrl-C, 141 the reader of the output went away.
"""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

from playground.cli.show import emit, one_line
from playground.errors import PlaygroundError
from playground.text import LANGUAGES, say

PROGRAM = "python -m playground"
DONE, DIFFERENT, FAILED, INTERRUPTED, NO_READER = 0, 1, 2, 130, 141


class Usage(Exception):
    """The command line itself is wrong."""


class Parser(argparse.ArgumentParser):
    """argparse that leaves printing and exiting to `main`."""

    def error(self, message: str) -> NoReturn:
        raise Usage(message)


def language(argv: Sequence[str]) -> str:
    """The language asked for, before anything is parsed: help and errors are in it too."""
    for i, word in enumerate(argv):
        if word == "--":
            break
        if word == "--lang" and i + 1 < len(argv) and argv[i + 1] in LANGUAGES:
            return argv[i + 1]
        if word.startswith("--lang=") and word[7:] in LANGUAGES:
            return word[7:]
    return "en"


def parser(lang: str = "en") -> Parser:
    """All commands with their flags."""

    def text(key: str) -> str:
        return say(lang, f"cli.help.{key}")

    # Taken by `language`; here so that it is known and shows in the help.
    shared = Parser(add_help=False)
    shared.add_argument("--lang", choices=LANGUAGES, default=lang, help=text("lang"))
    top = Parser(
        prog=PROGRAM, description=text("about"), epilog=text("codes"), parents=[shared],
        allow_abbrev=False,
    )  # fmt: skip
    commands = top.add_subparsers(
        dest="command", required=True, metavar="COMMAND", parser_class=Parser
    )

    def command(name: str) -> Parser:
        made = commands.add_parser(
            name, help=text(name), description=text(name), parents=[shared], allow_abbrev=False
        )
        made.set_defaults(room=f"cli.{name}")
        made.add_argument("--json", action="store_true", help=text("json"))
        return made

    command("models")

    tokens = command("tokens")
    tokens.add_argument("text", nargs="?", metavar="TEXT", help=text("text"))
    tokens.add_argument("--file", metavar="F", help=text("file"))
    tokens.add_argument("--model", metavar="M", help=text("model"))
    tokens.add_argument("--chat", action="store_true", help=text("chat"))
    tokens.add_argument("--system", metavar="S", help=text("system"))
    tokens.add_argument("--ids", action="store_true", help=text("ids"))
    tokens.add_argument("--merges", action="store_true", help=text("merges"))
    tokens.add_argument("--compare", metavar="M1,M2,…", help=text("compare"))
    tokens.add_argument("--bytes", action="store_true", help=text("bytes"))

    trace = command("trace")
    trace.add_argument("prompt", metavar="PROMPT", help=text("prompt"))
    trace.add_argument("--model", metavar="M", default="auto", help=text("model"))
    trace.add_argument("--raw", action="store_true", help=text("raw"))
    trace.add_argument("--system", metavar="S", help=text("system"))
    trace.add_argument("--no-thinking", action="store_true", help=text("no_thinking"))
    trace.add_argument(
        "--temperature", metavar="T", type=float, default=0.0, help=text("temperature")
    )
    trace.add_argument("--top-k", metavar="K", type=int, default=0, help=text("top_k"))
    trace.add_argument("--top-p", metavar="P", type=float, default=1.0, help=text("top_p"))
    trace.add_argument("--min-p", metavar="P", type=float, default=0.0, help=text("min_p"))
    trace.add_argument("--seed", metavar="N", type=int, default=0, help=text("seed"))
    trace.add_argument("--max-tokens", metavar="N", type=int, default=64, help=text("max_tokens"))
    trace.add_argument("--out", metavar="F", help=text("out"))

    verify = command("verify")
    verify.add_argument("file", metavar="F", help=text("verify_file"))

    check = command("check")
    check.add_argument("file", metavar="F", help=text("verify_file"))

    bench = command("bench")
    bench.add_argument("--model", metavar="M", default="auto", help=text("model"))

    record = command("record")
    record.add_argument("--out", metavar="DIR", required=True, help=text("record_out"))
    record.add_argument("--model", metavar="M", default="smollm2-135m", help=text("model"))
    record.add_argument("--inside", action="store_true", help=text("record_inside"))
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; nothing but bugs raises."""
    argv = list(sys.argv[1:] if argv is None else argv)
    lang = language(argv)
    try:
        return _run(argv, lang)
    except Usage as error:
        return _complain(f"{error} ({say(lang, 'cli.see_help')})")
    except PlaygroundError as error:
        return _complain(error.say(lang))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Python would try to flush the rest at exit and complain; there is nobody to hear it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NO_READER
    except Exception:
        # A bug: it is told in full, and must not look like `verify`'s "different".
        traceback.print_exc()
        return FAILED


def _run(argv: list[str], lang: str) -> int:
    try:
        args = parser(lang).parse_args(argv)
    except SystemExit as asked:  # --help
        return int(asked.code or 0)
    # What goes wrong is told in one line here; the log's copy of it would be a second one.
    logging.getLogger("playground").addHandler(logging.NullHandler())
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    room = importlib.import_module(f"playground.{args.room}")
    code: int = room.run(args)
    sys.stdout.flush()
    return code


def _complain(message: str) -> int:
    emit(f"{PROGRAM}: {one_line(message)}", file=sys.stderr)
    return FAILED
