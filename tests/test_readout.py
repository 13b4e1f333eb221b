"""The numbers of a distribution and of a mask, against hand tables and full sorts."""

from __future__ import annotations

import pytest
import torch

from playground.inside import attention, columns, readout
from tests.looking import allowed


@pytest.mark.parametrize("n", [7, 300, 1283, 5000])
def test_the_highest_are_those_of_a_full_sort_ties_by_id(n):
    generator = torch.Generator().manual_seed(n)
    x = torch.randint(-40, 40, (9, n), generator=generator).float()
    x[0] = torch.arange(n)
    x[1, 3] = x[1, 5] = 99
    ids, values = readout.highest(x, 5)
    order = x.sort(dim=1, descending=True, stable=True)
    torch.testing.assert_close(values, order.values[:, :5])
    assert ids[0].tolist() == list(range(n - 1, n - 6, -1)) and ids[1, :2].tolist() == [3, 5]
    assert (x.gather(1, ids) == values).all()
    assert all(len(set(row)) == 5 for row in ids.tolist())
    falling = values.diff(dim=1) < 0
    assert (falling | (ids.diff(dim=1) > 0)).all()


def test_statistics_of_a_hand_table():
    probs = torch.tensor([[0.5, 0.25, 0.125, 0.125], [1.0, 0.0, 0.0, 0.0]])
    found = readout.statistics(probs.log(), torch.tensor([2, 0]), 3)
    assert found.rank.tolist() == [3, 1]
    torch.testing.assert_close(found.entropy_bits, torch.tensor([1.75, 0.0]))
    torch.testing.assert_close(found.logprob.exp(), torch.tensor([0.125, 1.0]))
    torch.testing.assert_close(found.probs[0], torch.tensor([0.5, 0.25, 0.125]))


@pytest.mark.parametrize("shape", [(3, 50), (17, 4096), (35, 9000)])
def test_statistics_of_many_pieces_are_those_of_float64(shape):
    generator = torch.Generator().manual_seed(5)
    scores = torch.randn(shape, generator=generator) * 30  # some weights are below float32's least
    scores[:, 7:11] = -torch.inf
    scores[1] = scores[1, 0]  # all equal
    chosen = torch.randint(11, shape[1], (shape[0],), generator=generator)
    before = scores.clone()
    found = readout.statistics(scores, chosen, 5)
    assert torch.equal(scores, before)
    logprobs = before.double().log_softmax(1)
    bits = torch.special.entr(logprobs.exp()).sum(1) / torch.log(torch.tensor(2.0).double())
    own = logprobs.gather(1, chosen[:, None])
    torch.testing.assert_close(found.entropy_bits.double(), bits, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(found.logprob.double(), own[:, 0], rtol=1e-6, atol=1e-6)
    assert torch.equal(found.rank.long(), 1 + (before > before.gather(1, chosen[:, None])).sum(1))
    torch.testing.assert_close(
        found.probs.double(), logprobs.gather(1, found.ids).exp(), rtol=1e-5, atol=1e-7
    )


def test_a_histogram_leaves_out_minus_infinity_and_survives_equal_scores():
    scores = torch.tensor([[0.0, 1.0, 4.0, -torch.inf], [2.0, 2.0, 2.0, 2.0]])
    edges, counts = readout.histogram(scores, bins=4)
    assert edges[0].tolist() == [0, 1, 2, 3, 4] and counts[0].tolist() == [1, 1, 0, 1]
    assert counts[1].sum() == 4


def test_a_mask_is_read_whatever_its_kind():
    expected = torch.tensor(allowed(6, 3))
    none, _ = attention.seen(None, 6, 3, torch.device("cpu"))
    assert torch.equal(none, expected)
    boolean, bias = attention.seen(expected[None, None], 6, None, torch.device("cpu"))
    assert torch.equal(boolean, expected) and bias is None
    added = torch.zeros(6, 6).masked_fill(~expected, torch.finfo(torch.float32).min)
    again_, bias = attention.seen(added[None, None], 6, None, torch.device("cpu"))
    assert torch.equal(again_, expected) and bias is None
    added[4, 3] = -1.5
    _, bias = attention.seen(added[None, None], 6, None, torch.device("cpu"))
    assert bias[4, 3] == -1.5 and bias.abs().sum() == 1.5


def test_settled_is_from_where_the_token_stays_first():
    first = torch.tensor(
        [[0, 1, 1, 0, 0], [1, 0, 1, 0, 0], [1, 1, 1, 0, 1], [1, 1, 1, 1, 0]], dtype=torch.bool
    )
    assert readout.settled(first).tolist() == [1, 2, 0, 3, -1]


# --- a few columns at a time -----------------------------------------------------------------


def head_of(n_ids: int, width: int, *, bias: bool, cap: float | None = None) -> readout.Head:
    torch.manual_seed(n_ids)
    module = torch.nn.Linear(width, n_ids, bias=bias).requires_grad_(False)
    module.weight *= 12
    module.weight[7] = module.weight[2]  # two tokens with one row
    return readout.Head(module, cap)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("cap", [None, 30.0])
def test_columns_give_what_whole_rows_give(monkeypatch, bias, cap):
    monkeypatch.setattr(columns, "ROWS", 13)
    monkeypatch.setattr(columns, "COLUMNS", 32)
    head = head_of(205, 24, bias=bias, cap=cap)  # the last block is a part of one
    vectors = torch.randn(31, 24) * torch.logspace(-1, 0 if cap else 1.5, 31)[:, None]
    chosen = torch.randint(8, 205, (31,))  # of equal scores either may be the higher by a digit
    chosen[:4] = torch.tensor([0, 204, 31, 32])
    turns = []
    found = columns.read_columns(head, lambda rows: vectors[rows], 31, chosen, 5, turn=turns.append)
    assert columns.fits(head, vectors)
    expected = readout.statistics(head.capped(head.raw(vectors)), chosen, 5)
    assert torch.equal(found.rank, expected.rank)
    for name in ("probs", "logprob", "entropy_bits"):
        torch.testing.assert_close(
            getattr(found, name), getattr(expected, name), rtol=1e-4, atol=1e-5
        )
    # of equal scores at the edge of the list either may be named
    first = head.capped(head.raw(vectors)).gather(1, found.ids)
    assert torch.allclose(first, first.sort(dim=1, descending=True).values)
    assert all(len(set(row)) == 5 for row in found.ids.tolist())
    same = found.ids == expected.ids
    assert (same | (found.ids == 2) | (found.ids == 7)).all()
    assert turns == sorted(turns) and turns[-1] == 31


def test_a_stop_between_two_blocks_ends_the_reading(monkeypatch):
    monkeypatch.setattr(columns, "COLUMNS", 16)
    head, seen = head_of(64, 8, bias=False), []

    def turn(done):
        seen.append(done)
        if len(seen) == 2:
            raise KeyError

    with pytest.raises(KeyError):
        columns.read_columns(
            head, lambda rows: torch.randn(9, 8)[rows], 9, torch.zeros(9).long(), 5, turn=turn
        )
    assert len(seen) == 2


def test_only_a_plain_head_in_full_precision_is_read_in_columns():
    head = head_of(40, 8, bias=False)
    assert columns.fits(head, torch.zeros(1)) and not columns.fits(head, torch.zeros(1).half())
    odd = torch.nn.Linear(8, 40)
    odd.forward = lambda x: x
    assert not columns.fits(readout.Head(odd, None), torch.zeros(1))
