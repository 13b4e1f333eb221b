"""Every event of the page and of the API, by name. What is not here is not an endpoint.

Settings, language and example prompts never reach the server: those events run in the browser
alone. The rest goes through Gradio's queue, so that none can be called around it. Runs are not
held back by Gradio: `ui.turnstile` lets them through one at a time and tells each its place.
"""

from __future__ import annotations

import json
from typing import Any

import gradio as gr

from playground.text import say
from playground.ui.form import Form
from playground.ui.handlers import Handlers

# Look-ups take a core each.
LOOKUPS = 2


def wire_events(form: Form, handlers: Handlers, bus: Any, header: Any, page: gr.Blocks) -> None:
    """Connect everything; called inside the Blocks."""
    asked = form.run.click(
        handlers.run, form.asked, bus, api_name="run", js="(...values) => BOT.form.ask(...values)",
        preprocess=False, postprocess=False, show_progress="hidden",
        concurrency_id="run", concurrency_limit=None,
    )  # fmt: skip
    # The braces: Gradio waits for what the function gives, and would cancel only after that.
    form.stop.click(None, None, None, cancels=asked, js="() => { BOT.form.stop(); }")
    form.open.upload(
        handlers.open, form.open, bus, api_name="open", postprocess=False, show_progress="hidden",
        concurrency_id="lookup", concurrency_limit=LOOKUPS,
    )  # fmt: skip
    form.model.input(
        handlers.switch, form.model, bus, api_name="switch", api_visibility="private",
        js="(name) => BOT.form.switching(name)", preprocess=False, postprocess=False,
        show_progress="hidden", trigger_mode="always_last",
        concurrency_id="lookup", concurrency_limit=LOOKUPS,
    )  # fmt: skip
    _in_the_browser(form, header, page)
    for endpoint in (
        handlers.trace, handlers.tokens, handlers.embedding, handlers.models, handlers.ledger,
        handlers.cut, handlers.ways, handlers.compare, handlers.languages, handlers.train,
        handlers.templates,
    ):  # fmt: skip
        gr.api(
            endpoint, api_name=endpoint.__name__,
            concurrency_id="lookup", concurrency_limit=LOOKUPS,
        )  # fmt: skip


def _in_the_browser(form: Form, header: Any, page: gr.Blocks) -> None:
    header.select(None, None, form.words.components, js="() => BOT.form.labels()")
    page.load(None, None, form.words.components, js="() => BOT.form.restore()")
    settings = [form.temperature, form.top_k, form.top_p]
    form.sampling.input(
        None, [form.sampling, *settings], settings,
        js="(...values) => BOT.form.sampling(...values)",
    )  # fmt: skip
    form.download.click(None, None, None, js="() => BOT.form.download()")
    for name, button in form.examples.items():
        prompt = json.dumps(say("en", f"ui.example.{name}"))
        button.click(None, None, form.prompt, js=f"() => {prompt}")
