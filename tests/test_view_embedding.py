"""One row of the embedding table: what is sent is the row, to the bit."""

from __future__ import annotations

import base64
import json

import numpy as np
from hypothesis import given, settings

from playground.views.embedding import row_payload
from tests import made


def f32(text):
    return np.frombuffer(base64.b64decode(text), "<f4")


@settings(max_examples=60, deadline=None)
@given(made.embedding_rows())
def test_the_payload_is_the_row(row):
    sent = json.loads(json.dumps(row_payload(row), allow_nan=False))
    assert f32(sent["values"]).tobytes() == row.values.tobytes()
    assert (sent["id"], bytes.fromhex(sent["hex"]), sent["special"]) == (
        row.id, row.raw, row.special,
    )  # fmt: skip
    assert (sent["norm"], sent["mean"], sent["min"], sent["max"]) == (
        row.norm, row.mean, row.minimum, row.maximum,
    )  # fmt: skip
    assert sent["model"]["vocab_rows"] == row.model.vocab_rows
    for near, had in zip(sent["neighbours"], row.neighbours, strict=True):
        assert near["metric"] == had.metric and near["ids"] == had.ids.tolist()
        assert tuple(map(bytes.fromhex, near["hexes"])) == had.raw
        assert f32(near["score"]).tobytes() == had.score.tobytes()
        assert np.array_equal(np.array(near["rank_in"]).reshape(had.rank_in.shape), had.rank_in)
        assert len(near["rank_in"]) == 3
