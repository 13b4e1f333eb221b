"""Two prompts side by side: the recorded ones at once, others by the model at hand."""

from __future__ import annotations

from typing import Any

from playground.ask import Ask
from playground.errors import PlaygroundError
from playground.inspection.pair import Pair
from playground.trace import ModelInfo
from playground.ui.ask import build_ask
from playground.ui.desk import same_model
from playground.ui.jobs import OnProgress, ShouldStop
from playground.ui.looking import Asked, Looking
from playground.views.pair import asked as typed
from playground.views.pair import pair_payload

MAX_TOKENS = 8


class Pairs:
    """Answers the question "pair" of `ui.inside`: {name}, or {a: {prompt}, b: {prompt}, mode}."""

    def __init__(self, looking: Looking) -> None:
        self.looking = looking

    def answer(self, asked: Asked) -> dict[str, Any]:
        """As `views.pair.pair_payload`. Raises PlaygroundError, and NotYet while it is made."""
        fields, recorded = asked.fields, self.looking.desk.recorded
        if "name" in fields:
            pair, intact = recorded.pair(fields["name"])
            return pair_payload(pair, recorded=True, intact=intact)
        a, b = (self._ask(fields.get(side), fields.get("mode")) for side in ("a", "b"))
        info = self.looking.desk.host.status().info
        for _, pair, intact in recorded.pairs:
            if _same(pair, a, b) and (info is None or same_model(pair.model, info)):
                return pair_payload(pair, recorded=True, intact=intact)
        return pair_payload(self._made(asked, a, b, info), recorded=False)

    def _made(self, asked: Asked, a: Ask, b: Ask, info: ModelInfo | None) -> Pair:
        host = self.looking.desk.host
        if info is None:
            status = host.status()
            raise status.error or PlaygroundError("error.model_not_ready", name=status.name)

        def work(progress: OnProgress, stop: ShouldStop) -> Pair:
            pair = host.pair(a, b, progress, stop)
            # It is kept as this model's: a switch while the job waited would give another's.
            if not same_model(pair.model, info):
                raise PlaygroundError("error.inside_needs_model", name=info.name)
            return pair

        made: Pair = self.looking.computed(asked, ("pair", info, asked.waiter[1]), work)
        return made

    def _ask(self, side: Any, mode: Any) -> Ask:
        if not isinstance(side, dict) or side.keys() != {"prompt"}:
            raise PlaygroundError("error.request_form")
        limits = self.looking.desk.host.limits
        most = min(MAX_TOKENS, limits.max_new_tokens)
        return build_ask(limits, side["prompt"], mode=mode, max_tokens=most)


def _same(pair: Pair, a: Ask, b: Ask) -> bool:
    return all(
        typed(side.trace) == ask.prompt and (side.trace.messages is not None) == ask.chat
        for side, ask in ((pair.a, a), (pair.b, b))
    )
