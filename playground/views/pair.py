"""Two prompts side by side, as the browser gets them. Arrays travel exact."""

from __future__ import annotations

from typing import Any

from playground.inspection.packed import pack_arrays
from playground.inspection.pair import Pair, Side, form_of
from playground.trace import Token, Trace


def pair_payload(pair: Pair, *, recorded: bool, intact: bool = True) -> dict[str, Any]:
    """What the comparison shows. recorded: read from a file; intact: as its checksum says.

    parts_at: the layer across which 1 - cosine rises most, null where it rises nowhere.
    """
    return {
        "recorded": recorded,
        "intact": intact,
        "chat": pair.a.trace.messages is not None,
        "model": {name: getattr(pair.model, name) for name in ("name", "n_layers", "n_heads")},
        "a": side_payload(pair.a),
        "b": side_payload(pair.b),
        **pack_arrays(pair.contrast),
        "parts_at": pair.parts_at,
        "next": pack_arrays(pair.next),
        "missing": [
            {"part": m.part, "reason": m.reason, "values": dict(m.values)} for m in pair.missing
        ],
        "pieces": {str(i): raw.hex() for i, raw in pair.pieces.items()},
        "special": sorted(pair.special),
    }


def side_payload(side: Side) -> dict[str, Any]:
    """One prompt with its answer. asked, system: what was typed. form: the template that stood in
    for the model's own, null for that one or none. text: the whole characters of the answer."""
    trace = side.trace
    return {
        "asked": asked(trace),
        "system": system(trace),
        "form": form_of(trace),
        "prompt": [_token(token) for token in trace.prompt],
        "answer": [_token(step.token) for step in trace.steps],
        "text": whole(trace),
        "finish": trace.finish,
        **pack_arrays(side),
    }


def whole(trace: Trace) -> str:
    """The answer's text without what decoding makes of a character that its end cut off."""
    held = trace.steps[-1].pending if trace.steps else b""
    return trace.text.removesuffix(held.decode("utf-8", "replace")) if held else trace.text


def asked(trace: Trace) -> str:
    """What was typed: the raw prompt, or the last thing the user said."""
    if trace.messages is None:
        return trace.raw_prompt or ""
    said = [m.content for m in trace.messages if m.role == "user"]
    return said[-1] if said else ""


def system(trace: Trace) -> str:
    """The system text that was typed."""
    return next((m.content for m in trace.messages or () if m.role == "system"), "")


def _token(token: Token) -> dict[str, Any]:
    return {
        "id": token.id, "hex": token.raw.hex(), "special": token.special, "source": token.source
    }  # fmt: skip
