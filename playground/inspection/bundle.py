"""All of the inside of one run that a page can show without its model: what a file holds."""

from __future__ import annotations

from dataclasses import dataclass

from playground.inspection import Inspection
from playground.inspection.check import Check
from playground.inspection.experiment import Ablation, Neuron, Uncached
from playground.inspection.weights import Weights


@dataclass(frozen=True, slots=True, eq=False)
class Bundle:
    """trace_id: of the run that was looked into (`store.trace_id`).

    inspection: with the details of some layers, without their weights (`inspection.attend` gives
    them). weights: None where the family's parts are not known. neurons: of those layers' listed
    neurons. ablations, uncached, checks: as measured when the file was made.
    """

    trace_id: str
    inspection: Inspection
    weights: Weights | None
    neurons: tuple[Neuron, ...]
    ablations: tuple[Ablation, ...]
    uncached: Uncached | None
    checks: tuple[Check, ...]
