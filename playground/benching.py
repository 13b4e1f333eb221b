"""What looking inside costs, against one bare forward over the same ids.

The bare forward gives the scores at every answering position, as the inspection does, and no
more. Both sides run the model without a cache.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from playground.stopwatch import Ratio, alternate, clock, ratio
from playground.trace import Message, SamplingParams

if TYPE_CHECKING:
    from playground.engine import Engine
    from playground.inspection import Inspection
    from playground.template import Prompt
    from playground.trace import Trace

SYSTEM = (
    "You are a careful teacher. You explain step by step how a language model writes, "
    "with real numbers."
)
QUESTION = "Is OpenAI open?"
POSITIONS = 128


class Look(NamedTuple):
    """One way of looking; target: what its ratio should not exceed, None where none is set."""

    name: str
    target: float | None
    run: Callable[[], Inspection]


def looks(engine: Engine, trace: Trace) -> Iterator[Look]:
    """The stream read out at, and the attention of, one layer in the middle; all layers in a few
    numbers each, read out at every one; the same with what the page keeps of every layer."""
    n = engine.info.n_layers
    middle = n // 2
    yield Look("inspect_layer", 2.0, lambda: engine.inspect(trace, layers=[middle], lens=[middle]))
    yield Look("inspect_all", 6.0, lambda: engine.inspect(trace))
    yield Look("inspect_page", None, lambda: engine.inspect(trace, layers=range(n), weights=False))


def inspections(
    engine: Engine, *, pairs: int, positions: int = POSITIONS, say: Callable[[str], None]
) -> list[Ratio]:
    """Every way of looking at a finished run of `positions` positions, against `bare`."""
    trace = finished(engine, positions)
    found = []
    for look in looks(engine, trace):
        say(look.name)
        reference = partial(bare, engine, trace)
        ours, theirs = alternate(partial(clock, look.run), partial(clock, reference), pairs)
        found.append(ratio(look.name, ours, theirs, look.target))
    return found


def bare(engine: Engine, trace: Trace) -> None:
    """One forward over all that was read, with the scores at the answering positions."""
    import torch

    model = engine.model
    ids = [*(t.id for t in trace.prompt), *trace.ids[:-1]]
    with torch.inference_mode():
        batch = torch.tensor([ids], device=model.device)
        out = model(input_ids=batch, use_cache=False, logits_to_keep=len(trace.steps))
        out.logits[0, -1].float().sum().item()  # waits for a device to be done


def finished(engine: Engine, positions: int) -> Trace:
    """A greedy answer to a chat prompt with a system turn, by an engine without end tokens: the
    model reads `positions` positions. A prompt of more than half of them is cut to half."""
    prompt = _prompt(engine)
    prompt = dataclasses.replace(prompt, tokens=prompt.tokens[: max(1, positions // 2)])
    # the answer's last token is chosen and not read
    run = engine.generate(prompt, SamplingParams(), positions - len(prompt.tokens) + 1)
    for _ in run:
        pass
    return run.trace()


def _prompt(engine: Engine) -> Prompt:
    from playground import template

    if engine.vocabulary.tokenizer.chat_template:
        turns = [Message("system", SYSTEM), Message("user", QUESTION)]
        return template.chat(engine.vocabulary, turns)
    return template.raw(engine.vocabulary, f"{SYSTEM} {QUESTION}")
