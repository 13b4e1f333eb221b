"""The page, put together: header, form, the client, and what `launch` needs to serve them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
from starlette.middleware import Middleware

from playground.inspection.pair import form_of
from playground.text import say
from playground.ui import bus, form, gate, head, letters, routes, wire
from playground.ui.desk import MAX_UPLOAD, Desk
from playground.ui.gzipped import Gzipped
from playground.ui.handlers import Handlers
from playground.ui.inside import Inside
from playground.ui.looking import Looking
from playground.ui.protocol import Host
from playground.ui.recorded import Recorded
from playground.ui.running import Runner
from playground.ui.theme import theme
from playground.ui.wiring import wire_events
from playground.views import pair as pairs
from playground.views import payload

# Uploaded files go an hour after they came; looked for every ten minutes.
SWEEP_S = (600, 3600)
MAX_EVENTS = 60


@dataclass(frozen=True, slots=True)
class Page:
    """The Blocks and the options its `launch` must be given."""

    blocks: gr.Blocks
    desk: Desk
    runner: Runner
    inside: Inside
    options: dict[str, Any]

    def launch(self, **more: Any) -> tuple[Any, str, str]:
        """Serve the page; `more` are further options of Gradio's launch."""
        return self.blocks.launch(**(self.options | more))  # type: ignore[no-any-return]

    def close(self) -> None:
        """End the runs, the looking inside, and the server."""
        self.runner.close()
        self.inside.close()
        self.blocks.close(verbose=False)


def build(
    host: Host,
    recorded: Recorded,
    *,
    models: Sequence[str] = (),
    free_models: bool = False,
) -> Page:
    """The page for a host. models: the names a visitor may choose, the first one loaded first."""
    desk = Desk(host, recorded)
    runner = Runner(desk)
    inside = Inside(Looking(desk))
    title = f"{say('en', 'ui.head.title')} · {say('zh', 'ui.head.title')}"
    with gr.Blocks(title=title, analytics_enabled=False, delete_cache=SWEEP_S) as blocks:
        header = bus.header()
        shown = [wire.public(name) for name in models]
        asking = form.build(host.limits, shown, free_models)
        bus.line()
        bus.app(desk, inside)
        handlers = Handlers(desk, runner, models)
        wire_events(asking, handlers, bus.bus(), header, blocks)
    # The turnstile says no first, and in the reader's language; this bounds what gets that far.
    blocks.queue(max_size=max(MAX_EVENTS, 2 * host.limits.queue_size), api_open=False)
    words = asking.words
    names = {id(component): k for k, component in enumerate(words.components)}
    data = {
        "BOT_EXAMPLES": [
            {"name": name, "title": desk.recorded.title(name)} for name in desk.recorded.names
        ],
        "BOT_INITIAL": _initial(desk),
        "BOT_PAIRS": [
            {"name": name, "a": pairs.asked(pair.a.trace), "b": pairs.asked(pair.b.trace)}
            for name, pair, _ in desk.recorded.pairs
            if not any(map(form_of, (pair.a.trace, pair.b.trace)))
        ],
        # One question in two templates.
        "BOT_FORM_PAIRS": [
            {"name": name, "asked": pairs.asked(pair.a.trace), "forms": forms}
            for name, pair, _ in desk.recorded.pairs
            if any(forms := [form_of(side.trace) for side in (pair.a, pair.b)])
        ],
        "BOT_LETTERS": letters.defaults(desk.recorded.letters),
        "BOT_FORM": {
            "labels": words.table(),
            "asked": list(form.ASKED),
            "kept": {name: names[id(part)] for name, part in asking.kept.items()},
        },
    }
    options = {
        "head": head.head(data),
        "theme": theme(),
        "app_kwargs": {
            "routes": routes.routes(desk),
            "middleware": [Middleware(Gzipped), *gate.middleware(blocks, host.limits)],
        },
        "run_history": False,
        "ssr_mode": False,
        "pwa": False,
        "mcp_server": False,
        "enable_monitoring": False,
        "strict_cors": True,
        "show_error": False,
        "share": False,
        "footer_links": ["api"],
        "max_file_size": MAX_UPLOAD,
    }
    return Page(blocks, desk, runner, inside, options)


def _initial(desk: Desk) -> dict[str, Any] | None:
    """The first recorded example, which the page opens with; None where none was recorded."""
    if not desk.recorded.names:
        return None
    trace_id, trace, intact = desk.recorded.get(desk.recorded.names[0])
    return payload.trace_payload(trace, trace_id, intact=intact)
