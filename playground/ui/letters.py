"""How many letters: two questions and the digits as their answers, recorded or asked now."""

from __future__ import annotations

from typing import Any

from playground.errors import PlaygroundError
from playground.inspection.digits import Digits
from playground.store.digits import LoadedDigits
from playground.ui.ask import build_ask, words
from playground.ui.desk import same_model
from playground.ui.jobs import OnProgress, ShouldStop
from playground.ui.looking import Asked, Looking
from playground.views.digits import digits_payload

MOST_PREFIX = 200


class Letters:
    """Answers the question "digits" of `ui.inside`: {a, b, prefix}, two questions of a chat and
    the beginning of an answer."""

    def __init__(self, looking: Looking) -> None:
        self.looking = looking

    def answer(self, asked: Asked) -> dict[str, Any]:
        """As `views.digits.digits_payload`. Raises PlaygroundError, and NotYet while it is made."""
        fields, host = asked.fields, self.looking.desk.host
        a, b = (build_ask(host.limits, fields.get(name)) for name in ("a", "b"))
        prefix = words("prefix", fields.get("prefix"))
        if len(prefix) > MOST_PREFIX:
            raise PlaygroundError("error.prefix_long", n=len(prefix), limit=MOST_PREFIX)
        info = host.status().info
        recorded = self.looking.desk.recorded.letters
        if (
            recorded is not None
            and (a.prompt, b.prompt, prefix) == _asked(recorded.digits)
            and (info is None or same_model(recorded.digits.model, info))
        ):
            return digits_payload(recorded.digits, recorded=True, intact=recorded.intact)

        def work(progress: OnProgress, stop: ShouldStop) -> Digits:
            return host.digits(a, b, prefix, progress, stop)

        key = (a.prompt, b.prompt, prefix)
        return digits_payload(self.looking.made(asked, "digits", key, work), recorded=False)


def _asked(found: Digits) -> tuple[str, str, str]:
    return found.a.question, found.b.question, found.prefix


def defaults(recorded: LoadedDigits | None) -> dict[str, str] | None:
    """What the recorded answer was asked for, for the page to begin with; None without one."""
    if recorded is None:
        return None
    a, b, prefix = _asked(recorded.digits)
    return {"a": a, "b": b, "prefix": prefix}
