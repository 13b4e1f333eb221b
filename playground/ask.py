"""What a visitor asks for, and what the server allows: the words that page and host share."""

from __future__ import annotations

from dataclasses import dataclass, field

from playground.errors import PlaygroundError
from playground.trace import SamplingParams


@dataclass(frozen=True, slots=True)
class Ask:
    """What a visitor wants run. thinking: what the template is told, None for nothing.

    form: a template in the place of the model's own, one of `tokenlab.FORM_NAMES`.
    """

    prompt: str
    system: str = ""
    chat: bool = True
    thinking: bool | None = None
    params: SamplingParams = field(default_factory=SamplingParams)
    max_tokens: int = 64
    form: str | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """What one visitor may ask of the server: characters, tokens, waiting runs, bytes, seconds."""

    max_prompt_chars: int = 32_768
    max_new_tokens: int = 512
    queue_size: int = 20
    store_bytes: int = 256 * 1024 * 1024
    store_ttl_s: float = 3600.0

    def hold(self, n: int) -> None:
        """Raises PlaygroundError where texts of `n` characters are longer than a prompt may be."""
        if n > self.max_prompt_chars:
            raise PlaygroundError("error.lab_chars", n=n, limit=self.max_prompt_chars)
