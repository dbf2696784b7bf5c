"""Settings of experiments: their overrides at a scale."""

from repro.papers.you2020.experiments import STACKED


def test_heads_that_do_not_divide_the_width_are_rounded_down_so_that_all_fit_into_it():
    """Five layers of width 288 there."""
    assert STACKED.config("iwslt16").model.cross.endswith("dot-product(heads=5, head_dim=57)")
