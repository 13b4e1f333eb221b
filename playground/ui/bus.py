"""The two bridges to the client: the app's own element with its server functions, and the bus.

`gr.HTML` renders templates that would run `${…}` found in values, so both have an empty
template: the client builds the page with text nodes, and the bus only hands messages over.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import gradio as gr
from starlette.responses import Response

from playground.errors import PlaygroundError
from playground.ui import wire
from playground.ui.desk import Desk
from playground.ui.inside import Inside
from playground.views import embedding as embedding_view

log = logging.getLogger(__name__)

STOP_WAIT_S = 10.0


def answer(work: Callable[[], dict[str, Any]]) -> Response:
    """What `work` gives as JSON, or {"error": {en, zh}}.

    A Response passes Gradio as it is: a payload of 100 kB is not walked through again.
    """
    try:
        value = work()
    except PlaygroundError as error:
        value = {"error": wire.both(error)}
    except Exception:
        log.exception("a server function failed")
        value = {"error": wire.text("error.internal")}
    return Response(wire.dump(value), media_type="application/json")


def pair(data: Any) -> tuple[Any, Any]:
    """The two arguments of a server function, which come as one list."""
    if not isinstance(data, list) or len(data) != 2:
        raise PlaygroundError("error.request_form")
    return data[0], data[1]


def server_functions(desk: Desk, inside: Inside) -> list[Callable[..., Response]]:
    """What the client may call by name: each takes one JSON value and trusts nothing."""

    def embedding(data: Any) -> Response:
        def work() -> dict[str, Any]:
            trace, token = pair(data)
            return {"row": embedding_view.row_payload(desk.embedding(token, trace=trace))}

        return answer(work)

    def payload(data: Any) -> Response:
        return answer(lambda: {"trace": desk.payload(data)})

    def steps(data: Any) -> Response:
        return answer(lambda: {"steps": desk.steps(*pair(data))})

    def example(data: Any) -> Response:
        return answer(lambda: {"trace": desk.example(data)})

    def status(data: Any = None) -> Response:
        return answer(lambda: {"status": desk.status()})

    def stopped(data: Any) -> Response:
        """The trace of a run that was stopped, once its last step has ended."""

        def work() -> dict[str, Any]:
            if isinstance(data, str):
                desk.vault.wait(data, STOP_WAIT_S)
            return {"trace": desk.payload(data)}

        return answer(work)

    def work(data: Any) -> Response:
        """What is asked about the inside of a run, or how far it is."""
        return answer(lambda: inside.work(data))

    def halt(data: Any) -> Response:
        """Who asked for `work` does not want it any more."""
        return answer(lambda: inside.halt(data))

    return [embedding, payload, steps, example, status, stopped, work, halt]


def header() -> Any:
    """The page's head: title, language, light and dark. `select` is its change of language."""
    return gr.HTML(
        html_template="", apply_default_css=False, elem_id="bot-header",
        js_on_load="BOT.form.header(element, () => trigger('select'));",
    )  # fmt: skip


def line() -> Any:
    """Where the form tells its reader something, such as the place in the queue."""
    return gr.HTML(
        html_template="", apply_default_css=False, elem_id="bot-line",
        js_on_load="BOT.form.line(element);",
    )  # fmt: skip


def app(desk: Desk, inside: Inside) -> Any:
    """Where the client lives."""
    return gr.HTML(
        html_template="", apply_default_css=False, elem_id="bot-app",
        js_on_load="BOT.form.mount(element, server);",
        server_functions=server_functions(desk, inside),
    )  # fmt: skip


def bus() -> Any:
    """Carries one JSON message at a time from the server's events to the client."""
    return gr.HTML(
        html_template="", apply_default_css=False, elem_id="bot-bus", visible="hidden",
        js_on_load="watch('value', () => BOT.form.receive(props.value));",
    )  # fmt: skip
