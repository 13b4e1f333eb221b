"""Which component shows which texts, in every language: what a change of language updates.

A component is made by `Words.make` with text keys instead of texts. The page switches language
in the browser, from the table that `table` gives; the server is not asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from playground.text import LANGUAGES, say

# Each of these properties of a component may hold a text.
SHOWN = ("label", "info", "placeholder", "value")


class Words:
    """Components in the order they were made, and the properties each has in each language."""

    def __init__(self) -> None:
        self.components: list[Any] = []
        self._props: list[dict[str, dict[str, Any]]] = []

    def make(
        self,
        kind: Callable[..., Any],
        *,
        choices: Mapping[str, Mapping[str, str] | str] | None = None,
        **options: Any,
    ) -> Any:
        """A `kind(...)` whose `say_label="ui.x"` becomes label="…" and so on.

        choices: value -> text key, or value -> its text in each language.
        """
        keys = {name: options.pop(f"say_{name}") for name in SHOWN if f"say_{name}" in options}
        props = {lang: self._texts(lang, keys, choices) for lang in LANGUAGES}
        component = kind(**props["en"], **options)
        self.components.append(component)
        self._props.append(props)
        return component

    def table(self) -> list[dict[str, dict[str, Any]]]:
        """For each component: language -> properties, as Gradio's client takes them."""
        return self._props

    def _texts(
        self,
        lang: str,
        keys: Mapping[str, str],
        choices: Mapping[str, Mapping[str, str] | str] | None,
    ) -> dict[str, Any]:
        props: dict[str, Any] = {name: say(lang, key) for name, key in keys.items()}
        if choices is not None:
            props["choices"] = [
                (say(lang, text) if isinstance(text, str) else text[lang], value)
                for value, text in choices.items()
            ]
        return props
