"""Tables of sentences: what is written is read, in the form that R and pandas read, and nothing
else is taken for it."""

import bz2
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from repro.errors import DamagedFileError
from repro.records.sentences import (
    StoredTable,
    Table,
    describe_references,
    statistic_columns,
    statistics,
)
from repro.statistics.metrics import metrics_for

ODD = [
    'He said "no".',
    "",
    "a\ttab",
    "two\nlines",
    "a\rreturn",
    "NA",
    "5",
    "it's",
    "日本 語",
    "\u2028",
]


@pytest.fixture
def stored(tmp_path) -> StoredTable:
    table = Table(
        {"sentence": range(len(ODD)), "hypothesis": ODD, "share": [0.1, *[float("nan")] * 9]}
    )
    table.write(tmp_path / "x.tsv.bz2")
    return StoredTable(tmp_path / "x.tsv.bz2", table.digest)


def test_odd_texts_and_missing_numbers_come_back(stored, tmp_path):
    assert list(stored) == ["sentence", "hypothesis", "share"] and stored["hypothesis"] == ODD
    assert (
        stored["sentence"].tolist() == list(range(10))
        and stored["share"][0] == 0.1
        and np.isnan(stored["share"][1:]).all()
    )
    stored.write(tmp_path / "copy.tsv.bz2")
    assert (
        StoredTable(tmp_path / "copy.tsv.bz2", stored.digest).is_sound() and Table(stored) == stored
    )


def test_pandas_reads_a_table_as_the_page_on_the_format_says(stored):
    found = pd.read_csv(
        stored.path, sep="\t", keep_default_na=False, na_values="nan", lineterminator="\n"
    )
    assert found["hypothesis"].astype(str).tolist() == ODD and found["sentence"].tolist() == list(
        range(10)
    )


def test_a_relative_path_is_another_file_in_another_folder(stored, tmp_path, monkeypatch):
    table = StoredTable(Path(stored.path.name), stored.digest)
    monkeypatch.chdir(tmp_path)
    assert table["sentence"].tolist() == list(range(10)) and table["hypothesis"] == ODD
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    for column in ("sentence", "hypothesis"):
        with pytest.raises(DamagedFileError, match="^x.tsv.bz2: is missing"):
            table[column]


WHOLE = bz2.compress(b"other")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not the table"),
        (b"x", "is no table"),
        (WHOLE, "is not the table"),
        (WHOLE[:9], "is no table"),
    ],
)
def test_what_is_no_table_is_named(stored, content, message):
    stored.path.write_bytes(content)
    with pytest.raises(DamagedFileError, match=f"x.tsv.bz2: {message}"):
        stored["hypothesis"]


@pytest.mark.parametrize(
    ("task", "target"),
    [("translation", "de"), ("translation", "ja"), ("summarisation", "en"), ("dialogue", "en")],
)
def test_counts_and_lengths_give_the_statistics_of_every_metric(task, target):
    """Of texts that are empty, shorter than an n-gram, equal, or of other characters."""
    chance = random.Random(1)
    words = ["a", "bc", "Ein", "Hund", ".", "日本語", "läuft", "xyzxyz"]
    texts = [
        [" ".join(chance.choices(words, k=chance.randrange(least, 9))) for _ in range(300)]
        for least in (0, 1)
    ]
    hyps, refs = texts[0], texts[1]
    metrics = metrics_for(task, target, tuple(refs))
    references = describe_references(metrics, refs, refs)
    counted = Table(statistic_columns(metrics, hyps))
    for metric in metrics:
        if hasattr(metric, "statistics"):
            assert np.array_equal(
                statistics(metric.name, counted, references), metric.statistics(hyps)
            ), metric.name
