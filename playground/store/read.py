"""JSON values to a `Trace` or an `EmbeddingRow`, every field checked, none taken on trust.

Unknown and missing keys, wrong kinds, numbers out of range, ids past the model's table, wrong
shapes and fields that contradict each other are refused with one PlaygroundError that names
the place. So a view meets only values that a real run could have had.
"""

from __future__ import annotations

import dataclasses
import re
from functools import partial
from typing import Any

import numpy as np

from playground.params import SEED_MAX, TEMPERATURE_RANGE, TOP_K_MAX
from playground.store import fields
from playground.store.fields import fail, flag, instance, many, maybe, number, text, whole
from playground.store.read_row import (
    MAX_COUNT,
    MAX_FLOAT,
    MAX_RAW,
    MAX_VOCABULARY,
    check_schema,
    count,
    info,
    key,
    lines,
    piece,
    word,
)
from playground.trace import (
    FINISHES,
    PHASES,
    SOURCES,
    Candidates,
    Message,
    ModelInfo,
    SamplingParams,
    Step,
    Timing,
    Token,
    Trace,
)

ROLES = ("system", "user", "assistant")
STAGES = ("logits", "temperature", "top_k", "top_p", "min_p")

MAX_MESSAGES = 1000
MAX_PROMPT = 2_000_000  # tokens
MAX_STEPS = 100_000
MAX_CANDIDATES = 4096
MAX_P = 1 + 1e-5  # a float32 soft-max may add up to a hair more than one
MAX_ENTROPY = 64.0  # bits

milliseconds = partial(number, low=0, high=1e12)

message = instance(Message, role=partial(fields.choice, choices=ROLES), content=text)

# SamplingParams makes its own, finer check; 0 and 0.0 stay what they are.
params = instance(
    SamplingParams,
    temperature=partial(fields.plain_number, low=0, high=TEMPERATURE_RANGE[1]),
    top_k=partial(whole, high=TOP_K_MAX),
    top_p=partial(fields.plain_number, low=0, high=1),
    min_p=partial(fields.plain_number, low=0, high=1),
    seed=partial(whole, high=SEED_MAX),
)

timing = instance(Timing, forward_ms=milliseconds, pick_ms=milliseconds, done_ms=milliseconds)


def note_value(value: Any, path: str) -> str | int:
    if type(value) is int:
        return whole(value, path, low=-MAX_COUNT, high=MAX_COUNT)
    return text(value, path)


note = fields.pair(
    partial(fields.pattern, shape=re.compile(r"note\.[a-z0-9_]{1,60}")),
    fields.mapping(note_value, keys=key, limit=16),
)
parent = fields.pair(partial(fields.pattern, shape=re.compile("[0-9a-f]{16}")), count)


def token_of(model: ModelInfo, n_chars: int) -> fields.Reader[Token]:
    """n_chars: characters of the text that tokens of this kind can stand in."""
    place = maybe(partial(whole, high=n_chars))
    read = instance(
        Token,
        id=partial(whole, high=model.vocab_rows - 1),
        raw=piece,
        text=partial(text, limit=4 * MAX_RAW),
        start=place,
        end=place,
        special=flag,
        source=partial(fields.choice, choices=SOURCES),
    )

    def reader(value: Any, path: str) -> Token:
        token = read(value, path)
        start, end = token.start, token.end
        if (start is None) != (end is None) or (start or 0) > (end or 0):
            fail("error.trace_contradiction", f"{path}.start", other=f"{path}.end")
        return token

    return reader


def candidates_of(model: ModelInfo) -> fields.Reader[Candidates]:
    names = tuple(f.name for f in dataclasses.fields(Candidates))
    last = model.vocab_rows - 1
    stage_names = many(partial(fields.choice, choices=STAGES), limit=len(STAGES))
    pieces = many(piece, limit=MAX_CANDIDATES)

    def reader(value: Any, path: str) -> Candidates:
        got = fields.record(value, path, names)
        stages = stage_names(got["stages"], f"{path}.stages")
        raw = pieces(got["raw"], f"{path}.raw")
        if stages != tuple(name for name in STAGES if name in stages) or "logits" not in stages:
            fail("error.trace_stages", f"{path}.stages", order=", ".join(STAGES))
        c, s = len(raw), len(stages)

        def one(read: Any, name: str, length: int = c, **limits: Any) -> Any:
            return read(got[name], f"{path}.{name}", length=length, **limits)

        def per_stage(read: Any, name: str, **limits: Any) -> Any:
            return [
                read(line, f"{path}.{name}[{i}]", length=c, **limits)
                for i, line in enumerate(lines(got[name], f"{path}.{name}", length=s))
            ]

        ids = one(fields.wholes, "ids", low=0, high=last)
        if len(set(ids)) != c:
            fail("error.trace_contradiction", f"{path}.ids", other=f"{path}.ids")
        return Candidates(
            ids=np.array(ids, "i8"),
            raw=raw,
            special=np.array(one(fields.flags, "special"), "?"),
            logits=one(fields.floats_or_minus_inf, "logits", low=-MAX_FLOAT, high=MAX_FLOAT),
            probs=np.array(per_stage(fields.floats, "probs", low=0, high=MAX_P)).reshape(s, c),
            kept=np.array(per_stage(fields.flags, "kept"), "?").reshape(s, c),
            kept_count=one(fields.wholes, "kept_count", s, low=0, high=model.vocab_rows),
            tail=one(fields.floats, "tail", s, low=0, high=MAX_P),
            stages=stages,
        )

    return reader


def step_of(model: ModelInfo) -> fields.Reader[Step]:
    read = instance(
        Step,
        index=count,
        phase=partial(fields.choice, choices=PHASES),
        token=token_of(model, 0),
        candidates=candidates_of(model),
        entropy_bits=partial(number, low=0, high=MAX_ENTROPY),
        rank=partial(whole, low=1, high=model.vocab_rows),
        logprob=partial(fields.number_or_minus_inf, low=-MAX_FLOAT, high=1e-5),
        draw=maybe(partial(number, low=0, high=float(np.nextafter(1, 0)))),
        cache_before=count,
        cache_after=count,
        cache_bytes=count,
        timing=timing,
        emitted=text,
        pending=piece,
    )

    def reader(value: Any, path: str) -> Step:
        step = read(value, path)
        if step.token.id not in step.candidates.ids:
            fail("error.trace_contradiction", f"{path}.token.id", other=f"{path}.candidates.ids")
        if step.cache_before > step.cache_after:
            fail("error.trace_contradiction", f"{path}.cache_before", other=f"{path}.cache_after")
        return step

    return reader


def steps_of(model: ModelInfo) -> fields.Reader[tuple[Step, ...]]:
    read = many(step_of(model), limit=MAX_STEPS)

    def reader(value: Any, path: str) -> tuple[Step, ...]:
        steps = read(value, path)
        for i, step in enumerate(steps):
            if step.index != i:
                fail("error.trace_contradiction", f"{path}[{i}].index", other=f"{path}[{i}]")
        return steps

    return reader


def trace(data: Any) -> Trace:
    """The trace in a JSON value. Raises PlaygroundError."""
    check_schema(data)
    names = [f.name for f in dataclasses.fields(Trace)]
    top = fields.record(data, "", [*names, "id", "checksum", "ids"])
    checksum = fields.pattern(top["checksum"], "checksum", shape=re.compile("[0-9a-f]{64}"))
    if top["id"] != checksum[:16]:
        fail("error.trace_contradiction", "id", other="checksum")
    if (top["messages"] is None) == (top["raw_prompt"] is None):
        fail("error.trace_contradiction", "messages", other="raw_prompt")
    if top["prompt"] == []:
        fail("error.trace_empty", "prompt")
    model = info(top["model"], "model")
    n_chars = len(text(top["templated_text"], "templated_text"))
    read = instance(
        Trace,
        schema=whole,
        model=lambda value, path: model,
        messages=maybe(many(message, limit=MAX_MESSAGES)),
        raw_prompt=maybe(text),
        thinking=maybe(flag),
        templated_text=text,
        prompt=many(token_of(model, n_chars), limit=MAX_PROMPT),
        params=params,
        max_tokens=partial(whole, low=1, high=MAX_COUNT),
        steps=steps_of(model),
        finish=partial(fields.choice, choices=FINISHES),
        text=text,
        parent=maybe(parent),
        versions=fields.mapping(word, keys=key, limit=64),
        notes=many(note, limit=64),
    )
    loaded = read({name: top[name] for name in names}, "")
    ids = fields.wholes(top["ids"], "ids", length=len(loaded.steps), low=0, high=MAX_VOCABULARY)
    for i, step in enumerate(loaded.steps):
        if step.token.id != ids[i]:
            fail("error.trace_contradiction", f"ids[{i}]", other=f"steps[{i}].token.id")
    return loaded
