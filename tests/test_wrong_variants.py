"""Variants that are wrong on purpose: the contract names the fault of each, and lets the right ones
pass."""

import re

import pytest
from wrong_variants import RIGHT, WRONG, register

from repro.core.contract import broken_promises
from repro.core.contract_cases import specs_of


def faults(name: str) -> list[str]:
    """Return what the contract says of a variant in the decoder, with every option at a second
    value."""
    return [fault for spec in specs_of(name) for fault in broken_promises(spec, "decoder_self")]


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_variant_is_caught_and_its_fault_is_named(name, monkeypatch):
    register(monkeypatch, name)
    found = faults(name)
    assert any(re.search(WRONG[name][1], fault) for fault in found), (
        "\n".join(found) or f"{name} passes"
    )


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_variant_passes(name, monkeypatch):
    register(monkeypatch, name)
    assert faults(name) == []
