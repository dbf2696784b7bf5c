"""The known sizes of corpora are those of the corpora."""

from dataclasses import astuple

import pytest

from repro.data.corpora import load_once
from repro.papers.sizes import known_sizes, statistics_of


@pytest.mark.real_data
@pytest.mark.parametrize("name", known_sizes())
def test_known_sizes_are_those_of_the_corpus(name, real_data):
    corpus, _, direction = name.partition(" ")
    source, target = direction.split("-")
    counted = load_once(corpus, source, target).statistics(source, target)
    assert astuple(statistics_of(corpus, source, target)) == pytest.approx(astuple(counted))
