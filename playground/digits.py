"""How likely each digit is as a model's answer: where it begins to answer, and after some words.

Counting letters is the question that shows what tokens hide: the model gets ids, no letters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import torch
from transformers import DynamicCache

from playground.inside.forcing import OnProgress, Runner, ShouldStop, Turn, memory_said
from playground.inside.numbers import wide
from playground.inspection.digits import DIGITS, Beginning, Chance, Digits, Questioned
from playground.run import Run
from playground.sampling import leading
from playground.template import Prompt, clean_text
from playground.tokens import Vocabulary
from playground.trace import SamplingParams

MOST_TOKENS = 12  # of an answer that are the model's own
BEST = 8
CHUNK = 512


class Source(Runner, Protocol):
    """What is needed of an engine."""

    vocabulary: Vocabulary

    def generate(
        self,
        prompt: Prompt,
        params: SamplingParams,
        max_tokens: int,
        *,
        forced: Sequence[int] = ...,
    ) -> Run: ...

    def forward(self, ids: Sequence[int], cache: DynamicCache) -> tuple[torch.Tensor, float]: ...


def digits(
    engine: Source,
    a: tuple[str, Prompt],
    b: tuple[str, Prompt],
    prefix: str,
    *,
    on_progress: OnProgress | None = None,
    should_stop: ShouldStop | None = None,
) -> Digits:
    """Two (question, prompt) under `engine`, greedily, each answered twice: as the model does it,
    and going on after `prefix`.

    on_progress("decode", fraction of all the work); should_stop is asked before every step, a yes
    raises Stopped. Raises PlaygroundError where a prompt does not fit.
    """
    prefix, _ = clean_text(prefix)
    given = tuple(piece.id for piece in engine.vocabulary.encode(prefix)) if prefix else ()
    ids = counted(engine.vocabulary, engine.info.vocab_rows)
    done, total = 0, 2 * (2 * MOST_TOKENS + len(given))
    turn = Turn(on_progress, should_stop)

    def tick() -> None:
        turn("decode", min(done, total), total)

    def begin(prompt: Prompt, start: tuple[int, ...]) -> Beginning:
        nonlocal done
        run = engine.generate(prompt, SamplingParams(), len(start) + MOST_TOKENS, forced=start)
        tick()
        for _ in run:
            done += 1
            tick()
        trace = run.trace()
        scores = _scores(engine, [*(token.id for token in prompt.tokens), *start], tick)
        p = wide(scores).softmax(0)
        best = leading(scores, BEST).tolist()
        raw, special = engine.vocabulary.raw, engine.vocabulary.special
        return Beginning(
            given=start,
            answer=tuple(step.token for step in trace.steps),
            text=trace.text,
            finish=trace.finish,
            probs=tuple(float(p[list(of)].sum()) for of in ids),
            best=tuple(Chance(i, raw(i), special(i), float(p[i])) for i in best),
        )

    def ask(question: str, prompt: Prompt) -> Questioned:
        return Questioned(question, prompt.tokens, begin(prompt, ()), begin(prompt, given))

    with memory_said(engine):
        return Digits(engine.info, prefix, ids, ask(*a), ask(*b))


def counted(vocabulary: Vocabulary, rows: int) -> tuple[tuple[int, ...], ...]:
    """For each digit 0 … 9 the ids whose bytes are it, alone or behind one space."""
    spelled = {lead + digit.encode(): k for k, digit in enumerate(DIGITS) for lead in (b"", b" ")}
    found: list[list[int]] = [[] for _ in DIGITS]
    for token_id in range(rows):
        place = spelled.get(vocabulary.raw(token_id))
        if place is not None:
            found[place].append(token_id)
    return tuple(map(tuple, found))


def _scores(engine: Source, ids: Sequence[int], tick: Callable[[], None]) -> torch.Tensor:
    """f32[V] after `ids`: a run keeps only the most likely of them."""
    cache = DynamicCache(config=engine.model.config)
    for at in range(0, len(ids), CHUNK):
        tick()
        scores, _ = engine.forward(ids[at : at + CHUNK], cache)
    return scores
