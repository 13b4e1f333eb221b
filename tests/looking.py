"""What the tests of looking inside share: traces of tiny models, and references made apart.

The references are transformers' own: the same weights with eager attention, which gives its
hidden states and attention weights away. Nothing of them goes through our capture.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from transformers import AutoModelForCausalLM

from playground import template
from playground.capture import Parts, locate
from playground.engine import Engine
from playground.inside.forcing import Turn, forced
from playground.inside.recording import Recorder
from playground.inspecting import _forward
from playground.inspection import Inspection
from playground.trace import Message, SamplingParams, Trace, same
from tests import tiny

QUESTION = "Is 电 or 🙂 other?"


@cache
def engine(family: str) -> Engine:
    return Engine(tiny.loaded(family, lively=True))


@cache
def trace(family: str, n: int = 11, question: str = QUESTION, seed: int = 2) -> Trace:
    """A sampled answer, so that the chosen token is often not the first."""
    looked = engine(family)
    prompt = template.chat(looked.vocabulary, [Message("user", question)])
    run = looked.generate(prompt, SamplingParams(temperature=1.0, seed=seed), n)
    list(run)
    return run.trace()


@cache
def inspection(family: str) -> Inspection:
    """Everything of the family's trace, every layer whole."""
    looked = engine(family)
    return looked.inspect(trace(family), layers=range(looked.info.n_layers))


def fed(trace: Trace) -> torch.Tensor:
    """[1, T]: prompt and answer but for its last token."""
    return torch.tensor([[*(t.id for t in trace.prompt), *trace.ids[:-1]]])


@dataclass(frozen=True, eq=False)
class Reference:
    """hidden: [T, D] of what enters each block, then of what leaves the last (f64);
    attentions: [H, T, T] of each layer; logits: f64[T, V]; parts: modules of the eager twin."""

    hidden: list[np.ndarray]
    attentions: list[np.ndarray]
    logits: np.ndarray
    parts: Parts
    model: torch.nn.Module


def twin(model, attn: str = "eager"):
    other = AutoModelForCausalLM.from_config(copy.deepcopy(model.config), attn_implementation=attn)
    other.load_state_dict(model.state_dict())
    return other.eval().requires_grad_(False)


@cache
def reference(family: str) -> Reference:
    model = twin(engine(family).model)
    return refer(model, fed(trace(family)), engine(family).info.family)


def refer(model, ids: torch.Tensor, family: str) -> Reference:
    """What the library itself says of `ids`; the end of the stream is seen by a plain hook."""
    parts = locate(model, family)
    end: list[torch.Tensor] = []
    handle = parts.layers[-1].register_forward_hook(
        lambda _m, _a, out: end.append(out[0] if isinstance(out, tuple) else out)
    )
    try:
        with torch.inference_mode():
            out = model(ids, use_cache=False, output_hidden_states=True, output_attentions=True)
    finally:
        handle.remove()
    hidden = [h[0].double().numpy() for h in (*out.hidden_states[:-1], end[0])]
    attentions = [a[0].double().numpy() for a in out.attentions]
    return Reference(hidden, attentions, out.logits[0].double().numpy(), parts, model)


def run(module: torch.nn.Module, x: np.ndarray) -> np.ndarray:
    """`module` on x [T, D], in float32, as float64."""
    with torch.inference_mode():
        out = module(torch.tensor(x, dtype=torch.float32)[None])
    return (out[0] if isinstance(out, tuple) else out)[0].double().numpy()


def log_softmax(x: np.ndarray) -> np.ndarray:
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def allowed(n: int, window: int | None) -> np.ndarray:
    """bool[T, T], by the definition: not later, and less than a window away."""
    query, key = np.arange(n)[:, None], np.arange(n)[None]
    return (key <= query) & (query - key < (window or math.inf))


def window(family: str, layer: int) -> int | None:
    """What the family's config says of the layer."""
    config = engine(family).model.config
    types = getattr(config, "layer_types", None)
    if types is not None:
        return config.sliding_window if types[layer] == "sliding_attention" else None
    return getattr(config, "sliding_window", None)


def alike(a: Inspection, b: Inspection) -> bool:
    """Equal to the bit, but for the clocks."""
    names = [n for n in Inspection.__dataclass_fields__ if not n.endswith("_ms")]
    return all(same(getattr(a, n), getattr(b, n)) for n in names)


def recorded(family: str) -> tuple[Recorder, torch.Tensor]:
    """What the watched forward itself left, and the model's output of it."""
    looked, parts = engine(family), locate(engine(family).model, engine(family).info.family)
    every_layer = frozenset(range(looked.info.n_layers))
    given = forced(looked, trace(family))
    with torch.inference_mode():
        recorder, output, _ = _forward(looked, given, parts, every_layer, True, Turn(None, None))
    return recorder, output
