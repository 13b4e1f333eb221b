"""The invariants behind `playground.checks`, one module for each thing they are measured on."""
