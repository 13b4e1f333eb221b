"""What the page asks about the inside of a run, and how it is answered.

A request is a JSON object {op, who, …}; `Inside.ops` says who answers it. An answer that takes
the model may not be there yet: then the answer is how far it is, and the browser asks again with
the same request. What was found is kept, so that another head is a matter of milliseconds.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable
from typing import Any

from playground.errors import PlaygroundError
from playground.inspection.attend import attend
from playground.trace import ModelInfo
from playground.ui.desk import whole
from playground.ui.jobs import OnProgress, ShouldStop, Waiting
from playground.ui.lab import Lab
from playground.ui.letters import Letters
from playground.ui.looking import Asked, Looking, NotYet
from playground.ui.pairs import Pairs
from playground.views import inside as views

# Scores of one head that travel at once: all of 1,024 positions; of more, the last ones, but
# every answering one as far as four times as many go.
SCORES = 2**20
MAX_FIELDS = 16
_WHO = re.compile(r"[0-9A-Za-z_-]{1,64}")

Fields = dict[str, Any]


class Inside:
    """One for the whole server; every method may be called from any thread.

    To add a question, put its handler into `ops`: it checks `asked.fields`, takes what needs the
    model from `looking.computed`, and gives plain JSON.
    """

    def __init__(self, looking: Looking) -> None:
        self.looking = looking
        # Heads of long runs take a core and some memory each.
        self._slots = threading.BoundedSemaphore(2)
        self.ops: dict[str, Callable[[Asked], Fields]] = {
            "inside": self._inside,
            "head": self._head,
            "ffn": self._ffn,
            "neuron": self._neuron,
            "ablate": self._ablate,
            "ablations": self._ablations,
            "uncached": self._uncached,
            "check": self._check,
            "pair": Pairs(looking).answer,
            "digits": Letters(looking).answer,
        }
        self.lab = Lab(looking.desk.host)
        self.ops |= self.lab.ops(looking)

    def work(self, request: Any) -> Fields:
        """{"state": "done", "result": …}, or {"state": "waiting", "ahead": n}, or {"state":
        "running", "stage": …, "fraction": …}. Raises PlaygroundError."""
        who, fields = _form(request)
        op = fields.get("op")
        if not isinstance(op, str) or op not in self.ops:
            raise PlaygroundError("error.request_form")
        asked = Asked(op, (who, _short(fields)), fields)
        try:
            return {"state": "done", "result": self.ops[op](asked)}
        except NotYet as not_yet:
            name = "waiting" if isinstance(not_yet.state, Waiting) else "running"
            return {"state": name} | not_yet.state._asdict()

    def halt(self, request: Any) -> Fields:
        """Who sent `request` waits no longer for its answer; without an op, for none at all.

        Whether there was one to wait for is {"halted": bool}. A job nobody waits for is stopped.
        """
        who, fields = _form(request)
        asked = (who, _short(fields))
        everything = "op" not in fields

        def gone(waiter: tuple[str, str]) -> bool:
            return waiter[0] == who if everything else waiter == asked

        return {"halted": self.looking.jobs.leave(gone) > 0}

    def close(self) -> None:
        """The server is going down."""
        self.looking.jobs.close()

    def _inside(self, asked: Asked) -> Fields:
        run = self.looking.run(asked)
        layers = list(range(run.model.n_layers))
        if run.bundle is None:
            found, weights = self.looking.look(asked, run)
        else:
            found, weights = run.bundle.inspection, run.bundle.weights
            if not self.looking.at_hand(run.model):
                layers = [detail.layer for detail in found.details]
        recorded = run.bundle is not None
        return views.inside_payload(found, run.trace_id, layers, weights, recorded=recorded)

    def _head(self, asked: Asked) -> Fields:
        run = self.looking.run(asked)
        layer = whole("layer", asked.fields.get("layer"), 0, run.model.n_layers - 1)
        head = whole("head", asked.fields.get("head"), 0, run.model.n_heads - 1)
        detail = self.looking.detail(asked, run, layer)
        if detail.q is None:
            raise PlaygroundError("error.inspect_part", family=run.model.family)
        with self._slots:
            last = rows_at_once(detail.q.shape[1], len(run.trace.steps))
            attended = attend(detail, head, last)
            if attended is None:
                raise PlaygroundError("error.inspect_part", family=run.model.family)
            return views.head_payload(detail, attended)

    def _ffn(self, asked: Asked) -> Fields:
        run = self.looking.run(asked)
        layer = whole("layer", asked.fields.get("layer"), 0, run.model.n_layers - 1)
        detail = self.looking.detail(asked, run, layer)
        if detail.neurons is None:
            raise PlaygroundError("error.inspect_part", family=run.model.family)
        return views.ffn_payload(detail)

    def _neuron(self, asked: Asked) -> Fields:
        run = self.looking.run(asked)
        layer = whole("layer", asked.fields.get("layer"), 0, run.model.n_layers - 1)
        unit = whole("id", asked.fields.get("id"), 0, run.model.d_ffn - 1)
        recorded = run.bundle.neurons if run.bundle is not None else ()
        found = next((n for n in recorded if (n.layer, n.id) == (layer, unit)), None)

        def work(_progress: OnProgress, _stop: ShouldStop) -> Any:
            neuron = self.looking.desk.host.neuron(layer, unit)
            # It names no run: so the model must be the same one after it as before.
            self.looking.needs(run.model)
            return neuron

        key = ("neuron", run.trace_id, layer, unit)
        return views.neuron_payload(found or self.looking.computed(asked, key, work, run=run))

    def _ablate(self, asked: Asked) -> Fields:
        run, fields = self.looking.run(asked), asked.fields
        step = whole("step", fields.get("step"), 0, len(run.trace.steps) - 1)
        before = len(run.trace.prompt) + step - 1
        hide, head, ffn = fields.get("hide"), fields.get("head"), fields.get("ffn")
        hide = None if hide is None else whole("hide", hide, 0, before)
        head = None if head is None else _head_of(run.model, head)
        ffn = None if ffn is None else whole("ffn", ffn, 0, run.model.n_layers - 1)
        if hide is None and head is None and ffn is None:
            raise PlaygroundError("error.inspect_nothing")
        of = (step, hide, head, ffn)
        recorded = run.bundle.ablations if run.bundle is not None else ()
        found = next((a for a in recorded if (a.step, a.hide, a.head, a.ffn) == of), None)

        def work(_progress: OnProgress, _stop: ShouldStop) -> Any:
            return self.looking.desk.host.ablate(run.trace, step, hide, head, ffn)

        key = ("ablate", run.trace_id, *of)
        return views.ablation_payload(found or self.looking.computed(asked, key, work, run=run))

    def _ablations(self, asked: Asked) -> Fields:
        """Those in the run's file; none of a run that was not recorded."""
        run = self.looking.run(asked)
        recorded = run.bundle.ablations if run.bundle is not None else ()
        return {"ablations": views.ablations_payload(recorded)}

    def _uncached(self, asked: Asked) -> Fields:
        run = self.looking.run(asked)
        recorded = run.bundle.uncached if run.bundle is not None else None

        def work(progress: OnProgress, stop: ShouldStop) -> Any:
            return self.looking.desk.host.uncached(run.trace, progress, stop)

        key = ("uncached", run.trace_id)
        found = recorded or self.looking.computed(asked, key, work, run=run, long=True)
        return {"uncached": views.uncached_payload(found), "recorded": recorded is not None}

    def _check(self, asked: Asked) -> Fields:
        run = self.looking.run(asked)
        recorded = run.bundle.checks if run.bundle is not None else ()

        def work(progress: OnProgress, stop: ShouldStop) -> Any:
            return self.looking.desk.host.checks(run.trace, progress, stop)

        key = ("check", run.trace_id)
        found = recorded or self.looking.computed(asked, key, work, run=run, long=True)
        return {
            "checks": [views.check_payload(check) for check in found],
            "recorded": bool(recorded),
            "intact": run.intact,
        }


def rows_at_once(positions: int, answers: int) -> int:
    """How many of the last query positions of a head are sent."""
    fit = max(1, SCORES // max(1, positions))
    return min(positions, max(fit, min(answers, 4 * fit)))


def _form(request: Any) -> tuple[str, Fields]:
    """(who, the other fields). Raises PlaygroundError for what no browser of ours would send."""
    if not isinstance(request, dict) or len(request) > MAX_FIELDS:
        raise PlaygroundError("error.request_form")
    who = request.get("who")
    if not isinstance(who, str) or not _WHO.fullmatch(who):
        raise PlaygroundError("error.request_form")
    return who, {name: value for name, value in request.items() if name != "who"}


def _short(fields: Fields) -> str:
    """The same for the same fields, whatever their order."""
    try:
        return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()
    except (TypeError, ValueError, RecursionError):
        raise PlaygroundError("error.request_form") from None


def _head_of(model: ModelInfo, value: Any) -> tuple[int, int]:
    """[layer, head] of a request."""
    if not isinstance(value, list) or len(value) != 2:
        raise PlaygroundError("error.request_form")
    layer, head = value
    return whole("layer", layer, 0, model.n_layers - 1), whole("head", head, 0, model.n_heads - 1)
