"""`tokens`: a text as the model's tokenizer cuts it; needs no weights."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from playground import store
from playground.cli.show import emit, emit_json, one_line, piece, table
from playground.errors import PlaygroundError
from playground.text import say, texts
from playground.trace import Message, Token

AUTO = "auto"

Notes = Sequence[tuple[str, Mapping[str, str | int]]]


def run(args: argparse.Namespace) -> int:
    """Print the tokens of a text. Returns the exit code."""
    if (args.text is None) == (args.file is None):
        raise PlaygroundError("error.cli_one_text")
    if args.system is not None and not args.chat:
        raise PlaygroundError("error.cli_system_needs_chat")
    if args.ids and args.json:
        raise PlaygroundError("error.cli_ids_or_json")
    deeper = args.merges or args.bytes or args.compare is not None
    if args.merges + args.bytes + args.ids + (args.compare is not None) > 1:
        raise PlaygroundError("error.cli_one_view")
    if deeper and args.chat:
        raise PlaygroundError("error.cli_view_no_chat")
    if args.compare is not None and args.model is not None:
        raise PlaygroundError("error.cli_compare_model")
    text = given(args.text, args.file)
    if deeper:
        return look(args, text)

    from playground import template
    from playground.models import load_tokenizer
    from playground.tokens import Vocabulary

    vocabulary = Vocabulary(load_tokenizer(args.model or AUTO))
    if args.chat:
        prompt = template.chat(vocabulary, messages(text, args.system))
    else:
        prompt = template.raw(vocabulary, text)
    if args.ids:
        emit(" ".join(str(token.id) for token in prompt.tokens))
    elif args.json:
        emit_json([store.token_to_json(token) for token in prompt.tokens])
    else:
        emit(token_table(prompt.tokens, args.lang))
        emit()
        n_bytes = len(prompt.templated_text.encode())
        emit(
            say(
                args.lang, "cli.tokens.counts", tokens=len(prompt.tokens),
                characters=len(prompt.templated_text), bytes=n_bytes,
            )
        )  # fmt: skip
    # Where the output is for a program, what is told about it goes beside it.
    show_notes(prompt.notes, args.lang, sys.stderr if args.ids or args.json else sys.stdout)
    return 0


def look(args: argparse.Namespace, text: str) -> int:
    """The text to the merge, to the byte, or in several vocabularies. Returns the exit code."""
    from playground.template import clean_text

    if not text:
        raise PlaygroundError("error.empty_prompt")
    text, notes = clean_text(text)
    if args.compare is not None:
        from playground.cli import compare_vocabularies

        names = [name.strip() for name in args.compare.split(",") if name.strip()]
        compare_vocabularies.show(names, text, as_json=args.json, lang=args.lang)
    else:
        from playground.models import load_tokenizer
        from playground.tokens import Vocabulary

        vocabulary = Vocabulary(load_tokenizer(args.model or AUTO))
        if args.bytes:
            from playground.cli import ledger

            ledger.show(vocabulary, text, as_json=args.json, lang=args.lang)
        else:
            from playground.cli import merges
            from playground.cutting.story import Cutter

            merges.show(Cutter(vocabulary), text, as_json=args.json, lang=args.lang)
    show_notes(notes, args.lang, sys.stderr if args.json else sys.stdout)
    return 0


def given(text: str | None, file: str | None) -> str:
    """The text of the argument, of standard input (`-`), or of a file; line ends as they are.

    Raises PlaygroundError for what can not be read or is not UTF-8.
    """
    if text is not None and text != "-":
        return text
    name = "-" if file is None else Path(file).name
    try:
        data = sys.stdin.buffer.read() if file is None else Path(file).read_bytes()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise PlaygroundError("error.cli_read", file=ascii(name), why=why) from None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise PlaygroundError("error.cli_utf8", file=ascii(name), place=error.start + 1) from None


def messages(text: str, system: str | None) -> tuple[Message, ...]:
    """A chat of one question, with a system turn where one is asked for."""
    first = () if system is None else (Message("system", system),)
    return (*first, Message("user", text))


def token_table(tokens: Sequence[Token], lang: str) -> str:
    names = ("place", "id", "bytes", "text", "start", "end", "special", "source")
    head = [say(lang, f"cli.tokens.{name}") for name in names]
    lines = [
        (
            str(i), str(t.id), t.raw.hex(" "), piece(t.text),
            "" if t.start is None else str(t.start), "" if t.end is None else str(t.end),
            say(lang, "cli.yes") if t.special else "", say(lang, f"cli.source.{t.source}"),
        )
        for i, t in enumerate(tokens)
    ]  # fmt: skip
    return table(head, lines, left=(2, 3, 6, 7))


def show_notes(notes: Notes, lang: str, file: TextIO) -> None:
    """What the reader should know about the prompt, one line each."""
    for key, values in notes:
        # A file may carry a note that a later version will know how to say.
        told = say(lang, key, **values) if key in texts(lang) else key
        emit(one_line(say(lang, "cli.note", note=told)), file=file)
