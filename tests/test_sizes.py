"""The known sizes of corpora are those of the corpora."""

from dataclasses import astuple

import pytest

from repro.data.corpora import load_once
from repro.papers.sizes import known_sizes, statistics_of


@pytest.mark.real_data
@pytest.mark.parametrize("name", [name for name in known_sizes() if name.endswith(("en-de", "en-fr", "en-ja"))])
def test_known_sizes_are_those_of_the_corpus(name, real_data):
    corpus, _, direction = name.partition(" ")
    source, target = direction.split("-")
    loaded = load_once(corpus, source, target)
    assert astuple(statistics_of(corpus, source, target)) == pytest.approx(astuple(loaded.statistics(source, target)))
    assert astuple(statistics_of(corpus, target, source)) == pytest.approx(astuple(loaded.statistics(target, source)))
