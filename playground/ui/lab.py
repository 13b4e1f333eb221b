"""What the page asks of the tokenizer laboratory, and how it is answered.

A request is read into plain values first, trusting nothing; only then a job cuts the text.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from playground.errors import PlaygroundError
from playground.tokenlab import (
    MOST_CHARACTERS,
    MOST_MERGES,
    MOST_MESSAGES,
    MOST_MODELS,
    OFFLINE,
    Form,
)
from playground.trace import Message
from playground.ui import wire
from playground.ui.ask import words
from playground.ui.desk import whole
from playground.ui.jobs import OnProgress, ShouldStop
from playground.ui.looking import Asked, Looking
from playground.ui.protocol import Host
from playground.ui.shelf import Shelf
from playground.views import payload
from playground.views import tokenlab as views

MOST_NAME = 300
# Of the longest texts a few; they do not push out what was found inside of runs.
ANSWERS_BYTES = 48 * 2**20

Fields = dict[str, Any]


class Errand(NamedTuple):
    """One request, checked. key: the same for the same question."""

    key: Hashable
    work: Callable[[], Fields]


class Lab:
    """One for the whole server; every method may be called from any thread.

    answers: what jobs found. `errand` checks a request and says what there is to do; the page
    has it done by a job, a named endpoint at once.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self.answers = Shelf(ANSWERS_BYTES, host.limits.store_ttl_s)
        self._errands: dict[str, Callable[[Mapping[str, Any]], Errand]] = {
            "cut": self._cut,
            "story": self._story,
            "ledger": self._ledger,
            "ways": self._ways,
            "compare": self._compare,
            "languages": self._languages,
            "train": self._train,
            "templates": self._templates,
        }

    def ops(self, looking: Looking) -> dict[str, Callable[[Asked], Fields]]:
        """The questions of the page, for `Inside.ops`."""

        def through_jobs(asked: Asked) -> Fields:
            key, work = self.errand(asked.op, asked.fields)

            def job(progress: OnProgress, _stop: ShouldStop) -> Fields:
                progress("cut", None)
                return work()

            answer: Fields = looking.computed(asked, key, job, shelf=self.answers)
            return answer

        return {"lab": lambda _asked: self.names(), **dict.fromkeys(self._errands, through_jobs)}

    def names(self) -> Fields:
        """What `model` and `models` may be."""
        shown = [replace(row, name=wire.public(row.name)) for row in self._host.tokenizers()]
        default = self.default()
        start = tuple(dict.fromkeys((default, *OFFLINE)))
        return views.lab_payload(shown, self._host.encodings(), default, start)

    def default(self) -> str:
        """The name of the one to begin with."""
        return wire.public(self._host.first_tokenizer())

    def cut_told(self, model: Any, text: Any, stories: Any = True) -> Fields:
        """The answer to "cut", with the story of each word (None where it is too long)."""
        found = self.errand("cut", {"model": model, "text": text}).work()
        if _flag({"stories": stories}, "stories"):
            name, words = self._named(model), [word[2] for word in found["words"]]
            told = {written: self._story_of(name, written) for written in dict.fromkeys(words)}
            found["stories"] = [told[written] for written in words]
        return found

    def _story_of(self, model: str, written: str) -> Fields | None:
        try:
            return views.story_payload(*self._host.story(model, written))
        except PlaygroundError as error:
            if error.key != "error.cutting_long":
                raise
            return None

    def errand(self, op: str, fields: Mapping[str, Any]) -> Errand:
        """Raises PlaygroundError for an op or a field that is not as it must be."""
        make = self._errands.get(op)
        if make is None:
            raise PlaygroundError("error.request_form")
        return make(fields)

    def _cut(self, fields: Mapping[str, Any]) -> Errand:
        model, text = self._model(fields), self._text(fields, "text")
        return Errand(("cut", model, text), lambda: views.cut_payload(self._host.cut(model, text)))

    def _story(self, fields: Mapping[str, Any]) -> Errand:
        model, written = self._model(fields), self._text(fields, "written")
        return Errand(
            ("story", model, written),
            lambda: views.story_payload(*self._host.story(model, written)),
        )

    def _ledger(self, fields: Mapping[str, Any]) -> Errand:
        model, text = self._model(fields), self._text(fields, "text")
        control = _flag(fields, "control")
        return Errand(
            ("ledger", model, text, control),
            lambda: views.ledger_payload(self._host.ledger(model, text, control)),
        )

    def _ways(self, fields: Mapping[str, Any]) -> Errand:
        model, text = self._model(fields), self._text(fields, "text")
        return Errand(
            ("ways", model, text), lambda: views.ways_payload(self._host.ways(model, text))
        )

    def _compare(self, fields: Mapping[str, Any]) -> Errand:
        shown, models = self._models(fields)
        text = self._text(fields, "text")
        return Errand(
            ("compare", models, text),
            lambda: views.compare_payload(self._host.compare(models, text), shown),
        )

    def _languages(self, fields: Mapping[str, Any]) -> Errand:
        shown, models = self._models(fields)

        def work() -> Fields:
            rows, source = self._host.languages(models)
            return views.languages_payload(rows, shown, source)

        return Errand(("languages", models), work)

    def _train(self, fields: Mapping[str, Any]) -> Errand:
        corpus = words("corpus", fields.get("corpus"))
        if len(corpus) > MOST_CHARACTERS:
            raise PlaygroundError("error.corpus_long", n=len(corpus), limit=MOST_CHARACTERS)
        merges = whole("merges", fields.get("merges"), 0, MOST_MERGES)
        return Errand(
            ("train", corpus, merges), lambda: views.train_payload(self._host.train(corpus, merges))
        )

    def _templates(self, fields: Mapping[str, Any]) -> Errand:
        model, messages = self._model(fields), self._messages(fields.get("messages"))
        thinking, control = fields.get("thinking"), _flag(fields, "control")
        if thinking is not None:
            thinking = _flag(fields, "thinking")

        def work() -> Fields:
            forms = self._host.templates(model, messages, thinking, control)
            return {"forms": [_form(form) for form in forms]}

        return Errand(("templates", model, messages, thinking, control), work)

    def _model(self, fields: Mapping[str, Any]) -> str:
        return self._named(words("model", fields.get("model")))

    def _models(self, fields: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What the vocabularies are called in the request, and here."""
        found = fields.get("models")
        if not isinstance(found, list) or not 1 <= len(found) <= MOST_MODELS:
            raise PlaygroundError("error.lab_models", limit=MOST_MODELS)
        shown = tuple(words("models", name) for name in found)
        if len(set(shown)) < len(shown):
            raise PlaygroundError("error.lab_models", limit=MOST_MODELS)
        return shown, tuple(map(self._named, shown))

    def _named(self, shown: str) -> str:
        """A tokenizer in a folder of this machine is called by the folder's name alone."""
        if len(shown) > MOST_NAME:
            raise PlaygroundError("error.model_not_allowed", name=repr(shown[:40]))
        names = {wire.public(row.name): row.name for row in self._host.tokenizers()}
        return names.get(shown, shown)

    def _text(self, fields: Mapping[str, Any], name: str) -> str:
        text = words(name, fields.get(name))
        self._host.limits.hold(len(text))
        return text

    def _messages(self, value: Any) -> tuple[Message, ...]:
        if not isinstance(value, list) or not 1 <= len(value) <= MOST_MESSAGES:
            raise PlaygroundError("error.lab_messages", limit=MOST_MESSAGES)
        found = []
        for one in value:
            if not isinstance(one, dict) or set(one) != {"role", "content"}:
                raise PlaygroundError("error.request_form")
            found.append(Message(words("role", one["role"]), words("content", one["content"])))
        self._host.limits.hold(sum(len(message.content) for message in found))
        return tuple(found)


def _flag(fields: Mapping[str, Any], name: str) -> bool:
    value = fields.get(name, False)
    if not isinstance(value, bool):
        raise PlaygroundError("error.field_choice", name=name, allowed="true, false")
    return value


def _form(form: Form) -> Fields:
    tokens = [payload.token_payload(token) for token in form.tokens]
    return views.form_payload(form, tokens, None if form.error is None else wire.both(form.error))
