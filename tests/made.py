"""Made-up traces for tests of the record: every size another number, every value extreme."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from playground.trace import (
    SCHEMA,
    Candidates,
    EmbeddingRow,
    Message,
    ModelInfo,
    Neighbours,
    SamplingParams,
    Step,
    Timing,
    Token,
    Trace,
)

STAGES = ("logits", "temperature", "top_k", "top_p", "min_p")
ROWS, WIDTH = 97, 6

words = st.text(st.characters(exclude_categories=("Cs",)), max_size=9)
ids = st.integers(0, ROWS - 1)
f32 = st.floats(width=32, allow_nan=False, allow_infinity=False)
f64 = st.floats(-1e300, 1e300)
probability = st.floats(0, 1, width=32)
ms = st.floats(0, 1e9)
pieces = st.binary(max_size=7)


@st.composite
def infos(draw):
    return ModelInfo(
        name=draw(words), source=draw(words), revision=draw(st.none() | words), family="llama",
        device="cpu", dtype="float32", n_layers=3, n_heads=8, n_kv_heads=4, d_model=WIDTH,
        d_head=5, d_ffn=11, vocab_rows=ROWS, vocab_size=89, n_params=draw(st.integers(0, 2**40)),
        max_context=draw(st.none() | st.integers(1, 9000)), norm="RMSNorm",
        tied=draw(st.booleans()),
    )  # fmt: skip


@st.composite
def tokens(draw, n_chars=None, token_id=None):
    start = end = None
    if n_chars is not None and draw(st.booleans()):
        start = draw(st.integers(0, n_chars))
        end = draw(st.integers(start, n_chars))
    return Token(
        id=draw(ids) if token_id is None else token_id, raw=draw(pieces), text=draw(words),
        start=start, end=end, special=draw(st.booleans()),
        source=draw(st.sampled_from(("template", "user", "thinking", "generated"))),
    )  # fmt: skip


def array(draw, of, shape):
    n = math.prod(shape)
    return np.array(draw(st.lists(of, min_size=n, max_size=n))).reshape(shape)


@st.composite
def candidates(draw):
    listed = draw(st.lists(ids, min_size=1, max_size=7, unique=True))
    stages = ("logits", *draw(st.sampled_from(((), STAGES[1:3], STAGES[3:], STAGES[1:]))))
    c, s = len(listed), len(stages)
    return Candidates(
        ids=listed, raw=tuple(draw(pieces) for _ in listed),
        special=array(draw, st.booleans(), (c,)),
        logits=array(draw, f32 | st.just(-math.inf), (c,)),
        probs=array(draw, probability, (s, c)), kept=array(draw, st.booleans(), (s, c)),
        kept_count=array(draw, st.integers(0, ROWS), (s,)), tail=array(draw, probability, (s,)),
        stages=stages,
    )  # fmt: skip


@st.composite
def steps(draw, index):
    listed = draw(candidates())
    chosen = int(draw(st.sampled_from(list(listed.ids))))
    before = draw(st.integers(0, 999))
    return Step(
        index=index, phase=draw(st.sampled_from(("prefill", "decode", "forced"))),
        token=draw(tokens(token_id=chosen)), candidates=listed,
        entropy_bits=draw(st.floats(0, 16)), rank=draw(st.integers(1, ROWS)),
        logprob=draw(st.floats(-1e5, 0) | st.just(-math.inf)),
        draw=draw(st.none() | st.floats(0, 1, exclude_max=True)), cache_before=before,
        cache_after=before + draw(st.integers(0, 9)), cache_bytes=draw(st.integers(0, 2**53)),
        timing=Timing(draw(ms), draw(ms), draw(ms)), emitted=draw(words), pending=draw(pieces),
    )  # fmt: skip


@st.composite
def traces(draw):
    templated = draw(words)
    chat = draw(st.booleans())
    roles = st.sampled_from(("system", "user", "assistant"))
    messages = st.lists(st.builds(Message, roles, words), max_size=3).map(tuple)
    hex_id = st.text("0123456789abcdef", min_size=16, max_size=16)
    values = st.dictionaries(
        st.sampled_from(("count", "bytes")), words | st.integers(-(2**53), 2**53)
    )
    note = st.tuples(st.sampled_from(("note.nfc", "note.lost_bytes")), values)
    return Trace(
        schema=SCHEMA, model=draw(infos()), messages=draw(messages) if chat else None,
        raw_prompt=None if chat else draw(words), thinking=draw(st.none() | st.booleans()),
        templated_text=templated,
        prompt=tuple(draw(tokens(len(templated))) for _ in range(draw(st.integers(1, 4)))),
        params=draw(st.builds(
            SamplingParams,
            temperature=st.sampled_from((0, 0.0, 1)) | st.floats(0.01, 100),
            top_k=st.integers(0, 1_000_000), top_p=st.floats(0, 1, exclude_min=True),
            min_p=st.floats(0, 1), seed=st.integers(0, 2**63 - 1),
        )),
        max_tokens=draw(st.integers(1, 2**40)),
        steps=tuple(draw(steps(i)) for i in range(draw(st.integers(0, 3)))),
        finish=draw(st.sampled_from(("eos", "length", "cancelled", "context", "error"))),
        text=draw(words), parent=draw(st.none() | st.tuples(hex_id, st.integers(0, 99))),
        versions=draw(st.dictionaries(st.sampled_from(("torch", "threads", "python")), words)),
        notes=tuple(draw(st.lists(note, max_size=2))),
    )  # fmt: skip


@st.composite
def embedding_rows(draw):
    def near(metric):
        n = draw(st.integers(0, 5))
        return Neighbours(
            metric, array(draw, ids, (n,)), tuple(draw(pieces) for _ in range(n)),
            array(draw, f32, (n,)), array(draw, st.integers(1, ROWS), (3, n)),
        )  # fmt: skip

    figure = st.floats(-1e30, 1e30)
    return EmbeddingRow(
        draw(infos()), draw(ids), draw(pieces), draw(st.booleans()), array(draw, f32, (WIDTH,)),
        draw(figure), draw(figure), draw(figure), draw(figure),
        tuple(near(metric) for metric in ("cosine", "euclidean", "dot")),
    )  # fmt: skip


def example() -> Trace:
    """One small fixed trace, sampled, of three steps."""
    info = ModelInfo(
        "made", "memory", None, "llama", "cpu", "float32", 3, 8, 4, WIDTH, 5, 11, ROWS, 89, 1234,
        160, "RMSNorm", True,
    )  # fmt: skip
    params = SamplingParams(temperature=0.7, top_k=20, top_p=0.9, seed=11)
    stages = STAGES[:4]
    made = []
    for i, chosen in enumerate((5, 42, 7)):
        listed = Candidates(
            ids=[chosen, 60, 61, 62, 63], raw=(b"a", b"\xe8\x8b", b" b", b"<b>", b""),
            special=[False] * 5, logits=np.linspace(3, -1, 5, dtype="f4") * np.float32(1.1),
            probs=np.linspace(0.3, 0.01, 20, dtype="f4").reshape(4, 5),
            kept=np.arange(20).reshape(4, 5) % 5 < 3, kept_count=[ROWS, ROWS, 20, 3],
            tail=np.linspace(0.2, 0.1, 4, dtype="f4"), stages=stages,
        )  # fmt: skip
        token = Token(chosen, b"a", "a", None, None, False, "generated")
        timing = Timing(2.5, 0.25, 2.75 * (i + 1))
        made.append(
            Step(
                i, "decode" if i else "prefill", token, listed, 1.5, 1, -0.7, 0.25,
                i and i + 1, i + 2, 1152 * (i + 2), timing, "a", b"",
            )
        )  # fmt: skip
    return Trace(
        schema=SCHEMA, model=info, messages=(Message("user", "苹果 <b>${x}</b>"),),
        raw_prompt=None, thinking=None, templated_text="苹果 <b>",
        prompt=(
            Token(3, b"\xe8", "\\xe8", 0, 1, False, "user"),
            Token(4, b"b", "b", 3, 6, True, "template"),
        ),
        params=params, max_tokens=3, steps=tuple(made), finish="length", text="aaa",
        versions={"torch": "2", "n_candidates": "5"}, notes=(("note.nfc", {}),),
    )  # fmt: skip
