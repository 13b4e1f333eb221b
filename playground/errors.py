"""The one exception a person is meant to read.

Every error carries a key of `playground.text` and the values to fill in, so the same
failure can be told in English on the command line and in the reader's language on the
page. Values are shown as data and never interpreted.
"""

from __future__ import annotations

from playground.text import say


class PlaygroundError(ValueError):
    """Something a person can mend. `key` names the sentence, `values` fill it in."""

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(key)
        self.key = key
        self.values = values

    def __str__(self) -> str:
        return self.say("en")

    def say(self, lang: str) -> str:
        """The sentence in `lang` ("en" or "zh")."""
        return say(lang, self.key, **self.values)
