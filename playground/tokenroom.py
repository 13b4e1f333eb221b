"""Cutting texts with any tokenizer that may be asked for by name; no weights are needed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from playground.ask import Limits
from playground.errors import PlaygroundError
from playground.tokenlab import (
    OFFLINE,
    Comparison,
    Cutting,
    Form,
    FourWays,
    LanguageCost,
    Ledger,
    Story,
    Tokenizer,
    Training,
)
from playground.trace import Message
from playground.vocabularies import Tokenizers

if TYPE_CHECKING:
    from playground.tokens import Vocabulary


class TokenRoom:
    """The part of a `Host` that cuts texts. Every method cleans its texts of lone surrogates and
    raises PlaygroundError, one sentence, for what can not be done."""

    limits: Limits
    _tokenizers: Tokenizers

    def tokenizers(self) -> tuple[Tokenizer, ...]:
        """What `model` may be."""
        return self._tokenizers.sizes()

    def encodings(self) -> tuple[str, ...]:
        """The encodings of the tiktoken package; none where it is not installed."""
        if find_spec("tiktoken") is None:
            return ()
        import tiktoken

        return tuple(sorted(tiktoken.list_encoding_names()))

    def first_tokenizer(self) -> str:
        """The one to begin with: of what needs no waiting, that of the model at hand."""
        from playground.models import embedded

        names = self._tokenizers.names()
        there = [t.name for t in self._tokenizers.sizes() if t.size is not None]
        made = [name for name in OFFLINE if name != embedded.NAME or embedded.made()]
        return next(iter([*there, *(n for n in names if n in made), *names]))

    def cut(self, model: str, text: str) -> Cutting:
        """See `Cutter.cut`."""
        return self._tokenizers.cutter(model).cut(self._text(text))

    def story(self, model: str, written: str) -> tuple[Story, tuple[bytes, ...]]:
        """See `Cutter.story`; with the bytes of its pieces."""
        cutter = self._tokenizers.cutter(model)
        found = cutter.story(self._text(written))
        return found, tuple(map(cutter.vocabulary.raw, found.ids))

    def ledger(self, model: str, text: str, control: bool = False) -> Ledger:
        """See `cutting.ledger`."""
        from playground.cutting.ledger import ledger

        return ledger(self._tokenizers.vocabulary(model), self._text(text), control=control)

    def ways(self, model: str, text: str) -> FourWays:
        """See `cutting.ways`."""
        from playground.cutting.ways import four_ways

        return four_ways(self._tokenizers.vocabulary(model), self._text(text))

    def compare(self, models: Sequence[str], text: str) -> Comparison:
        """See `cutting.comparing`."""
        from playground.cutting.comparing import compare

        text = self._text(text)
        return compare(self._tokenizers.readers(models), text)

    def languages(self, models: Sequence[str]) -> tuple[tuple[LanguageCost, ...], str]:
        """One sentence in many languages: its costs, and where the sentence is from."""
        from playground.cutting.comparing import language_costs
        from playground.cutting.languages import sentences, source

        return language_costs(self._tokenizers.readers(models), sentences()), source()

    def train(self, corpus: str, merges: int) -> Training:
        """See `cutting.training`."""
        from playground.cutting.training import train
        from playground.template import clean_text

        return train(clean_text(corpus)[0], merges)

    def templates(
        self,
        model: str,
        messages: Sequence[Message],
        thinking: bool | None = None,
        control: bool = False,
    ) -> tuple[Form, ...]:
        """The chat in the model's own template and in those of other families.

        Raises where none of them can write it; one that can not says why in its `error`.
        """
        from playground.forms import FORMS

        self.limits.hold(sum(len(message.content) for message in messages))
        vocabulary = self._tokenizers.vocabulary(model)
        found = tuple(
            _form(vocabulary, name, form, messages, thinking, control)
            for name, form in (("own", None), *FORMS.items())
        )
        errors = [form.error for form in found]
        if errors[-1] is not None and all(errors):
            raise errors[-1]
        return found

    def _text(self, text: str) -> str:
        from playground.template import clean_text

        self.limits.hold(len(text))
        return clean_text(text)[0]


def _form(
    vocabulary: Vocabulary,
    name: str,
    form: str | None,
    messages: Sequence[Message],
    thinking: bool | None,
    control: bool,
) -> Form:
    from playground import template

    told = thinking if form is None else None  # only a model's own template may know the word
    try:
        made = template.chat(vocabulary, messages, thinking=told, form=form, control=control)
    except PlaygroundError as error:
        return Form(name, "", 0, (), (), error)
    opens = template.opening(vocabulary, made, form)
    return Form(name, made.templated_text, opens, made.tokens, made.notes, None)
