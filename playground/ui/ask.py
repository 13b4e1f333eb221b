"""From what came over the wire to a checked `Ask`: the only way in, for the page and the API.

The page's widgets promise nothing: over the API a text field can bring a dict, a slider NaN,
a choice anything, and 20 MB of text are accepted. So the events take their inputs raw and
every one passes here. Ranges are `SamplingParams`' to judge.
"""

from __future__ import annotations

from typing import Any

from playground.ask import Ask, Limits
from playground.errors import PlaygroundError
from playground.trace import SamplingParams

MODES = ("chat", "raw")
THINKING = {"auto": None, "on": True, "off": False}
# A float beyond this does not say which whole number was meant.
EXACT = 2**53


def build_ask(
    limits: Limits,
    prompt: Any,
    system: Any = "",
    mode: Any = "chat",
    thinking: Any = "auto",
    temperature: Any = 0.0,
    top_k: Any = 0,
    top_p: Any = 1.0,
    min_p: Any = 0.0,
    seed: Any = 0,
    max_tokens: Any = 64,
) -> Ask:
    """The `Ask` that these values make. Raises PlaygroundError, one sentence, for any other.

    Size is checked before anything reads the text. temperature 0 is greedy, which uses none of
    the other settings: they are checked and then recorded as off.
    """
    texts = {"prompt": prompt, "system": "" if system is None else system}
    n_chars = sum(len(value) for value in texts.values() if isinstance(value, str))
    if n_chars > limits.max_prompt_chars:
        raise PlaygroundError("error.prompt_chars", n_chars=n_chars, limit=limits.max_prompt_chars)
    for name, value in texts.items():
        words(name, value)
    chat = choice("mode", mode, MODES) == "chat"
    if not texts["prompt"] or (chat and not texts["prompt"].strip()):
        raise PlaygroundError("error.empty_prompt")
    numbers = {
        "temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p, "seed": seed,
    }  # fmt: skip
    for name in ("top_k", "seed"):
        numbers[name] = _whole(numbers[name])
    for name, value in numbers.items():
        _sane(name, value)
    params = SamplingParams(**numbers)
    return Ask(
        prompt=texts["prompt"],
        system=texts["system"],
        chat=chat,
        thinking=THINKING[choice("thinking", thinking, tuple(THINKING))],
        params=SamplingParams(seed=params.seed) if params.greedy else params,
        max_tokens=_max_tokens(_whole(max_tokens), limits.max_new_tokens),
    )


def words(name: str, value: Any) -> str:
    """`value`, which must be text. Raises PlaygroundError."""
    if not isinstance(value, str):
        raise PlaygroundError("error.field_text", name=name, kind=type(value).__name__)
    return value


def choice(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    """`value`, which must be one of these. Raises PlaygroundError."""
    if not isinstance(value, str) or value not in allowed:
        raise PlaygroundError("error.field_choice", name=name, allowed=", ".join(allowed))
    return value


def _whole(value: Any) -> Any:
    """A number field of a browser may write 20 as 20.0; anything else is left to the checks."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= EXACT:
        return int(value)
    return value


def _sane(name: str, value: Any) -> None:
    """Python refuses to print whole numbers of thousands of digits, also in an error."""
    if isinstance(value, int) and value.bit_length() > 128:
        raise PlaygroundError("error.field_digits", name=name)


def _max_tokens(value: Any, limit: int) -> int:
    _sane("max_tokens", value)
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or not 1 <= value <= limit:
        shown = repr(value)[:40] if isinstance(value, (int, float)) else type(value).__name__
        raise PlaygroundError("error.max_tokens", value=shown, limit=limit)
    return int(value)
