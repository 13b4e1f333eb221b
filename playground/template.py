"""Messages or plain text → what the model reads, every character with its origin.

A chat is rendered by the tokenizer's own template (transformers runs it in a sandbox). Its ids
are those of `tokenizer.apply_chat_template`, unless a message holds control text: typed
`<|im_end|>` stays text and does not end a turn.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from jinja2 import TemplateError

from playground.errors import PlaygroundError
from playground.provenance import TEMPLATE, owners
from playground.tokens import Piece, Vocabulary
from playground.trace import Message, Source, Token

Note = tuple[str, Mapping[str, str | int]]

ROLES = ("system", "user", "assistant")
# Thinking that the template writes: an empty block, one left open, or the tags around a thought.
_THINK = re.compile(r"<think>\s*(?:</think>\s*)?|\s*</think>\s*")


@dataclass(frozen=True, slots=True)
class Prompt:
    """What goes into the model. Exactly one of `messages` and `raw_prompt` is given.

    thinking: what the template was told (None: nothing, or it does not know the word).
    templated_text: all that the model reads. tokens: it in pieces, in order; together they cover
    every character but those whose bytes the vocabulary lacks (`note.lost_bytes`). notes:
    (text key, values) of what the reader should be told.
    """

    messages: tuple[Message, ...] | None
    raw_prompt: str | None
    thinking: bool | None
    templated_text: str
    tokens: tuple[Token, ...]
    notes: tuple[Note, ...]


def clean_text(text: str) -> tuple[str, tuple[Note, ...]]:
    """`text` with halves of a character that stand alone (lone surrogates) as U+FFFD.

    Two halves that belong together become their character.
    """
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    clean, count = re.subn(r"[\ud800-\udfff]", "\ufffd", whole)
    return clean, ((("note.surrogates", {"count": count}),) if count else ())


def knows_thinking(vocabulary: Vocabulary) -> bool:
    """Whether the chat template says something else with `enable_thinking` on than off."""
    question = [Message("user", "?")]
    try:
        on, off = (_render(vocabulary, question, thinking) for thinking in (True, False))
    except PlaygroundError:
        return False
    return on != off


def chat(
    vocabulary: Vocabulary,
    messages: Sequence[Message],
    *,
    thinking: bool | None = None,
    form: str | None = None,
    control: bool = False,
) -> Prompt:
    """The chat as the model reads it, with the opening of its answer.

    form: another template than the model's own (one of `forms.FORMS`, its text). control: typed
    control text becomes the token it names; else it stays text. thinking: passed on to templates
    that know `enable_thinking`; others are told nothing, and a note says so. Raises
    PlaygroundError: a role or content of the wrong kind, no or a blank question, a tokenizer
    without a template, a template that refuses the messages.
    """
    messages, notes = _checked(messages)
    if thinking is not None and (form or not knows_thinking(vocabulary)):
        thinking = None
        notes.append(("note.no_thinking", {}))
    contents = [message.content for message in messages]
    roles = [message.role for message in messages]

    def render(contents: list[str]) -> str:
        return _render(vocabulary, list(map(Message, roles, contents)), thinking, form)

    text = render(contents)
    try:
        owner = owners(render, contents, roles, text)
    except LookupError as error:
        if not control and any(map(vocabulary.control_texts, contents)):
            raise PlaygroundError("error.template_rewrites") from error
        owner = [TEMPLATE] * len(text)
        notes.append(("note.provenance", {}))
    else:
        left_out = sum(map(len, contents)) - sum(i != TEMPLATE for i in owner)
        if left_out > 0:
            notes.append(("note.trimmed", {"count": left_out}))
    own = "" if form or roles[0] == "system" else _own_system(vocabulary, text, thinking)
    if own:
        notes.append(("note.default_system", {"text": own}))
    typed = [i != TEMPLATE and not control for i in owner]
    pieces = vocabulary.encode_around(text, typed)
    if not pieces:
        raise PlaygroundError("error.no_tokens")
    sources = _sources(text, owner, roles)
    tokens = tuple(vocabulary.token(p.id, _source(p, sources), p.start, p.end) for p in pieces)
    written = "".join(c if i != TEMPLATE else "\0" for c, i in zip(text, owner, strict=True))
    notes += _text_notes(vocabulary, contents, written, control)
    return Prompt(tuple(messages), None, thinking, text, tokens, tuple(notes))


def raw(vocabulary: Vocabulary, text: str) -> Prompt:
    """`text` as it is, behind the token that opens every text where the tokenizer has one.

    Control text in it stays text. Raises PlaygroundError for a blank text and for one that
    gives no token.
    """
    if not isinstance(text, str):
        raise PlaygroundError("error.message_text")
    text, notes = clean_text(text)
    if not text.strip():
        raise PlaygroundError("error.empty_prompt")
    pieces = vocabulary.encode(text)
    if not pieces:
        raise PlaygroundError("error.no_tokens")
    tokens, opening = [], ""
    for token_id in _opening_ids(vocabulary):
        start = len(opening)
        opening += vocabulary.raw(token_id).decode()
        tokens.append(vocabulary.token(token_id, "template", start, len(opening)))
    at = len(opening)
    for piece in pieces:
        source: Source = "user" if piece.start < piece.end else "template"
        tokens.append(vocabulary.token(piece.id, source, piece.start + at, piece.end + at))
    notes += tuple(_text_notes(vocabulary, [text], text))
    return Prompt(None, text, None, opening + text, tuple(tokens), notes)


def opening(vocabulary: Vocabulary, prompt: Prompt, form: str | None = None) -> int:
    """From which character of the chat `prompt` on its template opens the answer; the length of
    its text where it opens none. form: as `chat` was given it."""
    text = prompt.templated_text
    closed = _render(vocabulary, prompt.messages or (), prompt.thinking, form, opened=False)
    return len(closed) if text.startswith(closed) else len(text)


def _checked(messages: Sequence[Message]) -> tuple[list[Message], list[Note]]:
    checked, halves = [], 0
    for message in messages:
        if message.role not in ROLES:
            raise PlaygroundError("error.role", role=repr(message.role)[:40])
        if not isinstance(message.content, str):
            raise PlaygroundError("error.message_text")
        content, notes = clean_text(message.content)
        halves += sum(int(values["count"]) for _, values in notes)
        checked.append(Message(message.role, content))
    questions = [message.content for message in checked if message.role == "user"]
    if not questions or not all(question.strip() for question in questions):
        raise PlaygroundError("error.empty_prompt")
    return checked, [("note.surrogates", {"count": halves})] if halves else []


def _render(
    vocabulary: Vocabulary,
    messages: Sequence[Message],
    thinking: bool | None,
    form: str | None = None,
    *,
    opened: bool = True,
) -> str:
    tokenizer = vocabulary.tokenizer
    if not tokenizer.chat_template and form is None:
        raise PlaygroundError("error.no_template")
    chat = [{"role": message.role, "content": message.content} for message in messages]
    words: dict[str, Any] = {} if thinking is None else {"enable_thinking": thinking}
    try:
        return str(
            tokenizer.apply_chat_template(
                chat, chat_template=form, tokenize=False, add_generation_prompt=opened, **words
            )
        )
    except Exception as error:
        # What the template itself says ("roles must alternate") helps; a message's text, which
        # it may quote, and the words of a programming error do not.
        said = " ".join(str(error).split())[:200] if type(error) is TemplateError else ""
        quotes = any(part in said for m in messages if (part := m.content.strip()[:40]))
        reason = type(error).__name__ if quotes or not said else said
        raise PlaygroundError("error.template", reason=reason) from error


def _own_system(vocabulary: Vocabulary, text: str, thinking: bool | None) -> str:
    """The system text that the template writes where none is given, or nothing.

    That is what stands between the opening of a system turn and the opening of the question, as
    a chat with a system turn shows them.
    """
    system, user = "sYstem0mark", "uSer0mark"
    try:
        without = _render(vocabulary, [Message("user", user)], thinking)
        given = _render(vocabulary, [Message("system", system), Message("user", user)], thinking)
    except PlaygroundError:
        return ""
    head, found, rest = given.partition(system)
    between = rest.partition(user)[0]
    opening = without.partition(user)[0]
    if not (found and head and opening.startswith(head) and opening.endswith(between)):
        return ""
    own = opening[len(head) : len(opening) - len(between)]
    return own if own.strip() and text.startswith(head + own) else ""


def _opening_ids(vocabulary: Vocabulary) -> list[int]:
    """The ids (a BOS token, mostly) that the tokenizer puts before a text."""
    found = vocabulary.tokenizer.backend_tokenizer.encode("a", add_special_tokens=True)
    n = found.special_tokens_mask.index(0) if 0 in found.special_tokens_mask else 0
    return [int(i) for i in found.ids[:n]]


def _sources(text: str, owner: Sequence[int], roles: Sequence[str]) -> list[Source]:
    sources = [cast("Source", "template" if i == TEMPLATE else roles[i]) for i in owner]
    own = "".join(char if i == TEMPLATE else "\0" for char, i in zip(text, owner, strict=True))
    for block in _THINK.finditer(own):
        sources[block.start() : block.end()] = ["thinking"] * len(block[0])
    return sources


def _source(piece: Piece, sources: Sequence[Source]) -> Source:
    """Of the characters it covers: a message's before thinking's before the template's."""
    found = sources[piece.start : piece.end]
    for source in found:
        if source not in ("template", "thinking"):
            return source
    return "thinking" if "thinking" in found else "template"


def _text_notes(
    vocabulary: Vocabulary, contents: Sequence[str], written: str, control: bool = False
) -> list[Note]:
    """written: what of the model's text a person wrote, the rest blotted out. control: control
    text in it was taken for the token it names."""
    notes: list[Note] = []
    if lost := vocabulary.lost_bytes("".join(contents)):
        notes.append(("note.lost_bytes", {"bytes": lost.hex(" ")}))
    if any(vocabulary.normalised(content) != content for content in contents):
        notes.append(("note.nfc", {}))
    if texts := vocabulary.control_texts(written):
        key = "note.control_taken" if control else "note.control_text"
        notes.append((key, {"texts": " ".join(texts)}))
    return notes
