"""`repro data`: what there is of a corpus, what is missing, and what is refused below its table."""

from command_line import ended, refused, run

from repro.data.catalogue import CORPORA


def test_data_tells_whose_text_it_is_and_under_what_terms(capsys):
    text = run(capsys, "data", "minigerman")
    record = CORPORA["minigerman"]
    for title, value in (
        ("about", record.about),
        ("licence", record.licence),
        ("citation", record.citation),
    ):
        assert [line for line in text if line.startswith(f"  {title} ")] == [
            f"  {title:<18} {value}"
        ]


def test_data_names_splits_that_are_missing(capsys, tmp_path):
    for language in ("de", "en"):
        (tmp_path / f"train.{language}").write_text("eins\nzwei\n")
    text = run(capsys, "data", f"local:{tmp_path}")
    assert (
        "  dev                     none: add dev.de and dev.en, or a table, to the folder" in text
    )


def test_data_prints_its_table_before_it_refuses_leaks(capsys, tmp_path):
    for split, lines in {
        "train": ["eins", "zwei"],
        "dev": ["eins!"],
        "test": ["zwei", "drei"],
    }.items():
        for language in ("de", "en"):
            (tmp_path / f"{split}.{language}").write_text("".join(f"{line}\n" for line in lines))
    code, page, error = ended(capsys, "data", f"local:{tmp_path}")
    assert code == 2 and "  train                      2 pairs" in page and "fingerprint" in page
    leaks = [line for line in page.splitlines() if line.startswith("  overlap")]
    assert [
        "test in train: 1 exact" in leaks[0],
        "dev in train: 0 exact, 1 normalised" in leaks[1],
        len(leaks),
    ] == [True, True, 2]
    assert (
        error.startswith(
            "error: test.de:1: this pair is also train.de:2 (exact); test in train: 1 exact"
        )
        and error.count("\n") == 1
    )


def test_a_list_of_pairs_left_out_replaces_no_text(capsys, tmp_path):
    for split in ("train", "dev", "test"):
        for language in ("de", "en"):
            (tmp_path / f"{split}.{language}").write_text(f"{split} {language}\n")
    name, train = f"local:{tmp_path}", tmp_path / "train.en"
    expected = (
        f"error: {train}: exists already, and is not a table of pairs left out. Fix: name another "
        "file"
    )
    assert refused(capsys, "data", name, "--skipped", str(train)) == (2, expected)
    assert train.read_text() == "train en\n"
    for _ in range(2):  # its own it may replace
        run(capsys, "data", name, "--skipped", str(tmp_path / "skipped.tsv"))
    assert "  note               not read: skipped.tsv" in run(capsys, "data", name)


def test_without_a_name_the_corpora_are_listed(capsys):
    page = "\n".join(run(capsys, "data"))
    assert all(f"\n  {name} " in f"\n{page}" for name in CORPORA) and "local:FOLDER" in page
    assert page.count("licence: ") == len(CORPORA)
    told = refused(capsys, "data", "--json")[1]
    assert told.startswith("error: --json: wants the name of a corpus")
