"""`tokens --merges`: each word of a text, what cut it off, and how it becomes pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from playground.cli.show import emit, emit_json, piece, table
from playground.cutting.story import LONGEST, Cutter
from playground.text import say
from playground.tokenlab import Rule, Story, Word
from playground.trace import piece_text
from playground.views import tokenlab as views

# Of a longer word the state after each merge does not fit on a line.
SHORT = 32


def show(cutter: Cutter, text: str, *, as_json: bool, lang: str) -> None:
    """Print the words of `text` (no lone surrogates) and their merges."""
    cut = cutter.cut(text)
    if as_json:
        stories = [_payload(cutter, word) for word in cut.words]
        emit_json(views.cut_payload(cut) | {"stories": stories})
        return
    for word in cut.words:
        emit(_heading(word, cut.normalised, lang))
        emit("  " + _rule(word.rule, lang))
        if not cut.exact:
            continue
        if len(word.written) > LONGEST:
            long = say(lang, "cli.merges.long", n=len(word.written), limit=LONGEST)
            emit(f"  {long}")
            continue
        story = cutter.story(word.written)
        for line in (*_told(story, lang), *_pieces(cutter, story, lang)):
            emit(f"  {line}")
        emit()
    if not cut.exact:
        emit(say(lang, "cli.merges.inexact"))
    counts = {"words": len(cut.words), "tokens": len(cut.ids)}
    kind = say(lang, f"cli.merges.kind.{cut.kind}", merges=cut.merges)
    emit(say(lang, "cli.merges.counts", **counts, kind=kind))


def _payload(cutter: Cutter, word: Word) -> dict[str, object] | None:
    """None for a word that is too long to be told."""
    if len(word.written) > LONGEST:
        return None
    story = cutter.story(word.written)
    return views.story_payload(story, [cutter.vocabulary.raw(i) for i in story.ids])


def _heading(word: Word, normalised: str, lang: str) -> str:
    return say(
        lang, "cli.merges.word", text=piece(normalised[word.start : word.end]), start=word.start,
        end=word.end, written=piece(word.written),
    )  # fmt: skip


def _rule(rule: Rule | None, lang: str) -> str:
    if rule is None:
        return say(lang, "cli.merges.uncut")
    if rule.alternative is not None:
        return say(lang, "cli.merges.rule", step=rule.step, pattern=piece(rule.alternative))
    if rule.pattern is not None:
        return say(lang, "cli.merges.between", step=rule.step, pattern=piece(rule.pattern))
    return say(lang, "cli.merges.step", step=rule.step)


def _told(story: Story, lang: str) -> Iterator[str]:
    """The way from symbols to pieces."""
    if story.whole:
        yield say(lang, "cli.merges.whole")
        return
    if story.kind != "bpe":
        return
    yield say(lang, "cli.merges.start", symbols=_row(story.symbols))
    if not story.merges:
        yield say(lang, "cli.merges.none")
        return
    parts = list(story.symbols)
    short = len(parts) <= SHORT
    lines = []
    for i, merge in enumerate(story.merges, 1):
        parts[merge.at : merge.at + 2] = [_joined(story, parts, merge.at, merge.left, merge.right)]
        after = _row(parts) if short else piece(parts[merge.at])
        lines.append(
            (str(i), str(merge.rank), piece(merge.left), piece(merge.right), str(len(parts)), after)
        )
    names = ("step_no", "rank", "left", "right", "remaining", "after")
    head = [say(lang, f"cli.merges.{name}") for name in names]
    yield from table(head, lines, left=(2, 3, 5)).splitlines()


def _joined(story: Story, parts: Sequence[str], at: int, left: str, right: str) -> str:
    """A merge's result: the two together, but for the mark that some models put before a part
    that goes on (`##`), which is left out in the middle."""
    both = left + right
    known = {*story.pieces, *(m.left for m in story.merges), *(m.right for m in story.merges)}
    cuts = (left + right[n:] for n in range(1, len(right)))
    return both if both in known else next((cut for cut in cuts if cut in known), both)


def _pieces(cutter: Cutter, story: Story, lang: str) -> Iterator[str]:
    names = ["id", "written", "bytes", "text", *(["score"] if story.scores is not None else [])]
    lines = []
    for k, (written, i) in enumerate(zip(story.pieces, story.ids, strict=True)):
        raw = cutter.vocabulary.raw(i)
        cells = [str(i), piece(written), raw.hex(" "), piece(piece_text(raw))]
        lines.append(cells + ([] if story.scores is None else [f"{story.scores[k]:.4f}"]))
    head = [say(lang, f"cli.merges.{name}") for name in names]
    yield from table(head, lines, left=(1, 2, 3)).splitlines()


def _row(symbols: Sequence[str]) -> str:
    return " ".join(map(piece, symbols))
