"""Two prompts side by side: the recorded ones at once, others by the model at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from playground.ask import Ask
from playground.errors import PlaygroundError
from playground.inspection.pair import Pair, form_of
from playground.tokenlab import FORM_NAMES
from playground.ui.ask import build_ask, choice
from playground.ui.desk import same_model
from playground.ui.jobs import OnProgress, ShouldStop
from playground.ui.looking import Asked, Looking
from playground.views.pair import asked as typed
from playground.views.pair import pair_payload, system

MAX_TOKENS = 8
# Of an answer under another template: it is the answer that tells that the template is wrong.
FORM_TOKENS = 24
_SIDE = {"prompt", "system", "form"}


class Pairs:
    """Answers the question "pair" of `ui.inside`: {name}, or {a, b, mode} with a and b each
    {prompt}, in a chat also {system} and {form}: null for the model's own template, or the name
    of the one that stands in for it."""

    def __init__(self, looking: Looking) -> None:
        self.looking = looking

    def answer(self, asked: Asked) -> dict[str, Any]:
        """As `views.pair.pair_payload`. Raises PlaygroundError, and NotYet while it is made."""
        fields, recorded = asked.fields, self.looking.desk.recorded
        if "name" in fields:
            pair, intact = recorded.pair(fields["name"])
            return pair_payload(pair, recorded=True, intact=intact)
        a, b = self._asks([fields.get(side) for side in ("a", "b")], fields.get("mode"))
        info = self.looking.desk.host.status().info
        for _, pair, intact in recorded.pairs:
            if _same(pair, a, b) and (info is None or same_model(pair.model, info)):
                return pair_payload(pair, recorded=True, intact=intact)

        def work(progress: OnProgress, stop: ShouldStop) -> Pair:
            return self.looking.desk.host.pair(a, b, progress, stop)

        return pair_payload(self.looking.made(asked, "pair", asked.waiter[1], work), recorded=False)

    def _asks(self, sides: Sequence[Any], mode: Any) -> tuple[Ask, Ask]:
        for side in sides:
            if not isinstance(side, dict) or not {"prompt"} <= side.keys() <= _SIDE:
                raise PlaygroundError("error.request_form")
            if mode != "chat" and side.keys() != {"prompt"}:
                raise PlaygroundError("error.request_form")
        forms = [_form(side.get("form")) for side in sides]
        limits = self.looking.desk.host.limits
        most = min(FORM_TOKENS if any(forms) else MAX_TOKENS, limits.max_new_tokens)
        a, b = (
            build_ask(limits, side["prompt"], side.get("system"), mode, max_tokens=most)
            for side in sides
        )
        return replace(a, form=forms[0]), replace(b, form=forms[1])


def _form(value: Any) -> str | None:
    return None if value is None else choice("form", value, FORM_NAMES)


def _same(pair: Pair, a: Ask, b: Ask) -> bool:
    """Whether these are the prompts of `pair`, in the same templates."""
    return all(
        (typed(side.trace), system(side.trace).strip()) == (ask.prompt, ask.system.strip())
        and (side.trace.messages is not None) == ask.chat
        and form_of(side.trace) == ask.form
        for side, ask in ((pair.a, a), (pair.b, b))
    )
