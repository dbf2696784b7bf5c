"""Corpora from the Hugging Face Hub, which is stood in for."""

import pytest
from own_files import DE, EN, message, write_corpus

from repro.data.corpora import load_corpus
from repro.errors import MachineError, shortened


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """Stand in for the Hub: return the calls made, and answer them with a corpus of ours."""
    import datasets
    import huggingface_hub

    calls: list[tuple] = []

    def load_dataset(name, **options):
        calls.append((name, options))
        rows = {"train": range(20), "validation": range(20, 23), "test": range(23, 27)}
        tables = {
            split: datasets.Dataset.from_dict(
                {"translation": [{"de": DE[i], "en": EN[i]} for i in numbers]}
            )
            for split, numbers in rows.items()
        }
        return datasets.DatasetDict(tables)

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", lambda *_, **__: None)
    monkeypatch.setenv("REPRO_DATA", str(tmp_path))
    return calls


def test_the_hub_gives_what_files_give(hub, tmp_path) -> None:
    corpus = load_corpus("iwslt17", "en", "de")
    files = {
        split: f"iwslt2017-en-de/{split}/*.parquet" for split in ("train", "validation", "test")
    }
    assert hub == [("IWSLT/iwslt2017", {"data_files": files, "revision": "refs/convert/parquet"})]
    assert corpus.pairs("dev", "en", "de") == (EN[20:23], DE[20:23])
    assert corpus.fingerprint == load_corpus("iwslt17", "de", "en").fingerprint
    folder = tmp_path / "iwslt17"
    folder.mkdir()
    write_corpus(folder)
    assert load_corpus("iwslt17", "en", "de").fingerprint == corpus.fingerprint
    assert len(hub) == 2


def test_a_hub_copy_that_differs_is_noted(hub) -> None:
    notes = load_corpus("multi30k", "en", "de").notes
    assert len(notes) == 6 and notes[0].startswith("train.en: SHA-256 of its text is ")


def test_a_column_missing_on_the_hub_is_named(hub) -> None:
    assert "has no column 'ro' in train, but de, en" in message(MachineError, "wmt16-en-ro")


def test_no_network_is_one_line(monkeypatch) -> None:
    import huggingface_hub

    def refuse(*_, **__):
        raise ConnectionError("Name or service not known\nand more")

    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", refuse)
    monkeypatch.setattr("repro.data.hub._failed_requests", {})
    monkeypatch.delenv("REPRO_DATA", raising=False)
    expected = (
        "iwslt14 (huggingface.co/datasets/bbaaaa/iwslt14-de-en): cannot be loaded "
        "(ConnectionError: Name or service not known). "
        "Fix: connect to the network, or set REPRO_DATA to a folder that holds iwslt14/"
    )
    assert message(MachineError, "iwslt14") == expected


def test_what_the_hub_says_is_not_cut_within_a_word(monkeypatch) -> None:
    import huggingface_hub

    def refuse(*_, **__):
        raise ConnectionError(
            "Could not reach 'bentrevett/multi30k' on the Hub at this time (OfflineModeIsEnabled)"
        )

    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", refuse)
    monkeypatch.setattr("repro.data.hub._failed_requests", {})
    monkeypatch.delenv("REPRO_DATA", raising=False)
    assert (
        "(ConnectionError: Could not reach 'bentrevett/multi30k' on the Hub at this ...). Fix: "
        in message(MachineError, "multi30k")
    )


@pytest.mark.parametrize(
    ("text", "width", "short"),
    [
        ("one two three", 13, "one two three"),
        ("one two three", 12, "one two ..."),
        ("one\ntwo", 12, "one two"),
        ("a" * 20, 12, "a" * 8 + " ..."),
        ("...", 12, "..."),
        ("", 12, ""),
    ],
)
def test_a_text_in_a_message_is_cut_between_words(text, width, short):
    assert shortened(text, width) == short


def test_a_hub_that_does_not_answer_is_not_asked_again_for_a_minute(monkeypatch) -> None:
    """With a network that swallows questions each one takes ten seconds."""
    import huggingface_hub

    asked, now = [], 0.0

    def swallow(*_, **__):
        asked.append(now)
        raise TimeoutError("timed out")

    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", swallow)
    monkeypatch.setattr("repro.data.hub._failed_requests", {})
    monkeypatch.setattr("repro.data.hub.time.monotonic", lambda: now)
    monkeypatch.delenv("REPRO_DATA", raising=False)
    messages = set()
    for second in (0.0, 10.0, 59.0, 60.0, 61.0):
        now = second
        messages.add(message(MachineError, "iwslt14"))
    assert asked == [0.0, 60.0]
    assert len(messages) == 1 and "TimeoutError: timed out" in messages.pop()
    message(MachineError, "iwslt17")
    assert asked == [0.0, 60.0, 61.0]


def test_what_is_on_no_hub_says_where_to_get_it(monkeypatch, tmp_path) -> None:
    monkeypatch.delenv("REPRO_DATA", raising=False)
    fix = (
        "Fix: get it from https://www.manythings.org/anki and set REPRO_DATA to the parent of "
        "tatoeba-deu-eng/"
    )
    assert message(MachineError, "tatoeba") == f"tatoeba: needs REPRO_DATA, which is not set. {fix}"
    assert (
        message(MachineError, "tatoeba", root=tmp_path)
        == f"tatoeba: is not in REPRO_DATA ({tmp_path}). {fix}"
    )
    assert message(MachineError, "tatoeba", root=tmp_path / "no").startswith(
        f"REPRO_DATA: {tmp_path}/no is not a folder"
    )


@pytest.mark.parametrize(
    ("name", "languages", "place", "config"),
    [
        ("wmt14-en-de", ("en", "de"), "wmt/wmt14", "de-en"),
        ("wmt17", ("en", "de"), "wmt/wmt17", "de-en"),
        ("wmt19-de-en", ("de", "en"), "wmt/wmt19", "de-en"),
    ],
)
def test_tables_of_wmt_are_on_the_main_branch(hub, name, languages, place, config) -> None:
    corpus = load_corpus(name, *languages)
    splits = ("train", "validation", "test")[: 2 if name.startswith("wmt19") else 3]
    files = {split: f"{config}/{split}-*.parquet" for split in splits}
    assert hub == [(place, {"data_files": files, "revision": "main"})]
    assert corpus.pairs("dev", "de", "en") == (DE[20:23], EN[20:23])


def test_other_pairs_of_wmt_have_folders_of_their_own(hub) -> None:
    for name, pair, config in (("wmt17", ("en", "tr"), "tr-en"), ("wmt14-en-fr", (), "fr-en")):
        assert "has no column" in message(MachineError, name, *pair)  # ours holds German alone
        assert hub[-1][1]["data_files"]["train"] == f"{config}/train-*.parquet"
