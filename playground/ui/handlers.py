"""The named events: thin, from the wire to the desk and back. Their docstrings are the API's.

Events that a page listens to answer with messages, errors among them; events that only the
API has answer with values, and fail with one sentence.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, TypeVar

import gradio as gr

from playground import store
from playground.errors import PlaygroundError
from playground.ui import wire
from playground.ui.ask import build_ask
from playground.ui.desk import Desk
from playground.ui.lab import Lab
from playground.ui.running import Runner, error_message

log = logging.getLogger(__name__)
T = TypeVar("T")


class Handlers:
    """What the events of the page and of the API call."""

    def __init__(self, desk: Desk, runner: Runner, models: Sequence[str] = ()) -> None:
        self.desk = desk
        self.runner = runner
        self.lab = Lab(desk.host)
        # A model in a folder of this machine is offered by the folder's name alone.
        self._names = {wire.public(name): name for name in models}

    async def run(
        self,
        prompt: Any,
        system: Any = "",
        mode: Any = "chat",
        thinking: Any = "auto",
        temperature: Any = 0.0,
        top_k: Any = 0,
        top_p: Any = 1.0,
        min_p: Any = 0.0,
        seed: Any = 0,
        max_tokens: Any = 64,
    ) -> AsyncIterator[str]:
        """Run the model and stream what happens, one JSON message per item.

        {"type": "queue"} while others are served, "start" with the prompt's tokens, "progress"
        of a long prefill, one "step" per generated token, then "end" with `trace_id`, which
        /trace takes. {"type": "error", "text": {en, zh}} instead where it can not be done.
        mode: chat or raw. thinking: auto, on or off. temperature 0 is greedy.
        """
        try:
            ask = build_ask(
                self.desk.host.limits, prompt, system, mode, thinking,
                temperature, top_k, top_p, min_p, seed, max_tokens,
            )  # fmt: skip
        except PlaygroundError as error:
            yield error_message(error)
            return
        async for message in self.runner.messages(ask):
            yield message

    def open(self, file: bytes | None) -> str:
        """Read a trace file and keep it on the server: {"type": "load", "trace": …} or an error."""
        return _message(lambda: {"type": "load", "trace": self.desk.open(_given(file))})

    def switch(self, name: Any) -> str:
        """Load another of the models that the operator allows."""
        return _message(lambda: {"type": "status", "status": self._switch(name)})

    def trace(self, trace_id: str) -> dict[str, Any]:
        """A finished trace by its id, as in a .trace.json file."""
        return _value(lambda: store.to_json(self.desk.find(trace_id)[1]))

    def tokens(
        self,
        prompt: str,
        system: str = "",
        mode: str = "raw",
        thinking: str = "auto",
        model: str | None = None,
    ) -> list[dict[str, Any]]:
        """The tokens of a text, as the model would get them; model: the one loaded now, or an
        allowed name, whose weights are not needed. mode chat puts the text in its template."""
        return _value(lambda: self.desk.tokens(prompt, system, mode, thinking, model))

    def embedding(self, token_id: int, n: int = 10) -> dict[str, Any]:
        """A row of the embedding table and its n nearest rows by cosine, distance and dot."""
        return _value(lambda: store.row_to_json(self.desk.embedding(token_id, n)))

    def models(self) -> dict[str, Any]:
        """The models of this server, and where the present one stands."""
        return _value(lambda: {"models": self._rows(), "status": self.desk.status()})

    # Tokens in depth. model: a tokenizer's name; "smollm2-135m" and "qwen3-0.6b" always work, and
    # where none is given it is the one that is at hand. Places count code points.

    def ledger(self, text: str, model: str | None = None, control: bool = False) -> dict[str, Any]:
        """A text to the byte: its characters, pieces and ids, a list for each column.

        model: a tokenizer's name, by default the one at hand. control: `<|im_end|>` and the like
        become the tokens they name, else they stay text. spans, first: places in the text, in
        code points. before, missing: bytes of a character that is cut apart. lost: places of
        characters that the vocabulary lacks.
        """
        return self._cuts("ledger", text=text, model=model, control=control)

    def cut(self, text: str, model: str | None = None, stories: bool = True) -> dict[str, Any]:
        """The words of a text, which rule cut each of them off, and how each becomes its pieces.

        model: a tokenizer's name, by default the one at hand. words: [start, end, the word as it
        is merged, place in rules or -1]. stories: of each word; its merges are [rank, place, left,
        right]. null for a word that is too long to be told.
        """
        return _value(lambda: self.lab.cut_told(self._named(model), text, stories))

    def ways(self, text: str, model: str | None = None) -> dict[str, Any]:
        """One text cut into words, into characters (grapheme clusters), into pieces, into bytes.

        model: a tokenizer's name, by default the one at hand.
        """
        return self._cuts("ways", text=text, model=model)

    def compare(self, text: str, models: list[str]) -> dict[str, Any]:
        """Several vocabularies on one text: ids, bytes and characters of every piece.

        models: one to eight names; "tiktoken:NAME" is an encoding of the tiktoken package. ends:
        places in the text where a piece ends; shared: where all of them do.
        """
        return self._cuts("compare", text=text, models=models)

    def languages(self, models: list[str]) -> dict[str, Any]:
        """How many tokens one sentence takes in many languages. models: as for /compare."""
        return self._cuts("languages", models=models)

    def train(self, corpus: str, merges: int) -> dict[str, Any]:
        """A byte-level BPE vocabulary learnt from a text, at most `merges` merges of it.

        merges: [left, right, how often the pair stood there, tokens of the text after it].
        """
        return self._cuts("train", corpus=corpus, merges=merges)

    def templates(
        self,
        messages: list[dict[str, str]],
        model: str | None = None,
        thinking: bool | None = None,
        control: bool = False,
    ) -> dict[str, Any]:
        """A chat in the model's own template and in those of other families, as its tokens.

        messages: [{"role": "system", "user" or "assistant", "content": text}, …]. model: a
        tokenizer's name, by default the one at hand. thinking: what the own template is told.
        control: typed control text becomes the token it names, else it stays text.
        """
        return self._cuts(
            "templates", messages=messages, model=model, thinking=thinking, control=control
        )

    def _cuts(self, op: str, **fields: Any) -> dict[str, Any]:
        if "model" in fields:
            fields["model"] = self._named(fields["model"])
        return _value(lambda: self.lab.errand(op, fields).work())

    def _named(self, model: Any) -> Any:
        return self.lab.default() if model is None else model

    def _switch(self, name: Any) -> dict[str, Any]:
        self.desk.host.switch(self._names.get(name, name) if isinstance(name, str) else name)
        return self.desk.status()

    def _rows(self) -> list[dict[str, Any]]:
        fields = ("kind", "local", "size_bytes", "tokenizer_only")
        return [
            {"name": wire.public(row.name)} | {f: getattr(row, f) for f in fields}
            for row in self.desk.host.models()
        ]


def _given(file: bytes | None) -> bytes:
    if not isinstance(file, bytes):
        raise PlaygroundError("error.no_file")
    return file


def _message(work: Callable[[], dict[str, Any]]) -> str:
    """What `work` gives, or its failure, as a message for the page."""
    try:
        return wire.message(work())
    except PlaygroundError as error:
        return error_message(error)
    except Exception:
        log.exception("an event failed")
        return error_message(PlaygroundError("error.internal"))


def _value(work: Callable[[], T]) -> T:
    """What `work` gives; its failure as the sentence that Gradio's clients raise."""
    try:
        return work()
    except PlaygroundError as error:
        raise gr.Error(wire.both(error)["en"], print_exception=False) from None
    except Exception:
        log.exception("an event failed")
        sentence = str(PlaygroundError("error.internal"))
        raise gr.Error(sentence, print_exception=False) from None
