"""Tables of the Hub become pairs of texts: articles are cut, and a context is a persona with its
last turns."""

import pytest

from repro.data.corpora import load_corpus
from repro.errors import MachineError

ARTICLES = [
    {
        "article": " ".join(f"w{n}_{i}" for i in range(length)),
        "highlights": f"Story {n} .\nSecond line .",
        "id": f"{n:040x}",
    }
    for n, length in enumerate([3, 400, 401, 900])
]


CHATS = [
    {
        "personality": [f"I am number {conversation}.", "I like tea."],
        "history": [f"turn {conversation} {i}" for i in range(2 * utterance + 1)],
        "candidates": ["wrong one", "wrong two", f"right {conversation} {utterance}"],
        "conv_id": conversation,
        "utterance_idx": utterance,
    }
    for conversation in range(40)
    for utterance in range(3)
]


TABLES = {
    "cnndm": {"train": ARTICLES, "validation": ARTICLES[:1], "test": ARTICLES[2:]},
    "personachat": {"train": CHATS, "validation": CHATS[:6]},
}


CONFIGS = {
    "cnndm": ("abisee/cnn_dailymail", "3.0.0"),
    "personachat": ("bavard/personachat_truecased", "full"),
}


@pytest.fixture(params=["hub", "folder"])
def load(request, monkeypatch, tmp_path):
    """Return a function that loads a corpus from tables: once as from the Hub, once from Parquet
    files in REPRO_DATA."""
    import datasets
    import huggingface_hub

    home = tmp_path / "a [b] *c"  # a name that could be read as a pattern
    home.mkdir()
    monkeypatch.setenv("REPRO_DATA", str(home))
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))

    def load_tables(name, rows):
        tables = {split: datasets.Dataset.from_list(rows) for split, rows in rows.items()}
        id, config = CONFIGS[name]
        if request.param == "folder":
            for split, table in tables.items():
                (home / name / config / split).mkdir(parents=True)
                table.to_parquet(home / name / config / split / "0000.parquet")
            return load_corpus(name)

        def load_dataset(asked, data_files, revision):
            files = {split: f"{config}/{split}/*.parquet" for split in tables}
            assert (asked, data_files, revision) == (id, files, "refs/convert/parquet")
            return datasets.DatasetDict(tables)

        monkeypatch.setattr(datasets, "load_dataset", load_dataset)
        monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", lambda *_, **__: None)
        return load_corpus(name)

    return load_tables


def test_articles_are_cut_and_never_dropped(load):
    corpus = load("cnndm", TABLES["cnndm"])
    articles, summaries = corpus.pairs("train", "article", "summary")
    assert [len(article.split()) for article in articles] == [3, 400, 400, 400]
    assert all(
        row["article"].startswith(article) for row, article in zip(ARTICLES, articles, strict=True)
    )
    assert summaries[0] == "Story 0 . Second line ."
    assert {split: len(corpus[split]) for split in corpus.splits} == {
        "train": 4,
        "dev": 1,
        "test": 2,
    }
    assert not corpus.dropped


def test_a_context_is_persona_and_last_turns_and_the_reply_is_the_true_one(load):
    corpus = load("personachat", TABLES["personachat"])
    contexts, replies = corpus.pairs("train", "context", "reply")
    assert contexts[:2] == [
        "I am number 0. I like tea. | turn 0 0",
        "I am number 0. I like tea. | turn 0 0 | turn 0 1 | turn 0 2",
    ]
    assert contexts[2] == "I am number 0. I like tea. | turn 0 2 | turn 0 3 | turn 0 4"
    assert replies[:3] == ["right 0 0", "right 0 1", "right 0 2"]
    assert corpus.pairs("test", "context", "reply")[1] == [
        f"right {c} {u}" for c in (0, 1) for u in range(3)
    ]
    held_out = {context.split(".")[0] for context in corpus.pairs("dev", "context", "reply")[0]}
    assert held_out == {"I am number 38", "I am number 39"}
    assert not held_out & {context.split(".")[0] for context in contexts}


def test_a_changed_table_is_one_line(load):
    rows = {split: [{"document": "a", "highlights": "b"}] for split in TABLES["cnndm"]}
    with pytest.raises(
        MachineError, match="has no column 'article' in train, but document, highlights"
    ):
        load("cnndm", rows)


def test_a_folder_without_the_tables_says_which(monkeypatch, tmp_path):
    (tmp_path / "cnndm").mkdir()
    monkeypatch.setenv("REPRO_DATA", str(tmp_path))
    with pytest.raises(
        MachineError,
        match=(
            r"cannot be loaded \(.*Fix: put the files of abisee/cnn_dailymail, .*: "
            r"3.0.0/train/\*.parquet"
        ),
    ):
        load_corpus("cnndm")
