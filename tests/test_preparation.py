"""Before the first update: what cannot be trained is refused in one line, leaves no run behind, and
bars no fixed run."""

import errno
import json
import os
import re
import shutil

import pytest
import torch
from expected_errors import refuses
from tiny_runs import forget_hashes, parameters_of, stop_after, tiny

from repro.core.batches import MAX_SENTENCE, EncodedPairs
from repro.core.subwords import Subwords
from repro.data.corpora import load_corpus, load_pairs, text_may_change
from repro.errors import DamagedFileError, InputError, MachineError, Stopped
from repro.files import write_json
from repro.measures.scores import evaluate_run
from repro.presets import resolve
from repro.runs import gallery
from repro.runs.checkpoint_folders import sound_checkpoints
from repro.runs.models import load_subwords, load_translator, new_model
from repro.runs.prepare import check_lengths
from repro.runs.run import Run
from repro.runs.train import train
from test_transformer import small

WORDS = [
    f"{a} {b} {c} dog{n}"
    for n, (a, b, c) in enumerate(
        [("the", "big", "red"), ("a", "small", "old"), ("one", "sad", "new")] * 40
    )
]


@pytest.fixture
def corpus(tmp_path):
    """Return a folder with a small corpus of one's own."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    parts = {"train": slice(0, 100), "dev": slice(100, 110), "test": slice(110, 120)}
    for split, part in parts.items():
        for language, mark in (("en", ""), ("de", "x")):
            (folder / f"{split}.{language}").write_text(
                "".join(f"{mark}{sentence}\n" for sentence in WORDS[part])
            )
    return folder


def own(corpus, *overrides: str):
    options = (
        "data.train_pairs=100",
        "data.vocab_size=60",
        "train.max_updates=4",
        "train.eval_every=2",
        "train.batch_tokens=100",
    )
    return resolve("smoke", "base", overrides=(f"data.corpus=local:{corpus}", *options, *overrides))


@pytest.fixture
def stopped(tmp_path, monkeypatch) -> Run:
    """Return a run that was stopped after its first checkpoints."""
    stop_after(monkeypatch, 6)
    with pytest.raises(Stopped):
        train(tiny(), tmp_path / "runs", quiet=True)
    monkeypatch.undo()
    return Run.create(tiny(), tmp_path / "runs")


@pytest.mark.parametrize("split", ["dev", "train"])
def test_a_run_of_a_corpus_that_was_fixed_is_trained(tmp_path, corpus, split):
    texts = {path: path.read_text() for path in corpus.glob(f"{split}.*")}
    for path in texts:
        path.unlink()
    with pytest.raises(InputError, match=f"has no split '{split}'"):
        train(own(corpus), tmp_path / "runs", quiet=True)
    assert list((tmp_path / "runs").iterdir()) == []
    for path, text in texts.items():
        path.write_text(text)
    assert train(own(corpus), tmp_path / "runs", quiet=True).is_finished


def test_what_a_start_without_a_checkpoint_noted_bars_no_other_text(tmp_path, corpus):
    """A process can be killed, or an older version refuse, between the first note and the first
    checkpoint."""
    (tmp_path / "whole").mkdir()
    whole = train(own(corpus), tmp_path / "whole", quiet=True)
    run = Run.create(own(corpus), tmp_path / "runs")
    write_json(run.provenance_path, whole.provenance() | {"data_fingerprint": "0" * 64})
    run.subwords_path.write_bytes(Subwords.fit(WORDS[:3] * 40, 50).model)
    train(own(corpus), tmp_path / "runs", quiet=True)
    assert run.provenance()["data_fingerprint"] == whole.provenance()["data_fingerprint"]
    assert all(
        torch.equal(parameters_of(run)[name], value) for name, value in parameters_of(whole).items()
    )


@pytest.mark.parametrize("split", ["dev", "train"])
def test_an_empty_split_is_refused(tmp_path, corpus, split):
    for path in corpus.glob(f"{split}.*"):
        path.write_text("")
    with pytest.raises(InputError, match=f"{split}.*Fix: "):
        train(own(corpus), tmp_path / "runs", quiet=True)


def test_a_finished_run_of_a_text_that_has_changed_is_refused(tmp_path, corpus):
    run = train(own(corpus), tmp_path / "runs", quiet=True)
    assert train(own(corpus), tmp_path / "runs", quiet=True).path == run.path
    for path in corpus.glob("train.*"):
        path.write_text("\n".join(path.read_text().split("\n")[:-10]) + "\n")
    with pytest.raises(
        InputError,
        match=(
            "was trained on another version of local:.* Fix: restore the text, or delete the "
            "run's folder"
        ),
    ):
        train(own(corpus), tmp_path / "runs", quiet=True)
    assert train(own(corpus), tmp_path / "runs", quiet=True, allow_inexact=True).path == run.path


def test_a_finished_run_of_a_published_corpus_that_has_changed_is_refused(tmp_path, monkeypatch):
    """Tatoeba grows: what is test text today may have been training text when the run was made."""
    few = (
        "data.train_pairs=300",
        "data.vocab_size=300",
        "train.max_updates=2",
        "train.eval_every=2",
        "train.batch_tokens=400",
    )
    config = resolve("smoke", "base", overrides=few)
    run = train(config, tmp_path, quiet=True)
    assert train(config, tmp_path, quiet=True).path == run.path
    forget_hashes(run)
    write_json(run.provenance_path, run.provenance() | {"data_fingerprint": "0" * 64})
    with pytest.raises(
        InputError,
        match=(
            "was trained on another version of minigerman. Fix: restore the text, or delete the "
            "run's folder"
        ),
    ):
        train(config, tmp_path, quiet=True)
    for split in ("dev", "minidialogue:test"):
        with pytest.raises(
            InputError,
            match=(
                "was trained on another version of minigerman, whose training text .* Fix: "
                "restore the corpus"
            ),
        ):
            evaluate_run(run, split)
    assert not text_may_change("multi30k"), "its checksums hold the text"
    monkeypatch.delenv("REPRO_DATA", raising=False)
    monkeypatch.setattr("repro.runs.prepare.load_once", lambda *_: load_corpus("tatoeba"))
    assert train(config, tmp_path, quiet=True).path == run.path, (
        "what is trained already needs no corpus"
    )


def test_a_run_that_goes_on_with_another_text_keeps_its_lengths(tmp_path, corpus, monkeypatch):
    config = own(corpus, "model.cross=gaussian", "train.max_updates=8")
    stop_after(monkeypatch, 4)
    with pytest.raises(Stopped):
        train(config, tmp_path / "runs", quiet=True)
    monkeypatch.undo()
    run = Run.create(config, tmp_path / "runs")
    before = run.lengths_path.read_bytes()
    source = corpus / "train.de"
    source.write_text(source.read_text().replace("xthe", "xthe xvery xmuch"))
    assert train(config, tmp_path / "runs", quiet=True, allow_inexact=True).is_finished
    # they are gamma of the cross attention
    assert run.lengths_path.read_bytes() == before and new_model(run)


@pytest.mark.parametrize("language, side", [("en", "source"), ("de", "target")])
def test_a_test_set_that_no_model_of_this_shape_can_read_is_refused_before_training(
    tmp_path, corpus, language, side
):
    with (corpus / f"test.{language}").open("a") as file:
        file.write("dog " * 90 + "\n")
    with (corpus / f"test.{'de' if language == 'en' else 'en'}").open("a") as file:
        file.write("a cat\n")
    site = "encoder_self" if side == "source" else "decoder_self"
    with refuses(InputError, "test", side, "40", "max_len"):
        train(own(corpus, f"model.{site}=recurrent(max_len=40)"), tmp_path / "runs", quiet=True)


@pytest.mark.parametrize("split", ["dev", "test"])
def test_a_book_on_one_line_is_refused_before_training(tmp_path, corpus, split):
    for language, line in {"en": "dog " * 2_100, "de": "ein Buch"}.items():
        with (corpus / f"{split}.{language}").open("a") as file:
            file.write(line + "\n")
    expected = (
        f"{split}: a source sentence of {split} has 2,.* tokens with its mark, .* Fix: split it, "
        "or leave it out: the limit is 2,000"
    )
    with pytest.raises(InputError, match=expected):
        train(own(corpus), tmp_path / "runs", quiet=True)
    assert list((tmp_path / "runs").iterdir()) == []


@pytest.mark.parametrize("site, length", [("encoder_self", 7), ("decoder_self", 5)])
def test_a_sentence_may_fill_an_attention_with_its_mark_and_no_more(site, length):
    splits = {"train": EncodedPairs([[5] * 6], [[5] * 4], True)}
    check_lengths(small({site: f"recurrent(max_len={length})"}), splits)
    with pytest.raises(
        InputError,
        match=(
            f"has {length} tokens with its mark, but an attention is defined for {length - 1}. "
            "Fix: raise"
        ),
    ):
        check_lengths(small({site: f"recurrent(max_len={length - 1})"}), splits)


def test_only_held_out_sentences_may_not_be_books():
    """How long those of train may be is what data.max_tokens is for."""
    model, longest = small(), [5] * (MAX_SENTENCE - 1)
    check_lengths(model, {"test": EncodedPairs([longest], [longest], True)})
    for side in ([[*longest, 5]], [longest]), ([longest], [[*longest, 5]]):
        check_lengths(model, {"train": EncodedPairs(*side, True)})
        with pytest.raises(
            InputError,
            match="sentence of test has 2,001 tokens with its mark, and attention takes memory",
        ):
            check_lengths(model, {"test": EncodedPairs(*side, True)})


@pytest.mark.parametrize(
    "mistake",
    ["model.encoder_self=dot-product(heads=7)", "model.encoder_self=recurrent(max_len=3)"],
)
def test_a_mistake_leaves_no_run_behind(tmp_path, mistake):
    config = tiny(mistake)  # what is refused here could leave nothing
    with pytest.raises(InputError):
        train(config, tmp_path, quiet=True)
    assert list(tmp_path.iterdir()) == []


def test_a_run_whose_folder_vanishes_ends_with_what_could_not_be_written(tmp_path, monkeypatch):
    def vanish(_descriptor):
        shutil.rmtree(tmp_path / "runs")
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    config = tiny()
    monkeypatch.setattr(
        "repro.runs.prepare.write_json", lambda path, value: monkeypatch.setattr("os.fsync", vanish)
    )
    with pytest.raises(MachineError, match=r"subwords.model: cannot be written"):
        train(config, tmp_path / "runs", quiet=True)


def test_a_mistake_keeps_what_was_trained(tmp_path, stopped):
    write_json(stopped.provenance_path, stopped.provenance() | {"device": "cuda"})
    with pytest.raises(InputError, match="cannot resume exactly"):
        train(tiny(), tmp_path / "runs", quiet=True)
    assert sound_checkpoints(stopped.path)


@pytest.mark.parametrize("is_finished", [False, True])
@pytest.mark.parametrize(
    ("device", "error", "line"),
    [
        ("foo", InputError, "--device: unknown device 'foo'. Fix: use cpu, cuda, or leave it out"),
        ("cuda:99", MachineError, "--device: 'cuda:99' does not work here ("),
        ("meta", MachineError, "--device: 'meta' does not work here ("),
        ("", InputError, "--device: unknown device ''. Fix: use cpu, cuda, or leave it out"),
        (
            0,
            InputError,
            "device: wants str or device, found 0. Fix: use 'cpu', 'cuda', or leave it out",
        ),
    ],
)
def test_a_device_that_is_not_there_is_refused_before_the_corpus_is_read(
    tmp_path, monkeypatch, device, error, line, is_finished
):
    config = tiny("train.max_updates=1")
    if is_finished:
        train(config, tmp_path, quiet=True)
    monkeypatch.setattr(
        "repro.runs.train.load_once", lambda *arguments: pytest.fail("the corpus was read")
    )
    with pytest.raises(error, match=re.escape(line)):
        train(config, tmp_path, device=device, quiet=True)
    with pytest.raises(error, match=re.escape(line)):
        load_translator(gallery.load("base"), device)


def test_pairs_that_are_too_long_are_counted(tmp_path, capfd):
    run = train(tiny("data.max_tokens=12", "train.max_updates=1"), tmp_path, quiet=True)
    (count,) = re.findall(
        (
            r"(\d+) of 400 training pairs have more than data.max_tokens=12 subwords; they are "
            r"left out"
        ),
        capfd.readouterr().err,
    )
    data, subwords = run.config.data, load_subwords(run.subwords_path)
    sides = [
        subwords.encode(side[:400])
        for side in load_pairs(data.corpus, data.source, data.target, "train")
    ]
    assert int(count) == sum(max(len(s), len(t)) > 12 for s, t in zip(*sides, strict=True)) > 0


@pytest.mark.parametrize(
    "capability, precision, warns",
    [("AVX2", "bf16", True), ("AVX2", "fp32", False), ("AVX512", "bf16", False)],
)
def test_a_precision_that_the_processor_only_emulates_is_told(
    tmp_path, capfd, monkeypatch, capability, precision, warns
):
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    run = train(tiny(f"train.precision={precision}", "train.max_updates=1"), tmp_path, quiet=True)
    line = (
        f"{run.path}: this processor (AVX2) has no instructions for bf16 and emulates it; "
        "train.precision=fp32 is many times faster here"
    )
    assert (line in capfd.readouterr().err) == warns
    # two processors of one name need not have the same instructions
    assert run.provenance()["processor"].endswith(f", {capability}")


def flip(path, place: int = 700) -> None:
    data = bytearray(path.read_bytes())
    data[place % len(data)] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("file", ["subwords.model", "lengths.json"])
def test_changed_subwords_and_lengths_are_found(tmp_path, stopped, file):
    for change in (flip, lambda path: path.write_bytes(b""), lambda path: path.unlink()):
        good = (stopped.path / file).read_bytes()
        change(stopped.path / file)
        with refuses(DamagedFileError, file):
            new_model(stopped)
        with pytest.raises(DamagedFileError, match=file):
            train(tiny(), tmp_path / "runs", quiet=True)
        (stopped.path / file).write_bytes(good)
    assert new_model(stopped)


def test_a_start_with_changed_subwords_is_refused(tmp_path):
    start = train(tiny("train.max_updates=1"), tmp_path, quiet=True)
    flip(start.subwords_path)
    with pytest.raises(DamagedFileError, match=f"{start.path.name}.*subwords.model: differs"):
        train(
            tiny("train.max_updates=1", f"train.start_from={start.path.name}"), tmp_path, quiet=True
        )


def test_a_run_made_before_hashes_were_noted_is_loaded_and_its_damage_is_still_one_line(tmp_path):
    run = train(tiny("train.max_updates=1"), tmp_path, quiet=True)
    forget_hashes(run)
    provenance = run.provenance()
    del provenance["files"]
    write_json(run.provenance_path, provenance)
    assert load_translator(run).translate(["a dog"])
    good = run.subwords_path.read_bytes()
    for damaged in (b"", b"nonsense", good[:3000], good.replace("▁".encode(), b"\xff\xff\xff")):
        run.subwords_path.write_bytes(damaged)
        with pytest.raises(
            DamagedFileError,
            match="subwords.model: is missing or is not a sentencepiece model. Fix: restore it, or",
        ):
            new_model(run)
    run.subwords_path.write_bytes(good)
    counts = [("3", "0"), ("NaN", "2"), ("Infinity", "2"), ("1" + "0" * 400, "2")]
    pairs = [
        f'{{"source_tokens": {source}, "target_tokens": {target}}}' for source, target in counts
    ]
    for damaged in ("", '{"source_tokens": 3', '{"source_tokens": 3}', *pairs, "[]", "[" * 100_000):
        run.lengths_path.write_text(damaged)
        with pytest.raises(
            DamagedFileError,
            match="lengths.json: holds no two numbers of tokens. Fix: restore it, or",
        ):
            new_model(run)


@pytest.mark.parametrize(
    "content",
    [
        *("", "{", "[]", "{}", "null", "[" * 100_000),
        *(
            {"threads": "x"},
            {"threads": 0},
            {"versions": {}},
            {"versions": {"torch": 2}},
            {"files": []},
            {"commit": None},
            {"started": None},
            {"device": 5},
        ),
    ],
)
def test_a_damaged_provenance_is_named(tmp_path, stopped, content):
    if not isinstance(content, str):  # None takes the entry out
        content = json.dumps(
            {
                key: value
                for key, value in (stopped.provenance() | content).items()
                if value is not None
            }
        )
    stopped.provenance_path.write_text(content)
    with pytest.raises(
        DamagedFileError,
        match="provenance.json: does not say from what the run was made. Fix: restore it, or",
    ):
        train(tiny(), tmp_path / "runs", quiet=True)


def test_an_edited_configuration_is_not_believed(tmp_path, monkeypatch):
    monkeypatch.setenv("REPRO_RUNS", str(tmp_path))
    run = Run.create(tiny())
    values = json.loads((run.path / "config.json").read_text())
    values["train"]["learning_rate"] = 0.5
    write_json(run.path / "config.json", values)
    with refuses(DamagedFileError, "config.json", "train.learning_rate", "0.5", "0.014"):
        train(tiny(), quiet=True)
    with pytest.raises(
        DamagedFileError,
        match=(
            r"config.json: was changed: the folder is named by a configuration of digest "
            r"[0-9a-f]{12}"
        ),
    ):
        Run.find("base")
    run.path.rename(tmp_path / "of my own")
    assert Run.find("of my own").config.train.learning_rate == 0.5


def test_only_the_first_train_pairs_are_trained_on_and_cut_into_subwords(corpus):
    run = train(own(corpus, "data.train_pairs=40"), corpus.parent / "runs", quiet=True)
    subwords = load_subwords(run.subwords_path)
    sides = [side[:40] for side in load_pairs(f"local:{corpus}", "en", "de", "train")]
    assert subwords.model == Subwords.fit([*sides[0], *sides[1]], 60).model
    counts = [sum(map(len, subwords.encode(side))) for side in sides]
    assert json.loads(run.lengths_path.read_bytes()) == {
        "source_tokens": counts[0],
        "target_tokens": counts[1],
    }
