"""The form: what to ask and with which settings. Layout only; `ui.wiring` gives it its events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from playground.ask import Limits
from playground.params import TOP_K_MAX
from playground.ui.words import Words

EXAMPLES = ("openai", "strawberry", "apple", "mixed", "family")
DEFAULT_TOKENS = 64
# The fields of a run, in the order of `Handlers.run`.
ASKED = (
    "prompt", "system", "mode", "thinking", "temperature", "top_k", "top_p", "min_p", "seed",
    "max_tokens",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Form:
    """The components that events read or write."""

    words: Words
    prompt: Any
    system: Any
    mode: Any
    thinking: Any
    model: Any
    sampling: Any
    temperature: Any
    top_k: Any
    top_p: Any
    min_p: Any
    seed: Any
    max_tokens: Any
    run: Any
    stop: Any
    examples: Mapping[str, Any]
    open: Any
    download: Any

    @property
    def asked(self) -> list[Any]:
        """The inputs of a run."""
        return [getattr(self, name) for name in ASKED]

    @property
    def kept(self) -> dict[str, Any]:
        """What a browser remembers of its reader's settings, by name."""
        return {name: getattr(self, name) for name in (*ASKED, "sampling")}


def build(
    limits: Limits,
    models: Sequence[str],
    free_models: bool,
) -> Form:
    """Lay the form out inside the current Blocks."""
    words = Words()
    parts: dict[str, Any] = {"words": words}
    with gr.Column(elem_id="bot-ask"):
        with gr.Row(elem_id="bot-ask-row", equal_height=True):
            parts["prompt"] = words.make(
                gr.Textbox, say_label="ui.ask.prompt.label",
                say_placeholder="ui.ask.prompt.placeholder",
                lines=2, max_lines=8, scale=8, elem_id="bot-prompt",
            )  # fmt: skip
            with gr.Column(scale=1, min_width=132, elem_id="bot-ask-buttons"):
                parts["run"] = words.make(
                    gr.Button, say_value="ui.ask.run", variant="primary", elem_id="bot-run"
                )
                parts["stop"] = words.make(gr.Button, say_value="ui.ask.stop", elem_id="bot-stop")
        with gr.Row(elem_id="bot-chips"):
            parts["examples"] = {
                name: _button(words, f"ui.example.{name}", f"bot-example-{name}")
                for name in EXAMPLES
            }
            parts["open"] = words.make(
                gr.UploadButton, say_label="ui.ask.open", type="binary", size="sm", scale=0,
                min_width=60, file_types=[".json", ".gz"], elem_id="bot-open",
            )  # fmt: skip
            parts["download"] = _button(words, "ui.ask.download", "bot-download")
        with words.make(
            gr.Accordion, say_label="ui.ask.settings", open=False, elem_id="bot-settings"
        ):
            parts |= _settings(words, limits, models, free_models)
    return Form(**parts)


def _settings(
    words: Words, limits: Limits, models: Sequence[str], free_models: bool
) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    with gr.Row():
        parts["mode"] = _radio(words, "mode", ("chat", "raw"), "chat")
        parts["thinking"] = _radio(words, "thinking", ("auto", "on", "off"), "auto")
        parts["model"] = words.make(
            gr.Dropdown, say_label="ui.ask.model.label", say_info="ui.ask.model.info",
            choices={name: dict.fromkeys(("en", "zh"), name) for name in models},
            value=models[0] if models else None, allow_custom_value=free_models,
            elem_id="bot-model", min_width=220,
        )  # fmt: skip
    parts["system"] = words.make(
        gr.Textbox, say_label="ui.ask.system.label", say_info="ui.ask.system.info",
        value="", lines=1, max_lines=6, elem_id="bot-system",
    )  # fmt: skip
    with gr.Row():
        parts["sampling"] = _radio(words, "sampling", ("greedy", "sample"), "greedy")
        parts["max_tokens"] = _slider(
            words, "max_tokens", 1, limits.max_new_tokens, 1,
            min(DEFAULT_TOKENS, limits.max_new_tokens),
        )  # fmt: skip
    # Seen only while sampling; the client does that (assets/js/form.js).
    with gr.Row(elem_id="bot-sampled"):
        parts["temperature"] = _slider(words, "temperature", 0, 2, 0.05, 0)
        parts["top_k"] = words.make(
            gr.Number, say_label="ui.ask.top_k.label", say_info="ui.ask.top_k.info",
            value=0, minimum=0, maximum=TOP_K_MAX, precision=0, elem_id="bot-top_k", min_width=300,
        )  # fmt: skip
        parts["top_p"] = _slider(words, "top_p", 0.01, 1, 0.01, 1)
        parts["min_p"] = _slider(words, "min_p", 0, 1, 0.01, 0)
        parts["seed"] = words.make(
            gr.Number, say_label="ui.ask.seed.label", say_info="ui.ask.seed.info",
            value=0, minimum=0, precision=0, elem_id="bot-seed", min_width=300,
        )  # fmt: skip
    return parts


def _button(words: Words, key: str, elem_id: str) -> Any:
    return words.make(gr.Button, say_value=key, size="sm", scale=0, min_width=60, elem_id=elem_id)


def _radio(words: Words, name: str, values: Sequence[str], value: str) -> Any:
    return words.make(
        gr.Radio, say_label=f"ui.ask.{name}.label", say_info=f"ui.ask.{name}.info",
        choices={v: f"ui.ask.{name}.{v}" for v in values}, value=value,
        elem_id=f"bot-{name}", min_width=220,
    )  # fmt: skip


def _slider(words: Words, name: str, low: float, high: float, step: float, value: float) -> Any:
    return words.make(
        gr.Slider, say_label=f"ui.ask.{name}.label", say_info=f"ui.ask.{name}.info",
        minimum=low, maximum=high, step=step, value=value,
        elem_id=f"bot-{name}", min_width=300, buttons=[],
    )  # fmt: skip
